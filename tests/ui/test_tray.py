"""The tray's icon and menu: what they show in each state, and which commands they send."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu

from dictation import events
from dictation.events import Microphone
from dictation.glance import Face, Glance, Phrase
from dictation.settings import Settings
from tests.fakes.core import Core
from ui import theme
from ui.tray import Tray

LANGUAGES = [("de", "Deutsch"), ("en", "English"), ("fr", "Français")]


class Shown:
    def __init__(self, core: Core) -> None:
        self.core, self.opened = core, []
        self.tray = Tray(core, self.opened.append, LANGUAGES, lambda: self.opened.append("quit"))

    def action(self, text: str, menu: QMenu | None = None) -> QAction:
        return next(a for a in (menu or self.tray.menu).actions() if a.text().startswith(text))

    def open(self, title: str) -> QMenu:
        menu = self.action(title).menu()
        assert isinstance(menu, QMenu)
        menu.aboutToShow.emit()
        return menu


@pytest.fixture
def shown(core: Core) -> Shown:
    return Shown(core)


def test_every_state_has_a_shape_of_its_own(qapp: object) -> None:
    drawn = {}
    for face in Face:
        image = theme.icon(face.value).pixmap(16, 16).toImage()
        drawn[face] = tuple(image.pixelColor(x, y).alpha() > 100 for x in range(16) for y in range(16))
    assert len(set(drawn.values())) == len(Face)  # told apart in one colour at 16 px
    assert all(any(dots) for dots in drawn.values())


@pytest.mark.parametrize(
    ("face", "dictate", "can_cancel"),
    [
        (Face.IDLE, "Dictate", False),
        (Face.OPENING, "Stop", True),
        (Face.LISTENING, "Stop", True),
        (Face.WORKING, "Dictate", True),
        (Face.HELD, "Dictate", False),
    ],
)
def test_the_menu_says_what_can_be_done_now(shown: Shown, face: Face, dictate: str, can_cancel: bool) -> None:
    shown.tray.see(Glance(face=face, words=Phrase("Some state")))
    assert shown.action(dictate) and shown.action("Cancel").isEnabled() == can_cancel
    assert "Some state" in shown.tray.icon.toolTip()


def test_its_actions_are_commands(shown: Shown) -> None:
    shown.tray.see(Glance(face=Face.LISTENING, last_text="hello there"))
    for text, command in {
        "Stop": events.Toggle("tray"),
        "Cancel": events.Cancel(),
        "Insert again": events.InsertAgain(),
        "Pause hotkeys": events.PauseHotkeys(True),
    }.items():
        shown.action(text).trigger()
        assert shown.core.last() == command
    for text in ("History", "Settings", "Quit"):
        shown.action(text).trigger()
    assert shown.opened == ["history", "settings", "quit"]


def test_the_last_text_is_shown_short_and_without_shortcuts(shown: Shown) -> None:
    assert not shown.action("Insert again").isEnabled()
    shown.tray.see(Glance(last_text="Bread & butter, and much more that\nno menu should show in full"))
    text = shown.action("Insert again").text()
    assert "&&" in text and "\n" not in text and text.endswith("…") and len(text) < 60


def test_the_last_five_texts_can_be_copied(shown: Shown) -> None:
    for i in range(7):
        shown.tray.heard(events.TextDelivered(i, f"text {i}"))
    menu = shown.open("Last texts")
    assert [a.text() for a in menu.actions()] == [f"text {i}" for i in (6, 5, 4, 3, 2)]
    menu.actions()[1].trigger()
    assert QGuiApplication.clipboard().text() == "text 5"


def test_choosing_a_model_uses_it(shown: Shown, home: Path) -> None:
    (home / "models").mkdir()
    for name in ("base-Q8_0", "base-F16", "tiny.en-Q8_0"):
        (home / "models" / f"{name}.gguf").touch()
    shown.tray.see(Glance(model="base"))
    menu = shown.open("Model")
    assert [a.text() for a in menu.actions() if a.isChecked()] == ["base Q8_0"]  # the one that "base" stands for
    shown.action("tiny.en Q8_0", menu).trigger()
    assert shown.core.last() == events.UseModel("tiny.en:Q8_0")
    shown.action("Get more", menu).trigger()
    assert shown.opened == ["models"]


def test_choosing_a_language_changes_the_setting(core: Core) -> None:
    core.settings = Settings({"recognition.language": "de", "recognition.my_languages": ("de", "en")})
    shown = Shown(core)
    menu = shown.open("Language")
    assert shown.action("Automatic, among mine", menu)
    assert shown.action("Deutsch", menu).isChecked() and not shown.action("English", menu).isChecked()
    shown.action("English", menu).trigger()
    assert core.settings["recognition.language"] == "en"
    every = shown.action("All", menu).menu()
    shown.action("Français", every).trigger()  # type: ignore[arg-type]
    assert core.settings["recognition.language"] == "fr"


def test_choosing_a_microphone_changes_the_setting(shown: Shown) -> None:
    shown.tray.heard(events.MicrophonesListed((Microphone("usb", "USB headset"),)))
    menu = shown.open("Microphone")
    assert [a.text() for a in menu.actions() if a.isChecked()] == ["The system's default"]
    shown.action("USB headset", menu).trigger()
    assert shown.core.settings["microphone.device"] == "usb"


def test_menus_that_open_often_leave_nothing_behind(shown: Shown) -> None:
    counts = []
    for _ in range(4):
        menu = shown.open("Language")
        QGuiApplication.sendPostedEvents(None, 52)  # deferred deletions
        counts.append(len(menu.children()))
    assert counts[1] == counts[3]
