"""Draws every window and state into a folder: both themes, 100 % and 200 %, German, right to left. `make screenshots`.

Windows are the real ones with made-up content, drawn without a screen; nothing is recorded and nothing is downloaded.
All of the pictures are made for looking at; a few of them (KEPT) go to docs/screenshots.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from dictation import events
from dictation.doctor import Finding
from dictation.glance import Face, Glance, Phrase

KEPT = (
    "overlay-listening-light-200",
    "overlay-listening-dark-200",
    "models-light-100",
    "models-dark-100",
    "history-light-100",
    "welcome-1-microphone-dark-100",
)
FAILED_DOWNLOAD = "The connection to huggingface.co keeps failing; 91 MB are kept, pull again to go on."
SCREEN = {
    "name": "large",
    "x": 0,
    "y": 0,
    "width": 2560,
    "height": 1600,
    "logicalDpi": 96,
    "logicalBaseDpi": 96,
    "dpr": 1,
}
NO_TYPING = "Install wl-clipboard and, where the desktop's portal offers no RemoteDesktop, wtype or ydotool."
DOCS = Path(__file__).parents[1] / "docs" / "screenshots"


def glances() -> Iterator[tuple[str, Glance]]:
    """The states of the overlay."""
    now = time.monotonic()
    said = "Words appear while you speak: firm ones first,"
    listening = Glance(face=Face.LISTENING, words=Phrase("Listening"), overlay=True, started_s=now - 7, level=0.7)
    yield "opening", Glance(face=Face.OPENING, words=Phrase("Getting the microphone ready"), overlay=True)
    yield "listening", replace(listening, firm=said, tentative="then those that may still change")
    yield "long", replace(listening, firm=" ".join([said] * 6), tentative="and so on")
    hebrew = "המילים מופיעות בזמן הדיבור:", "קודם אלה שנשארות, ואז אלה שעוד משתנות"
    yield "hebrew", replace(listening, firm=hebrew[0], tentative=hebrew[1])
    yield "working", replace(listening, face=Face.WORKING, firm=said + " and the rest follows.", waiting=1)
    yield "done", Glance(face=Face.DONE, words=Phrase("Typed"), firm=said, overlay=True)
    why = Phrase("Not typed: {reason}", {"reason": "Another window has the keyboard now."})
    yield "held", Glance(face=Face.HELD, words=why, firm=said, overlay=True, actions=("insert_again", "copy"))
    silent = Phrase("The microphone sends only silence. Is it muted?")
    actions: tuple[events.Action, ...] = ("choose_microphone", "test_microphone")
    yield "error", Glance(face=Face.ERROR, words=silent, overlay=True, actions=actions)


def fill(home: Path) -> None:
    """Models and texts to show."""
    import numpy as np
    import soundfile

    from dictation.history import Entry, History

    models = home / "models"
    models.mkdir(parents=True)
    for name, size in (("base-Q8_0", 81_800_000), ("tiny.en-Q8_0", 45_900_000)):
        with (models / f"{name}.gguf").open("wb") as file:
            file.truncate(size)
    history = History()
    history.audio_dir.mkdir(parents=True, exist_ok=True)
    sound = np.random.default_rng(1).normal(0, 0.2, 32_000) * np.abs(np.sin(np.linspace(0, 20, 32_000)))
    soundfile.write(history.audio_dir / "take.wav", sound.astype(np.float32), 16_000)
    start = time.mktime((2026, 11, 30, 9, 0, 0, 0, 0, -1))
    texts = [
        ("Could you send me the slides from this morning?", "delivered", "Thunderbird"),
        ("Remember to water the plants on Thursday.", "delivered", "Notes"),
        ("The second paragraph needs a better ending, perhaps with a question.", "held", "LibreOffice"),
        ("Thank you, see you tomorrow.", "copied", "Signal"),
    ]
    for i, (text, status, program) in enumerate(texts):
        entry = Entry(start + 600 * i, text, text, status, model="base:Q8_0", audio_s=4.2, program=program)  # type: ignore[arg-type]
        history.add(replace(entry, audio="take.wav"))
    failed = Entry(start - 900, status="failed", evidence="The model ran out of memory.", audio="take.wav", audio_s=8.0)
    history.add(failed)
    history.close()


class Camera:
    """Takes the pictures."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self._folder, self._suffix = folder, suffix

    def take(self, widget: object, name: str) -> None:
        from PySide6.QtWidgets import QApplication, QWidget

        assert isinstance(widget, QWidget)
        widget.show()
        for _ in range(12):  # layouts that depend on a width settle in several rounds
            QApplication.sendPostedEvents()
            QApplication.processEvents()
        widget.grab().save(str(self._folder / f"{name}-{self._suffix}.png"))


