"""What the session machine is told, besides the commands of `dictation/events.py`: what the loop saw happen."""

from __future__ import annotations

from dataclasses import dataclass

from dictation.events import Command, Event


@dataclass(frozen=True)
class Fact:
    """Root of what the loop reports."""


@dataclass(frozen=True)
class BlockHeard(Fact):
    """A block arrived from the microphone that is being recorded."""

    zeros: bool  # every sample exactly 0
    speaking: bool = False
    spoke: bool = False  # there has been speech in this take
    pause_s: float = 0.0  # since the last speech
    audio_s: float = 0.0  # of this take so far; a clip comes faster than it was spoken


@dataclass(frozen=True)
class MicrophoneLost(Fact):
    """It could not be opened, or ended by itself."""

    message: str


@dataclass(frozen=True)
class LifeSign(Fact):
    """The recogniser made progress: it decodes, or loads a model."""


@dataclass(frozen=True)
class Recognised(Fact):
    """A take has its text, or none: then `empty`."""

    take: int
    event: Event  # FinalText or NothingHeard
    empty: bool = False
    keep_audio: bool = False  # empty, but not for sure


@dataclass(frozen=True)
class RecognitionFailed(Fact):
    take: int
    message: str


@dataclass(frozen=True)
class DeliveryEnded(Fact):
    take: int
    event: Event  # TextDelivered
    held: bool = False


@dataclass(frozen=True)
class SourceEnded(Fact):
    """A recorded clip has been played to its end."""


@dataclass(frozen=True)
class Tick(Fact):
    """`wake_s` has come."""


@dataclass(frozen=True)
class Quit(Fact):
    """The program ends."""


Input = Command | Fact
