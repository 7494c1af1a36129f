"""The whole job in real windows: the app started as a user does, a held key, a spoken clip, words in other programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation.history import History
from engine import store
from tests.e2e.audio import VirtualMicrophone
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until
from tests.e2e.programs import Chromium, Mousepad, Program
from tests.e2e.running_app import RunningApp
from tests.e2e.screen_reader import ScreenReader
from tests.fakes import sounds

pytestmark = pytest.mark.desktop
CLIP = "en/gcp-mountain-view"
SETTINGS = {"general.sound_ready": False, "recognition.model": "tiny.en:Q8_0"}


@pytest.fixture
def app(
    desktop: VirtualDesktop, virtual_microphone: VirtualMicrophone, tiny_en_q8: Path, base_q8: Path, tmp_path: Path
) -> Iterator[RunningApp]:
    assert tiny_en_q8.parent == base_q8.parent == store.models_dir()
    desktop.start_accessibility()
    running = RunningApp(desktop, virtual_microphone, tmp_path, SETTINGS)
    yield running
    running.end()


def words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'").lower() for word in text.split()]


class Dictating:
    """Takes one after another, each compared in the overlay and in the window that it went to."""

    def __init__(self, app: RunningApp, reader: ScreenReader, desktop: VirtualDesktop) -> None:
        self.app, self.reader, self.desktop = app, reader, desktop

    def into(self, kind: type[Program]) -> str:
        """Dictate, and see the words on their way; returns the model that heard them."""
        window = self.desktop.reuse(kind)
        said = words(sounds.transcript(CLIP))

        def see_words() -> None:
            overlay = self.reader.find("Dictation", "filler")
            until("words in the overlay", lambda: said[0] in words(self.reader.description(overlay)))
            assert self.desktop.active() == window.window, "the overlay took the focus"

        text, delivered = self.app.dictate(sounds.SPEECH / f"{CLIP}.flac", see_words)
        assert delivered["outcome"] == "delivered", delivered["evidence"]
        assert words(text)[0] == said[0] and words(text)[-1] == said[-1]
        assert window.text(text) == text
        return str(delivered["model"])


def test_words_reach_two_programs_and_the_next_take_uses_the_model_chosen_in_the_settings(
    app: RunningApp, desktop: VirtualDesktop, tmp_path: Path
) -> None:
    app.until("model_changed", status="ready", name="tiny.en:Q8_0")
    reader = app.reader()
    dictating = Dictating(app, reader, desktop)
    for kind in (Chromium, Mousepad):
        assert "tiny.en" in dictating.into(kind)
    since, before = len(app.events), desktop.active()
    reader.press(reader.find("Settings", "push button"))
    until("the settings window", lambda: desktop.active() not in (0, before))
    reader.focus(reader.find("Pages", "list"))
    for key in "mod":
        desktop.person.tap(key)
    reader.press(reader.find("Use base:Q8_0 now", "push button"))
    app.until("model_changed", since=since, status="ready", name="base:Q8_0")
    assert "base" in dictating.into(Mousepad)
    reader.close()
    assert app.end() == 0
    entries = History(tmp_path / "data" / "history.db", tmp_path / "data" / "audio").search()
    assert [(entry.status, "base" in entry.model) for entry in entries] == [
        ("delivered", True),
        ("delivered", False),
        ("delivered", False),
    ]
