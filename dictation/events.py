"""Every command that goes into the session loop and every event that comes out of it.

Frozen dataclasses with the unit in each name. Times `at_s` are seconds on the monotonic clock (`time.monotonic`). A
*take* is one dictation, from key-down to delivery; takes are numbered from 1 within a run. Fields that hold what the
user said are left out of `repr`, so that an event that reaches a log by mistake tells nothing.

Commands: hotkeys, the tray, the windows, the command line and the control socket all send these and nothing else.
Events: the overlay, the tray, the terminal, the control socket and the replay bench all watch these and nothing else.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from engine.transcript import Timings


class State(StrEnum):
    """Where a take is. The app's own state is that of its newest take that is not idle."""

    IDLE = "idle"
    OPENING = "opening"  # key down, no real sound from the microphone yet
    LISTENING = "listening"  # all that is said from here on (and shortly before) is kept
    FINISHING = "finishing"  # key up: the last words come in and are recognised
    DELIVERING = "delivering"  # the text is on its way into the window


class ModelStatus(StrEnum):
    MISSING = "missing"  # none chosen, or the chosen one is not installed
    LOADING = "loading"
    WARMING = "warming"  # loaded; a first decode fills caches
    READY = "ready"
    UNLOADED = "unloaded"  # freed on request, after a long idle time or for want of memory; loads again at key-down
    FAILED = "failed"


class Cue(StrEnum):
    """A sound to play, if the user wants sounds. Each differs, for people who don't look at the screen."""

    READY = "ready"
    STOPPED = "stopped"
    DONE = "done"
    HELD = "held"
    FAILED = "failed"


Trigger = Literal["hotkey", "tray", "window", "control", "listen", "replay", "api"]
Output = Literal["type", "copy", "print", "none"]  # "none": recognise only (onboarding, replay)
Outcome = Literal["delivered", "held", "copied", "printed", "none"]
Severity = Literal["info", "warning", "error"]
Action = Literal[
    "retry", "copy", "insert_again", "open_history", "choose_microphone", "test_microphone", "choose_model", "discard"
]

# ---------------------------------------------------------------------------------------------------------------------
# Commands
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """Root of all commands."""


@dataclass(frozen=True)
class KeyPress(Command):
    """A key of a hotkey binding went down (auto-repeat already filtered out)."""

    binding: str
    at_s: float


@dataclass(frozen=True)
class KeyRelease(Command):
    binding: str
    at_s: float


@dataclass(frozen=True)
class OtherKey(Command):
    """Another key or a mouse button while the hotkey is down: the user means a shortcut, not a dictation."""

    at_s: float


@dataclass(frozen=True)
class Start(Command):
    """Begin a take. Ignored while one is being recorded."""

    trigger: Trigger = "control"
    hands_free: bool = False  # begins with speech, ends by itself on silence
    output: Output = "type"
    task: Literal["transcribe", "translate"] = "transcribe"


@dataclass(frozen=True)
class Stop(Command):
    """End the recording and deliver what was said."""


@dataclass(frozen=True)
class Toggle(Command):
    """Start when nothing is recorded, else stop."""

    trigger: Trigger = "control"
    hands_free: bool = False
    output: Output = "type"


@dataclass(frozen=True)
class Cancel(Command):
    """Forget a take in any state. Without a number: the one being recorded, else all that are not delivered."""

    take: int | None = None


@dataclass(frozen=True)
class InsertAgain(Command):
    """Insert a text into the window that has the focus now. Without an entry: the last text."""

    entry: int | None = None  # id in the history


@dataclass(frozen=True)
class CopyText(Command):
    """Put a text on the clipboard. Without an entry: the last text."""

    entry: int | None = None


@dataclass(frozen=True)
class Undo(Command):
    """Take the last insertion back, if it is still there."""


@dataclass(frozen=True)
class Retry(Command):
    """Recognise kept audio again: a failed take, a recovered one, or an entry of the history."""

    recording: str  # name in the spool or the audio folder, as in `Failed` and `RecordingsFound`
    model: str | None = None  # None: the active one
    output: Output = "none"  # the text goes to the history; "type" inserts it where the focus is now


