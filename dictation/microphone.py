"""The microphone, through PortAudio: opened for a take, closed when idle.

The audio callback copies its block, posts it and returns; nothing else happens there. Opening, closing and listing run
on a thread of their own, since each may take from milliseconds to seconds. PortAudio's list of devices is as old as
its start, so it is started again before a lost microphone is looked for, and, where the default device is part of that
list, before each opening. Nothing is opened to make a list: that wakes Bluetooth headsets and stops music.

Failure modes, all seen: a source that ends calls `finished_callback` only; a suspended one just gives no block (the
session's watchdog); a muted one gives zeros; a dead server leaves an empty list. A thread stuck in PortAudio is left
behind at the next attempt.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dictation import log, pulse
from dictation.errors import MicrophoneError
from dictation.events import Microphone
from dictation.source import Block, MicrophonesSeen, Post, SourceLost, SourceOpened

F32 = NDArray[np.float32]

BLOCK_S = 0.02
MAX_CHANNELS = 16
STUCK_S = 5.0
FOLLOWS_DEFAULT = sys.platform.startswith("linux")  # there "default" is a name that the sound server resolves


class PortAudioMicrophone:
    """`source.Source` on the computer's microphones."""

    def __init__(self, post: Post, microphone: str = "", watch: bool = True) -> None:
        self._post = post
        self._chosen = microphone
        self._lock = threading.Lock()
        self._driver: _Driver | None = None
        self.watch = pulse.Watch(self.list_microphones, self._moved) if watch else None

    def open(self, opening: int, again: bool = False) -> None:
        with self._lock:
            if again and self._driver is not None and self._driver.is_stuck:
                log.get("microphone").error("PortAudio does not answer; its thread is left behind")
                self._driver = None
        self._ask(lambda driver: driver.open(opening, self._chosen, again))

    def close(self) -> None:
        if self._driver is not None:
            self._ask(lambda driver: driver.close())

    def list_microphones(self) -> None:
        self._ask(lambda driver: driver.list())

    def choose(self, microphone: str) -> None:
        self._chosen = microphone

    def quit(self) -> None:
        if self.watch is not None:
            self.watch.close()
        if self._driver is not None:
            self._ask(lambda driver: driver.quit())
            self._driver.thread.join(3.0)

    def _moved(self) -> None:
        """The server moved our recording to a monitor: that is what the speakers play, not the user."""
        if self._driver is not None and not self._chosen.endswith(".monitor"):
            self._ask(lambda driver: driver.lost("The microphone was unplugged."))

    def _ask(self, what: Callable[[_Driver], None]) -> None:
        with self._lock:
            if self._driver is None:
                self._driver = _Driver(self._post)
            self._driver.inbox.put(what)


