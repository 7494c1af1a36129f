"""Processes that replay clips: each has the model to itself, so that its memory and processor time are this model's.

A process that dies, or hangs, costs the clip it was at: that one is a failure in the results, and another process goes
on. The parent holds no results, so its memory does not grow with the set.
"""

from __future__ import annotations

import itertools
import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from dictation.bench.errors import BenchError
from dictation.bench.kept import KeptModel
from dictation.bench.measure import Task, measure
from dictation.bench.results import Measured
from dictation.bench.scratch import ScratchWindow
from dictation.children import out_of_reach_of_ctrl_c
from dictation.errors import DictationError
from dictation.worker.model import Model
from engine.errors import EngineError

START_MOST_S = 600.0  # a large model from a slow disk
CLIP_MOST_S = 600.0  # and so much more than this per second of audio:
CLIP_MOST_FACTOR = 20.0


@dataclass(frozen=True)
class Job:
    """What the processes of a crew have in common. make: importable, because it goes to another process."""

    model: str
    device: str = "auto"
    threads: int | None = None
    typed: bool = False
    make: Callable[[Job], Model] | None = None  # another model than `load` gives, for tests

    def load(self) -> Model:
        import engine
        from dictation.recogniser import Recogniser

        if self.make is not None:
            return self.make(self)
        return Recogniser(engine.load(self.model, device=self.device, threads=self.threads), self.model)


class _Hand:
    """One process and what it is at."""

    def __init__(self, job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(target=_work, args=(job, theirs), daemon=True)
        with out_of_reach_of_ctrl_c():
            self.process.start()
        theirs.close()
        self.task: Task | None = None
        self.deadline_s = time.monotonic() + START_MOST_S
        self.is_ready = False
        self.device = ""

    def give(self, task: Task) -> None:
        self.task = task
        self.deadline_s = time.monotonic() + CLIP_MOST_S + CLIP_MOST_FACTOR * _seconds(task)
        self.pipe.send(task)

    def end(self) -> None:
        """At once, whatever it is at."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(2.0)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()


def run(job: Job, tasks: Iterable[Task], n_jobs: int, started: Callable[[str], None]) -> Iterator[Measured]:
    """Results as they come. started: told what computes, once. Raises BenchError when a process can't begin at all."""
    waiting = iter(tasks)
    first = next(waiting, None)
    if first is None:
        return
    waiting = itertools.chain([first], waiting)
    hands = [_Hand(job) for _ in range(n_jobs)]
    told = False
    try:
        while hands:
            wait([x for hand in hands for x in (hand.pipe, hand.process.sentinel)], timeout=5.0)
            for hand in list(hands):
                measured = _news(hand)
                if hand.is_ready and not told:
                    told = True
                    started(hand.device)
                if measured is not None:
                    yield measured
                    if measured.failure and not hand.is_ready:
                        hands[hands.index(hand)] = _Hand(job)
                if hand in hands and hand.is_ready and hand.task is None:
                    task = next(waiting, None)
                    if task is None:
                        hands.remove(hand)
                        hand.end()
                    else:
                        hand.give(task)
    finally:
        for hand in hands:
            hand.end()


def _news(hand: _Hand) -> Measured | None:
    """What a process has to say. One that is gone is marked as not ready, with a failure for its clip."""
    try:
        if hand.pipe.poll():
            said = hand.pipe.recv()
            if isinstance(said, Measured):
                hand.task = None
                return said
            ready, text = said
            if not ready:
                raise BenchError(text)
            hand.is_ready, hand.device = True, text
            return None
        gone = not hand.process.is_alive()
    except (EOFError, OSError):
        gone = True
    if not gone and time.monotonic() < hand.deadline_s:
        return None
    if not gone and hand.task is None and hand.is_ready:
        return None
    if hand.task is None:
        raise BenchError("A process that replays clips ended before it began; perhaps memory is full.")
    why = "The process that replayed it ended early; perhaps memory was full." if gone else "It did not come to an end."
    task, hand.task, hand.is_ready = hand.task, None, False
    hand.end()
    return Measured(task.clip.id, task.variant, task.repeat, task.language, task.clip.scored, failure=why)


def _seconds(task: Task) -> float:
    from engine.audio import open_sound

    try:
        with open_sound(task.clip.path) as file:
            return float(file.frames / file.samplerate)
    except EngineError:
        return 0.0


def _work(job: Job, pipe: Connection) -> None:
    """The life of one process."""
    window = None
    try:
        model = KeptModel(job.load)
        window = ScratchWindow() if job.typed else None
    except (EngineError, DictationError) as error:
        pipe.send((False, str(error)))
        return
    pipe.send((True, model.device))
    try:
        while True:
            pipe.send(_measured(pipe.recv(), model, window))
    except (EOFError, OSError):  # the parent has ended
        pass
    finally:
        if window is not None:
            window.close()


def _measured(task: Task, model: KeptModel, window: ScratchWindow | None) -> Measured:
    try:
        return measure(task, model, window)
    except Exception as error:  # noqa: BLE001 - top of the process
        why = f"A fault in Sayso: {type(error).__name__}: {error}"
        return Measured(task.clip.id, task.variant, task.repeat, task.language, task.clip.scored, failure=why)
