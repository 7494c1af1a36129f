"""The engine thread: loads a model, recognises while somebody speaks, ends takes in order, frees the model.

The session loop calls the methods of `Worker` and never waits; answers come back through `report`, from the engine
thread. Each take has a queue of what was heard; a step takes all of it at once, so that the newest audio is looked at
and nothing queues up. A partial is given up as soon as any take waits for its end.

Failure mode: a thread that hangs in native code can't be stopped. `replace` leaves it behind (its answers carry an old
generation and are dropped) and starts another with the takes that are left; the loop feeds them again from the spool.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import engine
from dictation import log
from dictation.events import ModelChanged, ModelStatus
from dictation.languages import LanguageRequest
from dictation.vocabulary import Term
from engine.errors import Cancelled, EngineError, ModelNotFoundError
from engine.transcript import Transcript

F32 = NDArray[np.float32]
Asked = Callable[[], bool]

TOUCH_AFTER_S = 30.0  # of rest: the weights may have been paged out, so they are touched at key-down
BEAT_S = 1.0  # between two signs of life


@dataclass(frozen=True)
class Request:
    """How a take is to be recognised."""

    language: LanguageRequest = field(default_factory=lambda: LanguageRequest(None, (), None, "transcribe"))
    terms: tuple[Term, ...] = ()  # the user's vocabulary
    live: bool = True  # show text while it is spoken
    model: str | None = None  # None: the active one


class Partial(Protocol):
    """What is understood so far: `engine.streaming.Partial`."""

    @property
    def firm(self) -> str: ...
    @property
    def tentative(self) -> str: ...
    @property
    def seconds(self) -> float: ...


class Live(Protocol):
    """One take being recognised: `engine.streaming.LiveTranscriber`. Times are samples from the take's first one."""

    def append(self, samples: F32, start: int | None = None) -> None: ...

    def cut(self, at: int | None = None) -> None: ...

    def partial(self, cancelled: Asked | None = None) -> Partial | None: ...

    def finish(self, heard_speech: bool | None = None, cancelled: Asked | None = None) -> Transcript: ...


class Model(Protocol):
    """A loaded model; belongs to the thread that built it."""

    @property
    def name(self) -> str: ...
    @property
    def device(self) -> str: ...

    def warm_up(self) -> None: ...

    def begin(self, request: Request) -> Live: ...

    def transcribe(self, samples: F32, request: Request, cancelled: Asked) -> Transcript: ...

    def close(self) -> None: ...


Build = Callable[[str, str], Model]  # (name, device); raises EngineError


# ---- reports --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartialReport:
    take: int
    firm: str = field(repr=False)
    tentative: str = field(repr=False)
    audio_s: float


@dataclass(frozen=True)
class FinalReport:
    take: int
    transcript: Transcript = field(repr=False)
    model: str


@dataclass(frozen=True)
class FailureReport:
    take: int
    message: str


@dataclass(frozen=True)
class BeatReport:
    """The engine makes progress."""


@dataclass(frozen=True)
class ModelReport:
    event: ModelChanged


Report = PartialReport | FinalReport | FailureReport | BeatReport | ModelReport

# ---- the worker -----------------------------------------------------------------------------------------------------


@dataclass
class _Job:
    """A take on its way through the engine. Guarded by the worker's lock, but for `live`."""

    take: int
    request: Request
    model: str
    heard: deque[tuple[F32, int] | int] = field(default_factory=deque)  # (samples, start), or a cut
    hurry: bool = False
    finish: bool = False
    offline: F32 | None = None  # a whole recording instead of a growing one
    heard_speech: bool | None = None
    dropped: bool = False
    live: Live | None = None  # of the engine thread
    touched: bool = False