class _Driver:
    """One thread that talks to PortAudio."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self.inbox: queue.SimpleQueue[Callable[[_Driver], None]] = queue.SimpleQueue()
        self._busy_since_s: float | None = None
        self._stream: Any = None
        self._opening = 0
        self._started = False  # PortAudio
        self.is_over = False
        self.thread = threading.Thread(target=self._run, name="microphone", daemon=True)
        self.thread.start()

    @property
    def is_stuck(self) -> bool:
        """Whether one call into PortAudio has taken longer than any does on a slow computer."""
        since_s = self._busy_since_s
        return since_s is not None and time.monotonic() - since_s > STUCK_S

    def _run(self) -> None:
        while not self.is_over:
            what = self.inbox.get()
            self._busy_since_s = time.monotonic()
            try:
                what(self)
            except Exception as error:  # noqa: BLE001 - top of the thread
                log.get("microphone").exception("a fault: %s", type(error).__name__)
                self._post(SourceLost(self._opening, f"The microphone failed ({type(error).__name__})."))
            finally:
                self._busy_since_s = None

    # -- what is asked for; all on this thread

    def open(self, opening: int, chosen: str, again: bool) -> None:
        self._close_stream()
        self._opening = opening
        if again or not FOLLOWS_DEFAULT:
            self._restart_portaudio()
        try:
            microphone, device, fell_back = _resolve(chosen)
            self._start_stream(opening, microphone, device)
        except MicrophoneError as error:
            self._close_stream()
            self._post(SourceLost(opening, str(error)))
            return
        reason: Literal["opened", "fell_back", "restarted"] = (
            "fell_back" if fell_back else "restarted" if again else "opened"
        )
        self._post(SourceOpened(opening, microphone, reason))

    def close(self) -> None:
        self._close_stream()

    def lost(self, message: str) -> None:
        if self._stream is not None:
            self._close_stream()
            self._post(SourceLost(self._opening, message))

    def list(self) -> None:
        if self._stream is None and not FOLLOWS_DEFAULT:
            self._restart_portaudio()
        self._post(MicrophonesSeen(microphones()))

    def quit(self) -> None:
        self._close_stream()
        self.is_over = True

    # -- PortAudio

    def _start_stream(self, opening: int, microphone: Microphone, device: int | None) -> None:
        import sounddevice

        rate_hz = microphone.native_rate_hz
        post = self._post

        def callback(block: F32, frames: int, at: object, status: Any) -> None:
            post(Block(opening, block.copy(), rate_hz, bool(status.input_overflow) if status else False))

        def finished() -> None:
            if self._stream is stream:  # not closed by us
                self.inbox.put(lambda driver: driver.lost("The microphone was unplugged."))

        stream = None
        try:
            stream = sounddevice.InputStream(
                samplerate=rate_hz,
                blocksize=round(rate_hz * BLOCK_S),
                device=device,
                channels=min(microphone.channels, MAX_CHANNELS),
                dtype="float32",
                callback=callback,
                finished_callback=finished,
            )
            self._stream = stream
            stream.start()
        except (sounddevice.PortAudioError, ValueError, OSError) as error:
            raise MicrophoneError(
                f"{microphone.label or 'The microphone'} can't be opened. Is it plugged in?"
            ) from error

    def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort()
            stream.close()

    @staticmethod
    def _restart_portaudio() -> None:
        """Make PortAudio look at the devices anew. Only without an open stream."""
        import sounddevice

        sounddevice._terminate()
        sounddevice._initialize()


def microphones() -> tuple[Microphone, ...]:
    """The microphones there are, by PortAudio's or the sound server's list. Opens no device."""
    listed = pulse.microphones()
    if listed is not None:
        return listed
    return tuple(microphone for microphone, _ in _portaudio_inputs())


def _portaudio_inputs() -> list[tuple[Microphone, int]]:
    import sounddevice

    try:
        hosts = sounddevice.query_hostapis()
        default = sounddevice.default.device[0]
        found = []
        for index, device in enumerate(sounddevice.query_devices()):
            if device["max_input_channels"] < 1:
                continue
            host = hosts[device["hostapi"]]["name"]
            name, rate_hz = device["name"], int(device["default_samplerate"])
            microphone = Microphone(
                f"{host}: {name}", name, host, device["max_input_channels"], rate_hz, index == default
            )
            found.append((microphone, index))
        return found
    except (sounddevice.PortAudioError, ValueError):
        return []


def _resolve(chosen: str) -> tuple[Microphone, int | None, bool]:
    """The device to open for the user's choice, and whether it is another one because that one is not there.

    Raises MicrophoneError when there is none at all.
    """
    listed = pulse.microphones()
    inputs = _portaudio_inputs()
    by_server = next((i for m, i in inputs if m.label == "pulse"), None)
    if listed is not None and by_server is not None:
        os.environ.pop("PULSE_SOURCE", None)
        found = next((m for m in listed if m.name == chosen), None)
        if found is None:
            found = next((m for m in listed if m.default), None)
            if found is None and listed:
                found = listed[0]  # the default is a monitor: what the speakers play
            if found is None:
                raise MicrophoneError("There is no microphone. Plug one in, or choose one in the sound settings.")
        if chosen or not found.default:
            os.environ["PULSE_SOURCE"] = found.name
        return found, by_server, bool(chosen) and found.name != chosen
    if not inputs:
        raise MicrophoneError("There is no microphone. Plug one in, or choose one in the sound settings.")
    microphone, index = next(
        ((m, i) for m, i in inputs if m.name == chosen), next(((m, i) for m, i in inputs if m.default), inputs[0])
    )
    return microphone, index, bool(chosen) and microphone.name != chosen
