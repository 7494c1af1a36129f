"""A model on its way into memory: read, brought onto its device, warmed up; on a thread of its own where that can be.

While a model is loaded beside another, the other one goes on working. Nothing that happens to the load reaches it: a
load that fails leaves a sentence, one that is given up closes what it has built, one that hangs is left behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dictation import log
from dictation.events import ModelStatus
from dictation.worker.model import Beside, Build, Model, Room
from engine.errors import Cancelled, EngineError, ModelNotFoundError


def make(build: Build, name: str, device: str, warming: Callable[[], None]) -> Model:
    """A model, built and warm. Raises EngineError, and nothing else whatever a runtime meets here.

    warming: called between the two; what it raises ends the load.
    """
    try:
        model = build(name, device)
        try:
            warming()
            model.warm_up()
        except BaseException:
            model.close()
            raise
    except EngineError:
        raise
    except Exception as error:
        log.get("worker").exception("a model can't be loaded: %s", type(error).__name__)
        short = isinstance(error, MemoryError)
        why = "there is not enough memory; choose a smaller one" if short else type(error).__name__
        raise EngineError(f"{name} can't be loaded ({why}).") from error
    return model


def status_of(error: EngineError) -> ModelStatus:
    """What a model is that could not be loaded."""
    return ModelStatus.MISSING if isinstance(error, ModelNotFoundError) else ModelStatus.FAILED


class Load:
    """A load beside the model in use. The engine thread starts it, and takes the model or gives it up."""

    def __init__(
        self,
        target: tuple[str, str],
        build: Build,
        beside: Beside,
        say: Callable[[ModelStatus], None],
        ended: Callable[[], None],
    ) -> None:
        """target: name and device. say: how far it is, told while it is not given up. ended: called at its end."""
        self.target = target
        self._build, self._beside, self._say, self._ended = build, beside, say, ended
        self._lock = threading.Lock()  # the model belongs to the load, or to who took it
        self._given_up = False
        self._model: Model | None = None
        # read when it is over
        self.is_running = True
        self.room = Room.BESIDE
        self.failure: tuple[ModelStatus, str] | None = None  # no exception: its frames would hold memory
        self.load_ms = 0.0

    def start(self) -> None:
        threading.Thread(target=self._run, name="model-load", daemon=True).start()

    @property
    def is_refused(self) -> bool:
        """It is over, and the model in use has to go first."""
        return not self.is_running and self.room is not Room.BESIDE

    def take(self) -> Model | None:
        """The model, from now on the caller's; None where it failed."""
        with self._lock:
            model, self._model = self._model, None
            return model

    def give_up(self) -> None:
        """Nobody wants the model any more. From any thread; a second time does nothing."""
        with self._lock:
            self._given_up = True
        model = self.take()
        if model is not None:
            model.close()

    def _run(self) -> None:
        try:
            self._load()
        except EngineError as error:
            self.failure = (status_of(error), str(error))
        except Exception as error:  # noqa: BLE001 - top of the thread
            log.get("worker").exception("a model can't be looked at: %s", type(error).__name__)
            self.failure = (ModelStatus.FAILED, f"{self.target[0]} can't be loaded ({type(error).__name__}).")
        self.is_running = False
        self._ended()

    def _load(self) -> None:
        self.room = self._beside(*self.target)
        if self.room is not Room.BESIDE:
            return
        started = time.perf_counter()
        self._tell(ModelStatus.LOADING)
        model = make(self._build, *self.target, warming=lambda: self._tell(ModelStatus.WARMING))
        self.load_ms = (time.perf_counter() - started) * 1000
        with self._lock:
            if not self._given_up:
                self._model = model
                return
        model.close()

    def _tell(self, status: ModelStatus) -> None:
        """Raises Cancelled when nobody wants the model any more."""
        with self._lock:
            if self._given_up:
                raise Cancelled("Stopped.")
            self._say(status)
