"""The first steps: each does its job, can be left, and goes on where it was left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from dictation import events
from dictation.doctor import Finding
from dictation.settings import Settings
from engine import catalog
from engine.catalog import CatalogModel, Recommendation
from tests.fakes.core import Core
from ui.onboarding import MicrophoneStep, ModelStep, Onboarding
from ui.settings.models import DownloadRow
from ui.welcome import STEP_KEY, STEPS, is_wanted


class Computer:
    """A computer without a keyboard hook, where base is the model to take."""

    def examine(self) -> list[Finding]:
        return [
            Finding("display", "ok", "X11 (:0)"),
            Finding("typing", "problem", "nothing", "Allow it in the system settings."),
        ]

    def recommendation(self) -> tuple[CatalogModel, Recommendation]:
        return catalog.find("base"), Recommendation("Q8_0", "Q8_0: good.")  # type: ignore[return-value]


class Shelf:
    """Remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: self.asked.append((name, *args))


class Shown:
    def __init__(self, qtbot: QtBot, core: Core) -> None:
        self.core, self.shelf = core, Shelf()
        self.window = Onboarding(core, self.shelf, Computer())
        qtbot.addWidget(self.window)
        self.window.show()

    def press(self, name: str) -> None:
        found = self.window.findChild(QPushButton, name)
        assert found is not None and found.isVisible() and found.isEnabled(), name
        found.click()

    def text(self, name: str) -> str:
        return self.window.findChild(QLabel, name).text()


@pytest.fixture
def shown(qtbot: QtBot, core: Core, home: Path) -> Shown:
    return Shown(qtbot, core)


def test_it_is_wanted_until_it_is_finished_and_a_model_is_there(core: Core, home: Path) -> None:
    assert is_wanted(core)
    core.settings = Settings({STEP_KEY: STEPS})
    assert is_wanted(core)
    (home / "models").mkdir()
    (home / "models" / "base-Q8_0.gguf").touch()
    assert not is_wanted(core)


def test_all_steps_forward_and_done(shown: Shown) -> None:
    for step in range(STEPS):
        assert shown.window.step == step
        shown.press("onboarding:next")
    assert shown.core.settings[STEP_KEY] == STEPS and not shown.window.isVisible()


def test_left_in_the_middle_it_goes_on_there(shown: Shown, qtbot: QtBot) -> None:
    shown.press("onboarding:next")
    shown.press("onboarding:next")
    shown.window.close()
    again = Shown(qtbot, shown.core)
    assert again.window.step == 2
    again.press("onboarding:back")
    assert again.window.step == 1


def test_it_can_be_skipped(shown: Shown) -> None:
    shown.press("onboarding:skip")
    assert shown.core.settings[STEP_KEY] == STEPS


def test_the_microphone_is_open_only_while_its_step_shows(shown: Shown) -> None:
    assert shown.core.sent[-1] == events.TestMicrophone(True)
    shown.press("onboarding:next")
    assert events.TestMicrophone(False) in shown.core.sent
    shown.press("onboarding:back")
    assert shown.core.sent[-1] == events.TestMicrophone(True)
    shown.window.close()
    assert shown.core.sent[-1] == events.TestMicrophone(False)


def test_the_meter_moves_with_the_voice(shown: Shown) -> None:
    step = shown.window.findChild(MicrophoneStep)
    shown.window.see(events.Level(0, -120.0, -120.0, False, 0.0))
    assert step.meter.level == 0.0 and "Waiting" in shown.text("heard")
    shown.window.see(events.Level(0, -20.0, -10.0, True, 0.1))
    assert 0.5 < step.meter.level <= 1.0 and "hears you" in shown.text("heard")


def test_microphones_can_be_chosen(shown: Shown, qtbot: QtBot) -> None:
    shown.window.see(events.MicrophonesListed((events.Microphone("usb", "USB headset"),)))
    box = shown.window.findChild(QWidget, "microphone.device").focusProxy()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert shown.core.settings["microphone.device"] == "usb"


def test_permissions_say_what_to_do(shown: Shown, qtbot: QtBot) -> None:
    shown.press("onboarding:next")
    qtbot.waitUntil(lambda: shown.window.findChild(QWidget, "finding:typing") is not None)
    words = " ".join(w.text() for w in shown.window.findChild(QWidget, "finding:typing").findChildren(QLabel))
    assert "does not work" in words and "Allow it in the system settings." in words


def test_the_recommended_model_is_one_click_away_and_so_are_its_quants(shown: Shown, qtbot: QtBot) -> None:
    shown.window.go(2)
    shown.press("model:get")
    assert shown.shelf.asked == [("download", catalog.find("base"), "Q8_0")]
    shown.press("model:more")
    picker = shown.window.findChild(ModelStep).picker
    assert picker is not None
    qtbot.waitUntil(picker.isVisible)
    picker.choose("Q4_K_M")
    next(b for b in picker.findChildren(QPushButton) if b.text() == "Download").click()
    assert shown.shelf.asked[-1] == ("download", catalog.find("base"), "Q4_K_M")


def test_a_download_shows_its_progress_and_its_model_is_used_when_it_is_there(shown: Shown, qtbot: QtBot) -> None:
    shown.window.go(2)
    running = events.Download("job", "base:Q8_0", "running", 40, 100)
    shown.window.see(running)
    qtbot.waitUntil(shown.window.findChild(DownloadRow).isVisible)
    shown.window.go(3)  # it goes on while the next step is looked at
    shown.window.see(replace(running, status="done"))
    assert shown.shelf.asked == [("use", "base:Q8_0")]


def test_the_hotkey_is_recorded_and_bad_ones_are_refused(shown: Shown, qtbot: QtBot) -> None:
    shown.window.go(3)
    button = shown.window.findChild(QWidget, "hotkeys.dictate").focusProxy()
    button.click()
    qtbot.keyClick(button, Qt.Key.Key_Escape)
    assert shown.core.settings["hotkeys.dictate"] == "Right Ctrl" and "Cancel" in shown.text("problem")
    button.click()
    qtbot.keyClick(button, Qt.Key.Key_F8)
    assert shown.core.settings["hotkeys.dictate"] == "F8"


def test_the_last_step_tells_the_time_it_took(shown: Shown) -> None:
    shown.window.go(4)
    shown.window.see(events.FinalText(1, "Hello.", "Hello.", release_to_text_ms=120.0))
    shown.window.see(events.TextDelivered(1, "Hello.", deliver_ms=21.0))
    assert "0.14 s after you let go" in shown.text("time")
    shown.window.see(events.NothingHeard(2, "muted", "The microphone sends only silence. Is it muted?"))
    assert "only silence" in shown.text("time")


def test_the_voice_can_be_played_back_once_it_was_heard(shown: Shown) -> None:
    play = shown.window.findChild(QPushButton, "microphone:play")
    assert not play.isEnabled()
    shown.window.see(events.Level(0, -20.0, -10.0, True, 0.1))
    play.click()
    assert shown.core.last() == events.PlayTest()
