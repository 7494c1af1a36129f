"""The engine thread: loads a model, recognises while somebody speaks, ends takes in order, frees the model.

Takes come through a `Lane`: the microphone's, which the session loop owns, and those of other users of the same model
(the local API). Its calls never wait; answers come back through the lane's `report`, from the engine thread. Each take
has a queue of what was heard; a step takes all of it at once, so that the newest audio is looked at and nothing queues
up. A partial is given up as soon as a take that goes before it waits for its end.

The microphone's takes go before everything else, and what is being done for others is given up for them: always for a
key that goes down or up, and for words on the screen as long as the others still get somewhere. It goes on from there
afterwards. The others, and whole recordings, take turns: a look at a take, a window of a recording.

Failure mode: a thread that hangs in native code can't be stopped. `replace` leaves it behind (its answers carry an old
generation and are dropped) and starts another; the owners of the takes that are left feed them again from the spool.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

import engine
from dictation import log
from dictation.events import ModelChanged, ModelStatus
from dictation.languages import LanguageRequest
from dictation.vocabulary import Term
from engine.errors import Cancelled, EngineError, ModelNotFoundError, OptionError
from engine.transcript import Segment, Transcript

if TYPE_CHECKING:
    from engine.audio import Audio

F32 = NDArray[np.float32]
Asked = Callable[[], bool]

TOUCH_AFTER_S = 30.0  # of rest: the weights may have been paged out, so they are touched at key-down
BEAT_S = 1.0  # between two signs of life
NEWS = 4_800  # samples (0.3 s) of the microphone that wait: worth giving up another user's step for
PATIENCE_S = 0.5  # spent on a step in vain; after that it is given up for a key, but not for words on the screen
MUCH = 60 * 16_000  # samples that are looked at even where nobody wants to see words: they are pieces of their own
HEAD_START_S = 2.0  # by which a take that waits for its end is let in earlier than those that go on
PREPARE = "\0prepare"  # no model's name


@dataclass(frozen=True)
class Request:
    """How a take is to be recognised."""

    language: LanguageRequest = field(default_factory=lambda: LanguageRequest(None, (), None, "transcribe"))
    terms: tuple[Term, ...] = ()  # the user's vocabulary
    live: bool = True  # show text while it is spoken
    model: str | None = None  # None: the active one
    exactly: bool = False  # refuse what the model can't do, instead of doing what comes nearest
    # of whole recordings
    timestamps: bool = False  # segments with times
    word_times: bool = False
    prompt: str = ""  # text before the audio; it goes before the vocabulary
    temperature: float | None = None  # None: 0, and higher where a text can't be trusted


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


class Recording(Protocol):
    """A whole recording being recognised, window by window: `engine.transcriber.Transcription`."""

    @property
    def segments(self) -> Sequence[Segment]: ...
    @property
    def done_s(self) -> float: ...

    def step(self, cancelled: Asked | None = None) -> bool: ...

    def transcript(self) -> Transcript: ...


class Model(Protocol):
    """A loaded model; belongs to the thread that built it."""

    @property
    def name(self) -> str: ...
    @property
    def device(self) -> str: ...

    def warm_up(self) -> None: ...

    def prepare(self, cancelled: Asked) -> bool:
        """Do one more thing that only saves time later; False when none is left. Raises Cancelled."""
        ...

    def begin(self, request: Request) -> Live: ...

    def open(self, recording: F32 | Audio, request: Request) -> Recording: ...

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
    is_refusal: bool = False  # the model can't do what the request says


@dataclass(frozen=True)
class WindowReport:
    """One more window of a whole recording is done. Not said to the microphone's lane."""

    take: int
    segments: tuple[Segment, ...] = field(repr=False)  # found in it
    done_s: float


@dataclass(frozen=True)
class AgainReport:
    """The model has changed, or the recogniser was replaced: the take is forgotten and must be fed again.

    Not said to the microphone's lane, whose owner is the one who changes and replaces.
    """

    take: int


@dataclass(frozen=True)
class BeatReport:
    """The engine makes progress."""


@dataclass(frozen=True)
class ModelReport:
    event: ModelChanged


