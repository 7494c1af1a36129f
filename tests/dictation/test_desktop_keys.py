"""Key combinations as people write them."""

from __future__ import annotations

import pytest

from dictation.desktop.contract import HotkeyError
from dictation.desktop.keys import parse


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("F9", "F9"),
        ("ctrl + alt + space", "Ctrl+Alt+Space"),
        ("Cmd+Shift+d", "Shift+Super+d"),
        ("right ctrl", "Right Ctrl"),
        ("AltGr", "AltGr"),
        ("Page Up", "Page Up"),
        ("Ctrl++", "Ctrl+plus"),
        ("Ctrl+ü", "Ctrl+ü"),
    ],
)
def test_what_is_meant_is_understood(text: str, written: str) -> None:
    assert str(parse(text)) == written
    assert parse(written) == parse(text)


@pytest.mark.parametrize("text", ["", "Ctrl", "Ctrl+Alt", "Hyper+a", "F25", "Banana", "a+b"])
def test_what_is_no_combination_gets_a_sentence(text: str) -> None:
    with pytest.raises(HotkeyError, match=r"\.$"):
        parse(text)
