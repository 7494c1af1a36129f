"""From one model to the next, while takes go on.

    another one is wanted -> loaded beside the current one (`loading.Load`) -> takes over
                          -> no room for two -> the takes that are on end -> the old one is freed, the new one loaded

A take ends on the model that it began on. A load that fails leaves the current model as it is. A load that nobody wants
any more is given up, and the newest one begins when it has ended: never are three models brought into memory at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from dictation.worker import turns
from dictation.worker.board import Board
from dictation.worker.job import Job
from dictation.worker.loaded import Loaded, LoadedModels
from dictation.worker.loading import Load
from dictation.worker.model import Asked, Beside, Build, Room
from engine.errors import EngineError

HANGS_AFTER_S = 20.0  # a load that was given up and does not end by then (a disk that is gone) is waited for no longer

Work = Callable[[], None]


class Switching:
    """Belongs to an engine thread; only `leave_behind` is called from others."""

    def __init__(self, board: Board, models: LoadedModels, build: Build, beside: Beside) -> None:
        self._board = board
        self._models = models
        self._build = build
        self._beside = beside
        self._load: Load | None = None  # beside the current model
        self._given_up: Load | None = None  # still runs, for nothing
        self._hangs_at_s = 0.0
        self._is_left = False

    # -- with the board's lock

    def due(self) -> Work | None:
        """What is to be done about the models before takes go on."""
        load, target = self._load, self._board.target
        if load is None:
            if target is None or not self._is_asked_for_another:
                return None
            if self._models.is_leaving(target):
                return self._recall
            self._begin(target)
            return None
        if load.target != target:
            return self._give_up
        if load.is_refused:
            is_held = any(job.on is not None and job.lane.is_microphone for job in self._board.jobs.values())
            return None if is_held else self._exchange_for_active
        return None if load.is_running else self._take_over

    def at_rest(self, must_give_way: Asked) -> Work | None:
        """What is to be done about the models when no take has work. must_give_way: something else is to be done."""
        board, current, target = self._board, self._models.current, self._board.target
        if self._models.has_unused(self._in_use()):
            return self._tidy
        if target is None:
            return self._put_away if current is not None and not board.jobs else None
        if current is None or (current.is_guest and not board.jobs):
            return self._load_active if self._models.tried != target else None
        if current.can_prepare and self._load is None and not board.jobs and not self._has_changed:
            return lambda: self._models.prepare(lambda: self._has_changed or must_give_way())
        return None

    @property
    def wait_s(self) -> float | None:
        """After which time to ask again without news."""
        return max(0.0, self._hangs_at_s - time.monotonic()) if self._must_wait else None

    def may_run(self, job: Job) -> bool:
        """Whether a step of it fits into what is being done about the models."""
        if self._load is None:
            return True
        if not self._load.is_refused:
            return not turns.needs_load(job, self._models.servable)
        # What is on the current model ends there, the rest waits for the next one. But nobody who speaks waits for a
        # whole recording.
        recorded = any(
            other.on is not None and other.lane.is_microphone and not other.goes_first
            for other in self._board.jobs.values()
        )
        return job.on is not None or (job.goes_first and recorded)

    @property
    def is_held_up(self) -> bool:
        """A switch waits for other lanes' steps: to begin, or to give their takes back."""
        return self._is_asked_for_another if self._load is None else self._load.is_refused

    @property
    def _is_asked_for_another(self) -> bool:
        """A load beside the current model can begin."""
        target, current = self._board.target, self._models.current
        if target is None or current is None or current.is_guest or self._must_wait:
            return False
        return (current.name, current.device) != target

    @property
    def _has_changed(self) -> bool:
        current = self._models.current
        return current is None or (current.name, current.device) != self._board.target

    @property
    def _must_wait(self) -> bool:
        """An unwanted load still runs."""
        load = self._given_up
        return load is not None and load.is_running and time.monotonic() < self._hangs_at_s

    def _begin(self, target: tuple[str, str]) -> None:
        current = self._models.current
        assert current is not None
        meanwhile = f"{_short(current.name)} stays in use until {_short(target[0])} is ready."
        self._given_up = None
        self._load = Load(
            target,
            self._build,
            self._beside,
            say=lambda status: self._models.say(target[0], status, meanwhile),
            ended=self._tell_news,
        )
        self._load.start()

    def _tell_news(self) -> None:
        """On the load's thread."""
        with self._board.news:
            self._board.resting = False
            self._board.news.notify_all()

    def _in_use(self) -> set[Loaded]:
        """Models that a take is on. What was held for takes that nobody wants any more is freed first."""
        self._board.dropped.clear()
        return {job.on for job in self._board.jobs.values() if job.on is not None}

    # -- without it

    def model_for(self, job: Job) -> Loaded:
        """The model that a take begins on, loaded if need be. Raises EngineError."""
        board = self._board
        if (found := self._models.find(job.model)) is not None:
            return found
        name = job.model or board.active
        try:
            return self._exchange(name, board.device, is_guest=name != board.active)
        except EngineError:
            if job.model is None and (current := self._models.find(None)) is not None:
                return current  # the one before stays in use
            raise

    def leave_behind(self) -> None:
        """This thread's loads and choices count no more. From any thread."""
        self._is_left = True
        if (load := self._load) is not None:
            load.give_up()

    def _give_up(self) -> None:
        load, self._load = self._load, None
        assert load is not None
        load.give_up()
        if load.is_running:
            self._given_up, self._hangs_at_s = load, time.monotonic() + HANGS_AFTER_S
        if not self._has_changed:
            self._models.ready()  # as before

    def _take_over(self) -> None:
        load, self._load = self._load, None
        assert load is not None
        model = load.take()
        if model is not None:
            self._models.take_over(load.target, model)
            self._models.ready(load.load_ms)
        elif load.failure is not None:
            status, why = load.failure
            self._models.say(load.target[0], status, why)
            current = self._models.current
            if current is not None and self._take_back(load.target, current):
                self._models.ready(message=_stays(why, current))

    def _take_back(self, target: tuple[str, str], before: Loaded) -> bool:
        """Make `before` the active model again, unless something else is wanted by now."""
        with self._board.news:
            if self._is_left or (self._board.active, self._board.device) != target:
                return False
            self._board.active, self._board.device = before.name, before.device
            return True

    def _recall(self) -> None:
        if (target := self._board.target) is not None:
            self._models.recall(target)
            self._models.ready()

    def _exchange_for_active(self) -> None:
        load, self._load = self._load, None
        current = self._models.current
        why = ""
        if load is not None and load.room is Room.NO_MEMORY and current is not None:
            why = f"There is not enough memory for two models, so {_short(current.name)} is freed first."
        self._load_active(why)

    def _load_active(self, why: str = "") -> None:
        with contextlib.suppress(EngineError):  # it has been reported
            self._exchange(self._board.active, self._board.device, why=why)

    def _exchange(self, name: str, device: str, *, is_guest: bool = False, why: str = "") -> Loaded:
        """Load a model in the current one's place. Raises EngineError; then the one before is back if it can be."""
        before = self._models.current
        with self._board.news:
            self._board.send_back(lambda job: job.on is not None)
            in_use = self._in_use()
        try:
            return self._models.load(name, device, in_use, is_guest=is_guest, why=why)
        except EngineError as error:
            if before is not None and self._take_back((name, device), before):
                said = _stays(str(error), before)
                with contextlib.suppress(EngineError):  # it has been reported
                    self._models.load(before.name, before.device, in_use, at_last=said)
            raise

    def _tidy(self) -> None:
        with self._board.news:
            in_use = self._in_use()
        self._models.tidy(in_use)

    def _put_away(self) -> None:
        self._models.put_away(self._board.unloaded_because)


def _stays(why: str, model: Loaded) -> str:
    return f"{why} {_short(model.name)} stays in use."


def _short(name: str) -> str:
    """As people call it: of a file, without its folders."""
    return Path(name).name
