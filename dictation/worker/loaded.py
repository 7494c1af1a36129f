"""The models in memory: the one in use, and those before it as long as takes that began on them go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from dictation import log
from dictation.events import ModelChanged, ModelStatus
from dictation.memory import give_memory_back
from dictation.worker.loading import make, status_of
from dictation.worker.model import Asked, Build, Model
from dictation.worker.reports import ModelReport, Report
from engine.errors import Cancelled, EngineError, ModelNotFoundError

TOUCH_AFTER_S = 30.0  # of rest: the weights may have been paged out, so they are touched at key-down


@dataclass(eq=False)
class Loaded:
    """A model in memory, loaded and warm."""

    name: str  # as asked for
    device: str  # as asked for
    model: Model
    used_s: float
    is_guest: bool = False  # loaded for recordings that name it; not the one that was chosen
    can_prepare: bool = True  # something is left that only saves time later

    def touch(self, now_s: float) -> None:
        """At key-down, in parallel with the first words: bring weights that were paged out back into memory."""
        if now_s - self.used_s > TOUCH_AFTER_S:
            self.model.warm_up()


class LoadedModels:
    """Belongs to one engine thread."""

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
        self.current: Loaded | None = None
        self._leaving: list[Loaded] = []
        self.tried: tuple[str, str] | None = None  # could not be loaded, and is not tried in a circle

    @property
    def servable(self) -> set[str | None]:
        """Values of `Job.model` for which no model has to be loaded."""
        served: set[str | None] = {loaded.name for loaded in self._all}
        if self.current is not None and not self.current.is_guest:
            served.add(None)
        return served

    @property
    def _all(self) -> list[Loaded]:
        return [*([self.current] if self.current is not None else []), *self._leaving]

    def find(self, wanted: str | None) -> Loaded | None:
        """The model for a `Job.model` that is servable."""
        if wanted is None:
            return self.current if self.current is not None and not self.current.is_guest else None
        return next((loaded for loaded in self._all if loaded.name == wanted), None)

    def load(
        self,
        name: str,
        device: str,
        in_use: Collection[Loaded],
        *,
        is_guest: bool = False,
        why: str = "",
        at_last: str = "",
    ) -> Loaded:
        """Make a model the current one, here and now. Raises EngineError, and says so in a report.

        All models but those `in_use` are freed first: there may not be memory for two. why: said while it loads.
        at_last: said with the good news.
        """
        if not self.recall((name, device)):
            self._retire()
            self.tidy(in_use)
            self._load((name, device), is_guest, why, at_last)
        elif at_last:
            self.ready(message=at_last)
        assert self.current is not None
        return self.current

    def _load(self, target: tuple[str, str], is_guest: bool, why: str, at_last: str) -> None:
        name, device = self.tried = target
        if not name:
            raise ModelNotFoundError("No model is chosen yet. Choose one in the settings, or with `sayso models`.")
        started = time.perf_counter()
        self.say(name, ModelStatus.LOADING, why)
        self._loading(True)
        try:
            model = make(self._build, name, device, lambda: self.say(name, ModelStatus.WARMING, why))
        except EngineError as error:
            self.say(name, status_of(error), str(error))
            raise
        finally:
            self._loading(False)
        self.take_over(target, model, is_guest=is_guest)
        self.ready((time.perf_counter() - started) * 1000, at_last)

    def is_leaving(self, target: tuple[str, str]) -> bool:
        return any((loaded.name, loaded.device) == target for loaded in self._leaving)

    def recall(self, target: tuple[str, str]) -> bool:
        """Make a model that is about to leave the current one again; False where there is none of that name."""
        for loaded in self._leaving:
            if (loaded.name, loaded.device) == target:
                self._leaving.remove(loaded)
                self._retire()
                loaded.is_guest = False
                self.current = loaded
                return True
        return False

    def take_over(self, target: tuple[str, str], model: Model, *, is_guest: bool = False) -> None:
        """A model that has been loaded becomes the current one."""
        self._retire()
        self.tried = None
        self.current = Loaded(*target, model, self._clock(), is_guest)

    def _retire(self) -> None:
        if self.current is not None:
            self._leaving.append(self.current)
            self.current = None

    def has_unused(self, in_use: Collection[Loaded]) -> bool:
        return any(loaded not in in_use for loaded in self._leaving)

    def tidy(self, in_use: Collection[Loaded]) -> None:
        """Free models that have been replaced and that no take is on any more."""
        unused = [loaded for loaded in self._leaving if loaded not in in_use]
        self._leaving = [loaded for loaded in self._leaving if loaded in in_use]
        for loaded in unused:
            loaded.model.close()
        if unused:
            del unused
            give_memory_back()

    def put_away(self, why: str = "") -> None:
        """Free everything because no model is wanted in memory now."""
        name = self.current.name if self.current is not None else ""
        self.free()
        give_memory_back()
        if name:
            self.say(name, ModelStatus.UNLOADED, why)

    def free(self) -> None:
        self._retire()
        for loaded in self._leaving:
            loaded.model.close()
        self._leaving.clear()
        self.tried = None

    def prepare(self, cancelled: Asked) -> None:
        """One of the things that a model does while nobody waits."""
        loaded = self.current
        if loaded is None:
            return
        try:
            loaded.can_prepare = loaded.model.prepare(cancelled)
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 - nobody waits for it, and takes work without
            log.get("worker").exception("preparing failed: %s", type(error).__name__)
            loaded.can_prepare = False

    def ready(self, load_ms: float = 0.0, message: str = "") -> None:
        """Say that the current model is the one in use."""
        assert self.current is not None
        loaded = self.current
        self.say(loaded.name, ModelStatus.READY, message, device=loaded.model.device, load_ms=load_ms)

    def say(self, name: str, status: ModelStatus, message: str = "", device: str = "", load_ms: float = 0.0) -> None:
        self._report(ModelReport(ModelChanged(name, status, message, device=device, load_ms=load_ms)))