Report = PartialReport | FinalReport | FailureReport | WindowReport | AgainReport | BeatReport | ModelReport

# ---- the worker -----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Job:
    """A take on its way through the engine. Guarded by the worker's lock, but for `live` and `opened`."""

    lane: Lane
    take: int
    request: Request
    model: str
    heard: deque[tuple[F32, int] | int] = field(default_factory=deque)  # (samples, start), or a cut
    n_waiting: int = 0  # samples in `heard`
    hurry: bool = False
    finish: bool = False
    recording: F32 | Audio | None = None  # a whole one instead of a growing one
    heard_speech: bool | None = None
    dropped: bool = False
    touched: bool = False
    served_s: float = 0.0
    looks_again: bool = False  # its last look was given up for the microphone
    spent_s: float = 0.0  # on the step that is being done, attempts that were given up included
    live: Live | None = None  # of the engine thread
    opened: Recording | None = None  # of the engine thread

    @property
    def goes_first(self) -> bool:
        """A take of the microphone."""
        return self.lane.is_microphone and self.recording is None

    @property
    def has_news(self) -> bool:
        return (
            not self.touched
            or self.looks_again
            or (bool(self.heard) and (self.request.live or self.hurry or self.n_waiting > MUCH))
        )

    @property
    def is_ready(self) -> bool:
        return self.recording is not None or self.finish or self.has_news


class Lane:
    """One user of the worker, with numbers of its own for its takes. All calls return at once, from any thread.

    report: must only put its argument in a queue.
    """

    def __init__(self, worker: Worker, report: Callable[[Report], None], is_microphone: bool = False) -> None:
        self._worker = worker
        self.report = report
        self.is_microphone = is_microphone

    def begin(self, take: int, request: Request) -> None:
        """A take begins: load or touch the model while its first words are spoken."""
        self._worker.add(_Job(self, take, request, ""))

    def feed(self, take: int, samples: F32, start: int) -> None:
        """More of the take; `start` is the place of the first sample in it."""

        def feed(job: _Job) -> None:
            job.heard.append((samples, start))
            job.n_waiting += len(samples)

        self._worker.tell(self, take, feed)

    def cut(self, take: int, at: int) -> None:
        """A piece of the take ends before sample `at`."""
        self._worker.tell(self, take, lambda job: job.heard.append(at))

    def hurry(self, take: int) -> None:
        """Key up: drop the partial that is being made, look at all there is."""
        self._worker.tell(self, take, lambda job: setattr(job, "hurry", True))

    def finish(self, take: int, heard_speech: bool | None) -> None:
        """Nothing more comes: answer with a FinalReport or a FailureReport."""

        def last(job: _Job) -> None:
            job.finish, job.heard_speech = True, heard_speech

        self._worker.tell(self, take, last)

    def transcribe(self, take: int, recording: F32 | Audio, request: Request) -> None:
        """Recognise a whole recording, in the gaps that takes leave. Answers as a take does."""
        self._worker.add(_Job(self, take, request, "", recording=recording, finish=True))

    def drop(self, take: int) -> None:
        """Forget a take; no answer comes any more."""
        self._worker.drop(self, take)

    def waiting(self, take: int) -> int:
        """Samples of a take that the engine has not looked at yet."""
        return self._worker.waiting(self, take)


