"""What the engine worker needs of a model (`dictation.recogniser` has the real one), and how a take is recognised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from dictation.languages import LanguageRequest
from dictation.vocabulary import Term
from engine.transcript import Segment, Transcript

if TYPE_CHECKING:
    from engine.audio import Audio

F32 = NDArray[np.float32]
Asked = Callable[[], bool]


@dataclass(frozen=True)
class Request:
    """How a take is to be recognised."""

    language: LanguageRequest = field(default_factory=lambda: LanguageRequest(None, (), None, "transcribe"))
    terms: tuple[Term, ...] = ()  # the user's vocabulary
    live: bool = True  # show text while it is spoken
    model: str | None = None  # None: the active one
    exactly: bool = False  # refuse what the model can't do, instead of doing what comes nearest
    # of whole recordings
    timestamps: bool = False  # segments with times
    word_times: bool = False
    prompt: str = ""  # text before the audio; it goes before the vocabulary
    temperature: float | None = None  # None: 0, and higher where a text can't be trusted


class Partial(Protocol):
    """What is understood so far: `engine.streaming.Partial`."""

    @property
    def firm(self) -> str: ...
    @property
    def tentative(self) -> str: ...
    @property
    def seconds(self) -> float: ...


class Live(Protocol):
    """One take being recognised: `engine.streaming.LiveTranscriber`. Times are samples from the take's first one."""

    def append(self, samples: F32, start: int | None = None) -> None: ...

    def cut(self, at: int | None = None) -> None: ...

    def rest(self) -> None: ...

    def partial(self, cancelled: Asked | None = None) -> Partial | None: ...

    def finish(self, heard_speech: bool | None = None, cancelled: Asked | None = None) -> Transcript: ...


class Recording(Protocol):
    """A whole recording being recognised, window by window: `engine.transcriber.Transcription`."""

    @property
    def segments(self) -> Sequence[Segment]: ...
    @property
    def done_s(self) -> float: ...

    def step(self, cancelled: Asked | None = None) -> bool: ...

    def transcript(self) -> Transcript: ...


class Model(Protocol):
    """A loaded model, used by one thread: the one that built it, or where `Beside` allows it the one that took it."""

    @property
    def name(self) -> str: ...
    @property
    def device(self) -> str: ...

    def warm_up(self) -> None: ...

    def prepare(self, cancelled: Asked) -> bool:
        """Do one more thing that only saves time later; False when none is left. Raises Cancelled."""
        ...

    def begin(self, request: Request) -> Live: ...

    def open(self, recording: F32 | Audio, request: Request) -> Recording: ...

    def close(self) -> None: ...


Build = Callable[[str, str], Model]  # (name, device); raises EngineError


class Room(Enum):
    """Whether a model can be loaded while another one stays in use."""

    BESIDE = auto()
    NO_MEMORY = auto()  # for both
    ONE_THREAD = auto()  # its runtime must be built on the thread that uses it


Beside = Callable[[str, str], Room]  # (name, device), asked on the thread that would load; raises EngineError


def one_at_a_time(name: str, device: str) -> Room:
    """`Beside` of models of which nothing is known."""
    return Room.ONE_THREAD
