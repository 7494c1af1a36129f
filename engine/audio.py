"""Audio into Whisper's log-mel: rates and the counts derived from them, clip reading, mel of a window or of a stream.

Everything past this file is mono float32 at 16 kHz. Mel arrays are time-major, (n_frames, n_mels). `log_power` stops
before flooring, because the floor depends on the loudest bin of the whole window (or, live, of what was heard so far):
`normalise` applies it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from engine.errors import AudioError
from engine.runtime import F32, N_AUDIO_CTX

if TYPE_CHECKING:
    import soundfile

SAMPLE_RATE_HZ = 16_000
N_FFT = 400  # 25 ms
HOP_LENGTH = 160  # 10 ms
WINDOW_S = 30
N_SAMPLES = WINDOW_S * SAMPLE_RATE_HZ  # of a window
N_FRAMES = N_SAMPLES // HOP_LENGTH  # mel frames of a window
FRAMES_PER_S = SAMPLE_RATE_HZ // HOP_LENGTH
FRAMES_PER_POSITION = N_FRAMES // N_AUDIO_CTX  # the stem's second convolution has stride 2
POSITIONS_PER_S = N_AUDIO_CTX // WINDOW_S
SAMPLES_PER_POSITION = N_SAMPLES // N_AUDIO_CTX  # also of one timestamp step, 20 ms

SILENT_LOG_POWER = -10.0  # log10 of the clamp, 1e-10
DYNAMIC_RANGE = 8.0  # mel bins this many decades under the loudest one are floored
INAUDIBLE_LOG_POWER = -6.0  # about -70 dBFS: with no bin above it nobody spoke

_LOUDEST_SAMPLE = 16.0  # float files may pass 1.0; far beyond it a value is damage, and its square would overflow
_READ_BLOCK_S = 10
_READ_BLOCK_VALUES = 1 << 23  # of all channels: bounds memory where the header claims a huge rate


@lru_cache(maxsize=4)
def mel_filters(n_mels: int) -> F32:
    """Slaney's triangles, each of unit area: (n_mels, 201), 0 to 8000 Hz. Equal to OpenAI's mel_filters.npz."""
    # Slaney's scale: linear below 1000 Hz (15 mel), logarithmic above, with 27 steps per factor of 6.4
    step = np.log(6.4) / 27
    top_mel = 15 + np.log(SAMPLE_RATE_HZ / 2 / 1000) / step
    mel = np.linspace(0, top_mel, n_mels + 2)
    edges_hz = np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * step))
    bins_hz = np.linspace(0, SAMPLE_RATE_HZ / 2, N_FFT // 2 + 1)
    low, centre, high = edges_hz[:-2, None], edges_hz[1:-1, None], edges_hz[2:, None]
    rising, falling = (bins_hz - low) / (centre - low), (high - bins_hz) / (high - centre)
    filters = np.maximum(0, np.minimum(rising, falling)) * (2 / (high - low))
    result: F32 = filters.astype(np.float32)
    result.flags.writeable = False
    return result


_HANN: F32 = np.hanning(N_FFT + 1)[:-1].astype(np.float32)


def clean(samples: F32) -> F32:
    """Mono float32 without NaN or infinities; NaN becomes silence. Copies only where something has to change.

    Raises AudioError for anything but a one-dimensional array of floats: integers have another full scale.
    """
    array = np.asarray(samples)
    if array.ndim != 1 or array.dtype.kind != "f":
        raise AudioError("The audio must be one channel of floats from -1 to 1 (float32, 16 kHz).")
    array = array.astype(np.float32, copy=False)
    if array.size and not np.abs(array).max() <= _LOUDEST_SAMPLE:  # `not` catches NaN as well
        array = np.nan_to_num(array, nan=0.0).clip(-_LOUDEST_SAMPLE, _LOUDEST_SAMPLE)
    return array


def n_audible_frames(n_samples: int) -> int:
    """Mel frames whose 25 ms reach into the first n_samples; all later ones see the zero padding alone."""
    return ceil((n_samples + N_FFT // 2) / HOP_LENGTH) if n_samples else 0


def log_power(samples: F32, filters: F32, before: F32 | None = None) -> F32:
    """log10 mel power before flooring, (n_audible_frames, n_mels), of audio followed by silence.

    samples: float32, 16 kHz. filters: (n_mels, 201).
    before: the 200 samples ahead of the first one, where audio goes on from an earlier window; None mirrors, as
    OpenAI does at the start of a file. Every frame after the returned ones is SILENT_LOG_POWER.
    """
    n_frames = n_audible_frames(len(samples))
    if not n_frames:
        return np.empty((0, len(filters)), np.float32)
    half = N_FFT // 2
    padded = np.zeros(half + (n_frames - 1) * HOP_LENGTH + N_FFT, np.float32)
    padded[half : half + len(samples)] = samples
    padded[:half] = padded[2 * half : half : -1] if before is None else before
    return _frames_log_power(padded, n_frames, filters)


def _frames_log_power(padded: F32, n_frames: int, filters: F32) -> F32:
    """Frames that start at multiples of the hop in `padded`."""
    frames = np.lib.stride_tricks.sliding_window_view(padded, N_FFT)[::HOP_LENGTH][:n_frames]
    spectrum = np.fft.rfft(frames * _HANN)
    power = spectrum.real**2 + spectrum.imag**2
    mel: F32 = power.astype(np.float32, copy=False) @ filters.T
    np.log10(np.maximum(mel, 1e-10, out=mel), out=mel)
    return mel


def normalise(log_power: F32, loudest: float) -> F32:
    """Whisper's input: floored DYNAMIC_RANGE below `loudest` (a log10 power), then brought to about -1 to 1."""
    mel: F32 = np.maximum(log_power, np.float32(loudest - DYNAMIC_RANGE))
    mel += 4
    mel /= 4
    return mel


