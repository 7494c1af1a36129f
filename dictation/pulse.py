"""Microphones of a PulseAudio or PipeWire server, which PortAudio shows as a single one.

Only lists and watches; recording goes through PortAudio's "pulse" device, told by PULSE_SOURCE which source to take.
Monitors (what the speakers play) are no microphones.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from dictation.events import Microphone

_NO_SINK = 0xFFFFFFFF  # monitor_of_sink of a real microphone
HOST = "PulseAudio"
LOOK_UP_S = 10.0  # between two looks whether the watch is still wanted


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


class Watch:
    """Tells when a source comes or goes, the default changes, or our recording was moved to a monitor.

    Event driven: no wake-ups while nothing happens.
    """

    def __init__(self, changed: Callable[[], None], moved_to_monitor: Callable[[], None]) -> None:
        self._changed = changed
        self._moved = moved_to_monitor
        self._stop = threading.Event()
        self.ready = threading.Event()  # a server answers, and every change from now on is told
        self._library = _library()
        if self._library is not None:
            threading.Thread(target=self._run, name="pulse-watch", daemon=True).start()

    def close(self) -> None:
        """Let the thread end when it next looks up; stopping libpulse's loop from outside can abort the process."""
        self._stop.set()

    def _run(self) -> None:
        library = self._library
        assert library is not None
        while not self._stop.is_set():
            try:
                with library.Pulse("sayso-watch", connect=False) as pulse:
                    pulse.connect(autospawn=False)
                    self._listen(library, pulse)
            except (library.PulseError, library.PulseDisconnected):
                pass
            if self._stop.wait(5.0):  # the server is gone: look for another now and then
                return
            self._changed()

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
