"""The program that people start: one QApplication, one instance, the core behind it, and every window on demand."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QObject, QRect, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox, QSystemTrayIcon, QWidget

from dictation import autostart, control, events, log, paths, sounds, updates
from dictation.app import App, Wiring
from dictation.errors import ControlError
from dictation.events import Action, Command, Cue, Event
from dictation.glance import Face, Glance, resting, see
from dictation.settings import Settings
from dictation.settings import load as load_settings
from dictation.shelf import Shelf
from ui import theme, welcome
from ui.bridge import Bridge
from ui.overlay import Overlay
from ui.sentences import say
from ui.settings import languages
from ui.signals import EndSignals
from ui.translations import Translations
from ui.tray import Tray, face_icon
from ui.window import MainWindow

LOOK_FOR_UPDATES_MS = 3600 * 1000  # how often it is seen whether a day has passed
WARM_UP_MS = 400  # after the start, when what was asked for is on screen
HINT_TAKES = 3  # for how many takes "Esc to cancel" is shown
TRAY_NOTE = QT_TRANSLATE_NOOP(
    "Front",
    "This desktop shows no tray icon. "
    "On GNOME the extension “AppIndicator and KStatusNotifierItem Support” brings one.",
)


class CoreLink:
    """The core as the windows see it (`ui/core.py`)."""

    def __init__(self, app: App) -> None:
        self._app = app

    def send(self, command: Command) -> None:
        self._app.loop.send(command)

    @property
    def settings(self) -> Settings:
        return self._app.loop.settings


class Front(QObject):
    """Everything on screen. Built on the main thread; the core's events reach it through the bridge."""

    def __init__(self, qt: QApplication, wiring: Wiring | None = None) -> None:
        super().__init__()
        self._qt = qt
        self._translations = Translations(qt)
        self.bridge = Bridge(self)
        self._greets = wiring is None  # a front end with other wiring is not somebody's first start
        wiring = wiring or Wiring(
            hotkeys=True,
            server=True,
            show=lambda: self.bridge.run_on_main(self.show_main),
            open_files=lambda files: self.bridge.run_on_main(lambda: self.open_files(files)),
        )
        self.app = App(wiring)
        self.core = CoreLink(self.app)
        self._speak()
        self.shelf = Shelf(
            self.core.send,
            self.bridge.publish,
            lambda: self.bridge.run_on_main(self._models_changed),
            endpoint=str(self.core.settings["advanced.hub_endpoint"]) or None,
        )
        self.glance = Glance()
        self._takes_shown = 0
        self._has_ended = False
        self._windows: dict[str, QWidget] = {}
        self._expiry = QTimer(self, singleShot=True)
        self._expiry.timeout.connect(self._expire)
        self._updates = updates.Daily(self.bridge.publish)
        self._hourly = QTimer(self, interval=LOOK_FOR_UPDATES_MS)
        self._hourly.timeout.connect(self._look_for_updates)
        self.overlay = Overlay(self._act, self._dismiss)
        self.tray = Tray(self.core, self.open_window, languages.named(), self.quit)
        self.has_tray = QSystemTrayIcon.isSystemTrayAvailable()
        self.bridge.event.connect(self._see)
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._change_theme)
        self._qt.aboutToQuit.connect(self._end)  # without a tray, also by the last window that is closed
        theme.show_edges()

    def start(self) -> None:
        """Show what there is to show and let the core run."""
        self.app.loop.subscribe(self.bridge.publish)
        self._apply_settings()
        self.app.start()
        for notice in self.app.notices:
            self.bridge.publish(notice)
        if self.has_tray:
            self.tray.icon.show()
        else:
            self.show_main()
        if self._greets and welcome.is_wanted(self.core):
            self.open_window("welcome")
        self._qt.setQuitOnLastWindowClosed(not self.has_tray)
        self._hourly.start()
        self._look_for_updates()
        if self.core.settings["general.start_at_login"]:
            self._start_at_login()  # the program may have moved since
        self._later = [*(partial(face_icon, face) for face in Face), self.overlay.warm_up]
        QTimer.singleShot(WARM_UP_MS, self._warm_up)

    def _warm_up(self) -> None:
        """Draw once, a piece per turn of the loop, what a first dictation would otherwise wait for."""
        if self._later:
            self._later.pop(0)()
            QTimer.singleShot(0, self._warm_up)

    def quit(self) -> None:
        """End the core first: what is being recorded is kept."""
        self._end()
        self._qt.quit()

    def _end(self) -> None:
        if self._has_ended:
            return
        self._has_ended = True
        self.tray.icon.hide()
        self.overlay.hide()
        self.shelf.close()
        self.app.stop()

    # ---------------------------------------------------------------------------------------------------------- events

    def _see(self, event: Event) -> None:
        now_s = time.monotonic()
        before, self.glance = self.glance, see(self.glance, event, now_s)
        if self.glance != before:
            self._show(now_s)
        self.tray.heard(event)
        for window in self._windows.values():
            for method in ("heard", "see"):
                watch = getattr(window, method, None)
                if watch is not None and not (isinstance(window, MainWindow) and method == "see"):
                    watch(event)
        match event:
            case events.PlaySound():
                self._sound(event.cue)
            case events.SettingsChanged():
                self._apply_settings()
                self._show(now_s)
                if "general.interface_language" in event.keys:
                    QTimer.singleShot(0, self._change_language)  # not under the feet of the window that asked for it
                if "general.start_at_login" in event.keys:
                    self._start_at_login()
                if "general.check_for_updates" in event.keys:
                    self._look_for_updates()
            case events.Notice() if event.code == "update_available" or (
                event.severity != "info" and not self.glance.overlay
            ):
                self.tray.notify("Sayso", say(event.message))
            case events.CaretSeen():
                self.overlay.see_caret(QRect(event.left, event.top, event.width, event.height))
            case events.StateChanged() if event.state is events.State.OPENING:
                self.overlay.see_caret(None)
            case events.StateChanged() if event.state is events.State.LISTENING:
                self._takes_shown += 1
                self.overlay.hint = self._takes_shown <= HINT_TAKES
            case events.Stopped():
                self._qt.quit()

    def _show(self, now_s: float) -> None:
        wanted = bool(self.core.settings["general.show_overlay"])
        self.overlay.see(self.glance if wanted else replace(self.glance, overlay=False))
        self.tray.see(self.glance)
        main = self._windows.get("main")
        if isinstance(main, MainWindow) and main.isVisible():
            main.see(self.glance)
        if self.glance.visible_until_s is not None:
            self._expiry.start(max(0, int(1000 * (self.glance.visible_until_s - now_s)) + 5))
        else:
            self._expiry.stop()

    def _expire(self) -> None:
        self.glance = self.glance.at(time.monotonic())
        self._show(time.monotonic())

    def _sound(self, cue: Cue) -> None:
        wanted = {
            Cue.READY: "general.sound_ready",
            Cue.STOPPED: "general.sound_done",
            Cue.DONE: "general.sound_done",
            Cue.HELD: "general.sound_problem",
            Cue.FAILED: "general.sound_problem",
        }
        if self.core.settings[wanted[cue]]:
            sounds.play(cue)

    def _apply_settings(self) -> None:
        self.overlay.corner = str(self.core.settings["general.overlay_place"]).replace("_", "-")
        theme.follow(str(self.core.settings["general.theme"]))

    def _change_theme(self) -> None:
        self.tray.refresh_icon()
        theme.show_edges()

    def _speak(self) -> None:
        self._translations.speak(str(self.core.settings["general.interface_language"]))

    def _change_language(self) -> None:
        """Everything on screen anew, in the language that is set now."""
        self._speak()
        settings = self._windows.get("settings")
        pages = [settings.current_page()] if isinstance(settings, QWidget) and settings.isVisible() else []  # type: ignore[attr-defined]
        shown = [n for n in ("main", "history", "welcome") if n in self._windows and self._windows[n].isVisible()]
        old, self._windows = list(self._windows.values()), {}
        for name in shown + pages:
            self.open_window(name)
        for window in old:
            window.close()
            window.deleteLater()
        self.tray.speak_anew()
        self.overlay.speak_anew()

    def _look_for_updates(self) -> None:
        self._updates.look(bool(self.core.settings["general.check_for_updates"]))

    def _start_at_login(self) -> None:
        try:
            autostart.change(bool(self.core.settings["general.start_at_login"]))
        except OSError as error:
            text = f"Starting with the computer can't be changed: {error.strerror or error}."
            self.bridge.publish(events.Notice("autostart", text, "warning"))

    def delete_all(self) -> None:
        """Empty the history, audio too."""
        if self.app.history is not None:
            self.app.history.delete_all()
            self.bridge.publish(events.HistoryChanged())

    def _models_changed(self) -> None:
        for name in ("models", "settings", "welcome"):
            if (window := self._windows.get(name)) is not None:
                window.refresh()  # type: ignore[attr-defined]

    # --------------------------------------------------------------------------------------------------------- actions

    def _act(self, action: Action) -> None:
        """A button on the overlay."""
        match action:
            case "insert_again":
                self.core.send(events.InsertAgain())
            case "copy":
                self.core.send(events.CopyText())
            case "choose_model":
                self.open_window("models")
            case "choose_microphone" | "test_microphone":
                self.open_window("microphone")
            case _:
                self.open_window("history")
        self._dismiss()

    def _dismiss(self) -> None:
        self.glance = resting(self.glance)
        self._show(time.monotonic())

    # --------------------------------------------------------------------------------------------------------- windows

    def show_main(self) -> None:
        self.open_window("main")

    def open_files(self, files: list[Path]) -> None:
        """Write these down, and show how far they are."""
        self.open_window("main")
        main = self._windows["main"]
        assert isinstance(main, MainWindow)
        main.take_files(files)

    def open_window(self, name: str) -> None:
        """Bring a window up, made at its first use: "main", "history", "welcome", or a page of the settings."""
        makers = {"main": self._make_main, "history": self._make_history, "welcome": self._make_welcome}
        if name in makers:
            window = self._windows.get(name)
            if window is None:
                window = self._windows[name] = makers[name]()
            if isinstance(window, MainWindow):
                window.see(self.glance)
            window.show()
            window.raise_()
            window.activateWindow()
            return
        from ui.settings.dialog import SettingsWindow

        window = self._windows.get("settings")
        if not isinstance(window, SettingsWindow):
            window = self._make_settings()
        window.show_page("general" if name == "settings" else name)

    def window(self, name: str) -> QWidget | None:
        """A window that was opened before; pages of the settings are in "settings"."""
        return self._windows.get(name if name in ("main", "history", "welcome") else "settings")

    def _make_main(self) -> MainWindow:
        return MainWindow(
            self.core, self.open_window, "" if self.has_tray else QCoreApplication.translate("Front", TRAY_NOTE)
        )

    def _make_history(self) -> QWidget:
        from dictation.history_export import export
        from ui.history import HistoryWindow

        if self.app.history is None:
            return self._make_main()
        return HistoryWindow(self.core, self.app.history, sounds.play_file, export)

    def _make_welcome(self) -> QWidget:
        from ui.onboarding import Onboarding

        return Onboarding(self.core, self.shelf)

    def _make_settings(self) -> QWidget:
        from ui.settings.about import AboutPage
        from ui.settings.dialog import SettingsWindow
        from ui.settings.models import ModelsPage

        models = ModelsPage(self.shelf)
        models.see(events.ModelChanged(self.glance.model, self.glance.model_status, self.glance.model_note))
        pages = [("models", self.tr("Models"), models), ("about", self.tr("About"), AboutPage())]
        window = SettingsWindow(self.core, pages, self.app.history and self.delete_all)
        self._windows["models"], self._windows["settings"] = models, window
        return window