@dataclass(frozen=True)
class Discard(Command):
    """Delete kept audio that the user does not want back."""

    recording: str


@dataclass(frozen=True)
class TranscribeFile(Command):
    """Recognise an audio or video file; the text goes to the history and into `FileTranscribed`."""

    path: Path
    model: str | None = None


@dataclass(frozen=True)
class UseModel(Command):
    """Make a model the active one and load it. Takes end with the model they began with."""

    name: str  # as `engine.load` takes it


@dataclass(frozen=True)
class UnloadModel(Command):
    """Free the model's memory until the next take."""


@dataclass(frozen=True)
class ChangeSettings(Command):
    """Check, apply and save settings. Bad values are refused one by one with a `Notice`; the others are kept."""

    changes: Mapping[str, Any]


@dataclass(frozen=True)
class PauseHotkeys(Command):
    paused: bool


@dataclass(frozen=True)
class ListMicrophones(Command):
    """Ask for `MicrophonesListed`. No device is opened for it."""


@dataclass(frozen=True)
class TestMicrophone(Command):
    """Open the microphone for a meter (`Level` with take 0) without recording; off when idle is wanted again."""

    __test__ = False  # not a pytest class
    on: bool


@dataclass(frozen=True)
class PlayTest(Command):
    """Play what the microphone heard during the test, so that the user can tell whose voice it is."""


@dataclass(frozen=True)
class SystemWoke(Command):
    """The computer slept, or the session was unlocked: devices and workers may be dead."""


@dataclass(frozen=True)
class Shutdown(Command):
    """End the loop. What is being recorded is kept in the spool."""


# ---------------------------------------------------------------------------------------------------------------------
# Events
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Event:
    """Root of all events."""


@dataclass(frozen=True)
class StateChanged(Event):
    """A take entered a state. `idle` is its end, whatever the reason."""

    take: int
    state: State
    at_s: float
    trigger: Trigger = "control"
    waiting: int = 0  # earlier takes that are still finishing or delivering


@dataclass(frozen=True)
class CaretSeen(Event):
    """Where the text cursor was when the take began, in device pixels of the whole screen."""

    take: int
    left: int
    top: int
    width: int
    height: int


@dataclass(frozen=True)
class Level(Event):
    """Loudness of the last stretch of sound; at most 30 a second, and none while the microphone is closed."""

    take: int
    rms_dbfs: float  # -120 for digital silence
    peak_dbfs: float
    speech: bool
    at_s: float


@dataclass(frozen=True)
class PartialText(Event):
    """What has been understood so far. Firm words never change again; the tentative tail may."""

    take: int
    firm: str = field(repr=False)
    tentative: str = field(repr=False)
    audio_s: float = 0.0  # length of the audio behind it, from the start of the take
    at_s: float = 0.0


@dataclass(frozen=True)
class FinalText(Event):
    """The take is recognised and rewritten; delivery comes next."""

    take: int
    text: str = field(repr=False)  # after the rewrite rules: what will be typed
    raw_text: str = field(repr=False)  # as the model gave it
    language: str = ""
    language_probability: float | None = None
    audio_s: float = 0.0
    speech_s: float = 0.0  # of it, speech according to the detector
    release_to_text_ms: float = 0.0  # last sample in to this event
    model: str = ""
    timings: Timings = field(default_factory=Timings)
    at_s: float = 0.0


@dataclass(frozen=True)
class TextDelivered(Event):
    """Where the text went, and how that is known."""

    take: int
    text: str = field(repr=False)
    outcome: Outcome = "delivered"
    method: str = ""  # "paste", "keys", ...
    evidence: str = ""  # one sentence, for people
    deliver_ms: float = 0.0
    entry: int | None = None  # id in the history
    at_s: float = 0.0


@dataclass(frozen=True)
class NothingHeard(Event):
    """The take held no speech; nothing is typed. Not a fault."""

    take: int
    reason: Literal["silence", "muted", "no_speech", "too_short"]
    message: str
    at_s: float = 0.0


@dataclass(frozen=True)
class Cancelled(Event):
    take: int
    at_s: float = 0.0


