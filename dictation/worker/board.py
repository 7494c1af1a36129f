"""What the callers of the worker write and the engine thread reads: the jobs, and which model is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable

from dictation.worker.job import Job, Owner
from dictation.worker.reports import AgainReport


class Board:
    """Guarded by `news`, which is told of every change."""

    def __init__(self) -> None:
        self.news = threading.Condition()
        self.jobs: dict[tuple[Owner, int], Job] = {}  # oldest first
        self.dropped: list[Job] = []  # what the engine holds for them is freed on its own thread
        self.active = ""  # the model that was chosen, and what it is to compute on
        self.device = "auto"
        self.wanted = False  # the active model should be in memory
        self.unloaded_because = ""
        self.closing = False
        self.resting = True  # the engine thread has seen all news and has nothing to do

    @property
    def target(self) -> tuple[str, str] | None:
        """Name and device of the model that should be in memory."""
        return (self.active, self.device) if self.wanted and self.active else None

    def forget(self, job: Job) -> None:
        """Nobody waits for this job any more. It has been taken out of `jobs`."""
        job.dropped = True
        if job.on is not None:
            self.dropped.append(job)

    def send_back(self, which: Callable[[Job], bool] = lambda job: True) -> None:
        """Let the other lanes begin such takes anew."""
        for job in [job for job in self.jobs.values() if not job.lane.is_microphone and which(job)]:
            del self.jobs[job.lane, job.take]
            self.forget(job)
            job.lane.report(AgainReport(job.take))