def draw_all(camera: Camera) -> None:
    from dictation.settings import Settings
    from tests.fakes.core import Core
    from ui.overlay import Overlay

    replacements = (
        {"find": "say so", "replace": "Sayso"},
        {"find": "btw", "replace": "by the way", "enabled": False},
    )
    programs = ({"program": "code", "method": "keys", "trailing": "space"},)
    core = Core(Settings({"rewrite.replacements": replacements, "insertion.programs": programs}))
    for name, glance in glances():
        overlay = Overlay(lambda action: None, lambda: None)
        overlay.see(glance)
        camera.take(overlay, f"overlay-{name}")
        overlay.close()
    for draw in (draw_windows, draw_settings, draw_first_steps):
        draw(camera, core)


def draw_windows(camera: Camera, core: object) -> None:
    from PySide6.QtCore import QCoreApplication

    from dictation.history import History
    from tests.fakes.core import Core
    from ui.history import HistoryWindow
    from ui.main import TRAY_NOTE
    from ui.window import MainWindow

    assert isinstance(core, Core)
    history = HistoryWindow(core, History(), lambda path: None, lambda entries, path: None)
    history.show()
    history.choose(3)
    camera.take(history, "history")
    history.choose(2, 3)
    camera.take(history, "history-compared")
    main = MainWindow(core, lambda name: None, QCoreApplication.translate("Front", TRAY_NOTE))
    main.see(Glance(model="base:Q8_0", last_text="Could you send me the slides from this morning?"))
    camera.take(main, "main")
    main.take_files([Path("interview.mp3"), Path("meeting.mp4"), Path("notes.txt")])
    main.heard(events.FileTranscribed(Path("interview.mp3"), "", progress=0.4))
    main.heard(
        events.FileTranscribed(Path("notes.txt"), "", message="notes.txt is empty: there is nothing to transcribe.")
    )
    camera.take(main, "main-files")
    draw_menus(camera)


def draw_menus(camera: Camera) -> None:
    from PySide6.QtWidgets import QMenu

    from dictation.settings import Settings
    from tests.fakes.core import Core
    from ui.settings import languages
    from ui.tray import Tray

    core = Core(Settings({"recognition.my_languages": ("de", "en")}))
    tray = Tray(core, lambda name: None, languages.named(), lambda: None)
    tray.heard(events.MicrophonesListed((events.Microphone("usb", "USB headset"),)))
    tray.heard(events.TextDelivered(1, "Could you send me the slides from this morning?"))
    tray.see(Glance(model="base:Q8_0", last_text="Could you send me the slides from this morning?"))
    camera.take(tray.menu, "tray-menu")
    tray.see(replace(Glance(), hotkeys_paused=True))
    camera.take(tray.menu, "tray-menu-paused")
    tray.see(Glance(model="base:Q8_0"))
    submenus = [action.menu() for action in tray.menu.actions() if action.menu() is not None]
    for name, menu in zip(("texts", "models", "languages", "microphones"), submenus, strict=True):
        assert isinstance(menu, QMenu)
        menu.aboutToShow.emit()
        camera.take(menu, f"tray-menu-{name}")


def draw_settings(camera: Camera, core: object) -> None:
    from PySide6.QtCore import QCoreApplication

    from dictation.shelf import Shelf
    from tests.fakes.core import Core
    from ui.settings.about import AboutPage
    from ui.settings.dialog import SettingsWindow
    from ui.settings.models import ModelsPage

    assert isinstance(core, Core)
    models = ModelsPage(Shelf(core.send, lambda event: None))
    models.see(events.ModelChanged("base:Q8_0", events.ModelStatus.READY, device="cpu"))
    models.see(events.Download("job", "small:Q8_0", "running", 91_000_000, 264_000_000, 6_400_000.0))
    models.see(events.Download("late", "medium:Q8_0", "failed", 91_000_000, 824_000_000, message=FAILED_DOWNLOAD))
    translate = QCoreApplication.translate
    pages = [("models", translate("Front", "Models"), models), ("about", translate("Front", "About"), AboutPage())]
    window = SettingsWindow(core, pages, lambda: None)
    names = (
        "general",
        "microphone",
        "hotkeys",
        "recognition",
        "rewrite",
        "insertion",
        "privacy",
        "server",
        "advanced",
        "about",
    )
    for name in names:
        window.show_page(name)
        camera.take(window, f"settings-{name}")
    models.card("base").open()
    window.resize(900, 760)
    window.show_page("models")
    camera.take(window, "models-top")
    models.ensureWidgetVisible(models.card("base"), 0, 260)
    camera.take(window, "models")
    window.resize(560, 640)
    camera.take(window, "models-narrow")


