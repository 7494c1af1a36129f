"""The engine thread: loads a model, recognises while somebody speaks, ends takes in order, frees the model.

Takes come through a `Lane`: the microphone's, which the session loop owns, and those of other users of the same model
(the local API). Its calls never wait; answers come back through the lane's `report`, from the engine thread. Each take
has a queue of what was heard; a step takes all of it at once, so that the newest audio is looked at and nothing queues
up. A partial is given up as soon as a take that goes before it waits for its end (`turns`).

Failure mode: a thread that hangs in native code can't be stopped. `replace` leaves it behind (its answers carry an old
generation and are dropped) and starts another; the owners of the takes that are left feed them again from the spool.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import engine
from dictation import log
from dictation.worker import turns
from dictation.worker.job import Job
from dictation.worker.lane import Lane
from dictation.worker.loaded import LoadedModels
from dictation.worker.model import F32, Build, Model
from dictation.worker.reports import (
    AgainReport,
    BeatReport,
    FailureReport,
    FinalReport,
    PartialReport,
    Report,
    WindowReport,
)
from engine.errors import Cancelled, EngineError, OptionError

if TYPE_CHECKING:
    from engine.audio import Audio

BEAT_S = 1.0  # between two signs of life
PREPARE = "\0prepare"  # no model's name


class Worker:
    """See the module. `build` makes a model on the engine thread; `report` is that of the microphone's lane."""

    def __init__(
        self, build: Build, report: Callable[[Report], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._build = build
        self.microphone = Lane(self, report, is_microphone=True)
        self._clock = clock
        self._lock = threading.Condition()
        self._jobs: dict[tuple[Lane, int], Job] = {}  # oldest first
        self._dropped: list[Job] = []  # what the engine holds for them is freed on its own thread
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

    def add(self, job: Job) -> None:
        with self._lock:
            job.model = job.request.model or self._active
            job.served_s = self._clock()
            if (before := self._jobs.pop((job.lane, job.take), None)) is not None:
                self._forget(before)
            self._jobs[job.lane, job.take] = job
            if job.recording is None or not job.lane.is_microphone:
                self._wanted = bool(self._active)
            self._wake()

    def tell(self, lane: Lane, take: int, what: Callable[[Job], object]) -> None:
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

    def _forget(self, job: Job) -> None:
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
        models = LoadedModels(self._build, lambda report: self._report(generation, report), self._loading, self._clock)
        try:
            while (work := self._next(generation, models)) is not None:
                if isinstance(work, Job):
                    self._step(generation, models, work)
                elif work is PREPARE:
                    models.prepare(lambda: self._must_give_way(generation, models))
                elif work:
                    with contextlib.suppress(EngineError):  # it has been reported
                        self._loaded(models, work)
                else:
                    models.put_away()
                del work  # of a take that has ended nothing is kept while the next one is awaited
        finally:
            models.free()
            engine.leave_thread()

    def _loading(self, is_loading: bool) -> None:
        self.loading_since_s = self._clock() if is_loading else None

    def _report(self, generation: int, report: Report, lane: Lane | None = None) -> None:
        if generation == self._generation and not self._closing:
            (lane or self.microphone).report(report)

    def _loaded(self, models: LoadedModels, name: str) -> Model:
        """The model of that name. Raises EngineError; if it was to become the active one, the one before stays."""
        before, device = (models.name, models.device) if models.is_loaded else ("", "")
        try:
            # a take goes on where it began, though another device was chosen meanwhile
            return models.load(name, device if name == before and self._jobs else self._device)
        except EngineError as error:
            if before and self._is_taken_back(name, before, device):
                with contextlib.suppress(EngineError):  # it has been reported
                    models.load(before, device, f"{error} {before} stays in use.")
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

    def _next(self, generation: int, models: LoadedModels) -> Job | str | None:
        """The next job, the name of a model to load ("" frees it), PREPARE, or None at the end. Waits."""
        loaded = models.name
        with self._lock:
            while True:
                if self._closing or generation != self._generation:
                    return None
                self._dropped.clear()
                job = turns.most_urgent(list(self._jobs.values()), self._active)
                if job is not None:
                    return job
                wanted = self._active if self._wanted else ""
                changed = wanted != loaded or (wanted and models.device != self._device)
                if changed and not self._jobs:
                    return wanted
                if wanted and not loaded:
                    return wanted
                if models.can_prepare and not self._jobs:
                    return PREPARE
                self._resting = True
                self._lock.notify_all()
                self._lock.wait()

    def _step(self, generation: int, models: LoadedModels, job: Job) -> None:
        """One step of a take. A job's exception is its reply."""
        started_s = self._clock()
        name = job.model
        try:
            model = self._loaded(models, name)
            if job.recording is not None:
                self._step_recording(generation, model, job, job.recording)
            else:
                self._step_take(generation, models, model, job)
            models.used_s = job.served_s = self._clock()
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

    def _step_recording(self, generation: int, model: Model, job: Job, recording: F32 | Audio) -> None:
        """One window of a whole recording."""
        if job.opened is None:
            job.opened = model.open(recording, job.request)
        found = len(job.opened.segments)
        if not job.opened.step(lambda: self._is_over(generation, job) or self._gives_way(job)):
            self._end(generation, job, FinalReport(job.take, job.opened.transcript(), model.name))
        elif not job.lane.is_microphone:
            report = WindowReport(job.take, tuple(job.opened.segments[found:]), job.opened.done_s)
            self._report(generation, report, job.lane)

    def _step_take(self, generation: int, models: LoadedModels, model: Model, job: Job) -> None:
        """Look at what was heard of a take, or end it."""
        if job.live is None:
            job.live = model.begin(job.request)
        job.looks_again = False
        if not job.touched:
            job.touched = True
            models.touch()
        finish, heard_speech = self._take_news(job)

        gave_way = False

        def given_up() -> bool:
            nonlocal gave_way
            gave_way = gave_way or self._gives_way(job, finish)
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

    def _take_news(self, job: Job) -> tuple[bool, bool | None]:
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

    def _is_over(self, generation: int, job: Job) -> bool:
        """Asked between layers and tokens: shows life, and says whether the job is wanted no more."""
        now_s = self._clock()
        if now_s - self._beat_s >= BEAT_S:
            self._beat_s = now_s
            self._report(generation, BeatReport())
        return job.dropped or self._closing or generation != self._generation

    def _gives_way(self, job: Job, finish: bool = False) -> bool:
        return turns.must_give_way(job, list(self._jobs.values()), finish)

    def _must_give_way(self, generation: int, models: LoadedModels) -> bool:
        """Whether anything else is to be done: what only saves time later gives way."""
        changed = not self._wanted or (self._active, self._device) != (models.name, models.device)
        return changed or bool(self._jobs) or self._closing or generation != self._generation

    def _end(self, generation: int, job: Job, report: Report) -> None:
        with self._lock:
            if self._jobs.get((job.lane, job.take)) is job:
                del self._jobs[job.lane, job.take]
        if not job.dropped:
            self._report(generation, report, job.lane)