class Worker:
    """See the module. `build` makes a model on the engine thread; `report` is that of the microphone's lane."""

    def __init__(
        self, build: Build, report: Callable[[Report], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._build = build
        self.microphone = Lane(self, report, is_microphone=True)
        self._clock = clock
        self._lock = threading.Condition()
        self._jobs: dict[tuple[Lane, int], _Job] = {}  # oldest first
        self._dropped: list[_Job] = []  # what the engine holds for them is freed on its own thread
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
        """Make a model the active one; loads it when the takes that began with another have ended.

        Other lanes' takes begin anew with it: two models in turn would be loaded in a circle.
        """
        with self._lock:
            changed = name != self._active
            self._active, self._device, self._wanted = name, device, bool(name)
            if changed:
                self._send_back()
            self._wake()

    @property
    def active(self) -> str:
        """The model of `use`, or the one before where that can't be loaded."""
        return self._active

    @property
    def device(self) -> str:
        """What the active model was asked to compute on."""
        return self._device

    def unload(self) -> None:
        """Free the model until the next take."""
        with self._lock:
            self._wanted = False
            self._wake()

    def lane(self, report: Callable[[Report], None]) -> Lane:
        """Another user beside the microphone."""
        return Lane(self, report)

    def replace(self) -> None:
        """Leave a thread that does not answer, and start another; all takes are forgotten and must be fed again."""
        log.get("worker").error("the engine thread does not answer and is replaced")
        with self._lock:
            self._generation += 1
            for job in self._jobs.values():
                job.dropped = True
            self._send_back()
            self._jobs.clear()
            self._dropped.clear()
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

    def settle(self, timeout_s: float) -> bool:
        """Wait until everything fed has been looked at; False when it was not in time. For clips, which can wait."""
        with self._lock:
            return self._lock.wait_for(lambda: self._resting or self._closing, timeout_s)

    # -- called by lanes

    def add(self, job: _Job) -> None:
        with self._lock:
            job.model = job.request.model or self._active
            job.served_s = self._clock()
            if (before := self._jobs.pop((job.lane, job.take), None)) is not None:
                self._forget(before)
            self._jobs[job.lane, job.take] = job
            if job.recording is None or not job.lane.is_microphone:
                self._wanted = bool(self._active)
            self._wake()

    def tell(self, lane: Lane, take: int, what: Callable[[_Job], object]) -> None:
        with self._lock:
            job = self._jobs.get((lane, take))
            if job is not None:
                what(job)
                self._wake()

    def drop(self, lane: Lane, take: int) -> None:
        with self._lock:
            job = self._jobs.pop((lane, take), None)
            if job is not None:
                self._forget(job)
            self._wake()

    def waiting(self, lane: Lane, take: int) -> int:
        with self._lock:
            job = self._jobs.get((lane, take))
            return 0 if job is None else job.n_waiting

    def _send_back(self) -> None:
        """Let the other lanes begin their takes anew."""
        for job in [job for job in self._jobs.values() if not job.lane.is_microphone]:
            del self._jobs[job.lane, job.take]
            self._forget(job)
            job.lane.report(AgainReport(job.take))

    def _forget(self, job: _Job) -> None:
        job.dropped = True
        if job.live is not None or job.opened is not None:
            self._dropped.append(job)

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
            while (work := self._next(generation, bench)) is not None:
                if isinstance(work, _Job):
                    self._step(generation, bench, work)
                elif work is PREPARE:
                    bench.prepare(lambda: self._must_give_way(generation, bench))
                elif work:
                    with contextlib.suppress(EngineError):  # it has been reported
                        self._loaded(bench, work)
                else:
                    bench.put_away()
        finally:
            bench.free()
            engine.leave_thread()

    def _loading(self, is_loading: bool) -> None:
        self.loading_since_s = self._clock() if is_loading else None

    def _report(self, generation: int, report: Report, lane: Lane | None = None) -> None:
        if generation == self._generation and not self._closing:
            (lane or self.microphone).report(report)

    def _loaded(self, bench: _Bench, name: str) -> Model:
        """The model of that name. Raises EngineError; if it was to become the active one, the one before stays."""
        before, device = (bench.name, bench.device) if bench.is_loaded else ("", "")
        try:
            # a take goes on where it began, though another device was chosen meanwhile
            return bench.load(name, device if name == before and self._jobs else self._device)
        except EngineError as error:
            if before and self._is_taken_back(name, before, device):
                with contextlib.suppress(EngineError):  # it has been reported
                    bench.load(before, device, f"{error} {before} stays in use.")
            raise

    def _is_taken_back(self, name: str, before: str, device: str) -> bool:
        """Make `before` the active model again if `name` still is, for its takes too."""
        with self._lock:
            if self._active != name:
                return False
            self._active, self._device = before, device
            for job in self._jobs.values():
                if job.request.model is None and job.live is None and job.opened is None:
                    job.model = before
            return True

    def _next(self, generation: int, bench: _Bench) -> _Job | str | None:
        """The next job, the name of a model to load ("" frees it), PREPARE, or None at the end. Waits."""
        loaded = bench.name
        with self._lock:
            while True:
                if self._closing or generation != self._generation:
                    return None
                self._dropped.clear()
                job = self._most_urgent()
                if job is not None:
                    return job
                wanted = self._active if self._wanted else ""
                changed = wanted != loaded or (wanted and bench.device != self._device)
                if changed and not self._jobs:
                    return wanted
                if wanted and not loaded:
                    return wanted
                if bench.can_prepare and not self._jobs:
                    return PREPARE
                self._resting = True
                self._lock.notify_all()
                self._lock.wait()

    def _most_urgent(self) -> _Job | None:
        """The microphone's oldest take that waits for its end, its newest that has news, then the others in turn."""
        jobs = list(self._jobs.values())
        first = [job for job in jobs if job.goes_first]
        for job in first:
            if job.finish:
                return job
        for job in reversed(first):
            if job.has_news:
                return job
        others = [job for job in jobs if job.is_ready and not job.goes_first]
        strangers = [job for job in others if job.model != self._active]  # of a model that is to be loaded for them
        if first:  # the model stays while somebody speaks
            others = [job for job in others if job not in strangers]
        elif strangers:
            return strangers[0]
        return min(others, key=_turn_s, default=None)

    def _step(self, generation: int, bench: _Bench, job: _Job) -> None:
        """One step of a take. A job's exception is its reply."""
        started_s = self._clock()
        name = job.model
        try:
            model = self._loaded(bench, name)
            if job.recording is not None:
                self._step_recording(generation, model, job, job.recording)
            else:
                self._step_take(generation, bench, model, job)
            bench.used_s = job.served_s = self._clock()
            job.spent_s = 0.0
        except Cancelled:
            job.spent_s += self._clock() - started_s
        except EngineError as error:
            if job.model == name:  # else another model has stepped in, and the take goes on with it
                self._end(generation, job, FailureReport(job.take, str(error), isinstance(error, OptionError)))
        except Exception as error:  # noqa: BLE001 - a job's exception is its reply
            log.get("worker").exception("a take failed: %s", type(error).__name__)
            text = f"Recognition failed ({type(error).__name__})."
            if job.lane.is_microphone:
                text += " The audio is kept: try again, or with another model."
            self._end(generation, job, FailureReport(job.take, text))

    def _step_recording(self, generation: int, model: Model, job: _Job, recording: F32 | Audio) -> None:
        """One window of a whole recording."""
        if job.opened is None:
            job.opened = model.open(recording, job.request)
        found = len(job.opened.segments)
        if not job.opened.step(lambda: self._is_over(generation, job) or self._someone_waits(job, finish=False)):
            self._end(generation, job, FinalReport(job.take, job.opened.transcript(), model.name))
        elif not job.lane.is_microphone:
            report = WindowReport(job.take, tuple(job.opened.segments[found:]), job.opened.done_s)
            self._report(generation, report, job.lane)

    def _step_take(self, generation: int, bench: _Bench, model: Model, job: _Job) -> None:
        """Look at what was heard of a take, or end it."""
        if job.live is None:
            job.live = model.begin(job.request)
        job.looks_again = False
        if not job.touched:
            job.touched = True
            bench.touch()
        finish, heard_speech = self._take_news(job)

        gave_way = False

        def given_up() -> bool:
            nonlocal gave_way
            gave_way = gave_way or self._someone_waits(job, finish)
            return gave_way or (not finish and (job.hurry or job.finish)) or self._is_over(generation, job)

        if finish:
            transcript = job.live.finish(heard_speech, given_up)
            self._end(generation, job, FinalReport(job.take, transcript, model.name))
        elif (partial := job.live.partial(given_up)) is not None:
            report = PartialReport(job.take, partial.firm, partial.tentative, partial.seconds)
            self._report(generation, report, job.lane)
        elif gave_way and not job.goes_first:
            job.looks_again = True
            raise Cancelled("Stopped.")

    def _take_news(self, job: _Job) -> tuple[bool, bool | None]:
        """Hand everything that was heard to the engine, at once."""
        assert job.live is not None
        with self._lock:
            news, job.heard, job.n_waiting = job.heard, deque(), 0
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

    def _must_give_way(self, generation: int, bench: _Bench) -> bool:
        """Whether anything else is to be done: what only saves time later gives way."""
        changed = not self._wanted or (self._active, self._device) != (bench.name, bench.device)
        return changed or bool(self._jobs) or self._closing or generation != self._generation

    def _someone_waits(self, job: _Job, finish: bool) -> bool:
        """Whether a step (`finish`: the last one) should be given up for a take of the microphone."""
        first = [other for other in list(self._jobs.values()) if other.goes_first and other is not job]
        if job.goes_first:
            return not finish and any(other.finish for other in first)
        is_patient = job.spent_s < PATIENCE_S
        return any(
            other.finish or other.hurry or not other.touched or (is_patient and other.n_waiting >= NEWS)
            for other in first
        )

    def _end(self, generation: int, job: _Job, report: Report) -> None:
        with self._lock:
            if self._jobs.get((job.lane, job.take)) is job:
                del self._jobs[job.lane, job.take]
        if not job.dropped:
            self._report(generation, report, job.lane)


def _turn_s(job: _Job) -> float:
    """The lowest is next: who was served longest ago, and takes that wait for their end a little earlier."""
    return job.served_s - (HEAD_START_S if job.finish and job.recording is None else 0.0)


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
        # as asked for; also of a model that could not be loaded, so that it is not tried in a circle
        self.name, self.device = "", ""
        self.used_s = 0.0
        self.can_prepare = False  # something is left that only saves time later

    @property
    def is_loaded(self) -> bool:
        return self._model is not None

    def load(self, name: str, device: str, message: str = "") -> Model:
        """The model of that name, loaded and warm. Raises EngineError, and says so in a report.

        The model before is freed first: there may not be memory for two. message: said with the good news.
        """
        if self._model is not None and (name, device) == (self.name, self.device):
            return self._model
        self.free()
        self.name, self.device = name, device
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
        except Exception as error:  # whatever a runtime meets here must not end the thread
            log.get("worker").exception("a model can't be loaded: %s", type(error).__name__)
            short = isinstance(error, MemoryError)
            why = "there is not enough memory; choose a smaller one" if short else type(error).__name__
            failed = EngineError(f"{name} can't be loaded ({why}).")
            self._say(name, ModelStatus.FAILED, str(failed))
            raise failed from error
        finally:
            self._loading(False)
        self._model = model
        self.can_prepare = True
        self.used_s = self._clock()
        load_ms = (time.perf_counter() - started) * 1000
        self._say(name, ModelStatus.READY, message, device=model.device, load_ms=load_ms)
        return model

    def prepare(self, cancelled: Asked) -> None:
        """One of the things that a model does while nobody waits."""
        try:
            self.can_prepare = self._model is not None and self._model.prepare(cancelled)
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 - nobody waits for it, and takes work without
            log.get("worker").exception("preparing failed: %s", type(error).__name__)
            self.can_prepare = False

    def put_away(self) -> None:
        """Free the model because it is not wanted in memory now."""
        self.free()
        _give_memory_back()
        self._say(self.name, ModelStatus.UNLOADED)
        self.name, self.device = "", ""

    def touch(self) -> None:
        """At key-down, in parallel with the first words: bring weights that were paged out back into memory."""
        if self._model is not None and self._clock() - self.used_s > TOUCH_AFTER_S:
            self._model.warm_up()

    def free(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None
        self.can_prepare = False

    def _say(self, name: str, status: ModelStatus, message: str = "", device: str = "", load_ms: float = 0.0) -> None:
        self._report(ModelReport(ModelChanged(name, status, message, device=device, load_ms=load_ms)))


def _give_memory_back() -> None:
    """In a process that has run for long glibc keeps freed blocks of this size for later; here none is wanted soon."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
        if trim is not None:
            trim(0)
