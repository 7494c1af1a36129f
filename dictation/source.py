"""Where sound comes from: the microphone, or a recorded clip in its place. The loop knows no difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dictation.events import Microphone

F32 = NDArray[np.float32]


@dataclass(frozen=True)
class Block:
    """Sound from one opening of a source. Another `opening` may have another rate and other channels."""

    opening: int
    samples: F32 = field(repr=False)  # (n, channels), -1 to 1
    rate_hz: float
    overflow: bool = False  # some samples before this block were lost


@dataclass(frozen=True)
class SourceOpened:
    opening: int
    microphone: Microphone
    reason: Literal["opened", "fell_back", "restarted"] = "opened"


@dataclass(frozen=True)
class SourceLost:
    """It could not be opened (`opening` is then the one that was tried), or ended by itself."""

    opening: int
    message: str


@dataclass(frozen=True)
class ClipEnded:
    """A clip has been heard to its end."""

    opening: int


@dataclass(frozen=True)
class MicrophonesSeen:
    microphones: tuple[Microphone, ...]


SourceReport = Block | SourceOpened | SourceLost | ClipEnded | MicrophonesSeen
Post = Callable[[SourceReport], None]


class Source(Protocol):
    """All calls return at once; what comes of them is posted, from any thread."""

    def open(self, opening: int, again: bool = False) -> None:
        """Begin to give blocks; every report carries this `opening`. again: look at the devices anew before."""
        ...

    def close(self) -> None: ...

    def list_microphones(self) -> None:
        """Ask for MicrophonesSeen; opens no device."""
        ...

    def choose(self, microphone: str) -> None:
        """The device for the next opening, by `Microphone.name`; "" follows the system's default."""
        ...

    def quit(self) -> None: ...
