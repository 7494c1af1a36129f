"""Recognition while somebody speaks: growing audio -> agreed words and a tentative tail, and at the end a Transcript.

    samples -> piece -> log power -> encoder stream -> state -> draft verified, a few tokens -> agreement

Everything that can be done before the key goes up is done then. Each partial encodes only the positions that had too
little audio behind them the last time, and verifies the last hypothesis in one pass; so at the end a few seconds are
encoded once more, and mostly the last words are left to decode, whatever the length.

Invariant: the text of a state is the greedy text of that state, draft or no draft. No threads: the caller's thread is
the runtime's. A text that can't be trusted (a loop, a runaway, an unlikely one) is decoded again from the whole 30 s
window, as OpenAI would, at the end of its piece.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil

from engine import ghost, pieces
from engine.agreement import Agreement
from engine.audio import (
    FRAMES_PER_POSITION,
    HOP_LENGTH,
    POSITIONS_PER_S,
    SAMPLE_RATE_HZ,
    LogPowerStream,
    clean,
    log_mel,
    log_power,
    mel_filters,
)
from engine.decode import Decoded, DecodingOptions, WindowDecoder, ms_since, text_before
from engine.errors import Cancelled
from engine.languages import UNSPACED_LANGUAGES, language_code
from engine.pieces import Piece
from engine.runtime import F32, AudioState, Dims, EncoderStream, Runtime
from engine.tokenizer import Tokenizer
from engine.transcript import GAP, Segment, Timings, Transcript

LEAST_FINAL_S, MOST_FINAL_S, FINAL_WORK = 3.0, 5.0, 7.9e6  # seconds; seconds times layers times width squared
GAP_LEAST_S = 3.0  # of a piece without a text, to say that something is missing
SETTLED_AFTER_S = 4.0  # of audio, from which the language is not asked for again
SURE_AT_ONCE, SURE_LATER = 0.8, 0.5  # probability that overrules the language of the dictation before


@dataclass(frozen=True)
class LiveOptions:
    """How to recognise live. The defaults are measured (docs/performance.md)."""

    decoding: DecodingOptions = field(default_factory=DecodingOptions)
    last_language: str | None = None  # of the dictation before: taken while too little was heard to tell
    look_ahead_s: float = 2.0  # audio that must follow a position before its encoding is kept
    final_s: float | None = None  # of the end of a piece, encoded again when it has ended; None: `final_s(dims)`
    least_news_s: float = 0.3  # new audio that makes another partial worth its while
    use_draft: bool = True  # False decodes every state from scratch: the same text, later


def final_s(dims: Dims) -> float:
    """Seconds of the end that a model of this size encodes again: the more, the better the text and the later.

    Measured: 5 s give tiny and base what more of it would; from small on they would be felt (docs/performance.md).
    """
    per_position = dims.n_audio_layer * dims.n_audio_state**2
    return float(min(MOST_FINAL_S, max(LEAST_FINAL_S, FINAL_WORK / per_position)))


@dataclass(frozen=True)
class Partial:
    """What is understood so far."""

    firm: str  # agreed by two hypotheses in a row: what was shown once, and more
    tentative: str  # the rest of the newest one
    language: str  # "" while unknown
    seconds: float  # of audio behind it


@dataclass
class Metrics:
    """What live recognition did and saved, besides the timings of the transcript."""

    partials: int = 0
    given_up: int = 0  # partials cancelled half-way
    positions_encoded: int = 0  # margins included
    tokens_decoded: int = 0  # of all hypotheses: the passes that decoding each from scratch would take
    firm_words_wrong: int = 0  # that the final text has otherwise
    ghosts: int = 0  # pieces whose text had no speech under it
    finish_ms: float = 0.0


@dataclass
class _Heard:
    """One piece being recognised."""

    piece: Piece
    log_power: LogPowerStream
    stream: EncoderStream | None = None
    n_fed: int = 0  # samples of the piece given to the encoder stream
    n_seen: int = 0  # samples behind the last partial that was not given up
    is_fed_to_end: bool = False  # with the frames that reach past the last sample
    n_kept: int = 0  # positions that no pass will touch again
    n_encoded: int = 0  # positions that the last pass encoded from real audio
    draft: tuple[int, ...] = ()
    is_closed: bool = False


class Language:
    """The language of a dictation: given, or heard and heard again until enough audio has settled it."""

    def __init__(self, options: LiveOptions, tokenizer: Tokenizer) -> None:
        given = options.decoding.language
        self._last = options.last_language
        self.code = language_code(given) if given else ("" if tokenizer.is_multilingual else "en")
        self.probability: float | None = None
        self.is_settled = bool(self.code)

    def hear(self, code: str, probability: float, seconds: float) -> None:
        """The model heard `code` in `seconds` of audio; weak evidence does not outweigh the last language."""
        unsure = probability < (SURE_AT_ONCE if seconds < SETTLED_AFTER_S / 2 else SURE_LATER)
        self.code = self._last if unsure and self._last else code
        self.probability = probability
        self.is_settled = seconds >= SETTLED_AFTER_S


class LiveTranscriber:
    """One dictation. Feed it with `append`, look with `partial`, end with `finish`; then make a new one.

    A caller that finds the pauses itself says `cut`; otherwise pieces are cut by their level. filters: the model's
    mel filters, (n_mels, 201); None computes them. Raises OptionError for a language or task that the model lacks.
    """

    def __init__(
        self,
        runtime: Runtime,
        tokenizer: Tokenizer,
        options: LiveOptions | None = None,
        filters: F32 | None = None,
    ) -> None:
        self._runtime = runtime
        self._tokenizer = tokenizer
        self._options = options or LiveOptions()
        self._filters = mel_filters(runtime.dims.n_mels) if filters is None else filters
        self._closed: list[_Heard] = []  # cut, not recognised to the end yet
        self._open: _Heard | None = None
        self._segments: list[Segment] = []
        self._previous: tuple[int, ...] = ()  # the end of their text, in tokens
        self._gaps_s: list[tuple[float, float]] = []
        self._final_s = final_s(runtime.dims) if self._options.final_s is None else self._options.final_s
        self._agreement = Agreement()
        self._language = Language(self._options, tokenizer)
        if self._language.is_settled:  # wrong wishes fail even where nothing is said
            rules = self._options.decoding
            tokenizer.sot_sequence(self._language.code, rules.task, rules.timestamps)
        self._n_samples = 0  # of the whole dictation
        self._heard_language: tuple[str, float] | None = None
        self._caller_cuts = False  # it knows where `samples` lie, so it has a voice detector
        self.timings = Timings()
        self.metrics = Metrics()

    # ------------------------------------------------------------------------------------------------ what is heard

    def append(self, samples: F32, start: int | None = None) -> None:
        """Take audio, float32 mono 16 kHz. Only copies: at key-up nothing must stand before the last words.

        start: of `samples` in the dictation, where the caller left silence out; None follows on.
        """
        self._caller_cuts = self._caller_cuts or start is not None
        start = self._n_samples if start is None else start
        if self._open is None:
            self._open = _Heard(Piece(start), LogPowerStream(self._filters))
        self._open.piece.append(clean(samples).copy())
        self._n_samples = max(self._n_samples, start + len(samples))

    def rest(self) -> None:
        """Nothing more comes for a while: let go of what only saves time. The next look encodes its piece anew."""
        if (heard := self._open) is not None:
            self._open = _Heard(heard.piece, LogPowerStream(self._filters), n_seen=heard.n_seen, draft=heard.draft)

    def cut(self, at: int | None = None) -> None:
        """The piece ends before sample `at` of the dictation (None: here). What was fed beyond it is forgotten."""
        if self._open is not None:
            if at is not None and at < self._open.piece.end:
                self._open.piece.split(max(0, at - self._open.piece.start))
                self._n_samples = at
            self._close()

    def _close(self) -> None:
        if self._open is not None and len(self._open.piece):
            self._open.is_closed = True
            self._closed.append(self._open)
        self._open = None

    def _cut_by_level(self) -> None:
        """Drop silence before the first word, and end a piece that has grown long at a pause."""
        heard = self._open
        if heard is None or (self._caller_cuts and heard.piece.seconds < pieces.LONGEST_S + 1):
            return
        if heard.stream is None and (n := pieces.silence_to_drop(heard.piece)):
            heard.piece, heard.n_seen = heard.piece.split(n), 0
        while (at := pieces.find_cut(heard.piece)) is not None:
            rest = heard.piece.split(at)
            self._close()
            heard = self._open = _Heard(rest, LogPowerStream(self._filters))

    # -------------------------------------------------------------------------------------------- while it is spoken

    def partial(self, cancelled: Callable[[], bool] | None = None) -> Partial | None:
        """Recognise what was heard so far; None when there is nothing new to show, or when `cancelled` said stop.

        Pieces that were cut are finished first. Cancelling loses nothing: the next call goes on from there.
        """
        if not self._closed and not self._has_news():
            return None
        self._cut_by_level()
        self._runtime.set_cancel(cancelled)
        try:
            while self._closed:
                self._end_piece(self._closed[0], heard_speech=None)
                self._closed.pop(0)
            heard = self._open
            if heard is None or not self._has_news():
                return None
            partial = self._look(heard)
            heard.n_seen = len(heard.piece)
        except Cancelled:
            self.metrics.given_up += 1
            return None
        finally:
            self._runtime.set_cancel(None)
        self.metrics.partials += 1
        return partial

    def _has_news(self) -> bool:
        heard = self._open
        return heard is not None and len(heard.piece) - heard.n_seen >= self._options.least_news_s * SAMPLE_RATE_HZ

    def _look(self, heard: _Heard) -> Partial | None:
        """One partial of the open piece; None when its text can't be trusted, so that the last one stays."""
        if ghost.is_silent(self._evidence(heard.piece, None)):
            return None
        audio = self._encode(heard)
        decoded = self._decode(audio, heard)
        trusted = self._is_trusted(decoded)
        heard.draft = decoded.tokens if trusted else ()
        if not trusted:
            return None
        tentative = self._agreement.update(decoded.text.strip())
        return Partial(self._agreement.firm, tentative, self._language.code, heard.piece.end / SAMPLE_RATE_HZ)

    # ------------------------------------------------------------------------------------------------------- the end

    def finish(self, heard_speech: bool | None = None, cancelled: Callable[[], bool] | None = None) -> Transcript:
        """The text of everything. heard_speech: what a voice detector found in the last piece; None without one.

        Raises Cancelled when `cancelled` said stop; it may be called again then.
        """
        started = time.perf_counter()
        self._cut_by_level()
        self._close()
        self._runtime.set_cancel(cancelled)
        try:
            while self._closed:
                last = len(self._closed) == 1
                self._end_piece(self._closed[0], heard_speech if last else None)
                self._closed.pop(0)
        finally:
            self._runtime.set_cancel(None)
        self.metrics.finish_ms = ms_since(started)
        if all(segment.text == GAP for segment in self._segments):  # nothing at all was understood
            self._segments.clear()
        return Transcript(
            text=self._joined([segment.text for segment in self._segments]),
            language=self._language.code or "en",
            segments=tuple(self._segments),
            gaps_s=tuple(self._gaps_s),
            duration_s=self._n_samples / SAMPLE_RATE_HZ,
            language_probability=self._language.probability,
            timings=self.timings,
            heard_language=self._heard_language,
        )

    def _end_piece(self, heard: _Heard, heard_speech: bool | None) -> None:
        """Recognise a piece to its end and add its segment."""
        text = self._add_segment(heard, heard_speech)
        self._agreement.end_piece(text, heard_beyond=heard.n_seen > len(heard.piece))
        self.metrics.firm_words_wrong = self._agreement.n_wrong

    def _add_segment(self, heard: _Heard, heard_speech: bool | None) -> str:
        """The final text of a piece; "" where nothing was said."""
        evidence = self._evidence(heard.piece, heard_speech)
        if ghost.is_silent(evidence):
            self.metrics.ghosts += 1
            return ""
        audio = self._encode(heard)
        decoded = self._decode(audio, heard)
        if not self._is_trusted(decoded):
            decoded = self._decode_full_window(heard.piece)
        piece, text = heard.piece, decoded.text.strip()
        if decoded.is_silence(self._options.decoding) or ghost.is_ghost(decoded, evidence):
            self.metrics.ghosts += 1
            text = ""
        if has_gap(decoded, text, piece.seconds, self._caller_cuts and heard_speech is not False):
            self._gaps_s.append((piece.start / SAMPLE_RATE_HZ, piece.end / SAMPLE_RATE_HZ))
            text = f"{text} {GAP}".strip()
        if not text:
            return ""
        self._previous = text_before(self._previous, decoded, self._options.decoding, self._tokenizer.eot)
        self._segments.append(
            Segment(
                start_s=piece.start / SAMPLE_RATE_HZ,
                end_s=piece.end / SAMPLE_RATE_HZ,
                text=text,
                tokens=decoded.tokens,
                temperature=decoded.temperature,
                avg_logprob=decoded.avg_logprob,
                compression_ratio=decoded.compression_ratio,
                no_speech_prob=decoded.no_speech_prob,
            )
        )
        return text

    def _decode_full_window(self, piece: Piece) -> Decoded:
        """What the offline transcriber does with this piece alone, fallback and all."""
        started = time.perf_counter()
        self.timings.full_window_redos += 1
        audio = self._runtime.encode(log_mel(piece.samples, self._filters))
        self.timings.encode_ms += ms_since(started)
        window = self._window(audio, piece, previous=())
        return window.decode_with_fallback()

    # --------------------------------------------------------------------------------------------------------- steps

    def _encode(self, heard: _Heard) -> AudioState:
        """The state of all that was heard of the piece; encodes what had too little audio behind it."""
        if heard.stream is None:
            heard.stream = self._runtime.encoder_stream()
        stream = heard.stream
        started = time.perf_counter()
        self._feed(heard, stream)
        self.timings.mel_ms += ms_since(started)
        started = time.perf_counter()
        keep = max(heard.n_kept, heard.n_encoded - round(self._options.look_ahead_s * POSITIONS_PER_S))
        if heard.is_closed:
            keep = max(0, min(keep, stream.n_heard - round(self._final_s * POSITIONS_PER_S)))
        heard.n_kept = heard.n_encoded = keep  # should the pass be cancelled
        audio = stream.state(keep)
        heard.n_encoded = stream.n_heard
        self.timings.encode_ms += ms_since(started)
        self.metrics.positions_encoded += stream.n_encoded - keep
        return audio

    def _feed(self, heard: _Heard, stream: EncoderStream) -> None:
        """Give the encoder stream the log power of what is new; of a closed piece, its end as well."""
        samples = heard.piece.samples
        if heard.n_fed > len(samples):
            # The cut lies in what was fed: keep the frames that saw nothing from beyond it
            frames = log_power(samples, self._filters)
            n_frames = max(0, len(samples) // HOP_LENGTH - 2)
            stream.truncate(n_frames)
            stream.append(frames[n_frames:])
            heard.n_encoded = min(heard.n_encoded, n_frames // FRAMES_PER_POSITION)
            heard.n_kept = min(heard.n_kept, heard.n_encoded)
            heard.is_fed_to_end = True
        else:
            stream.append(heard.log_power.append(samples[heard.n_fed :]))
        heard.n_fed = len(samples)
        if heard.is_closed and not heard.is_fed_to_end:
            stream.append(heard.log_power.rest())
            heard.is_fed_to_end = True
        if heard.is_closed:  # as many positions as offline: a short clip's text may change with one more
            stream.end(ceil(len(samples) / SAMPLE_RATE_HZ * POSITIONS_PER_S))

    def _decode(self, audio: AudioState, heard: _Heard) -> Decoded:
        """The greedy text of a state; the last hypothesis is its draft."""
        window = self._window(audio, heard.piece, self._previous)
        self.timings.windows += 1
        decoded = window.decode(draft=heard.draft if self._options.use_draft else ())
        self.metrics.tokens_decoded += len(decoded.tokens)
        return decoded

    def _is_trusted(self, decoded: Decoded) -> bool:
        """Whether the text of a state stands without a look at the full window."""
        rules = self._options.decoding
        is_empty = not decoded.text.strip() or decoded.is_silence(rules)
        return decoded.ended and not is_empty and not decoded.is_failure(rules)

    def _window(self, audio: AudioState, piece: Piece, previous: tuple[int, ...]) -> WindowDecoder:
        """A decoder of this state, its prompt read; the language is heard first where it is not settled."""
        window = self._new_window(audio, piece, previous, self._language.code if self._language.is_settled else "")
        window.prefill()
        self._heard_language = window.heard or self._heard_language
        if not self._language.is_settled:
            self._language.hear(window.language, window.language_probability or 0.0, piece.seconds)
            if self._language.code != window.language:
                window = self._new_window(audio, piece, previous, self._language.code)
                window.prefill()
        return window

    def _new_window(self, audio: AudioState, piece: Piece, previous: tuple[int, ...], language: str) -> WindowDecoder:
        return WindowDecoder(
            self._runtime.decoder(audio),
            self._tokenizer,
            self._options.decoding,
            piece.seconds,
            previous=previous,
            timings=self.timings,
            language=language,
        )

    def _evidence(self, piece: Piece, heard_speech: bool | None) -> ghost.Evidence:
        loudest = pieces.levels_db(piece.samples).max(initial=-120.0)
        return ghost.Evidence(float(loudest), heard_speech)

    @property
    def _space(self) -> str:
        return "" if self._language.code in UNSPACED_LANGUAGES else " "

    def _joined(self, texts: Sequence[str]) -> str:
        return self._space.join(text for text in texts if text)


def has_gap(decoded: Decoded, text: str, seconds: float, heard_speech: bool) -> bool:
    """Whether speech of a piece is missing from its final text.

    heard_speech: a voice detector opened the piece. Without one, no text may just be silence.
    """
    if text:
        return not decoded.ended  # it went round in a circle, or beyond all measure, and was stopped
    return heard_speech and seconds >= GAP_LEAST_S and decoded.no_speech_prob < ghost.NO_SPEECH_PROB
