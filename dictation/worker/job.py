"""A take, or a whole recording, on its way through the engine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from dictation.worker.loaded import Loaded
from dictation.worker.model import F32, Live, Recording, Request
from dictation.worker.reports import Report

if TYPE_CHECKING:
    from engine.audio import Audio

MUCH = 60 * 16_000  # samples that are looked at even where nobody wants to see words: they are pieces of their own


class Owner(Protocol):
    """Whose take it is: a lane of the worker."""

    is_microphone: bool

    @property
    def report(self) -> Callable[[Report], None]: ...


@dataclass(eq=False)
class Job:
    """A take on its way through the engine. Guarded by the board's lock, but for what is the engine thread's."""

    lane: Owner
    take: int
    request: Request
    heard: deque[tuple[F32, int] | int] = field(default_factory=deque)  # (samples, start), or a cut
    n_waiting: int = 0  # samples in `heard`
    hurry: bool = False
    finish: bool = False
    rests: bool = False  # nothing more comes for a while, and the engine has not been told yet
    recording: F32 | Audio | None = None  # a whole one instead of a growing one
    heard_speech: bool | None = None
    dropped: bool = False
    touched: bool = False
    served_s: float = 0.0
    looks_again: bool = False  # its last look was given up for the microphone
    spent_s: float = 0.0  # on the step that is being done, attempts that were given up included
    chosen: tuple[str, str] | None = None  # the active model when it began: name and device
    # of the engine thread
    on: Loaded | None = None  # the model that it began on, to its end
    live: Live | None = None
    opened: Recording | None = None

    @property
    def model(self) -> str | None:
        """The model that it asks for by name; None: the active one."""
        return self.request.model or None

    @property
    def goes_first(self) -> bool:
        """A take of the microphone."""
        return self.lane.is_microphone and self.recording is None

    @property
    def has_news(self) -> bool:
        return (
            not self.touched
            or self.looks_again
            or (bool(self.heard) and (self.request.live or self.hurry or self.n_waiting > MUCH))
        )

    @property
    def is_ready(self) -> bool:
        return self.recording is not None or self.finish or self.has_news
