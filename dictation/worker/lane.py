"""One user of the engine worker: the microphone, or a program at the local API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from dictation.worker.job import Job, Owner
from dictation.worker.model import F32, Request
from dictation.worker.reports import Report

if TYPE_CHECKING:
    from engine.audio import Audio


class Jobs(Protocol):
    """What a lane asks of the worker. A take that is not there (any more) is passed over."""

    def add(self, job: Job) -> None: ...

    def tell(self, lane: Owner, take: int, what: Callable[[Job], object]) -> None: ...

    def drop(self, lane: Owner, take: int) -> None: ...

    def waiting(self, lane: Owner, take: int) -> int: ...


class Lane:
    """One user of the worker, with numbers of its own for its takes. All calls return at once, from any thread.

    report: must only put its argument in a queue.
    """

    def __init__(self, worker: Jobs, report: Callable[[Report], None], is_microphone: bool = False) -> None:
        self._worker = worker
        self.report = report
        self.is_microphone = is_microphone

    def begin(self, take: int, request: Request) -> None:
        """A take begins: load or touch the model while its first words are spoken."""
        self._worker.add(Job(self, take, request))

    def feed(self, take: int, samples: F32, start: int) -> None:
        """More of the take; `start` is the place of the first sample in it."""

        def feed(job: Job) -> None:
            job.heard.append((samples, start))
            job.n_waiting += len(samples)
            job.rests = False

        self._worker.tell(self, take, feed)

    def cut(self, take: int, at: int) -> None:
        """A piece of the take ends before sample `at`."""
        self._worker.tell(self, take, lambda job: job.heard.append(at))

    def hurry(self, take: int) -> None:
        """Key up: drop the partial that is being made, look at all there is."""
        self._worker.tell(self, take, lambda job: setattr(job, "hurry", True))

    def rest(self, take: int) -> None:
        """Nothing more comes for a while: the engine lets go of what it holds to be fast, tens of megabytes."""
        self._worker.tell(self, take, lambda job: setattr(job, "rests", True))

    def finish(self, take: int, heard_speech: bool | None) -> None:
        """Nothing more comes: answer with a FinalReport or a FailureReport."""

        def last(job: Job) -> None:
            job.finish, job.heard_speech = True, heard_speech

        self._worker.tell(self, take, last)

    def transcribe(self, take: int, recording: F32 | Audio, request: Request) -> None:
        """Recognise a whole recording, in the gaps that takes leave. Answers as a take does."""
        self._worker.add(Job(self, take, request, recording=recording, finish=True))

    def drop(self, take: int) -> None:
        """Forget a take; no answer comes any more."""
        self._worker.drop(self, take)

    def waiting(self, take: int) -> int:
        """Samples of a take that the engine has not looked at yet."""
        return self._worker.waiting(self, take)
