"""What the engine worker answers, through the lane that asked. Made on the engine thread."""

from __future__ import annotations

from dataclasses import dataclass, field

from dictation.events import ModelChanged
from engine.transcript import Segment, Transcript


@dataclass(frozen=True)
class PartialReport:
    take: int
    firm: str = field(repr=False)
    tentative: str = field(repr=False)
    audio_s: float


@dataclass(frozen=True)
class FinalReport:
    take: int
    transcript: Transcript = field(repr=False)
    model: str


@dataclass(frozen=True)
class FailureReport:
    take: int
    message: str
    is_refusal: bool = False  # the model can't do what the request says


@dataclass(frozen=True)
class WindowReport:
    """One more window of a whole recording is done. Not said to the microphone's lane."""

    take: int
    segments: tuple[Segment, ...] = field(repr=False)  # found in it
    done_s: float


@dataclass(frozen=True)
class AgainReport:
    """The model has changed, or the recogniser was replaced: the take is forgotten and must be fed again.

    Not said to the microphone's lane, whose owner is the one who changes and replaces.
    """

    take: int


@dataclass(frozen=True)
class BeatReport:
    """The engine makes progress."""


@dataclass(frozen=True)
class ModelReport:
    event: ModelChanged


Report = PartialReport | FinalReport | FailureReport | WindowReport | AgainReport | BeatReport | ModelReport