@dataclass(frozen=True)
class Failed(Event):
    """A take went wrong. Its audio is kept under `recording`, unless none had arrived."""

    take: int
    stage: Literal["opening", "listening", "finishing", "delivering"]
    message: str
    recording: str | None = None
    actions: tuple[Action, ...] = ()
    at_s: float = 0.0


@dataclass(frozen=True)
class Notice(Event):
    """Something the user should know, in one sentence, with what can be done about it."""

    code: str  # stable name, for tests and translation: "microphone_silent", "settings_field_reset", ...
    message: str
    severity: Severity = "info"
    actions: tuple[Action, ...] = ()
    take: int | None = None


@dataclass(frozen=True)
class PlaySound(Event):
    cue: Cue


@dataclass(frozen=True)
class Microphone:
    """An input device as the system lists it."""

    name: str  # stable: what the setting stores
    label: str  # what people read
    host: str = ""  # PulseAudio, Core Audio, ...
    channels: int = 1
    native_rate_hz: int = 48000
    default: bool = False


@dataclass(frozen=True)
class MicrophonesListed(Event):
    """The list, after a request or when a device came or went."""

    microphones: tuple[Microphone, ...]


@dataclass(frozen=True)
class MicrophoneChanged(Event):
    """What is recorded from; None when closed."""

    microphone: Microphone | None
    reason: Literal["opened", "closed", "fell_back", "default_changed", "restarted", "kept_warm"]


@dataclass(frozen=True)
class ModelChanged(Event):
    """What becomes of a model. While one is loading another may be in use; then, and in the end, `message` says so."""

    name: str
    status: ModelStatus
    message: str = ""
    progress: float | None = None  # 0 to 1 while loading, when known
    device: str = ""  # what computes: "cpu", "metal", "cuda"
    load_ms: float = 0.0

    @property
    def note(self) -> str:
        """While it loads: what is in use until then; else nothing."""
        return self.message if self.status in (ModelStatus.LOADING, ModelStatus.WARMING) else ""


@dataclass(frozen=True)
class Download(Event):
    """Progress and outcome of a model download; several may run."""

    job: str
    name: str  # model and quant, for people
    status: Literal["queued", "running", "paused", "verifying", "done", "cancelled", "failed"]
    received_bytes: int = 0
    total_bytes: int | None = None
    bytes_per_s: float = 0.0
    message: str = ""


@dataclass(frozen=True)
class Recording:
    """Audio that was kept because its take did not end in a delivery."""

    name: str
    started_unix_s: float
    duration_s: float
    reason: str = ""  # "crash", "failed", "held"


@dataclass(frozen=True)
class RecordingsFound(Event):
    """Left over from a crash or a failure; offered once at start and after each failure."""

    recordings: tuple[Recording, ...]


@dataclass(frozen=True)
class FileTranscribed(Event):
    path: Path
    text: str = field(repr=False)
    progress: float = 1.0  # below 1 while it goes on
    entry: int | None = None
    message: str = ""  # why it failed; then `text` is empty


@dataclass(frozen=True)
class HistoryChanged(Event):
    """An entry was written, changed or deleted; None: many."""

    entry: int | None = None


@dataclass(frozen=True)
class SettingsChanged(Event):
    keys: tuple[str, ...]


@dataclass(frozen=True)
class HotkeysPaused(Event):
    paused: bool


@dataclass(frozen=True)
class Stopped(Event):
    """The loop has ended; nothing follows."""


# ---------------------------------------------------------------------------------------------------------------------
# As text
# ---------------------------------------------------------------------------------------------------------------------


def kind(message: Command | Event) -> str:
    """The name of a command or an event in JSON: `StateChanged` is "state_changed"."""
    return kind_of(type(message))


def kind_of(message: type[Command | Event]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", message.__name__).lower()


def as_dict(message: Command | Event) -> dict[str, Any]:
    """A message as plain values for JSON, under its own field names, with "kind" first. Holds dictated text."""
    return {"kind": kind(message)} | {f.name: _plain(getattr(message, f.name)) for f in dataclasses.fields(message)}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    return value
