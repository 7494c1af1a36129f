"""The hotkey recorder: press keys and they stand there; bad choices are refused with a reason."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from dictation.desktop.keys import parse
from dictation.settings import BY_KEY
from ui.settings.hotkey import HotkeyEditor

Held = Qt.KeyboardModifier
CTRL, ALT, SHIFT = Held.ControlModifier, Held.AltModifier, Held.ShiftModifier


class Recorder:
    def __init__(self, qtbot: QtBot, others: dict[str, str] | None = None) -> None:
        self.qtbot = qtbot
        self.editor = HotkeyEditor(BY_KEY["hotkeys.dictate"], lambda: others or {})
        qtbot.addWidget(self.editor)
        self.edits: list[str] = []
        self.editor.edited.connect(lambda: self.edits.append(self.editor.value()))
        self.editor.set_value("F9")
        self.editor.show()
        self.button = self.editor.focusProxy()
        assert isinstance(self.button, QPushButton)

    def press(self, key: Qt.Key, modifiers: Held = Held.NoModifier) -> None:
        self.qtbot.keyClick(self.button, key, modifiers)

    def record(self, key: Qt.Key, modifiers: Held = Held.NoModifier) -> str:
        self.button.click()
        self.press(key, modifiers)
        return self.editor.value()

    def problem(self) -> str:
        return self.editor.findChild(QLabel, "problem").text()


@pytest.fixture
def recorder(qtbot: QtBot) -> Recorder:
    return Recorder(qtbot)


@pytest.mark.parametrize(
    ("key", "modifiers", "expected"),
    [
        (Qt.Key.Key_F8, Held.NoModifier, "F8"),
        (Qt.Key.Key_Space, CTRL | ALT, "Ctrl+Alt+Space"),
        (Qt.Key.Key_A, CTRL | SHIFT, "Ctrl+Shift+A"),
        (Qt.Key.Key_PageUp, CTRL, "Ctrl+Page Up"),
        (Qt.Key.Key_Home, CTRL, "Ctrl+Home"),
        (Qt.Key.Key_Control, Held.NoModifier, "Right Ctrl"),
        (Qt.Key.Key_Pause, Held.NoModifier, "Pause"),
    ],
)
def test_pressed_keys_are_taken_as_the_settings_write_them(
    recorder: Recorder, key: Qt.Key, modifiers: Held, expected: str
) -> None:
    assert recorder.record(key, modifiers) == expected
    assert recorder.edits == [expected] and recorder.problem() == ""
    parse(expected)  # every back-end understands it


@pytest.mark.parametrize(
    ("key", "modifiers", "reason"),
    [
        (Qt.Key.Key_A, Held.NoModifier, "types"),
        (Qt.Key.Key_Space, Held.NoModifier, "types"),
        (Qt.Key.Key_A, SHIFT, "types"),
        (Qt.Key.Key_Return, Held.NoModifier, "Return"),
        (Qt.Key.Key_C, CTRL, "copies"),
        (Qt.Key.Key_Shift, Held.NoModifier, "capital"),
    ],
)
def test_bad_choices_are_refused_with_the_reason(recorder: Recorder, key: Qt.Key, modifiers: Held, reason: str) -> None:
    assert recorder.record(key, modifiers) == "F9"
    assert reason in recorder.problem() and recorder.edits == []


def test_a_key_that_another_action_has_is_refused(qtbot: QtBot) -> None:
    recorder = Recorder(qtbot, {"Insert the last text again": "F7"})
    assert recorder.record(Qt.Key.Key_F7) == "F9"
    assert "Insert the last text again" in recorder.problem()


def test_outside_recording_keys_mean_what_they_always_mean(recorder: Recorder) -> None:
    recorder.press(Qt.Key.Key_F8)
    assert recorder.editor.value() == "F9" and recorder.edits == []


def test_leaving_the_field_ends_the_recording(recorder: Recorder) -> None:
    recorder.button.click()
    recorder.button.clearFocus()
    recorder.press(Qt.Key.Key_F8)
    assert recorder.editor.value() == "F9" and recorder.button.text() == "F9"


def test_backspace_takes_the_key_away_where_none_is_allowed(qtbot: QtBot) -> None:
    editor = HotkeyEditor(BY_KEY["hotkeys.insert_again"])
    qtbot.addWidget(editor)
    editor.set_value("F7")
    editor.show()
    editor.focusProxy().click()
    qtbot.keyClick(editor.focusProxy(), Qt.Key.Key_Backspace)
    assert editor.value() == ""
