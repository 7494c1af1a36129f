"""The worker as everybody else sees it: which model to use, who takes part, and an end. Its calls never wait.

Failure mode: a thread that hangs in native code can't be stopped. `replace` leaves it behind (its answers are dropped)
and starts another; the owners of the takes that are left feed them again from the spool.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from dictation import log
from dictation.worker.board import Board
from dictation.worker.job import Job, Owner
from dictation.worker.lane import Lane
from dictation.worker.model import Beside, Build, one_at_a_time
from dictation.worker.reports import Report
from dictation.worker.thread import EngineThread


class Worker:
    """build: makes a model on the calling thread. report: of the microphone's lane.

    beside: whether a model can be made while another is in use, on a thread of its own.
    """

    def __init__(
        self,
        build: Build,
        report: Callable[[Report], None],
        clock: Callable[[], float] = time.monotonic,
        beside: Beside = one_at_a_time,
    ) -> None:
        self._build = build
        self._beside = beside
        self._clock = clock
        self._board = Board()
        self._thread: EngineThread | None = None
        self.microphone = Lane(self, report, is_microphone=True)

    # -- called by the session loop

    def use(self, name: str, device: str = "auto") -> None:
        """Make a model the active one.

        While another is in use it goes on until this one is loaded beside it; takes end on the model that they began
        with. Where there can't be two, this one is loaded when the microphone's takes have ended, and those of other
        lanes begin anew. If it can't be loaded, the one before becomes the active one again, and that is reported.
        """
        board = self._board
        with board.news:
            board.active, board.device, board.wanted = name, device, bool(name)
            self._wake()

    @property
    def active(self) -> str:
        """The model of `use`, or the one before where that can't be loaded."""
        return self._board.active

    @property
    def device(self) -> str:
        """What the active model was asked to compute on."""
        return self._board.device

    @property
    def is_idle(self) -> bool:
        """No lane has a take here."""
        return not self._board.jobs

    @property
    def loading_since_s(self) -> float | None:
        """Since when takes wait for a model: a load is progress, too. None while they need not."""
        return self._thread.loading_since_s if self._thread is not None else None

    def unload(self, because: str = "") -> None:
        """Free the model until the next take. because: a sentence that is reported with it."""
        with self._board.news:
            self._board.wanted, self._board.unloaded_because = False, because
            self._wake()

    def lane(self, report: Callable[[Report], None]) -> Lane:
        """Another user beside the microphone."""
        return Lane(self, report)

    def replace(self) -> None:
        """Leave a thread that does not answer, and start another; all takes are forgotten and must be fed again."""
        log.get("worker").error("the engine thread does not answer and is replaced")
        board = self._board
        with board.news:
            for job in board.jobs.values():
                job.dropped = True
            board.send_back()
            board.jobs.clear()
            board.dropped.clear()
            if self._thread is not None:
                self._thread.leave_behind()
            self._thread = None
            self._wake()

    def close(self, timeout_s: float = 5.0) -> bool:
        """End the thread and free the model; False when it did not end in time. Waits for no load beside it."""
        board = self._board
        with board.news:
            board.closing = True
            for job in board.jobs.values():
                job.dropped = True
            board.news.notify_all()
        thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_s)
        thread.leave_behind()
        return not thread.is_alive()

    def settle(self, timeout_s: float) -> bool:
        """Wait until everything fed has been looked at; False when it was not in time. For clips, which can wait."""
        board = self._board
        with board.news:
            return board.news.wait_for(lambda: board.resting or board.closing, timeout_s)

    # -- called by lanes

    def add(self, job: Job) -> None:
        board = self._board
        with board.news:
            job.served_s = self._clock()
            if (before := board.jobs.pop((job.lane, job.take), None)) is not None:
                board.forget(before)
            board.jobs[job.lane, job.take] = job
            if job.recording is None or not job.lane.is_microphone:
                board.wanted = bool(board.active)
            job.chosen = board.target
            self._wake()

    def tell(self, lane: Owner, take: int, what: Callable[[Job], object]) -> None:
        with self._board.news:
            job = self._board.jobs.get((lane, take))
            if job is not None:
                what(job)
                self._wake()

    def drop(self, lane: Owner, take: int) -> None:
        with self._board.news:
            job = self._board.jobs.pop((lane, take), None)
            if job is not None:
                self._board.forget(job)
            self._wake()

    def waiting(self, lane: Owner, take: int) -> int:
        with self._board.news:
            job = self._board.jobs.get((lane, take))
            return 0 if job is None else job.n_waiting

    def _wake(self) -> None:
        self._board.resting = False
        if self._thread is None and not self._board.closing:
            self._thread = EngineThread(self._board, self._build, self._beside, self.microphone, self._clock)
            self._thread.start()
        self._board.news.notify_all()
