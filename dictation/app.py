"""The app without a window: wires settings, microphone, engine, typist, history and control socket around the loop.

with App() as app:          # used by `sayso listen` and by the tray app
    app.loop.send(Start())
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dictation import events as e
from dictation import log, models, paths, recogniser
from dictation import settings as settings_module
from dictation.control import Server
from dictation.delivery import Deliverer, NoDesktop, OwnThread, Run
from dictation.desktop import open_desktop
from dictation.desktop.contract import Delivery, Desktop, Method, Outcome, Target
from dictation.desktop.dummy import ADVICE
from dictation.errors import ControlError, HistoryError
from dictation.history import History
from dictation.keys import Binder, Keys
from dictation.loop import Loop, NoKeys, Parts
from dictation.server.switch import Switch
from dictation.settings import Settings
from dictation.source import Post, Source
from dictation.spool import Spool
from dictation.typist import Typist
from dictation.vocabulary import Vocabulary
from dictation.worker.model import Beside, Build

if TYPE_CHECKING:
    from dictation.desktop.sleep import WakeWatch


@dataclass(frozen=True)
class Wiring:
    """What another front end, or a test, wants different. The defaults make the app that users have."""

    desktop: bool = True  # type into windows; False: texts are printed or kept
    control: bool = True  # listen on the control socket
    keep_history: bool = True
    spool: Spool | None = None  # None: the user's own
    changes: dict[str, object] | None = None  # settings for this run only
    make_source: Callable[[Post], Source] | None = None  # None: the microphone
    build: Build = recogniser.build
    beside: Beside = recogniser.beside  # whether `build` can go on while another model is in use
    run: Run | None = None  # runs work on the thread that may type; None: a thread of its own
    hotkeys: bool = False  # bind the user's hotkeys (needs a desktop)
    show: Callable[[], None] | None = None  # brings the window up
    open_files: Callable[[list[Path]], None] | None = None  # the same with files to write down
    server: bool = False  # serve the local API while the settings say so
    clock: Callable[[], float] = time.monotonic


class App:
    """Everything that runs. `notices` holds what the user should know of the start: damaged settings or history."""

    def __init__(self, wiring: Wiring | None = None) -> None:
        wiring = wiring or Wiring()
        file = settings_module.SettingsFile(paths.settings_file())
        loaded = file.load()
        settings = loaded.settings
        notices = [e.Notice("settings_field_reset", problem, "warning") for problem in loaded.problems]
        if no_log := log.start(str(settings["advanced.log_level"])):
            notices.append(e.Notice("no_log", no_log, "warning"))
        self.history = self._open_history(notices) if wiring.keep_history else None
        self.desktop = _open_desktop(notices) if wiring.desktop else None
        if wiring.changes:
            settings = settings.changed(wiring.changes)
        typist = None if self.desktop is None else Typist(self.desktop)
        deliverer: Deliverer = NoDesktop()
        if self.desktop is not None and typist is not None:
            typist.change(settings)
            deliverer = TypistDeliverer(self.desktop, typist)
        self.loop = Loop(
            Parts(
                make_source=wiring.make_source or _microphone,
                build=wiring.build,
                beside=wiring.beside,
                deliverer=deliverer,
                run=wiring.run or OwnThread(),
                keys=Keys(settings) if wiring.hotkeys else NoKeys(),
                spool=wiring.spool or Spool(),
                history=self.history,
                vocabulary=Vocabulary(paths.vocabulary_file()) if wiring.keep_history else None,
                settings=settings,
                settings_file=None if wiring.changes else file,
                active_model=active_model,
                clock=wiring.clock,
            )
        )
        if typist is not None:
            self.loop.subscribe(lambda event: self._follow_settings(event, typist))
        self._binder: Binder | None = None
        if wiring.hotkeys and self.desktop is not None:
            self._binder = Binder(self.desktop, lambda: self.loop.settings, self.loop.send, self.loop.publish)
            self.loop.subscribe(self._binder.note)
        self._control = self._listen(wiring, notices) if wiring.control else None
        self._sleep = self._watch_sleep() if wiring.hotkeys else None
        self.api = Switch(self.loop, self.loop.publish) if wiring.server else None
        self.notices: tuple[e.Notice, ...] = tuple(notices)

    def _follow_settings(self, event: e.Event, typist: Typist) -> None:
        if isinstance(event, e.SettingsChanged) and any(key.startswith("insertion.") for key in event.keys):
            typist.change(self.loop.settings)

    def __enter__(self) -> App:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.loop.start()
        if self.api is not None:
            self.api.start()

    def stop(self) -> None:
        """End everything; a take that is being recorded is kept."""
        if self.api is not None:
            self.api.close()
        if self._binder is not None:
            self._binder.close()
        if self._sleep is not None:
            self._sleep.close()
        self.loop.stop()
        if self._control is not None:
            self._control.close()
        if self.desktop is not None:
            self.desktop.close()
        if self.history is not None:
            self.history.close()

    def _listen(self, wiring: Wiring, notices: list[e.Notice]) -> Server | None:
        try:
            return Server(self.loop, wiring.show, wiring.open_files)
        except OSError as error:
            text = (
                f"Commands like `sayso toggle` do not reach this Sayso: {error.filename or 'its socket'} can't be made."
            )
        except ControlError as error:  # `sayso listen` in a terminal has it, for example
            text = str(error)
        notices.append(e.Notice("no_control", text, "warning"))
        return None

    def _watch_sleep(self) -> WakeWatch | None:
        """Devices and workers may be dead after the computer slept."""
        if not sys.platform.startswith("linux"):
            return None
        from dictation.desktop.sleep import WakeWatch

        return WakeWatch(lambda: self.loop.send(e.SystemWoke()))

    @staticmethod
    def _open_history(notices: list[e.Notice]) -> History | None:
        try:
            history = History()
        except HistoryError as error:
            notices.append(e.Notice("history", str(error), "warning"))
            return None
        if history.salvaged is not None:
            text = (
                f"The history was damaged; {history.salvaged} entries were saved. The damaged file is kept beside it."
            )
            notices.append(e.Notice("history_salvaged", text, "warning"))
        return history


class TypistDeliverer:
    """The typist, with the clipboard for texts that are only copied."""

    def __init__(self, desktop: Desktop, typist: Typist | None = None) -> None:
        self._desktop = desktop
        self.typist = typist or Typist(desktop)

    def target(self) -> Target | None:
        return self.typist.target()

    def deliver(self, text: str, target: Target | None) -> Delivery:
        return self.typist.deliver(text, target)

    def undo(self) -> Delivery:
        return self.typist.undo()

    def copy(self, text: str) -> Delivery:
        self._desktop.clipboard.write_text(text)
        if self._desktop.name == "dummy":
            return Delivery(Outcome.HELD, Method.COPY, "kept in memory", 0.0, f"There is no clipboard here. {ADVICE}")
        return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", 0.0)


def active_model(settings: Settings) -> str:
    """The model of the settings, else the starter, else whatever is installed."""
    return str(settings["recognition.model"]) or models.active_model()


def _microphone(post: Post) -> Source:
    from dictation.microphone import PortAudioMicrophone

    return PortAudioMicrophone(post)


def _open_desktop(notices: list[e.Notice]) -> Desktop | None:
    try:
        return open_desktop()
    except Exception as error:  # noqa: BLE001 - a desktop that can't be reached must not stop dictation
        log.get("app").warning("no desktop: %s", type(error).__name__)
        text = f"Sayso can't type here ({error}). Texts are kept in the history instead."
        notices.append(e.Notice("no_desktop", text, "warning"))
        return None
