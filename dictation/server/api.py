"""What every endpoint works with: the settings, the engine, the sessions, the limits. One per running server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Protocol

from dictation.server import shapes
from dictation.server.desk import Desk, LaneSource
from dictation.server.faults import Fault
from dictation.server.limits import Limits
from dictation.server.metrics import Metrics
from dictation.server.sessions import Sessions
from dictation.settings import Settings
from dictation.spool import Spool
from dictation.version import version

ALIAS = "whisper-1"  # what clients ask for that know OpenAI's names only


class Core(LaneSource, Protocol):
    """The running core as the server needs it: `dictation.loop.Loop`."""

    @property
    def settings(self) -> Settings: ...

    @property
    def model(self) -> str:
        """The active model's name; "" for none."""
        ...

    @property
    def model_status(self) -> str: ...

    @property
    def model_note(self) -> str:
        """While the active model loads: what is in use until then."""
        ...


class Api:
    """Made on the asyncio loop that it belongs to. folder: for uploads and spooled audio; its owner removes it."""

    def __init__(self, core: Core, folder: Path, limits: Limits | None = None) -> None:
        self.core = core
        self.folder = folder
        self.limits = limits or Limits()
        self.metrics = Metrics()
        self.started_unix_s = int(time.time())
        self.desk = Desk(core, self.limits, self.metrics)
        self.sessions = Sessions(self.desk, Spool(folder), lambda: core.settings)

    # ---------------------------------------------------------------------------------------------------------- model

    @property
    def model_names(self) -> list[str]:
        """What clients may ask for: the model in use, by its own name (of a file: without its folders) and OpenAI's."""
        name = Path(self.core.model).name
        return [name, ALIAS] if name else [ALIAS]

    def check_model(self, name: str) -> None:
        """Raises Fault for another model than the one in use: two would be loaded in turn, and dictation would wait."""
        if name not in self.model_names:
            text = (
                f"The model in use is {self.model_names[0]}. Ask for that one, or choose another in Sayso's settings."
            )
            raise Fault(404, "model_not_found", text, param="model")

    def health(self) -> shapes.Health:
        name = self.model_names[0] if self.core.model else ""
        return shapes.Health("ok", version(), name, self.core.model_status, self.core.model_note)