def window_mel(log_power: F32) -> F32:
    """(N_FRAMES, n_mels): frames of `log_power`, silence after them, normalised by their loudest bin."""
    loudest = float(log_power.max(initial=SILENT_LOG_POWER))
    mel = np.full((N_FRAMES, log_power.shape[1]), (max(SILENT_LOG_POWER, loudest - DYNAMIC_RANGE) + 4) / 4, np.float32)
    n_frames = min(N_FRAMES, len(log_power))
    mel[:n_frames] = normalise(log_power[:n_frames], loudest)
    return mel


def log_mel(samples: F32, filters: F32) -> F32:
    """The mel of one window, (N_FRAMES, n_mels): audio of at most 30 s, padded with zeros to 30 s."""
    return window_mel(log_power(samples[:N_SAMPLES], filters))


class LogPowerStream:
    """log_power of audio that is still growing: each frame once, as soon as all its 25 ms are heard."""

    def __init__(self, filters: F32) -> None:
        self._filters = filters
        self._pending = np.empty(0, np.float32)  # from the first sample of the next frame on
        self._begun = False  # the mirrored start is in front of `_pending`

    def append(self, samples: F32) -> F32:
        """Frames that became complete, (n, n_mels); n may be 0."""
        self._pending = np.concatenate([self._pending, samples])
        half = N_FFT // 2
        if not self._begun:
            if len(self._pending) <= half:
                return np.empty((0, len(self._filters)), np.float32)
            self._pending = np.concatenate([self._pending[half:0:-1], self._pending])
            self._begun = True
        n_frames = max(0, (len(self._pending) - N_FFT) // HOP_LENGTH + 1)
        if not n_frames:
            return np.empty((0, len(self._filters)), np.float32)
        frames = _frames_log_power(self._pending, n_frames, self._filters)
        self._pending = self._pending[n_frames * HOP_LENGTH :].copy()
        return frames

    def rest(self) -> F32:
        """The frames that reach past the last sample, with silence there: as if the audio ended now."""
        if not self._begun:
            return log_power(self._pending, self._filters)
        n_frames = ceil(len(self._pending) / HOP_LENGTH)
        padded = np.zeros((n_frames - 1) * HOP_LENGTH + N_FFT, np.float32)
        padded[: len(self._pending)] = self._pending
        return _frames_log_power(padded, n_frames, self._filters)


class Audio(Protocol):
    """Recorded audio that is read from front to back."""

    @property
    def duration_s(self) -> float:
        """Its length; for some compressed files an estimate."""
        ...

    def window(self, start: int, n_samples: int) -> F32:
        """Samples from `start` on, fewer at the end. `start` never decreases from call to call."""
        ...


class Samples:
    """An array as Audio."""

    def __init__(self, samples: F32) -> None:
        self._samples = clean(samples)

    @property
    def duration_s(self) -> float:
        return len(self._samples) / SAMPLE_RATE_HZ

    def window(self, start: int, n_samples: int) -> F32:
        return self._samples[start : start + n_samples]


class Clip:
    """A WAV, FLAC, OGG or MP3 file of any rate and channel count as Audio. Holds the current window only.

    Raises AudioError, with a sentence for the user, when it is opened or while it is read.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._held = np.empty(0, np.float32)
        self._first = 0  # index of `_held[0]` in the whole
        self._file = open_sound(self._path)
        self._blocks = self._resampled()

    def __enter__(self) -> Clip:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    @property
    def duration_s(self) -> float:
        return float(self._file.frames) / float(self._file.samplerate)

    def window(self, start: int, n_samples: int) -> F32:
        while self._first + len(self._held) < start + n_samples:
            block = next(self._blocks, None)
            if block is None:
                break
            self._drop(start)
            self._held = np.concatenate([self._held, block])
        self._drop(start)
        return self._held[:n_samples]

    def _drop(self, start: int) -> None:
        """Forget what lies before `start`."""
        n_gone = min(max(0, start - self._first), len(self._held))
        self._held = self._held[n_gone:]
        self._first += n_gone

    def _resampled(self) -> Iterator[F32]:
        """Blocks of mono 16 kHz samples."""
        rate_hz = self._file.samplerate
        blocks = self._mono()
        if rate_hz == SAMPLE_RATE_HZ:
            yield from blocks
            return
        import soxr

        resampler: Any = soxr.ResampleStream(rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32")
        for block in blocks:
            yield resampler.resample_chunk(block)
        yield resampler.resample_chunk(np.empty(0, np.float32), last=True)

    def _mono(self) -> Iterator[F32]:
        for block in _read_blocks(self._file, self._path):
            yield clean(block.mean(axis=1) if block.shape[1] > 1 else block[:, 0])


def open_sound(path: Path) -> soundfile.SoundFile:
    """A sound file at its own rate, with all of its channels. Raises AudioError with a sentence for the user."""
    import soundfile

    _check_readable(path)
    try:
        # bytes: a name on Unix need not be valid UTF-8
        return soundfile.SoundFile(path if os.name == "nt" else os.fsencode(path))
    except soundfile.SoundFileError as error:
        raise AudioError(f"{path} is not audio that Sayso can read. Use a WAV, FLAC, OGG or MP3 file.") from error


def _read_blocks(file: soundfile.SoundFile, path: Path) -> Iterator[F32]:
    """(n, channels) until the end. Raises AudioError where the file is damaged."""
    import soundfile

    n_frames = max(1, min(_READ_BLOCK_S * file.samplerate, _READ_BLOCK_VALUES // file.channels))
    while True:
        try:
            block: F32 = file.read(n_frames, dtype="float32", always_2d=True)
        except soundfile.SoundFileError as error:
            raise AudioError(f"{path} is damaged: it could be read in part only.") from error
        if not len(block):
            return
        yield block


def check_whole(path: Path) -> None:
    """Read a sound file to its end. Raises AudioError where that can't be done."""
    with open_sound(path) as file:
        for _ in _read_blocks(file, path):
            pass


def _check_readable(path: Path) -> None:
    if path.is_dir():
        raise AudioError(f"{path} is a folder. Name a sound file in it.")
    try:
        with path.open("rb") as file:
            if not file.read(1):
                raise AudioError(f"{path} is empty: there is nothing to transcribe.")
    except FileNotFoundError as error:
        raise AudioError(f"{path} is not there. Check the name.") from error
    except PermissionError as error:
        raise AudioError(f"{path} may not be read. Change its permissions, or copy it to a folder of yours.") from error
    except OSError as error:
        raise AudioError(f"{path} could not be read: {error.strerror}.") from error


def read_clip(path: str | os.PathLike[str]) -> F32:
    """A whole file as mono float32 at 16 kHz: 230 MB per hour. Use `Clip` for long ones. Raises AudioError."""
    with Clip(path) as clip:
        return np.concatenate([np.empty(0, np.float32), *clip._blocks])
