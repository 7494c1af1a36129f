"""Which keys are refused as hotkeys, and what the reason says."""

from __future__ import annotations

import pytest

from dictation.hotkey_choice import why_not
from dictation.settings import BY_KEY


@pytest.mark.parametrize(
    "keys", ["Right Ctrl", "Left Alt", "F9", "Ctrl+Alt+Space", "Ctrl+Shift+C", "Pause", "Scroll Lock", "Alt+Space"]
)
def test_good_keys(keys: str) -> None:
    assert why_not(keys) == ""


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("A", "types"),
        ("Shift+A", "types"),
        ("Space", "types"),
        ("Comma", "types"),
        ("Return", "needed for writing"),
        ("Shift+Tab", "needed for writing"),
        ("Escape", "closes dialogs"),
        ("Left Shift", "capital"),
        ("Caps Lock", "capital"),
        ("Left Super", "menu"),
        ("Ctrl+C", "copies"),
        ("Alt+F4", "closes the window"),
        ("Ctrl+Alt", "modifiers only"),
        ("Hyper+A", "no modifier"),
    ],
)
def test_bad_keys_and_why(keys: str, says: str) -> None:
    assert says in why_not(keys)


def test_keys_of_another_action_however_they_are_written() -> None:
    assert "“Cancel”" in why_not("ctrl+alt+space", {"Cancel": "Alt+Ctrl+Space"})
    assert why_not("F9", {"Cancel": "F8", "Other": ""}) == ""


def test_escape_may_cancel() -> None:
    assert why_not(BY_KEY["hotkeys.cancel"].default, while_dictating=True) == ""


def test_the_default_is_a_good_choice() -> None:
    assert why_not(BY_KEY["hotkeys.dictate"].default) == ""
