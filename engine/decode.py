"""One window of encoded audio into tokens: options, language, prompt, sampling, and when to try again.

The rules are OpenAI's (`decoding.py` and `transcribe.py` of openai/whisper): temperature fallback on a low average
log-probability or a high compression ratio, no_speech_prob at the SOT position. Two more guard short windows: a cap
on tokens by the length of the audio, and a stop as soon as the text goes round in a circle.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from engine.errors import OptionError
from engine.languages import language_code
from engine.runtime import F32, VERIFY_LIMIT, Choice, Decoder, Rules
from engine.tokenizer import MAX_PROMPT_TOKENS, Tokenizer
from engine.transcript import Timings

# The fastest speakers stay below 10 tokens a second in English and 20 in scripts of several tokens a character
TOKENS_PER_S, SPARE_TOKENS = 25, 20
# A draft that was wrong is tried again from where it fits: so often, shifted by so many tokens, if so many are left
MAX_DRAFTS, DRAFT_SHIFT, LEAST_DRAFT = 4, 4, 4
LOOP_TOKENS, LOOP_ROUNDS = 32, 4  # this many tokens, going round at least this often, are a loop
TRUSTED_TEMPERATURE = 0.5  # OpenAI's: a text drawn hotter says nothing about the next one
LEAST_CONTEXT_S = 1.0  # from less the decoder makes up words

_TEXT, _NUMBER, _WHOLE, _NONE = (str,), (int, float), (int,), (type(None),)
# what a caller may give for an option, and how to say it
_KINDS: dict[str, tuple[tuple[type, ...], str]] = {
    "language": (_TEXT + _NONE, "a language code or None"),
    "languages": ((tuple, list), "a tuple of language codes"),
    "task": (_TEXT, '"transcribe" or "translate"'),
    "timestamps": ((bool,), "True or False"),
    "prompt": ((str, tuple, list, *_NONE), "a text, a tuple of tokens or None"),
    "prefix": ((str, tuple, list, *_NONE), "a text, a tuple of tokens or None"),
    "temperatures": ((tuple, list), "a tuple of numbers"),
    "best_of": (_WHOLE, "a whole number"),
    "seed": (_WHOLE, "a whole number"),
    "sample_len": (_WHOLE, "a whole number"),
    "suppress_tokens": ((tuple, list, *_NONE), "a tuple of tokens or None"),
    "max_initial_timestamp_s": (_NUMBER + _NONE, "a number or None"),
    "compression_ratio_threshold": (_NUMBER + _NONE, "a number or None"),
    "logprob_threshold": (_NUMBER + _NONE, "a number or None"),
    "no_speech_threshold": (_NUMBER + _NONE, "a number or None"),
    "n_previous": (_WHOLE, "a whole number"),
    "audio_context": (_TEXT + _NUMBER, '"auto", "full" or a number of seconds'),
}


@dataclass(frozen=True)
class DecodingOptions:
    """How to transcribe. The defaults are OpenAI's, but for `timestamps` and `n_previous`.

    Raises OptionError for a value that Whisper does not allow.
    """

    language: str | None = None  # code or English name; None detects it
    languages: tuple[str, ...] = ()  # detection chooses among these only; none given: among all
    task: str = "transcribe"  # or "translate", into English
    timestamps: bool = False
    word_times: bool = False  # fill `Segment.words`; costs one more pass of the decoder over the text
    prompt: str | tuple[int, ...] | None = None  # text before the audio: names, spelling, style
    prefix: str | tuple[int, ...] | None = None  # beginning of the text itself
    temperatures: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    best_of: int = 5  # candidates at temperatures above 0
    seed: int = 0
    sample_len: int = 224  # most new tokens of a window
    suppress_tokens: tuple[int, ...] | None = None  # None: OpenAI's list of signs nobody speaks
    max_initial_timestamp_s: float | None = 1.0
    compression_ratio_threshold: float | None = 2.4
    logprob_threshold: float | None = -1.0
    no_speech_threshold: float | None = 0.6
    # Tokens of the text before that a window reads again, so that a sentence goes on in it with the right capitals and
    # names. OpenAI: 223, or none; 30 do it, and with what follows them they are one block of the decoder
    n_previous: int = 30
    audio_context: str | float = "auto"  # "auto", "full", or seconds to encode, if the audio is not longer

    def __post_init__(self) -> None:
        for name, (kinds, meant) in _KINDS.items():
            value = getattr(self, name)
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise OptionError(f"{name} must be {meant}, not {value!r}.")
        if not self.temperatures or any(not 0 <= t <= 10 for t in self.temperatures):
            raise OptionError("Give at least one temperature, each from 0 to 10.")
        if self.best_of < 1 or not 1 <= self.sample_len <= 448:
            raise OptionError("best_of must be at least 1, sample_len from 1 to 448.")
        if not 0 <= self.n_previous <= MAX_PROMPT_TOKENS:
            raise OptionError(f"n_previous must be from 0 to {MAX_PROMPT_TOKENS}.")
        if isinstance(self.audio_context, str):
            if self.audio_context not in ("auto", "full"):
                raise OptionError('audio_context is "auto", "full" or a number of seconds.')
        elif not self.audio_context >= LEAST_CONTEXT_S:
            raise OptionError(f"audio_context in seconds must be at least {LEAST_CONTEXT_S:g}.")


@dataclass(frozen=True)
class Decoded:
    """What one window was decoded to."""

    tokens: tuple[int, ...]  # text and times, without end of text
    text: str
    language: str
    language_probability: float | None
    temperature: float
    avg_logprob: float
    compression_ratio: float
    no_speech_prob: float
    ended: bool = True  # by end of text, not by sample_len or a guard
    runaway: bool = False  # stopped by the token cap or the loop guard

    def is_silence(self, options: DecodingOptions) -> bool:
        """OpenAI's no-speech rule: probably no speech, and the text is not trusted either."""
        threshold = options.no_speech_threshold
        return threshold is not None and self.no_speech_prob > threshold and not self._is_trusted(options)

    def is_failure(self, options: DecodingOptions) -> bool:
        """Whether to decode again, at a higher temperature or with the full window."""
        if self.is_silence(options):
            return False
        ratio = options.compression_ratio_threshold
        return self.runaway or (ratio is not None and self.compression_ratio > ratio) or not self._is_trusted(options)

    def _is_trusted(self, options: DecodingOptions) -> bool:
        return options.logprob_threshold is None or self.avg_logprob >= options.logprob_threshold


