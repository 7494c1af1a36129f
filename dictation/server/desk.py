"""The server's place at the engine worker: numbers its takes, and brings what the engine says to the asyncio loop.

Reports are made on the engine thread and handed over there and then; everything else here is of the asyncio loop.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeVar

from dictation.memory import give_memory_back
from dictation.server.faults import Fault, ending
from dictation.server.limits import Limits
from dictation.server.metrics import Metrics
from dictation.worker.lane import Lane
from dictation.worker.model import Request
from dictation.worker.reports import AgainReport, FailureReport, FinalReport, Report, WindowReport
from engine.audio import Clip

POOL_THREADS = 2
GIVE_BACK_S = 30.0  # between two times that what takes have freed goes back to the system, which takes milliseconds
NICENESS = 10  # of the pool's threads, where the system can do that: the engine and the microphone go first
T = TypeVar("T")
Listener = Callable[[Report], None]


class LaneSource(Protocol):
    """`dictation.loop.Loop`, as far as the desk needs it."""

    def lane(self, report: Callable[[Report], None]) -> Lane: ...


class Desk:
    """Made on the asyncio loop that it belongs to."""

    def __init__(self, source: LaneSource, limits: Limits, metrics: Metrics) -> None:
        self.limits = limits
        self.metrics = metrics
        self._loop = asyncio.get_running_loop()
        self._listeners: dict[int, Listener] = {}
        self._next = 1
        self._n_recordings = 0
        self._recognised: set[asyncio.Queue[Report | Fault]] = set()  # recordings
        self._has_freed = False
        self.lane = source.lane(self._take_report)
        self._pool = ThreadPoolExecutor(POOL_THREADS, "api-work", initializer=_step_back)
        self._tidier = self._loop.create_task(self._tidy())

    def end(self) -> None:
        """Sayso ends: what is being recognised is given up, and whoever reads its text is told."""
        for reports in self._recognised:
            reports.put_nowait(ending())

    def close(self) -> None:
        self._tidier.cancel()
        for take in self._listeners:
            self.lane.drop(take)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def work(self, what: Callable[[], T]) -> T:
        """Run what takes time on the pool."""
        return await self._loop.run_in_executor(self._pool, what)

    async def make(self, what: Callable[[], T], undo: Callable[[T], object]) -> T:
        """Make something on the pool; where its user is gone by then, it is undone."""
        future = self._loop.run_in_executor(self._pool, what)

        def clean_up(done: asyncio.Future[T]) -> None:
            if not done.cancelled() and done.exception() is None:
                undo(done.result())

        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(clean_up)
            raise

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(GIVE_BACK_S)
            if self._has_freed:
                self._has_freed = False
                await self.work(give_memory_back)

    # ------------------------------------------------------------------------------------------------------- reports

    def enter(self, listener: Listener) -> int:
        """A number for a take, whose reports go to `listener` until `leave`."""
        take, self._next = self._next, self._next + 1
        self._listeners[take] = listener
        return take

    def leave(self, take: int) -> None:
        """Forget a take."""
        self._has_freed = True
        self._listeners.pop(take, None)
        self.lane.drop(take)

    def _take_report(self, report: Report) -> None:
        """On the engine thread."""
        with suppress(RuntimeError):  # the server has just ended
            self._loop.call_soon_threadsafe(self._hand_over, report)

    def _hand_over(self, report: Report) -> None:
        listener = self._listeners.get(getattr(report, "take", 0))
        if listener is not None:
            listener(report)

    # ---------------------------------------------------------------------------------------------- whole recordings

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place among the recordings that wait or are recognised. Raises Fault when all are taken."""
        if self._n_recordings >= self.limits.recordings:
            text = f"{self.limits.recordings} recordings are waiting already. Try again in a while."
            raise Fault(429, "too_many_recordings", text, headers={"Retry-After": "10"})
        self._n_recordings += 1
        self.metrics.recordings.set(self._n_recordings)
        try:
            yield
        finally:
            self._n_recordings -= 1
            self.metrics.recordings.set(self._n_recordings)

    async def recognise(self, file: Path, request: Request) -> AsyncGenerator[WindowReport | FinalReport, None]:
        """Recognise a 16 kHz WAV file: a report per window, then the final one. Raises Fault.

        Where the model changes on the way it begins anew, unless something of the text has been given out.
        """
        reports: asyncio.Queue[Report | Fault] = asyncio.Queue()
        self._recognised.add(reports)
        take = self.enter(reports.put_nowait)
        clip = Clip(file)
        told = False
        until_s = self._loop.time() + self.limits.answer_s
        try:
            self.lane.transcribe(take, clip, request)
            while True:
                async with asyncio.timeout_at(until_s):
                    report = await reports.get()
                match report:
                    case WindowReport() as window:
                        told = told or bool(window.segments)
                        yield window
                    case FinalReport() as final:
                        yield final
                        return
                    case FailureReport() as failure:
                        raise of_report(failure)
                    case Fault() as fault:
                        raise fault
                    case AgainReport() if told:
                        raise Fault(503, "model_changed", "The model has changed meanwhile. Send the audio again.")
                    case AgainReport():
                        clip = Clip(file)  # the old one is the engine thread's until it lets go
                        self.lane.transcribe(take, clip, request)
        except TimeoutError as error:
            raise Fault(504, "too_slow", "The recognition took too long and was given up.") from error
        finally:
            self._recognised.discard(reports)
            self.leave(take)


def of_report(failure: FailureReport) -> Fault:
    """The fault for a take that could not be recognised."""
    if failure.is_refusal:
        return Fault(422, "not_possible", failure.message)
    return Fault(503, "recognition_failed", failure.message, headers={"Retry-After": "5"})


def _step_back() -> None:
    """Let the pool's thread go behind the others; Linux only."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
