"""What the engine gives back: words, segments, a transcript, and where the time went. Imports no heavy library."""

from __future__ import annotations

from dataclasses import dataclass, field

GAP = "[…]"  # stands where speech could not be understood


@dataclass(frozen=True)
class Word:
    text: str  # with its leading space, as the tokenizer gives it
    start_s: float
    end_s: float
    probability: float


@dataclass(frozen=True)
class Segment:
    """A stretch of speech with its text; times count from the start of the recording."""

    start_s: float
    end_s: float
    text: str
    tokens: tuple[int, ...] = ()
    temperature: float = 0.0
    avg_logprob: float = 0.0  # sum over the sampled tokens and end of text, divided by their number
    compression_ratio: float = 1.0  # UTF-8 bytes over zlib bytes
    no_speech_prob: float = 0.0  # softmax of the nospeech token at the SOT position
    words: tuple[Word, ...] = ()


@dataclass
class Timings:
    """Milliseconds per stage, summed over windows, and counts of what was done."""

    mel_ms: float = 0.0
    encode_ms: float = 0.0
    prompt_ms: float = 0.0
    decode_ms: float = 0.0
    words_ms: float = 0.0  # finding when each word is said, where asked for
    windows: int = 0
    tokens: int = 0
    passes: int = 0  # of the decoder, after the prompt: one per token, or one per draft that is verified
    fallbacks: int = 0  # decodes repeated at a higher temperature
    full_window_redos: int = 0  # windows encoded again with all 1500 positions, after a runaway in a short one
    draft_tokens: int = 0
    draft_accepted: int = 0

    @property
    def total_ms(self) -> float:
        return self.mel_ms + self.encode_ms + self.prompt_ms + self.decode_ms + self.words_ms


@dataclass(frozen=True)
class Transcript:
    text: str
    language: str  # ISO code, "en" for an English-only model
    segments: tuple[Segment, ...] = ()
    duration_s: float = 0.0
    language_probability: float | None = None  # None when the language was given, or is the only one
    timings: Timings = field(default_factory=Timings)
    heard_language: tuple[str, float] | None = None  # likeliest of all, with its probability, also when one was given
    gaps_s: tuple[tuple[float, float], ...] = ()  # from, to: speech that could not be understood, GAP in the text
