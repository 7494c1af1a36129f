"""Microphones of a PulseAudio or PipeWire server, which PortAudio shows as a single one.

Only lists and watches; recording goes through PortAudio's "pulse" device, told by PULSE_SOURCE which source to take.
Monitors (what the speakers play) are no microphones.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from dictation.events import Microphone
from dictation.folder_watch import FolderWatch

_NO_SINK = 0xFFFFFFFF  # monitor_of_sink of a real microphone
HOST = "PulseAudio"
LOOK_UP_S = 10.0  # between two looks whether the watch is still wanted
LEAST_PAUSE_S, MOST_PAUSE_S = 1.0, 64.0  # between looks for a server: just after a sign of one, and without any


def _library() -> ModuleType | None:
    try:
        import pulsectl
    except (ImportError, OSError):  # no libpulse here
        return None
    return pulsectl  # type: ignore[no-any-return]


def microphones() -> tuple[Microphone, ...] | None:
    """All sources that are no monitors; None when no server answers."""
    library = _library()
    if library is None:
        return None
    try:
        with library.Pulse("sayso-list", connect=False) as pulse:
            pulse.connect(autospawn=False)
            default = pulse.server_info().default_source_name
            found = [
                Microphone(s.name, s.description, HOST, s.sample_spec.channels, s.sample_spec.rate, s.name == default)
                for s in pulse.source_list()
                if s.monitor_of_sink == _NO_SINK
            ]
    except (library.PulseError, library.PulseDisconnected):
        return None
    return tuple(found)


def _server_folders() -> list[Path]:
    """Where a server's socket would appear."""
    named = os.environ.get("PULSE_SERVER", "").removeprefix("unix:")
    if named.startswith("/"):
        return [Path(named).parent]
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    return [Path(os.environ.get("PULSE_RUNTIME_PATH") or runtime / "pulse"), runtime]


class Watch:
    """Tells when a source comes or goes, the default changes, or our recording was moved to a monitor.

    Event driven: no wake-ups while nothing happens. Where no server answers, the folder of its socket is watched; in
    case it can't be, there is a look once a minute.
    """

    def __init__(self, changed: Callable[[], None], moved_to_monitor: Callable[[], None]) -> None:
        self._changed = changed
        self._moved = moved_to_monitor
        self._stop = threading.Event()
        self.ready = threading.Event()  # a server answers, and every change from now on is told
        self._library = _library()
        self._folders: FolderWatch | None = None
        self._lock = threading.Lock()
        if self._library is not None:
            threading.Thread(target=self._run, name="pulse-watch", daemon=True).start()

    def close(self) -> None:
        """Let the thread end when it next looks up; stopping libpulse's loop from outside can abort the process."""
        self._stop.set()
        with self._lock:
            if self._folders is not None:
                self._folders.wake()

    def _run(self) -> None:
        library = self._library
        assert library is not None
        pause_s, looked = MOST_PAUSE_S, False
        while not self._stop.is_set():
            answered = False
            try:
                with library.Pulse("sayso-watch", connect=False) as pulse:
                    pulse.connect(autospawn=False)
                    answered, pause_s = True, MOST_PAUSE_S
                    if looked:  # it was not there before, nor were its microphones
                        self._changed()
                    self._listen(library, pulse)
            except Exception:  # noqa: BLE001 - top of this thread; a server that goes raises one of many kinds
                pass
            if answered and not self._stop.is_set():
                self._changed()  # it is gone, and its microphones with it
            looked = True
            pause_s = LEAST_PAUSE_S if self._wait(pause_s) else min(2 * pause_s, MOST_PAUSE_S)

    def _wait(self, timeout_s: float) -> bool:
        """Until a server may be there; whether its socket's folder said so."""
        with self._lock:
            if self._stop.is_set():
                return False
            self._folders = folders = FolderWatch(_server_folders())
        try:
            return folders.wait(timeout_s)
        finally:
            with self._lock:
                self._folders = None
                folders.close()

    def _listen(self, library: ModuleType, pulse: Any) -> None:
        seen: list[str] = []

        def on_event(event: Any) -> None:
            seen.append(str(event.facility))
            raise library.PulseLoopStop

        pulse.event_mask_set("source", "server", "source_output")
        pulse.event_callback_set(on_event)
        self.ready.set()
        while not self._stop.is_set():
            pulse.event_listen(timeout=LOOK_UP_S)
            if not seen or self._stop.is_set():
                continue
            kinds, seen[:] = set(seen), []
            if any("source_output" not in kind for kind in kinds):
                self._changed()
            if self._we_record_a_monitor(pulse):
                self._moved()

    @staticmethod
    def _we_record_a_monitor(pulse: Any) -> bool:
        ours = [
            output.source
            for output in pulse.source_output_list()
            if output.proplist.get("application.process.id") == str(os.getpid())
        ]
        monitors = {s.index for s in pulse.source_list() if s.monitor_of_sink != _NO_SINK}
        return any(source in monitors for source in ours)
