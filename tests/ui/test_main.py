"""The whole front end on a real core with a stand-in microphone, model and window: what a person would see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QListWidget, QPlainTextEdit
from pytestqt.qtbot import QtBot

from dictation import autostart, events, paths
from dictation.app import Wiring
from dictation.glance import Face
from dictation.settings import Settings, save
from engine.errors import DeviceError
from tests.fakes.dictation import Person, Words
from tests.fakes.sounds import clip
from ui.main import Front

VOICE = clip("en/gcp-today")


class Running:
    """Sayso with its windows; texts are kept, not typed, since there is no desktop to type into."""

    def __init__(self, qtbot: QtBot, qapp: QApplication) -> None:
        self.words = Words()
        self.words.text = "What was said."
        wiring = Wiring(desktop=False, control=False, make_source=self._person, build=lambda name, device: self.words)
        self.front = Front(qapp, wiring)
        self.qtbot = qtbot
        self.seen: list[events.Event] = []
        self.front.bridge.event.connect(self.seen.append)
        self.front.start()
        self.until(lambda: any(isinstance(e, events.ModelChanged) and e.status == "ready" for e in self.seen))

    def _person(self, post: object) -> Person:
        self.person = Person(post)
        return self.person

    def until(self, what: object) -> None:
        self.qtbot.waitUntil(what, timeout=15_000)

    def listen(self) -> None:
        self.front.core.send(events.Start("tray"))
        self.until(lambda: self.front.glance.face is Face.LISTENING)

    def dictate(self) -> None:
        self.listen()
        self.person.say(VOICE)
        self.front.core.send(events.Stop())
        self.until(lambda: any(isinstance(e, events.TextDelivered) for e in self.seen))


@pytest.fixture
def running(qtbot: QtBot, qapp: QApplication, home: Path) -> Iterator[Running]:
    save(Settings({"recognition.model": "fake", "general.sound_ready": False}), paths.settings_file())
    made = Running(qtbot, qapp)
    yield made
    made.front.quit()
    made.front.deleteLater()


def test_a_dictation_shows_in_the_overlay_the_window_and_the_history(running: Running) -> None:
    running.front.open_window("main")
    running.front.open_window("history")
    running.listen()
    assert running.front.overlay.isVisible()
    running.person.say(VOICE)
    running.front.core.send(events.Stop())
    main = running.front.window("main")
    running.until(lambda: main.findChild(QPlainTextEdit).toPlainText() == "What was said.")
    entries = running.front.window("history").entries
    running.until(lambda: entries.rowCount() == 1 and entries.data(entries.index(0)) == "What was said.")


def test_the_overlay_goes_by_itself_after_a_cancelled_take(running: Running) -> None:
    running.listen()
    running.front.core.send(events.Cancel())
    running.until(lambda: not running.front.overlay.isVisible())
    running.until(lambda: running.front.glance.face is Face.IDLE)


def test_without_a_tray_closing_the_last_window_ends_the_core_which_keeps_what_is_being_recorded(
    running: Running, qapp: QApplication
) -> None:
    assert not running.front.has_tray
    running.front.open_window("main")
    running.listen()
    running.person.say(VOICE)
    QTimer.singleShot(0, running.front.window("main").close)
    assert qapp.exec() == 0
    assert list(paths.spool_dir().glob("take-*.wav")) and not running.person.is_open


def test_the_overlay_can_be_switched_off_while_it_shows(running: Running) -> None:
    running.listen()
    running.front.core.send(events.ChangeSettings({"general.show_overlay": False}))
    running.until(lambda: not running.front.overlay.isVisible())


def test_a_changed_setting_is_saved_and_shown_in_the_window(running: Running) -> None:
    running.front.open_window("settings")
    row = running.front.window("settings").page("general").row("general.overlay_place")
    running.front.core.send(events.ChangeSettings({"general.overlay_place": "top_left"}))
    running.until(lambda: row.editor.value() == "top_left")
    assert running.front.overlay.corner == "top-left"
    running.until(lambda: "top_left" in paths.settings_file().read_text("utf-8"))


def test_what_people_write_into_the_file_meanwhile_holds_from_the_next_save_on(running: Running) -> None:
    running.front.open_window("settings")
    row = running.front.window("settings").page("general").row("general.overlay_place")
    file = paths.settings_file()
    text = file.read_text("utf-8")
    file.write_text(text.replace("[general]", '[general]\noverlay_place = "top_left"'), "utf-8")
    running.front.core.send(events.ChangeSettings({"general.show_overlay": False}))
    running.until(lambda: row.editor.value() == "top_left")
    assert running.front.overlay.corner == "top-left"
    saved = file.read_text("utf-8")
    assert "top_left" in saved and "show_overlay = false" in saved


def test_starting_with_the_computer_makes_and_removes_the_entry(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for wanted in (True, False):
        running.front.core.send(events.ChangeSettings({"general.start_at_login": wanted}))
        running.until(lambda wanted=wanted: autostart.entry().exists() == wanted)


def test_an_entry_that_can_not_be_made_is_said(
    running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    running.front.core.send(events.ChangeSettings({"general.start_at_login": True}))
    running.until(lambda: any(isinstance(e, events.Notice) and e.code == "autostart" for e in running.seen))


def test_another_language_is_spoken_at_once_in_every_window_that_is_open(running: Running) -> None:
    running.front.open_window("main")
    running.front.open_window("models")
    running.front.core.send(events.ChangeSettings({"general.interface_language": "de"}))
    running.until(lambda: running.front.window("settings").windowTitle() == "Sayso-Einstellungen")
    assert running.front.window("settings").isVisible() and running.front.window("settings").current_page() == "models"
    assert "Einstellungen …" in [action.text() for action in running.front.tray.menu.actions()]
    running.dictate()
    running.front.core.send(events.ChangeSettings({"general.interface_language": "en"}))
    running.until(lambda: running.front.window("settings").windowTitle() == "Sayso settings")


def test_files_that_are_opened_with_sayso_are_queued_in_the_window(running: Running, tmp_path: Path) -> None:
    running.front.open_files([tmp_path / "absent.mp3"])
    files = running.front.window("main").findChild(QListWidget)
    running.until(lambda: "is not there" in files.item(0).text())


def test_a_full_disk_is_said_while_speaking_and_the_text_still_comes(running: Running, home: Path) -> None:
    spool = home / "data" / "spool"
    spool.parent.mkdir(parents=True, exist_ok=True)
    spool.write_text("in the way")
    running.listen()
    running.until(lambda: "in memory" in str(running.front.glance.note))
    assert running.front.overlay.isVisible() and "in memory" in running.front.overlay.accessibleDescription()
    running.person.say(VOICE)
    running.front.core.send(events.Stop())
    running.until(lambda: any(isinstance(e, events.TextDelivered) for e in running.seen))


def test_deleting_everything_empties_the_history_window(running: Running) -> None:
    running.dictate()
    running.front.open_window("history")
    entries = running.front.window("history").entries
    running.until(lambda: entries.rowCount() == 1)
    running.front.delete_all()
    running.until(lambda: entries.rowCount() == 0)


def test_a_failing_model_says_so_and_offers_the_history(running: Running) -> None:
    running.words.error = DeviceError("The graphics card is gone.")
    running.listen()
    running.person.say(VOICE)
    running.front.core.send(events.Stop())
    running.until(lambda: running.front.glance.face is Face.ERROR)
    assert running.front.overlay.isVisible() and str(running.front.glance.words)


def test_windows_are_made_once(running: Running) -> None:
    for name in ("main", "history", "settings", "models", "microphone", "about", "welcome"):
        running.front.open_window(name)
        window = running.front.window(name)
        assert window is not None
        running.front.open_window(name)
        assert running.front.window(name) is window
