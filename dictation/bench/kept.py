"""One model for many short-lived apps: loaded once, on a thread of its own, and lent to each app's engine worker.

A runtime belongs to the thread that built it, while each clip gets an app of its own, so that nothing of one clip (last
language, last text) reaches the next. What passes through is measured here, where the engine is called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import engine
from dictation.worker.model import Asked, Live, Model, Partial, Recording, Request
from engine.audio import Audio
from engine.transcript import Segment, Transcript

F32 = NDArray[np.float32]
Answer = TypeVar("Answer")


@dataclass
class Heard:
    """What the engine was asked for one clip, and how long it took."""

    transcript: Transcript | None = None
    looks_ms: list[float] = field(default_factory=list)  # partials that came to a text
    finish_ms: float = 0.0  # of the answer, from the call on; of a whole recording, from its opening on


class KeptModel:
    """`make` builds and warms the model, on the thread that stays its own. Raises what `make` raises."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="kept-model")
        self.heard = Heard()

        def build() -> Model:
            model = make()
            model.warm_up()
            while model.prepare(lambda: False):
                pass
            return model

        self._model = self.on_thread(build)

    @property
    def device(self) -> str:
        return self._model.device

    def on_thread(self, work: Callable[[], Answer]) -> Answer:
        return self._thread.submit(work).result()

    def build(self, name: str, device: str) -> Model:
        """`worker.model.Build` for one app: the kept model under the name it gives. Begins a new `heard`."""
        self.heard = Heard()
        return _Lent(self, self._model, name)

    def close(self) -> None:
        def end() -> None:
            self._model.close()
            engine.leave_thread()

        self.on_thread(end)
        self._thread.shutdown()


class _Lent:
    """`worker.model.Model` for the life of one app."""

    def __init__(self, owner: KeptModel, model: Model, name: str) -> None:
        self._owner = owner
        self._model = model
        self.name = name
        self.device = model.device

    def warm_up(self) -> None:
        """It is warm."""

    def prepare(self, cancelled: Asked) -> bool:
        return False

    def begin(self, request: Request) -> Live:
        return _LentLive(self._owner, self._owner.on_thread(lambda: self._model.begin(request)))

    def open(self, recording: F32 | Audio, request: Request) -> Recording:
        started = time.perf_counter()
        return _LentRecording(self._owner, self._owner.on_thread(lambda: self._model.open(recording, request)), started)

    def close(self) -> None:
        """It stays loaded."""


class _LentLive:
    def __init__(self, owner: KeptModel, live: Live) -> None:
        self._owner = owner
        self._live = live

    def append(self, samples: F32, start: int | None = None) -> None:
        self._owner.on_thread(lambda: self._live.append(samples, start))

    def cut(self, at: int | None = None) -> None:
        self._owner.on_thread(lambda: self._live.cut(at))

    def rest(self) -> None:
        self._owner.on_thread(self._live.rest)

    def partial(self, cancelled: Asked | None = None) -> Partial | None:
        started = time.perf_counter()
        partial = self._owner.on_thread(lambda: self._live.partial(cancelled))
        if partial is not None:
            self._owner.heard.looks_ms.append((time.perf_counter() - started) * 1000)
        return partial

    def finish(self, heard_speech: bool | None = None, cancelled: Asked | None = None) -> Transcript:
        started = time.perf_counter()
        heard = self._owner.heard
        heard.transcript = self._owner.on_thread(lambda: self._live.finish(heard_speech, cancelled))
        heard.finish_ms = (time.perf_counter() - started) * 1000
        return heard.transcript


class _LentRecording:
    def __init__(self, owner: KeptModel, recording: Recording, started: float) -> None:
        self._owner = owner
        self._recording = recording
        self._started = started

    @property
    def segments(self) -> Sequence[Segment]:
        return self._recording.segments

    @property
    def done_s(self) -> float:
        return self._recording.done_s

    def step(self, cancelled: Asked | None = None) -> bool:
        return self._owner.on_thread(lambda: self._recording.step(cancelled))

    def transcript(self) -> Transcript:
        heard = self._owner.heard
        heard.transcript = self._owner.on_thread(self._recording.transcript)
        heard.finish_ms = (time.perf_counter() - self._started) * 1000
        return heard.transcript
