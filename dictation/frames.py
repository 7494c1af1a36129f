"""Microphone blocks become frames: one channel, 16 kHz, float32 from -1 to 1.

A framer belongs to one opened source; when the device changes, the old one is flushed and a new one goes on.
"""

from __future__ import annotations

import numpy as np
import soxr
from numpy.typing import NDArray

F32 = NDArray[np.float32]

SAMPLE_RATE_HZ = 16_000  # Whisper's, and the voice detector's
FULL_SCALE_FLOOR_DBFS = -120.0
_SWITCH_RATIO = 4.0  # energy, 6 dB: how much louder another channel must be to take over
_RELEASE_S = 1.0  # how long a channel that fell silent keeps its claim


class Framer:
    """Resamples a stream and picks its channel.

    channel: 0 follows the loudest (channels are never mixed: on a studio interface the others carry music or
    loopback, and averaging makes the voice too quiet); from 1 on it is that input of the device.
    """

    def __init__(self, rate_hz: float, channels: int, channel: int = 0) -> None:
        self.channels = channels
        self._fixed = min(channel, channels) - 1 if channel > 0 else None
        self.channel = self._fixed or 0  # counted from 0
        self._energy = np.zeros(channels)
        self._rate_hz = rate_hz
        self._resampler = (
            None if rate_hz == SAMPLE_RATE_HZ else soxr.ResampleStream(rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32")
        )

    def push(self, block: F32) -> F32:
        """Take a block, (n, channels) at the device's rate; returns the frames that are complete, (m,).

        What is no number or infinite, as some drivers and files have it, becomes silence.
        """
        if not np.isfinite(block).all():
            block = np.nan_to_num(block, nan=0.0, posinf=0.0, neginf=0.0)
        mono = np.ascontiguousarray(block[:, self._pick(block)])
        if self._resampler is None:
            return mono
        return np.asarray(self._resampler.resample_chunk(mono), dtype=np.float32)

    def flush(self) -> F32:
        """What the resampler still holds. The framer takes no block after this."""
        if self._resampler is None:
            return np.zeros(0, np.float32)
        return np.asarray(self._resampler.resample_chunk(np.zeros(0, np.float32), last=True), dtype=np.float32)

    def _pick(self, block: F32) -> int:
        """The channel for this block. Louder ones take over at once, so that no first word is missed."""
        if self._fixed is not None or self.channels == 1 or not len(block):
            return self.channel
        power = np.mean(np.square(block, dtype=np.float64), axis=0)
        decay = np.exp(-len(block) / (self._rate_hz * _RELEASE_S))
        self._energy = np.maximum(power, self._energy * decay)
        loudest = int(np.argmax(self._energy))
        if self._energy[loudest] > self._energy[self.channel] * _SWITCH_RATIO:
            self.channel = loudest
        return self.channel


def rms_dbfs(samples: F32) -> float:
    """Loudness of some samples; -120 for digital silence."""
    if not len(samples):
        return FULL_SCALE_FLOOR_DBFS
    return _dbfs(float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))))


def peak_dbfs(samples: F32) -> float:
    return _dbfs(float(np.max(np.abs(samples)))) if len(samples) else FULL_SCALE_FLOOR_DBFS


def _dbfs(amplitude: float) -> float:
    return max(FULL_SCALE_FLOOR_DBFS, 20.0 * float(np.log10(max(amplitude, 1e-12))))
