"""Whose turn it is at the engine, and who gives way to whom. Pure: looks at jobs and changes none.

The microphone's takes go before everything else, and what is being done for others is given up for them: always for a
key that goes down or up, and for words on the screen as long as the others still get somewhere. It goes on from there
afterwards. The others, and whole recordings, take turns: a look at a take, a window of a recording.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dictation.worker.job import Job

NEWS = 4_800  # samples (0.3 s) of the microphone that wait: worth giving up another user's step for
PATIENCE_S = 0.5  # spent on a step in vain; after that it is given up for a key, but not for words on the screen
HEAD_START_S = 2.0  # by which a take that waits for its end is let in earlier than those that go on


def needs_load(job: Job, servable: Collection[str | None]) -> bool:
    """Whether a model must be loaded for it. servable: values of `Job.model` for which one is in memory."""
    return job.on is None and job.model not in servable


def most_urgent(jobs: Sequence[Job], servable: Collection[str | None]) -> Job | None:
    """The microphone's oldest take that waits for its end, its newest that has news, then the others in turn.

    jobs: oldest first.
    """
    first = [job for job in jobs if job.goes_first]
    for job in first:
        if job.finish:
            return job
    for job in reversed(first):
        if job.has_news:
            return job
    others = [job for job in jobs if job.is_ready and not job.goes_first]
    if first:  # the models stay while somebody speaks
        others = [job for job in others if not needs_load(job, servable)]
    elif guests := [job for job in others if _is_guest(job, servable)]:  # what was loaded for them is used up first
        return min(guests, key=lambda job: needs_load(job, servable))
    return min(others, key=_turn_s, default=None)


def _is_guest(job: Job, servable: Collection[str | None]) -> bool:
    """Whether it asks for another model than the active one, and by that keeps the active one out of memory."""
    return job.on.is_guest if job.on is not None else job.model is not None and needs_load(job, servable)


def must_give_way(job: Job, jobs: Sequence[Job], finish: bool = False) -> bool:
    """Whether the step of `job` (`finish`: its last one) should be given up for a take of the microphone."""
    first = [other for other in jobs if other.goes_first and other is not job]
    if job.goes_first:
        return not finish and any(other.finish for other in first)
    is_patient = job.spent_s < PATIENCE_S
    return any(
        other.finish or other.hurry or not other.touched or (is_patient and other.n_waiting >= NEWS) for other in first
    )


def _turn_s(job: Job) -> float:
    """The lowest is next: who was served longest ago, and takes that wait for their end a little earlier."""
    return job.served_s - (HEAD_START_S if job.finish and job.recording is None else 0.0)
