"""What the settings pages have besides their rows: lists that follow the computer, previews, deletion, diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListWidget, QMessageBox, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from dictation import events
from dictation.doctor import Finding
from dictation.errors import UpdateError
from dictation.settings import Settings
from dictation.updates import Release
from tests.fakes.core import Core
from ui.settings import languages
from ui.settings.about import AboutPage, licences, report
from ui.settings.dialog import SettingsWindow
from ui.settings.editors import ChoiceEditor


class Shown:
    def __init__(self, qtbot: QtBot, core: Core) -> None:
        self.core, self.deleted = core, []
        self.window = SettingsWindow(core, delete_all=lambda: self.deleted.append(True))
        qtbot.addWidget(self.window)

    def choices(self, key: str) -> list[str]:
        editor = self.window.findChild(ChoiceEditor, key)
        box = editor.focusProxy()
        return [box.itemText(i) for i in range(box.count())]  # type: ignore[attr-defined]


@pytest.fixture
def shown(qtbot: QtBot, core: Core, home: Path) -> Shown:
    return Shown(qtbot, core)


def test_microphones_are_asked_for_when_the_window_opens_and_listed(shown: Shown) -> None:
    shown.window.show()
    assert events.ListMicrophones() in shown.core.sent
    headset = events.Microphone("usb", "USB headset", default=True)
    shown.window.see(events.MicrophonesListed((headset,)))
    assert shown.choices("microphone.device") == ["The system's default (USB headset)", "USB headset"]


def test_an_unplugged_microphone_stays_the_choice(qtbot: QtBot, home: Path) -> None:
    shown = Shown(qtbot, Core(Settings({"microphone.device": "gone"})))
    shown.window.see(events.MicrophonesListed((events.Microphone("usb", "USB headset"),)))
    assert shown.window.findChild(ChoiceEditor, "microphone.device").value() == "gone"


def test_installed_models_are_offered_as_they_come(shown: Shown, home: Path) -> None:
    assert shown.choices("recognition.model") == ["Whatever is installed"]
    (home / "models").mkdir()
    (home / "models" / "base-Q8_0.gguf").touch()
    shown.window.refresh()
    assert shown.choices("recognition.model") == ["Whatever is installed", "base Q8_0"]


def test_languages_have_the_names_their_speakers_use(shown: Shown) -> None:
    names = dict(languages.named())
    assert names["de"] == "Deutsch" and names["fr"] == "Français" and len(names) == 100
    assert len(shown.choices("recognition.language")) == 101


def test_ticking_ones_own_languages(shown: Shown) -> None:
    editor = shown.window.findChild(languages.LanguagesEditor, "recognition.my_languages")
    box = editor.findChild(QListWidget)
    for name in ("Deutsch", "Français"):
        box.findItems(name, Qt.MatchFlag.MatchExactly)[0].setCheckState(Qt.CheckState.Checked)
    assert shown.core.settings["recognition.my_languages"] == ("de", "fr")
    box.findItems("Deutsch", Qt.MatchFlag.MatchExactly)[0].setCheckState(Qt.CheckState.Unchecked)
    assert shown.core.settings["recognition.my_languages"] == ("fr",)


def test_the_preview_follows_the_rules_and_the_sentence(shown: Shown) -> None:
    preview = shown.window.findChild(object, "preview")
    written = preview.findChild(QLabel, "preview:written")
    assert "twenty-five" in written.text() and "Um" not in written.text()
    shown.core.settings = shown.core.settings.changed({"rewrite.numbers": "digits", "rewrite.remove_fillers": False})
    shown.window.see(events.SettingsChanged(("rewrite.numbers", "rewrite.remove_fillers")))
    assert "25" in written.text() and "Um" in written.text()
    preview.findChild(QLineEdit).setText("thirty")
    assert written.text() == "30"


@pytest.mark.parametrize(("answer", "gone"), [("Delete everything", True), ("Cancel", False)])
def test_deleting_everything_asks_once(shown: Shown, answer: str, gone: bool) -> None:
    def click() -> None:
        question = QApplication.activeModalWidget()
        assert isinstance(question, QMessageBox)
        next(b for b in question.buttons() if b.text().replace("&", "") == answer).click()

    QTimer.singleShot(0, click)
    shown.window.findChild(QPushButton, "privacy:delete_all").click()
    assert bool(shown.deleted) == gone


def test_hotkeys_pause_while_one_is_recorded(shown: Shown, qtbot: QtBot) -> None:
    shown.window.show_page("hotkeys")
    button = shown.window.findChild(object, "hotkeys.dictate").focusProxy()
    button.click()
    assert shown.core.last() == events.PauseHotkeys(True)
    qtbot.keyClick(button, Qt.Key.Key_F8)
    assert [c for c in shown.core.sent if isinstance(c, events.PauseHotkeys)][-1] == events.PauseHotkeys(False)


def test_diagnostics_are_shown_before_they_can_be_saved(qtbot: QtBot) -> None:
    found = [
        Finding("models", "ok", f"base ({Path.home()}/models/base.gguf)"),
        Finding("typing", "problem", "x", "Do y."),
    ]
    page = AboutPage(lambda: found)
    qtbot.addWidget(page)
    page.show()
    save, text = page.findChild(QPushButton, "about:save"), page.findChild(QPlainTextEdit, "about:report")
    assert not save.isVisible()
    page.findChild(QPushButton, "about:look").click()
    qtbot.waitUntil(save.isVisible)
    assert text.toPlainText() == report(found) and "Do y." in text.toPlainText()
    assert str(Path.home()) not in text.toPlainText()


def test_libraries_stand_with_their_licences() -> None:
    lines = licences().splitlines()
    assert len(lines) >= 6 and all(": " in line and "see its files" not in line for line in lines)


def _out() -> Release | None:
    return Release("9.1.0", date(2026, 12, 1), "https://sayso.example/9.1.0")


def _away() -> Release | None:
    raise UpdateError("The server is away.")


@pytest.mark.parametrize(
    ("newer", "answer"),
    [(_out, "https://sayso.example/9.1.0"), (_away, "The server is away."), (lambda: None, "the newest")],
)
def test_asking_for_updates_ends_in_a_sentence(qtbot: QtBot, newer: Callable[[], Release | None], answer: str) -> None:
    page = AboutPage(newer=newer)
    qtbot.addWidget(page)
    ask, shown = page.findChild(QPushButton, "about:updates"), page.findChild(QLabel, "about:answer")
    assert answer not in shown.text(), "nobody is asked before the button is pressed"
    ask.click()
    qtbot.waitUntil(lambda: answer in shown.text())
    assert ask.isEnabled()
