"""The one model in memory: loaded, warmed, touched at key-down, put away."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable

from dictation import log
from dictation.events import ModelChanged, ModelStatus
from dictation.worker.model import Asked, Build, Model
from dictation.worker.reports import ModelReport, Report
from engine.errors import Cancelled, EngineError, ModelNotFoundError

TOUCH_AFTER_S = 30.0  # of rest: the weights may have been paged out, so they are touched at key-down


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
        self._model: Model | None = None
        # as asked for; also of a model that could not be loaded, so that it is not tried in a circle
        self.name, self.device = "", ""
        self.used_s = 0.0
        self.can_prepare = False  # something is left that only saves time later

    @property
    def is_loaded(self) -> bool:
        return self._model is not None

    def load(self, name: str, device: str, message: str = "") -> Model:
        """The model of that name, loaded and warm. Raises EngineError, and says so in a report.

        The model before is freed first: there may not be memory for two. message: said with the good news.
        """
        if self._model is not None and (name, device) == (self.name, self.device):
            return self._model
        self.free()
        self.name, self.device = name, device
        if not name:
            raise ModelNotFoundError("No model is chosen yet. Choose one in the settings, or with `sayso models`.")
        started = time.perf_counter()
        self._say(name, ModelStatus.LOADING)
        self._loading(True)
        try:
            model = self._build(name, device)
            self._say(name, ModelStatus.WARMING)
            model.warm_up()
        except EngineError as error:
            missing = isinstance(error, ModelNotFoundError)
            self._say(name, ModelStatus.MISSING if missing else ModelStatus.FAILED, str(error))
            raise
        except Exception as error:  # whatever a runtime meets here must not end the thread
            log.get("worker").exception("a model can't be loaded: %s", type(error).__name__)
            short = isinstance(error, MemoryError)
            why = "there is not enough memory; choose a smaller one" if short else type(error).__name__
            failed = EngineError(f"{name} can't be loaded ({why}).")
            self._say(name, ModelStatus.FAILED, str(failed))
            raise failed from error
        finally:
            self._loading(False)
        self._model = model
        self.can_prepare = True
        self.used_s = self._clock()
        load_ms = (time.perf_counter() - started) * 1000
        self._say(name, ModelStatus.READY, message, device=model.device, load_ms=load_ms)
        return model

    def prepare(self, cancelled: Asked) -> None:
        """One of the things that a model does while nobody waits."""
        try:
            self.can_prepare = self._model is not None and self._model.prepare(cancelled)
        except Cancelled:
            pass
        except Exception as error:  # noqa: BLE001 - nobody waits for it, and takes work without
            log.get("worker").exception("preparing failed: %s", type(error).__name__)
            self.can_prepare = False

    def put_away(self) -> None:
        """Free the model because it is not wanted in memory now."""
        self.free()
        _give_memory_back()
        self._say(self.name, ModelStatus.UNLOADED)
        self.name, self.device = "", ""

    def touch(self) -> None:
        """At key-down, in parallel with the first words: bring weights that were paged out back into memory."""
        if self._model is not None and self._clock() - self.used_s > TOUCH_AFTER_S:
            self._model.warm_up()

    def free(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None
        self.can_prepare = False

    def _say(self, name: str, status: ModelStatus, message: str = "", device: str = "", load_ms: float = 0.0) -> None:
        self._report(ModelReport(ModelChanged(name, status, message, device=device, load_ms=load_ms)))


def _give_memory_back() -> None:
    """In a process that has run for long glibc keeps freed blocks of this size for later; here none is wanted soon."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
        if trim is not None:
            trim(0)