def _report(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """Faults of the interface go to the log and leave the program running."""
    log.get("ui").error("fault in the interface", exc_info=(kind, fault, trace))


def _hand_over(files: list[str]) -> tuple[bool, str]:
    """Let the Sayso that runs show itself: whether it did, or a sentence why a second one can't start either."""
    try:
        control.ask({"do": "open", "files": files} if files else {"do": "show"})
    except control.NoAnswer as error:
        return False, str(error)
    except ControlError:  # none runs, or one without windows: `sayso listen`
        return False, ""
    return True, ""


def main(
    argv: list[str] | None = None, wiring: Wiring | None = None, ready: Callable[[Front], None] | None = None
) -> int:
    """Start Sayso, or bring the running one to the front; files that are named are written down.

    Returns the exit code.
    """
    argv = sys.argv if argv is None else argv
    files = [os.path.abspath(name) for name in argv[1:] if os.path.isfile(name)]
    running, fault = _hand_over(files)
    if running:
        return 0
    qt = QApplication(argv)
    if fault:  # started from a menu, there is no terminal to say it in
        chosen = load_settings(paths.settings_file()).settings["general.interface_language"]
        Translations(qt).speak(str(chosen))
        QMessageBox.critical(None, "Sayso", say(fault))
        return 1
    qt.setApplicationName("Sayso")
    qt.setDesktopFileName("sayso")
    qt.setWindowIcon(theme.app_icon())
    sys.excepthook = _report
    threading.excepthook = lambda args: _report(args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback)
    front = Front(qt, wiring)
    signals = EndSignals(front.quit)
    front.start()
    if files:
        front.open_files([Path(name) for name in files])
    if ready is not None:
        ready(front)
    code = qt.exec()
    del signals
    return code


if __name__ == "__main__":
    sys.exit(main())
