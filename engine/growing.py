"""What the encoder streams of all runtimes share: the audio heard so far, and how much of it is encoded."""

from __future__ import annotations

import numpy as np

from engine.audio import FRAMES_PER_POSITION, N_FRAMES
from engine.errors import OptionError
from engine.runtime import F32, MARGIN_POSITIONS, N_AUDIO_CTX


class GrowingAudio:
    """The half of `runtime.EncoderStream` that computes nothing."""

    def __init__(self, n_mels: int) -> None:
        self.log_power: F32 = np.empty((0, n_mels), np.float32)  # log10 mel power of the whole utterance, not floored
        self._n_encoded = 0
        self._n_ended = N_AUDIO_CTX

    def end(self, n_positions: int) -> None:
        self._n_ended = n_positions

    @property
    def n_heard(self) -> int:
        return min(-(-len(self.log_power) // FRAMES_PER_POSITION), self._n_ended)

    @property
    def n_encoded(self) -> int:
        return self._n_encoded

    def append(self, log_power: F32) -> None:
        room = N_FRAMES - len(self.log_power)
        self.log_power = np.concatenate([self.log_power, log_power[:room].astype(np.float32, copy=False)])

    def truncate(self, n_frames: int) -> None:
        self.log_power = self.log_power[:n_frames]
        self._n_encoded = min(self._n_encoded, self.n_heard)

    def begin_pass(self, keep: int) -> int:
        """Where a pass that keeps `keep` positions ends. Until it has, no more than these are encoded."""
        if not 0 <= keep <= self.n_encoded:
            raise OptionError(f"Can't keep {keep} positions: {self.n_encoded} are encoded.")
        self._n_encoded = keep
        return min(N_AUDIO_CTX, self.n_heard + MARGIN_POSITIONS)