def draw_first_steps(camera: Camera, core: object) -> None:
    from engine import catalog
    from engine.catalog import CatalogModel, Recommendation
    from tests.fakes.core import Core
    from ui.onboarding import Onboarding, PermissionsStep

    assert isinstance(core, Core)
    findings = [
        Finding("display", "ok", "Wayland (wayland-0)"),
        Finding("typing", "warning", "wayland; paste: works; typing does not work", NO_TYPING),
        Finding("microphone", "problem", "none", "Plug a microphone in, or allow one in the system's sound settings."),
    ]

    class Computer:
        def examine(self) -> list[Finding]:
            return findings

        def recommendation(self) -> tuple[CatalogModel, Recommendation]:
            model = catalog.find("base")
            assert model is not None
            return model, catalog.recommend(model, 1 << 33)

    from dictation.shelf import Shelf

    window = Onboarding(core, Shelf(core.send, lambda event: None), Computer())
    window.show()
    for i, name in enumerate(("microphone", "permissions", "model", "hotkey", "try")):
        window.go(i)
        for step in window.steps:
            if isinstance(step, PermissionsStep):
                step.show_findings(findings)
        if name == "microphone":
            window.see(events.Level(0, -24.0, -10.0, True, 0.0))
        if name == "try":
            window.see(events.FinalText(1, "", "", release_to_text_ms=120.0))
            window.see(events.TextDelivered(1, "", deliver_ms=20.0))
        camera.take(window, f"welcome-{i + 1}-{name}")


def one(folder: Path, scheme: str, percent: int, language: str = "en", mirrored: bool = False) -> None:
    """All pictures of one theme and scale; a process of its own, because Qt reads the scale at its start."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"SAYSO_HOME": home, "SAYSO_MODELS": f"{home}/models", "QT_SCALE_FACTOR": str(percent / 100)}
        fill(Path(home))
        from PySide6.QtCore import Qt
        from PySide6.QtGui import QColor, QPalette
        from PySide6.QtWidgets import QApplication

        from tests.fakes.translators import Mirrored
        from ui import theme
        from ui.translations import Translations

        screen = Path(home) / "screen.json"
        screen.write_text(json.dumps({"screens": [SCREEN]}))
        qt = QApplication(["sayso", "-platform", f"offscreen:configfile={screen}"])
        qt.setStyle("Fusion")
        Translations(qt).speak(language)
        if mirrored:
            mirrored_words = Mirrored(qt)
            qt.installTranslator(mirrored_words)
            qt.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        if scheme == "dark":
            palette = QPalette(QColor("#2b2b2b"))
            palette.setColor(QPalette.ColorRole.Base, QColor("#1f1f1f"))
            for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
                palette.setColor(QPalette.ColorGroup.Disabled, role, QColor("#8a8a8a"))
            qt.setPalette(palette)
        theme.show_edges()
        suffix = f"{scheme}-{percent}" + (f"-{language}" if language != "en" else "") + ("-rtl" if mirrored else "")
        draw_all(Camera(folder, suffix))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build/screenshots"))
    parser.add_argument("--only", nargs=2, metavar=("THEME", "PERCENT"))
    parser.add_argument("--language", default="en")
    parser.add_argument("--mirrored", action="store_true", help="right to left")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    if asked.only:
        one(asked.folder, asked.only[0], int(asked.only[1]), asked.language, asked.mirrored)
        return
    for scheme, percent, *more in (
        ("light", "100"),
        ("light", "200"),
        ("dark", "100"),
        ("dark", "200"),
        ("light", "100", "--language", "de"),
        ("light", "100", "--mirrored"),
    ):
        command = [sys.executable, "-m", "tests.screenshots", str(asked.folder), "--only", scheme, percent, *more]
        subprocess.run(command, check=True)
    DOCS.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        shutil.copy(asked.folder / f"{name}.png", DOCS)
    print(f"{len(list(asked.folder.glob('*.png')))} pictures in {asked.folder}")


if __name__ == "__main__":
    main()
