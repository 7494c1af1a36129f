"""What requests and answers look like: msgspec checks requests by it, and the OpenAPI document is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from dictation.server.faults import Fault
from dictation.server.sound import LEAST_RATE_HZ, MOST_CHANNELS, MOST_RATE_HZ
from engine.languages import LANGUAGES

if TYPE_CHECKING:
    from typing import TypeAlias

    Code: TypeAlias = str
    CodeOrAuto: TypeAlias = str
else:
    Code = Literal[tuple(LANGUAGES)]
    CodeOrAuto = Literal[("auto", *LANGUAGES)]
Name = Annotated[str, Meta(max_length=200)]
Short = Annotated[str, Meta(max_length=2_000)]
ResponseFormat = Literal["json", "text", "srt", "verbose_json", "vtt"]
Granularity = Literal["segment", "word"]
Encoding = Literal["pcm_s16le", "pcm_f32le", "opus", "ogg_opus"]

# ---- what OpenAI's clients send and read ----------------------------------------------------------------------------


class TranscriptionForm(Struct, kw_only=True):
    """Fields besides the file."""

    model: Name = "whisper-1"
    language: Code | None = None
    prompt: Short = ""
    response_format: ResponseFormat = "json"
    temperature: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    stream: bool = False
    timestamp_granularities: list[Granularity] = []


class TranslationForm(Struct, kw_only=True):
    """Fields besides the file."""

    model: Name = "whisper-1"
    prompt: Short = ""
    response_format: ResponseFormat = "json"
    temperature: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0


class DurationUsage(Struct):
    seconds: float
    type: Literal["duration"] = "duration"


class Transcription(Struct):
    text: str
    usage: DurationUsage


class TranscribedWord(Struct):
    word: str
    start: float
    end: float


class TranscribedSegment(Struct):
    id: int
    seek: int  # where it starts, in hundredths of a second
    start: float
    end: float
    text: str
    tokens: list[int]
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float


class VerboseTranscription(Struct, omit_defaults=True):
    task: Literal["transcribe", "translate"]
    language: str  # its English name
    duration: float
    text: str
    usage: DurationUsage
    segments: list[TranscribedSegment] | None = None
    words: list[TranscribedWord] | None = None


class Model(Struct):
    id: str
    created: int
    object: Literal["model"] = "model"
    owned_by: str = "sayso"


class ModelList(Struct):
    data: list[Model]
    object: Literal["list"] = "list"


# ---- dictation ------------------------------------------------------------------------------------------------------


class Replacement(Struct, forbid_unknown_fields=True):
    """One of the user's own spellings."""

    find: Annotated[str, Meta(min_length=1, max_length=500)]
    replace: Short
    is_pattern: bool = False
    match_case: bool = False
    enabled: bool = True


class Rules(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What is rewritten. What is not given is as the user has it in the settings."""

    remove_fillers: bool | None = None
    spoken_commands: bool | None = None
    spoken_punctuation: bool | None = None
    numbers: Literal["as_recognised", "digits"] | None = None
    casing: Literal["as_recognised", "lower_case", "upper_case"] | None = None
    final_stop: bool | None = None
    trailing_text: Short | None = None
    replacements: Annotated[list[Replacement], Meta(max_length=500)] | None = None


class DictationOptions(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """How to recognise and what to write. What is not given is as the user has it in the settings."""

    language: CodeOrAuto | None = None
    task: Literal["transcribe", "translate"] | None = None
    vocabulary: Annotated[list[Annotated[str, Meta(min_length=1, max_length=100)]], Meta(max_length=500)] | None = None
    rules: Rules | None = None


class DictateForm(Struct, kw_only=True):
    """Fields besides the file."""

    options: Annotated[str, Meta(max_length=100_000)] = "{}"  # JSON of DictationOptions


class AudioFormat(Struct, forbid_unknown_fields=True):
    """How a session's audio comes. Opus is always 48 kHz: `opus` one packet per chunk, `ogg_opus` cut anywhere."""

    encoding: Encoding = "pcm_s16le"
    rate_hz: Annotated[int, Meta(ge=LEAST_RATE_HZ, le=MOST_RATE_HZ)] = 16_000
    channels: Annotated[int, Meta(ge=1, le=MOST_CHANNELS)] = 1


class SessionRequest(Struct, forbid_unknown_fields=True):
    format: AudioFormat = msgspec.field(default_factory=AudioFormat)
    options: DictationOptions = msgspec.field(default_factory=DictationOptions)
    end_after_silence_s: Annotated[float, Meta(ge=0.5, le=30.0)] | None = None  # None: only when the client says so


class Dictation(Struct, tag_field="type", tag="final"):
    """The text of a dictation, after the rules; empty where nothing was said, and `reason` says why."""

    text: str
    raw_text: str  # as it was recognised
    language: str
    duration_s: float
    speech_s: float
    model: str
    reason: Literal["", "too_short", "muted", "silence", "no_speech"] = ""
    language_probability: float | None = None
    notices: list[str] = []  # rules that could not be applied


class Partial(Struct, tag_field="type", tag="partial"):
    """What is understood so far: `firm` is only ever appended to, `tentative` may still change."""

    firm: str
    tentative: str
    audio_s: float


class Silence(Struct, tag_field="type", tag="silence"):
    """Nobody has spoken for this long."""

    pause_s: float
    audio_s: float


class Failed(Struct, tag_field="type", tag="error"):
    """The session ended without a text."""

    code: str
    message: str


SessionEvent = Partial | Silence | Dictation | Failed


class SessionState(Struct):
    id: str
    state: Literal["open", "finishing", "ended"]
    audio_s: float
    waiting_s: float  # audio that the engine has not looked at yet


class Finish(Struct, forbid_unknown_fields=True):
    """A client's last message on a WebSocket."""

    type: Literal["finish"]  # no tag: msgspec would take an object without one


class Health(Struct):
    status: Literal["ok"]
    version: str
    model: str  # "" when none is chosen
    model_status: str
    model_note: str  # while it loads: what is in use until then


# ---- checking -------------------------------------------------------------------------------------------------------

T = TypeVar("T")


def from_json(data: bytes, kind: type[T]) -> T:
    """Check a JSON body. Raises Fault."""
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise Fault(422, "invalid_value", f"{error}.".replace("..", ".")) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Fault(400, "not_json", "The body is not JSON, or not UTF-8.") from error


def from_fields(fields: Mapping[str, Any], kind: type[T]) -> T:
    """Check a form's fields, which are all text. Raises Fault."""
    try:
        return msgspec.convert(fields, kind, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        param = where.strip("`$.") or None
        raise Fault(400, "invalid_value", f"{param or 'A field'}: {what}.", param=param) from error
