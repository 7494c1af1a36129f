"""What the session machine wants done; `dictation/loop.py` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dictation.events import Event, Start


@dataclass(frozen=True)
class Effect:
    """Root of what the loop is to do."""


@dataclass(frozen=True)
class Publish(Effect):
    event: Event


@dataclass(frozen=True)
class OpenMicrophone(Effect):
    """Open it unless it is open; blocks belong to the newest take from now on."""

    again: bool = False  # close it first and look at the devices anew


@dataclass(frozen=True)
class CloseMicrophone(Effect):
    """No more blocks are wanted (it may stay warm)."""


@dataclass(frozen=True)
class BeginTake(Effect):
    """Note the target window, open the spool file, begin to recognise."""

    take: int
    start: Start


@dataclass(frozen=True)
class Hurry(Effect):
    """Key up: recognise what is there, the rest is only the tail."""

    take: int


@dataclass(frozen=True)
class EndTake(Effect):
    """All audio of the take has come: make the final text of it."""

    take: int


@dataclass(frozen=True)
class Deliver(Effect):
    take: int


@dataclass(frozen=True)
class HoldText(Effect):
    """The window does not answer: keep the text for the user, and drop it should its turn still come."""

    take: int


@dataclass(frozen=True)
class Drop(Effect):
    """Forget a take: no more recognition, no delivery, and what happens to its audio."""

    take: int
    audio: Literal["remove", "keep"]
    reason: str = ""  # of keeping: "failed", "unclear", "interrupted"


@dataclass(frozen=True)
class Done(Effect):
    """A take was delivered (or held with its text safe): its audio is not needed any more."""

    take: int


@dataclass(frozen=True)
class ReplaceRecogniser(Effect):
    """The engine thread is stuck: leave it, start another, give it the takes that are left."""