def text_before(previous: tuple[int, ...], decoded: Decoded, options: DecodingOptions, eot: int) -> tuple[int, ...]:
    """The tokens before the next window: `previous` ones and those of this window, the last `n_previous` of them.

    () after a text that can't be trusted: a loop would go on.
    """
    if decoded.temperature > TRUSTED_TEMPERATURE or not decoded.ended:
        return ()
    text = [*previous, *(token for token in decoded.tokens if token < eot)]
    return tuple(text[max(0, len(text) - options.n_previous) :])


def compression_ratio(text: str) -> float:
    """UTF-8 bytes over zlib bytes; repetition drives it up."""
    data = text.encode()
    return len(data) / len(zlib.compress(data)) if data else 0.0


def token_cap(duration_s: float, sample_len: int) -> int:
    """Most tokens that `duration_s` of audio can hold; more are a runaway."""
    return min(sample_len, SPARE_TOKENS + int(TOKENS_PER_S * duration_s))


def is_loop(tokens: Sequence[int]) -> bool:
    """Whether the last LOOP_TOKENS or more repeat one phrase, of up to LOOP_TOKENS / LOOP_ROUNDS tokens."""
    tail = tokens[-LOOP_TOKENS:]
    if len(tail) < LOOP_TOKENS:
        return False
    return any(tail[period:] == tail[:-period] for period in range(1, LOOP_TOKENS // LOOP_ROUNDS + 1))


def language_probabilities(logits: F32, tokenizer: Tokenizer, among: Sequence[str] = ()) -> dict[str, float]:
    """Softmax over the languages of the model, or those `among` it, from the logits behind a lone SOT."""
    known = [code for code in tokenizer.languages if not among or code in among]
    if not known:
        raise OptionError("This model knows none of the chosen languages.")
    scores = logits[[tokenizer.language_token(code) for code in known]].astype(np.float64)
    weights = np.exp(scores - scores.max())
    return dict(zip(known, (weights / weights.sum()).tolist(), strict=True))


@dataclass
class WindowDecoder:
    """Decodes one encoded window, as often as it takes.

    decoder: a fresh one. duration_s: of the audio in the window. previous: tokens of the text before it.
    """

    decoder: Decoder
    tokenizer: Tokenizer
    options: DecodingOptions
    duration_s: float
    previous: tuple[int, ...] = ()
    timings: Timings = field(default_factory=Timings)
    language: str = ""
    language_probability: float | None = None
    no_speech_prob: float = 0.0
    heard: tuple[str, float] | None = None  # the likeliest of all languages, whatever was given
    _prompt: list[int] = field(default_factory=list)  # all that is prefilled
    _is_used: bool = False  # sampled from: the slabs hold more than the prompt

    def __post_init__(self) -> None:
        if not self.language:
            given = self.options.language
            self.language = language_code(given) if given else ("" if self.tokenizer.is_multilingual else "en")

    def prefill(self) -> None:
        """Detect the language where it is not given, note no_speech_prob, and leave the first logits pending."""
        start = time.perf_counter()
        tokenizer, options = self.tokenizer, self.options
        before = tokenizer.prompt([*self._encoded(options.prompt), *self.previous])
        at_sot = self._find_language() if self._has_to_detect else None
        if at_sot is None or before:  # what follows the prompt is another SOT position
            self.decoder.rewind(0)
            self.decoder.prefill([*before, tokenizer.sot])
            at_sot = self.decoder.logits()
        self.no_speech_prob = float(_softmax(at_sot)[tokenizer.no_speech])
        if tokenizer.is_multilingual and not before:
            found = language_probabilities(at_sot, tokenizer)
            self.heard = max(found.items(), key=lambda item: item[1])
        sequence = tokenizer.sot_sequence(self.language, options.task, options.timestamps)
        # OpenAI's limit for the prefix; the default sample_len of half the context would leave it no room
        prefix = self._encoded(options.prefix)[-(448 // 2 - 1) :]
        rest = [*sequence[1:], *prefix]
        if rest:
            self.decoder.prefill(rest)
        self._prompt = [*before, *sequence, *prefix]
        self.timings.prompt_ms += ms_since(start)

    def decode(self, temperature: float = 0.0, draft: Sequence[int] = ()) -> Decoded:
        """Sample once, or best_of times and keep the likeliest. Needs `prefill` first."""
        start = time.perf_counter()
        n_candidates = 1 if temperature == 0 else self.options.best_of
        best = max(
            (self._sample(temperature, self.options.seed + i, draft) for i in range(n_candidates)),
            key=lambda decoded: decoded.avg_logprob,
        )
        self.timings.decode_ms += ms_since(start)
        return best

    def decode_with_fallback(self) -> Decoded:
        """Up the temperature ladder until the text can be trusted, or it is silence, or the ladder ends."""
        for i, temperature in enumerate(self.options.temperatures):
            if i:
                self.timings.fallbacks += 1
            decoded = self.decode(temperature)
            if not decoded.is_failure(self.options):
                break
        return decoded

    # -------------------------------------------------------------------------------------------------- inner steps

    @property
    def _has_to_detect(self) -> bool:
        return not self.language and self.options.language is None and self.tokenizer.is_multilingual

    def _find_language(self) -> F32:
        """Set the likeliest language; the logits at the SOT position."""
        self.decoder.prefill([self.tokenizer.sot])
        logits = self.decoder.logits()
        found = language_probabilities(logits, self.tokenizer, [language_code(code) for code in self.options.languages])
        self.language = max(found, key=found.__getitem__)
        self.language_probability = found[self.language]
        return logits

    def _encoded(self, text: str | tuple[int, ...] | None) -> list[int]:
        if isinstance(text, str):
            return self.tokenizer.encode(" " + text.strip()) if text.strip() else []
        return list(text or ())

    def _sample(self, temperature: float, seed: int, draft: Sequence[int]) -> Decoded:
        tokenizer, options = self.tokenizer, self.options
        rules = tokenizer.rules(options.timestamps, options.suppress_tokens, options.max_initial_timestamp_s)
        cap = token_cap(self.duration_s, options.sample_len)
        if self._is_used:  # make the first logits pending again
            self.decoder.rewind(len(self._prompt) - 1)
            self.decoder.prefill(self._prompt[-1:])
        self._is_used = True
        tokens: list[int] = []
        sum_logprob, ended, looped = 0.0, False, False
        with closing(self._choices(rules, temperature, seed, draft[:cap])) as choices:
            for choice in choices:
                sum_logprob += choice.logprob
                ended = choice.token == rules.eot
                if ended:
                    break
                tokens.append(choice.token)
                looped = is_loop([token for token in tokens if token < rules.eot])
                if looped or len(tokens) >= cap:
                    break
        self.timings.tokens += len(tokens)
        text = tokenizer.decode(tokens)
        return Decoded(
            tokens=tuple(tokens),
            text=text,
            language=self.language,
            language_probability=self.language_probability,
            temperature=temperature,
            avg_logprob=sum_logprob / (len(tokens) + 1),
            compression_ratio=compression_ratio(text.strip()),
            no_speech_prob=self.no_speech_prob,
            ended=ended,
            runaway=looped or (not ended and cap < options.sample_len),
        )

    def _choices(
        self, rules: Rules, temperature: float, seed: int, draft: Sequence[int]
    ) -> Generator[Choice, None, None]:
        """Tokens as decoding from scratch makes them; a draft, for greedy decoding, only makes them come sooner."""
        accepted: list[int] = []
        rest = list(draft) if temperature == 0 else []
        tries = MAX_DRAFTS
        while rest and tries:
            part = rest[:VERIFY_LIMIT]
            choices = self.decoder.verify(part, rules, accepted)
            n_accepted = len(choices) - 1  # the last choice follows the agreed ones; `generate` makes it again
            self.timings.passes += 1
            self.timings.draft_tokens += len(part)
            self.timings.draft_accepted += n_accepted
            yield from choices[:n_accepted]
            accepted += part[:n_accepted]
            rest = rest[n_accepted:]
            if n_accepted < len(part):
                tries -= 1
                rest = yield from self._until_draft_fits(rest, accepted, rules)
        yield from self._generate(rules, temperature, seed, accepted)

    def _until_draft_fits(
        self, rest: list[int], accepted: list[int], rules: Rules
    ) -> Generator[Choice, None, list[int]]:
        """Go on alone where a draft was wrong, until a token of it comes again; what follows that is a draft anew."""
        for n, choice in enumerate(self._generate(rules, 0.0, 0, accepted), 1):
            yield choice
            accepted.append(choice.token)
            near = rest[max(0, n - DRAFT_SHIFT) : n + DRAFT_SHIFT]
            if choice.token in near:
                remaining = rest[max(0, n - DRAFT_SHIFT) + near.index(choice.token) + 1 :]
                if len(remaining) >= LEAST_DRAFT:
                    self.decoder.rewind(len(self._prompt) + len(accepted) - 1)
                    self.decoder.prefill(accepted[-1:])
                    self.timings.passes += 1
                    return remaining
        return []

    def _generate(
        self, rules: Rules, temperature: float, seed: int, accepted: Sequence[int]
    ) -> Generator[Choice, None, None]:
        for i, choice in enumerate(self.decoder.generate(rules, temperature, seed, tuple(accepted))):
            self.timings.passes += i > 0  # the first choice is made of logits that are there already
            yield choice


def _softmax(logits: F32) -> F32:
    weights: F32 = np.exp(logits - logits.max())
    weights /= weights.sum()
    return weights


def ms_since(start: float) -> float:
    return (time.perf_counter() - start) * 1000
