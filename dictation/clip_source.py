"""A recorded clip in the microphone's place: the same blocks, at its own rate and with all its channels."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dictation.events import Microphone
from dictation.source import Block, ClipEnded, Post, SourceLost, SourceOpened
from engine.errors import EngineError

F32 = NDArray[np.float32]

BLOCK_S = 0.02  # as the microphone's


class ClipSource:
    """`source.Source` that plays one clip per opening, in order; the last one again and again.

    realtime: each block comes when its last sample would have been spoken; otherwise as fast as it is taken.
    """

    def __init__(self, post: Post, clips: list[Path | tuple[F32, int]], realtime: bool = False) -> None:
        self._post = post
        self._clips = clips
        self._realtime = realtime
        self._next = 0
        self._stop = threading.Event()

    def open(self, opening: int, again: bool = False) -> None:
        self._stop.set()  # a clip that still plays
        self._stop = threading.Event()
        clip = self._clips[min(self._next, len(self._clips) - 1)]
        self._next += 1
        threading.Thread(target=self._play, args=(opening, clip, self._stop), name="clip", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def list_microphones(self) -> None: ...

    def choose(self, microphone: str) -> None: ...

    def quit(self) -> None:
        self._stop.set()

    def _play(self, opening: int, clip: Path | tuple[F32, int], stop: threading.Event) -> None:
        try:
            name = clip.stem if isinstance(clip, Path) else "clip"
            started_s, heard_s = time.monotonic(), 0.0
            for block, rate_hz in _blocks(clip):
                if not heard_s:
                    microphone = Microphone(name, name, "clip", block.shape[1], rate_hz)
                    self._post(SourceOpened(opening, microphone))
                heard_s += len(block) / rate_hz
                if stop.wait(started_s + heard_s - time.monotonic() if self._realtime else 0.0):
                    return
                self._post(Block(opening, block, rate_hz))
            self._post(ClipEnded(opening))
        except EngineError as error:
            self._post(SourceLost(opening, str(error)))
        except Exception as error:  # noqa: BLE001 - top of the thread
            self._post(SourceLost(opening, f"The clip can't be played ({type(error).__name__})."))


def _blocks(clip: Path | tuple[F32, int]) -> Iterator[tuple[F32, int]]:
    if isinstance(clip, tuple):
        samples, rate_hz = clip
        columns = samples[:, None] if samples.ndim == 1 else samples
        step = round(BLOCK_S * rate_hz)
        for start in range(0, len(columns), step):
            yield columns[start : start + step], rate_hz
        return
    from engine.audio import open_sound

    with open_sound(clip) as sound:
        step = round(BLOCK_S * sound.samplerate)
        while len(block := sound.read(step, dtype="float32", always_2d=True)):
            yield block, sound.samplerate
