"""The engine thread: has models loaded, recognises while somebody speaks, ends takes in order.

Each take has a queue of what was heard; a step takes all of it at once, so that the newest audio is looked at and
nothing queues up. A partial is given up as soon as a take that goes before it waits for its end (`turns`). A take ends
on the model that it began on, whatever is chosen meanwhile (`switching`).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import engine
from dictation import log
from dictation.worker import turns
from dictation.worker.board import Board
from dictation.worker.job import Job, Owner
from dictation.worker.loaded import Loaded, LoadedModels
from dictation.worker.model import F32, Beside, Build
from dictation.worker.reports import (
    BeatReport,
    FailureReport,
    FinalReport,
    PartialReport,
    Report,
    WindowReport,
)
from dictation.worker.switching import Switching, Work
from engine.errors import Cancelled, EngineError, OptionError

if TYPE_CHECKING:
    from engine.audio import Audio

BEAT_S = 1.0  # between two signs of life


class EngineThread(threading.Thread):
    """The only thread that touches a model in use. microphone: also hears of the models and of signs of life."""

    def __init__(
        self, board: Board, build: Build, beside: Beside, microphone: Owner, clock: Callable[[], float]
    ) -> None:
        super().__init__(name="engine", daemon=True)
        self._board = board
        self._microphone = microphone
        self._clock = clock
        self._models = LoadedModels(build, self._report, self._note_loading, clock)
        self._switching = Switching(board, self._models, build, beside)
        self._is_left = False
        self._beat_s = 0.0
        self.loading_since_s: float | None = None

    def leave_behind(self) -> None:
        """It does not answer: what it still says counts no more. From any thread."""
        self._is_left = True
        self._switching.leave_behind()

    def run(self) -> None:
        try:
            while (work := self._next()) is not None:
                work()
                del work  # of a take that has ended nothing is kept while the next one is awaited
        finally:
            self._switching.leave_behind()
            self._models.free()
            engine.leave_thread()

    def _next(self) -> Work | None:
        """What to do next; None at the end. Waits."""
        board, switching = self._board, self._switching
        with board.news:
            while not self._has_ended:
                board.dropped.clear()
                self._let_rest()
                self._let_begin()
                work = switching.due() or self._next_step() or switching.at_rest(self._is_wanted_elsewhere)
                if work is not None:
                    return work
                board.resting = True
                board.news.notify_all()
                board.news.wait(switching.wait_s)
            return None

    def _let_rest(self) -> None:
        for job in self._board.jobs.values():
            if job.rests and job.live is not None and not job.is_ready:
                job.live.rest()
                job.rests = False

    def _let_begin(self) -> None:
        """The microphone's takes are on the model of their key-down, also where another was chosen before a look."""
        if (current := self._models.find(None)) is None:
            return
        in_use = (current.name, current.device)
        for job in self._board.jobs.values():
            if job.on is None and job.goes_first and job.model is None and job.chosen == in_use:
                job.on = current

    def _next_step(self) -> Work | None:
        """A step of the take whose turn it is."""
        jobs = [job for job in self._board.jobs.values() if self._switching.may_run(job)]
        job = turns.most_urgent(jobs, self._models.servable)
        return None if job is None else partial(self._step, job)

    def _is_wanted_elsewhere(self) -> bool:
        return self._has_ended or bool(self._board.jobs)

    @property
    def _has_ended(self) -> bool:
        return self._is_left or self._board.closing

    def _note_loading(self, is_loading: bool) -> None:
        self.loading_since_s = self._clock() if is_loading else None

    def _report(self, report: Report, lane: Owner | None = None) -> None:
        if not self._has_ended:
            (lane or self._microphone).report(report)

    # -- a step of a take

    def _step(self, job: Job) -> None:
        """A job's exception is its reply."""
        started_s = self._clock()
        try:
            if job.on is None:
                job.on = self._switching.model_for(job)
            if job.recording is not None:
                self._step_recording(job, job.on, job.recording)
            else:
                self._step_take(job, job.on)
            job.on.used_s = job.served_s = self._clock()
            job.spent_s = 0.0
        except Cancelled:
            job.spent_s += self._clock() - started_s
        except EngineError as error:
            self._end(job, FailureReport(job.take, str(error), isinstance(error, OptionError)))
        except Exception as error:  # noqa: BLE001 - a job's exception is its reply
            log.get("worker").exception("a take failed: %s", type(error).__name__)
            text = f"Recognition failed ({type(error).__name__})."
            if job.lane.is_microphone:
                text += " The audio is kept: try again, or with another model."
            self._end(job, FailureReport(job.take, text))

    def _step_recording(self, job: Job, on: Loaded, recording: F32 | Audio) -> None:
        """One window of a whole recording."""
        if job.opened is None:
            job.opened = on.model.open(recording, job.request)
        found = len(job.opened.segments)
        if not job.opened.step(lambda: self._is_over(job) or self._gives_way(job)):
            self._end(job, FinalReport(job.take, job.opened.transcript(), on.model.name))
        elif not job.lane.is_microphone:
            report = WindowReport(job.take, tuple(job.opened.segments[found:]), job.opened.done_s)
            self._report(report, job.lane)

    def _step_take(self, job: Job, on: Loaded) -> None:
        """Look at what was heard of a take, or end it."""
        if job.live is None:
            job.live = on.model.begin(job.request)
        job.looks_again = False
        if not job.touched:
            job.touched = True
            on.touch(self._clock())
        finish, heard_speech = self._take_news(job)

        gave_way = False

        def given_up() -> bool:
            nonlocal gave_way
            gave_way = gave_way or self._gives_way(job, finish)
            return gave_way or (not finish and (job.hurry or job.finish)) or self._is_over(job)

        if finish:
            transcript = job.live.finish(heard_speech, given_up)
            self._end(job, FinalReport(job.take, transcript, on.model.name))
        elif (found := job.live.partial(given_up)) is not None:
            self._report(PartialReport(job.take, found.firm, found.tentative, found.seconds), job.lane)
        elif gave_way and not job.goes_first:
            job.looks_again = True
            raise Cancelled("Stopped.")

    def _take_news(self, job: Job) -> tuple[bool, bool | None]:
        """Hand everything that was heard to the engine, at once."""
        assert job.live is not None
        with self._board.news:
            news, job.heard, job.n_waiting = job.heard, deque(), 0
            finish, heard_speech = job.finish, job.heard_speech
            job.hurry = False
        for item in news:
            if isinstance(item, int):
                job.live.cut(item)
            else:
                job.live.append(*item)
        return finish, heard_speech

    def _is_over(self, job: Job) -> bool:
        """Asked between layers and tokens: shows life, and says whether the job is wanted no more."""
        now_s = self._clock()
        if now_s - self._beat_s >= BEAT_S:
            self._beat_s = now_s
            self._report(BeatReport())
        return job.dropped or self._has_ended

    def _gives_way(self, job: Job, finish: bool = False) -> bool:
        if self._switching.is_held_up and not job.lane.is_microphone:
            return True
        return turns.must_give_way(job, list(self._board.jobs.values()), finish)

    def _end(self, job: Job, report: Report) -> None:
        with self._board.news:
            if self._board.jobs.get((job.lane, job.take)) is job:
                del self._board.jobs[job.lane, job.take]
        if not job.dropped:
            self._report(report, job.lane)
