"""A recorded clip in the microphone's place: the same blocks, at its own rate and with all its channels."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dictation.events import Microphone
from dictation.source import Block, ClipEnded, Post, SourceLost, SourceOpened
from engine.errors import EngineError

F32 = NDArray[np.float32]

BLOCK_S = 0.02  # as the microphone's
STUCK_S = 180.0  # an engine that has not looked at a block by then


class FastForward:
    """The clock of a clip that is heard as fast as it is understood; stands in for time.monotonic.

    While the clip plays, the clock stands where its sound is: each block comes when the one before it has been looked
    at, however long that took. So every deadline, every look of the engine and every time in an event is as on an
    endlessly fast computer, and the same in every run. From the clip's end on, when the user would wait, it runs.
    """

    def __init__(self) -> None:
        self.settle: Callable[[float], bool] = lambda timeout_s: True  # the loop's, once there is one
        self._ahead_s = 0.0  # of time.monotonic
        self._stands_at_s: float | None = None

    def __call__(self) -> float:
        stands_at_s = self._stands_at_s
        return time.monotonic() + self._ahead_s if stands_at_s is None else stands_at_s

    def stop(self) -> None:
        """Stand still."""
        self._stands_at_s = self()

    def advance(self, seconds: float) -> None:
        if self._stands_at_s is not None:
            self._stands_at_s += seconds

    def run(self) -> None:
        """Run on from where it stands."""
        if self._stands_at_s is not None:
            self._ahead_s = self._stands_at_s - time.monotonic()
            self._stands_at_s = None

    def wait(self) -> None:
        """Until everything heard so far has been looked at. An engine that is stuck gets its deadlines back."""
        if not self.settle(STUCK_S):
            self.run()


class ClipSource:
    """`source.Source` that plays one clip per opening, in order; the last one again and again. Opened again (the
    computer slept), it goes on where it was, even if that was the clip's end.

    forward: play as fast as it is understood, on this clock. Without one, `realtime` gives each block when its last
    sample would have been spoken, and otherwise all come at once.
    """

    def __init__(
        self,
        post: Post,
        clips: Sequence[Path | tuple[F32, int]],
        realtime: bool = False,
        forward: FastForward | None = None,
    ) -> None:
        self._post = post
        self._clips = clips
        self._realtime = realtime
        self._forward = forward
        self._next = 0
        self._n_posted = 0  # blocks of the clip that plays
        self._stop = threading.Event()

    def open(self, opening: int, again: bool = False) -> None:
        self._stop.set()  # a clip that still plays
        self._stop = threading.Event()
        if not again or not self._next:
            self._next += 1
            self._n_posted = 0
        clip = self._clips[min(self._next, len(self._clips)) - 1]
        threading.Thread(target=self._play, args=(opening, clip, self._stop), name="clip", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def list_microphones(self) -> None: ...

    def choose(self, microphone: str) -> None: ...

    def quit(self) -> None:
        self._stop.set()

    def _play(self, opening: int, clip: Path | tuple[F32, int], stop: threading.Event) -> None:
        try:
            if self._forward is not None:
                self._forward.stop()
                self._forward.wait()  # until the take has begun, and a model is loaded
            self._post_blocks(opening, clip, stop)
        except EngineError as error:
            self._post(SourceLost(opening, str(error)))
        except Exception as error:  # noqa: BLE001 - top of the thread
            self._post(SourceLost(opening, f"The clip can't be played ({type(error).__name__})."))
        finally:
            if self._forward is not None:
                self._forward.run()

    def _post_blocks(self, opening: int, clip: Path | tuple[F32, int], stop: threading.Event) -> None:
        name = clip.stem if isinstance(clip, Path) else "clip"
        started_s, heard_s = time.monotonic(), 0.0
        for block, rate_hz in islice(_blocks(clip), self._n_posted, None):
            if not heard_s:
                microphone = Microphone(name, name, "clip", block.shape[1], rate_hz)
                self._post(SourceOpened(opening, microphone))
            heard_s += len(block) / rate_hz
            if stop.wait(started_s + heard_s - time.monotonic() if self._realtime else 0.0):
                return
            if self._forward is not None:
                self._forward.advance(len(block) / rate_hz)
            self._post(Block(opening, block, rate_hz))
            self._n_posted += 1
            if self._forward is not None:
                self._forward.wait()
        if self._forward is not None:
            self._forward.run()  # the user waits from here on
        self._post(ClipEnded(opening))


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