class Worker:
    """See the module. `build` makes a model on the engine thread; `report` must only put its argument in a queue."""

    def __init__(
        self, build: Build, report: Callable[[Report], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._build = build
        self._report_to = report
        self._clock = clock
        self._lock = threading.Condition()
        self._jobs: dict[int, _Job] = {}  # by take, oldest first
        self._active = ""
        self._device = "auto"
        self._wanted = False  # the active model should be in memory
        self._generation = 0
        self._closing = False
        self._resting = True  # the engine thread has seen all news and has nothing to do
        self._beat_s = 0.0
        self.loading_since_s: float | None = None  # read by the loop: a load is progress too
        self._thread: threading.Thread | None = None

    # -- called by the session loop

    def use(self, name: str, device: str = "auto") -> None:
        """Make a model the active one; loads it when the takes that began with another have ended."""
        with self._lock:
            self._active, self._device, self._wanted = name, device, bool(name)
            self._wake()

    @property
    def active(self) -> str:
        return self._active

    def unload(self) -> None:
        """Free the model until the next take."""
        with self._lock:
            self._wanted = False
            self._wake()

    def begin(self, take: int, request: Request) -> None:
        """A take begins: load or touch the model while its first words are spoken."""
        with self._lock:
            self._jobs[take] = _Job(take, request, request.model or self._active)
            self._wanted = bool(self._active)
            self._wake()

    def feed(self, take: int, samples: F32, start: int) -> None:
        """More of the take; `start` is the place of the first sample in it."""
        self._tell(take, lambda job: job.heard.append((samples, start)))

    def cut(self, take: int, at: int) -> None:
        """A piece of the take ends before sample `at`."""
        self._tell(take, lambda job: job.heard.append(at))

    def hurry(self, take: int) -> None:
        """Key up: drop the partial that is being made, look at all there is."""
        self._tell(take, lambda job: setattr(job, "hurry", True))

    def finish(self, take: int, heard_speech: bool | None) -> None:
        """Nothing more comes: answer with a FinalReport or a FailureReport."""

        def last(job: _Job) -> None:
            job.finish, job.heard_speech = True, heard_speech

        self._tell(take, last)

    def transcribe(self, take: int, samples: F32, request: Request) -> None:
        """Recognise a whole recording, when no take waits. Answers as a take does."""
        with self._lock:
            job = _Job(take, request, request.model or self._active, offline=samples, finish=True)
            self._jobs[take] = job
            self._wake()

    def drop(self, take: int) -> None:
        """Forget a take; no answer comes any more."""
        with self._lock:
            job = self._jobs.pop(take, None)
            if job is not None:
                job.dropped = True
            self._wake()

    def replace(self) -> None:
        """Leave a thread that does not answer, and start another; all takes are forgotten and must be fed again."""
        log.get("worker").error("the engine thread does not answer and is replaced")
        with self._lock:
            self._generation += 1
            for job in self._jobs.values():
                job.dropped = True
            self._jobs.clear()
            self._thread = None
            self.loading_since_s = None
            self._wake()

    def close(self, timeout_s: float = 5.0) -> bool:
        """End the thread and free the model; False when it did not end in time."""
        with self._lock:
            self._closing = True
            for job in self._jobs.values():
                job.dropped = True
            self._lock.notify_all()
        thread = self._thread
        if thread is not None:
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def _tell(self, take: int, what: Callable[[_Job], object]) -> None:
        with self._lock:
            job = self._jobs.get(take)
            if job is not None:
                what(job)
                self._wake()

    def settle(self, timeout_s: float) -> bool:
        """Wait until everything fed has been looked at; False when it was not in time. For clips, which can wait."""
        with self._lock:
            return self._lock.wait_for(lambda: self._resting or self._closing, timeout_s)

    def _wake(self) -> None:
        self._resting = False
        if self._thread is None and not self._closing:
            generation = self._generation
            self._thread = threading.Thread(target=self._run, args=(generation,), name="engine", daemon=True)
            self._thread.start()
        self._lock.notify_all()

    # -- on the engine thread

    def _run(self, generation: int) -> None:
        bench = _Bench(self._build, lambda report: self._report(generation, report), self._loading, self._clock)
        try:
            while (work := self._next(generation, bench.name)) is not None:
                if isinstance(work, _Job):
                    self._step(generation, bench, work)
                elif work:
                    with contextlib.suppress(EngineError):  # it has been reported
                        bench.load(work, self._device)
                else:
                    bench.put_away()
        finally:
            bench.free()
            engine.leave_thread()

    def _loading(self, is_loading: bool) -> None:
        self.loading_since_s = self._clock() if is_loading else None

    def _report(self, generation: int, report: Report) -> None:
        if generation == self._generation and not self._closing:
            self._report_to(report)

    def _next(self, generation: int, loaded: str) -> _Job | str | None:
        """The next job, the name of a model to load ("" frees it), or None at the end. Waits."""
        with self._lock:
            while True:
                if self._closing or generation != self._generation:
                    return None
                job = self._most_urgent()
                if job is not None:
                    return job
                wanted = self._active if self._wanted else ""
                if wanted != loaded and not self._jobs:
                    return wanted
                if wanted and not loaded:
                    return wanted
                self._resting = True
                self._lock.notify_all()
                self._lock.wait()

    def _most_urgent(self) -> _Job | None:
        """The oldest take that waits for its end; then the newest that has news; then whole recordings."""
        jobs = list(self._jobs.values())
        for job in jobs:
            if job.finish and job.offline is None:
                return job
        for job in reversed(jobs):
            if job.offline is None and (not job.touched or (job.heard and (job.request.live or job.hurry))):
                return job
        return next((job for job in jobs if job.offline is not None), None)

    def _step(self, generation: int, bench: _Bench, job: _Job) -> None:
        """One step of a take. A job's exception is its reply."""
        try:
            model = bench.load(job.model, self._device)
            if job.offline is not None:
                done = model.transcribe(job.offline, job.request, lambda: self._is_over(generation, job))
                self._end(generation, job, FinalReport(job.take, done, model.name))
                return
            if job.live is None:
                job.live = model.begin(job.request)
            if not job.touched:
                job.touched = True
                bench.touch()
            finish, heard_speech = self._take_news(job)
            if finish:
                transcript = job.live.finish(heard_speech, lambda: self._is_over(generation, job))
                self._end(generation, job, FinalReport(job.take, transcript, model.name))
            else:
                partial = job.live.partial(lambda: self._is_over(generation, job) or self._someone_waits(job))
                if partial is not None:
                    report = PartialReport(job.take, partial.firm, partial.tentative, partial.seconds)
                    self._report(generation, report)
            bench.used_s = self._clock()
        except Cancelled:
            pass
        except EngineError as error:
            self._end(generation, job, FailureReport(job.take, str(error)))
        except Exception as error:  # noqa: BLE001 - a job's exception is its reply
            log.get("worker").exception("a take failed: %s", type(error).__name__)
            text = f"Recognition failed ({type(error).__name__}). The audio is kept: try again, or with another model."
            self._end(generation, job, FailureReport(job.take, text))

    def _take_news(self, job: _Job) -> tuple[bool, bool | None]:
        """Hand everything that was heard to the engine, at once."""
        assert job.live is not None
        with self._lock:
            news, job.heard = job.heard, deque()
            finish, heard_speech = job.finish, job.heard_speech
            job.hurry = False
        for item in news:
            if isinstance(item, int):
                job.live.cut(item)
            else:
                job.live.append(*item)
        return finish, heard_speech

    def _is_over(self, generation: int, job: _Job) -> bool:
        """Asked between layers and tokens: shows life, and says whether the job is wanted no more."""
        now_s = self._clock()
        if now_s - self._beat_s >= BEAT_S:
            self._beat_s = now_s
            self._report(generation, BeatReport())
        return job.dropped or self._closing or generation != self._generation

    def _someone_waits(self, job: _Job) -> bool:
        """Whether a partial should be given up: its key went up, or an earlier take waits for its end."""
        return job.hurry or any(other.finish and other.offline is None for other in list(self._jobs.values()))

    def _end(self, generation: int, job: _Job, report: Report) -> None:
        with self._lock:
            if self._jobs.get(job.take) is job:
                del self._jobs[job.take]
        if not job.dropped:
            self._report(generation, report)


class _Bench:
    """The one model in memory. Belongs to one engine thread."""

    def __init__(
        self,
        build: Build,
        report: Callable[[Report], None],
        loading: Callable[[bool], None],
        clock: Callable[[], float],
    ) -> None:
        self._build = build
        self._report = report
        self._loading = loading
        self._clock = clock
        self._model: Model | None = None
        self.name = ""  # as asked for; also of a model that could not be loaded, so that it is not tried in a circle
        self.used_s = 0.0

    def load(self, name: str, device: str) -> Model:
        """The model of that name, loaded and warm. Raises EngineError, and says so in a report."""
        if self._model is not None and name == self.name:
            return self._model
        self.free()
        self.name = name
        if not name:
            raise ModelNotFoundError("No model is chosen yet. Choose one in the settings, or with `sayso models`.")
        started = time.perf_counter()
        self._say(name, ModelStatus.LOADING)
        self._loading(True)
        try:
            model = self._build(name, device)
            self._say(name, ModelStatus.WARMING)
            model.warm_up()
        except EngineError as error:
            missing = isinstance(error, ModelNotFoundError)
            self._say(name, ModelStatus.MISSING if missing else ModelStatus.FAILED, str(error))
            raise
        finally:
            self._loading(False)
        self._model = model
        self.used_s = self._clock()
        self._say(name, ModelStatus.READY, device=model.device, load_ms=(time.perf_counter() - started) * 1000)
        return model

    def put_away(self) -> None:
        """Free the model because it is not wanted in memory now."""
        self.free()
        self._say(self.name, ModelStatus.UNLOADED)
        self.name = ""

    def touch(self) -> None:
        """At key-down, in parallel with the first words: bring weights that were paged out back into memory."""
        if self._model is not None and self._clock() - self.used_s > TOUCH_AFTER_S:
            self._model.warm_up()

    def free(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None

    def _say(self, name: str, status: ModelStatus, message: str = "", device: str = "", load_ms: float = 0.0) -> None:
        self._report(ModelReport(ModelChanged(name, status, message, device=device, load_ms=load_ms)))
