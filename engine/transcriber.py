"""Recorded audio to a Transcript: windows, seek, the silence cache with its fallback, segments, timings per stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, cast

import numpy as np

from engine import audio as mel_of
from engine import word_times
from engine.audio import (
    DYNAMIC_RANGE,
    INAUDIBLE_LOG_POWER,
    N_FFT,
    N_FRAMES,
    N_SAMPLES,
    POSITIONS_PER_S,
    SAMPLE_RATE_HZ,
    Audio,
    Samples,
)
from engine.decode import Decoded, DecodingOptions, WindowDecoder, language_probabilities, ms_since, text_before
from engine.errors import EngineError, OptionError
from engine.languages import language_code
from engine.runtime import F32, MARGIN_POSITIONS, N_AUDIO_CTX, Decoder, Runtime
from engine.tokenizer import TIMESTAMP_S, Tokenizer
from engine.transcript import Segment, Timings, Transcript

if TYPE_CHECKING:
    from engine.checkpoint import Checkpoint

SILENCE_LEVELS = (-1.0, -0.5, -1.5)  # mel of silence beside a voice, a loud voice, a whisper
MIN_WINDOW_S = 0.1  # shorter than any word
CUT_SEARCH_S = 10  # long audio without timestamps is cut at the quietest point of a window's last ten seconds
CUT_STEP_S, CUT_SPAN_S = 0.02, 0.2

Progress = Callable[[float, float], None]  # seconds done, seconds in all


class Transcriber:
    """One loaded model. It belongs to the thread that made it."""

    def __init__(self, runtime: Runtime, checkpoint: Checkpoint) -> None:
        self._runtime: Runtime | None = runtime
        self.tokenizer = Tokenizer.of(checkpoint)
        self.name = checkpoint.name
        self.quant = checkpoint.quant
        self._unprepared = list(SILENCE_LEVELS[1:])
        self.alignment_heads = word_times.alignment_heads(checkpoint)
        filters = checkpoint.mel_filters
        self.mel_filters = mel_of.mel_filters(checkpoint.dims.n_mels) if filters is None else filters

    @property
    def runtime(self) -> Runtime:
        """Raises EngineError once the model is closed: its memory is gone then."""
        if self._runtime is None:
            raise EngineError("This model is closed. Load it again.")
        return self._runtime

    @property
    def device(self) -> str:
        """ "numpy", "cpu", "mlx-cpu", "metal" or "cuda"."""
        return self.runtime.device

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that this model writes; ("en",) for an `.en` model."""
        return self.tokenizer.languages or ("en",)

    def transcribe(
        self,
        samples: F32 | Audio,
        options: DecodingOptions | None = None,
        *,
        progress: Progress | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Transcript:
        """Write down what is said in mono float32 audio of 16 kHz and any length, an array or a `Clip`.

        progress: called after each window. cancelled: asked between encoder layers and tokens.
        Raises Cancelled, AudioError for what is no audio or can't be read, OptionError for options that the model can't
        follow, EngineError for a closed model.
        """
        job = self.begin(samples, options)
        while job.step(cancelled):
            if progress is not None:
                progress(job.done_s, max(job.audio.duration_s, job.done_s))
        return job.transcript()

    def begin(self, samples: F32 | Audio, options: DecodingOptions | None = None) -> Transcription:
        """The same, window by window, for a caller that has other work in between. Raises OptionError."""
        if not isinstance(options, DecodingOptions | None):
            raise OptionError(f"options must be DecodingOptions, not {type(options).__name__}.")
        audio = cast(Audio, samples) if hasattr(samples, "window") else Samples(samples)
        return Transcription(self, audio, options or DecodingOptions())

    def detect_language(self, samples: F32, among: Sequence[str] = ()) -> dict[str, float]:
        """Probability per language code, from the first 30 s; `among` narrows the choice. {"en": 1} for `.en`."""
        if not self.tokenizer.is_multilingual:
            return {"en": 1.0}
        state = self.runtime.encode(mel_of.log_mel(mel_of.clean(samples), self.mel_filters))
        decoder = self.runtime.decoder(state)
        decoder.prefill([self.tokenizer.sot])
        return language_probabilities(decoder.logits(), self.tokenizer, [language_code(code) for code in among])

    def warm_up(self) -> None:
        """Run everything once, so that the first utterance finds kernels compiled and weights in memory."""
        sound = np.full((1, len(self.mel_filters)), 4 * SILENCE_LEVELS[0] - 4 + DYNAMIC_RANGE, np.float32)
        options = DecodingOptions(language="en")
        self.encode_window(sound, 1.0, options, audio_context=MARGIN_POSITIONS).decode()

    def prepare(self, cancelled: Callable[[], bool] | None = None) -> bool:
        """Encode silence at one more of the usual levels, for when nothing else has to be done; False when all are.

        Otherwise the first utterance of another loudness pays for it: a whole window once, or a file read.
        Raises Cancelled.
        """
        if not self._unprepared:
            return False
        self.runtime.set_cancel(cancelled)
        try:
            self._encode_silence(self._unprepared[0])
        finally:
            self.runtime.set_cancel(None)
        del self._unprepared[0]
        return True

    def _encode_silence(self, level: float) -> None:
        mel = np.full((N_FRAMES, len(self.mel_filters)), level, np.float32)
        mel[0, 0] = level + DYNAMIC_RANGE / 4  # the loudest bin, which says where the floor lies
        self.runtime.encode(mel, MARGIN_POSITIONS)

    def encode_window(
        self,
        log_power: F32,
        duration_s: float,
        options: DecodingOptions,
        *,
        audio_context: int | None = None,
        language: str = "",
        previous: tuple[int, ...] = (),
        timings: Timings | None = None,
    ) -> WindowDecoder:
        """Encode one window, from log power before flooring, and prefill its decoder.

        audio_context: positions to encode, None for all; language: one already detected.
        """
        timings = Timings() if timings is None else timings
        start = time.perf_counter()
        state = self.runtime.encode(mel_of.window_mel(log_power), audio_context)
        timings.encode_ms += ms_since(start)
        window = WindowDecoder(
            self.runtime.decoder(state), self.tokenizer, options, duration_s, previous, timings, language
        )
        window.prefill()
        return window

    def close(self) -> None:
        """Free the model; a second time does nothing."""
        if self._runtime is not None:
            self._runtime.close()
        self._runtime = None


def context_positions(duration_s: float, options: DecodingOptions) -> int | None:
    """Encoder positions to compute for a window; None for all of them."""
    if isinstance(options.audio_context, str):
        # Times were trained on whole windows; text alone survives a cached tail unharmed
        if options.audio_context == "full" or options.timestamps:
            return None
        wanted = ceil(duration_s * POSITIONS_PER_S) + MARGIN_POSITIONS
    else:
        wanted = ceil(max(duration_s, options.audio_context) * POSITIONS_PER_S)
    return wanted if wanted < N_AUDIO_CTX else None


@dataclass
class Transcription:
    """A recording on its way to a Transcript: what is carried from window to window. `Transcriber.begin` makes it."""

    model: Transcriber
    audio: Audio
    options: DecodingOptions
    language: str = ""
    language_probability: float | None = None
    segments: list[Segment] = field(default_factory=list)
    previous: tuple[int, ...] = ()  # tokens that condition the next window
    timings: Timings = field(default_factory=Timings)
    seek: int = 0  # samples transcribed so far
    words: word_times.WordTimer | None = None

    def __post_init__(self) -> None:
        if self.options.language is not None:
            self.language = language_code(self.options.language)
        elif not self.model.tokenizer.is_multilingual:
            self.language = "en"
        if self.language:  # wrong wishes fail even where nothing is said
            self.model.tokenizer.sot_sequence(self.language, self.options.task, self.options.timestamps)

    @property
    def done_s(self) -> float:
        """How much of the recording has been transcribed."""
        return self.seek / SAMPLE_RATE_HZ

    def step(self, cancelled: Callable[[], bool] | None = None) -> bool:
        """Transcribe one more window; False when there is none.

        Raises Cancelled when `cancelled` said stop, which loses the work on this window only: it may be called again.
        """
        before, window, is_last = self._read(self.seek)
        if not len(window):
            return False
        self.model.runtime.set_cancel(cancelled)
        try:
            self.seek += self._transcribe_window(before, window, self.done_s, is_last)
        finally:
            self.model.runtime.set_cancel(None)
        return True

    def transcript(self) -> Transcript:
        """All of it, once `step` has said False; before that, what there is so far."""
        return Transcript(
            text="".join(segment.text for segment in self.segments).strip(),
            language=self.language,
            segments=tuple(self.segments),
            duration_s=self.done_s,
            language_probability=self.language_probability,
            timings=self.timings,
        )

    def _read(self, seek: int) -> tuple[F32 | None, F32, bool]:
        """The samples that the window's first mel frame sees before it, the window, whether it is the last one."""
        n_before = min(seek, N_FFT // 2)
        samples = self.audio.window(seek - n_before, n_before + N_SAMPLES + 1)
        before, window = samples[:n_before], samples[n_before:]
        return (before if n_before else None), window[:N_SAMPLES], len(window) <= N_SAMPLES

    def _transcribe_window(self, before: F32 | None, window: F32, start_s: float, is_last: bool) -> int:
        """Add the window's segments; how many samples to go on by."""
        options = self.options
        if not is_last and not options.timestamps:
            window = window[: quietest_cut(window)]
        duration_s = len(window) / SAMPLE_RATE_HZ
        if duration_s < MIN_WINDOW_S:
            return len(window)
        start = time.perf_counter()
        log_power = mel_of.log_power(window, self.model.mel_filters, before)
        self.timings.mel_ms += ms_since(start)
        self.timings.windows += 1
        if log_power.max() < INAUDIBLE_LOG_POWER:
            return len(window)
        decoded, decoder = self._decode(log_power, duration_s)
        self.language = decoded.language
        if self.language_probability is None:
            self.language_probability = decoded.language_probability
        if decoded.is_silence(options):
            return len(window)
        segments, n_positions = split_segments(decoded, self.model.tokenizer, start_s, duration_s)
        if options.word_times:
            segments = self._with_words(segments, decoder, start_s, duration_s)
        self.segments += segments
        self.previous = text_before(self.previous, decoded, options, self.model.tokenizer.eot)
        return len(window) if n_positions is None else min(len(window), n_positions * mel_of.SAMPLES_PER_POSITION)

    def _with_words(
        self, segments: list[Segment], decoder: Decoder, start_s: float, duration_s: float
    ) -> list[Segment]:
        start = time.perf_counter()
        if self.words is None:
            model = self.model
            self.words = word_times.WordTimer(model.tokenizer, model.alignment_heads, model.runtime.dims.n_text_ctx)
        segments = self.words.add_words(segments, decoder, self.language, self.options.task, start_s, duration_s)
        self.timings.words_ms += ms_since(start)
        return segments

    def _decode(self, log_power: F32, duration_s: float) -> tuple[Decoded, Decoder]:
        """Decode a window; a short one that gives any doubt again with all 1500 positions. Its decoder comes along."""
        context = context_positions(duration_s, self.options)
        window = self._encode(log_power, duration_s, context)
        if context is None:
            return window.decode_with_fallback(), window.decoder
        decoded = window.decode(self.options.temperatures[0])
        is_empty = not decoded.text.strip() or decoded.is_silence(self.options)
        if decoded.ended and not is_empty and not decoded.is_failure(self.options):
            return decoded, window.decoder
        self.timings.full_window_redos += 1
        window = self._encode(log_power, duration_s, None)
        return window.decode_with_fallback(), window.decoder

    def _encode(self, log_power: F32, duration_s: float, context: int | None) -> WindowDecoder:
        return self.model.encode_window(
            log_power,
            duration_s,
            self.options,
            audio_context=context,
            language=self.language,
            previous=self.previous,
            timings=self.timings,
        )


def quietest_cut(window: F32) -> int:
    """Where to end a window of longer audio: the middle of the quietest 0.2 s in its last ten seconds, in samples."""
    step = int(CUT_STEP_S * SAMPLE_RATE_HZ)
    first = max(0, len(window) - CUT_SEARCH_S * SAMPLE_RATE_HZ)
    n_steps = (len(window) - first) // step
    energy = np.square(window[first : first + n_steps * step]).reshape(n_steps, step).sum(axis=1)
    span = round(CUT_SPAN_S / CUT_STEP_S)
    if n_steps < span:
        return len(window)
    smooth = np.convolve(energy, np.ones(span), mode="valid")
    quietest = len(smooth) - 1 - int(smooth[::-1].argmin())  # the last of equals: longer windows
    return first + (quietest + span // 2) * step


def split_segments(
    decoded: Decoded, tokenizer: Tokenizer, start_s: float, duration_s: float
) -> tuple[list[Segment], int | None]:
    """Segments of a window, and the encoder positions to go on by; None for the whole window.

    As OpenAI's `transcribe.py`: two times in a row part segments; a window that ends in text after such a pair goes
    on from the pair, so that the unfinished segment is decoded again with more of its audio.
    """
    tokens, begin = decoded.tokens, tokenizer.timestamp_begin
    is_time = [token >= begin for token in tokens]
    cuts = [i for i in range(1, len(tokens)) if is_time[i - 1] and is_time[i]]
    ends_closed = is_time[-2:] == [False, True]

    def segment(part: Sequence[int], from_s: float, to_s: float) -> Segment:
        return Segment(
            start_s=start_s + min(from_s, duration_s),
            end_s=start_s + min(to_s, duration_s),
            text=tokenizer.decode(part),
            tokens=tuple(part),
            temperature=decoded.temperature,
            avg_logprob=decoded.avg_logprob,
            compression_ratio=decoded.compression_ratio,
            no_speech_prob=decoded.no_speech_prob,
        )

    if not cuts:
        times = [token for token, timed in zip(tokens, is_time, strict=True) if timed]
        end_s = (times[-1] - begin) * TIMESTAMP_S if times and times[-1] != begin else duration_s
        found, go_on = [segment(tokens, 0.0, end_s)], None
    else:
        if ends_closed:
            cuts.append(len(tokens))
        parts = [tokens[first:last] for first, last in zip([0, *cuts], cuts, strict=False)]
        found = [segment(p, (p[0] - begin) * TIMESTAMP_S, (p[-1] - begin) * TIMESTAMP_S) for p in parts]
        go_on = None if ends_closed else max(1, tokens[cuts[-1] - 1] - begin)
    return [s for s in found if s.text.strip() and s.end_s > s.start_s], go_on
