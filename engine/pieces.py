"""Long speech in pieces of at most 28 s: the audio of one piece, and where its level says that it can be cut.

A caller with a voice detector cuts by itself, and this is only its safety net. A cut lies in a pause; speech that has
none for 13 s is cut at its quietest moment. All audio belongs to exactly one piece, so no word is lost or doubled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.audio import SAMPLE_RATE_HZ
from engine.runtime import F32

HOP = SAMPLE_RATE_HZ // 50  # samples of a level, 20 ms

LONGEST_S = 28.0  # Whisper's window less the margin behind the speech
SEARCH_S = 13.0  # of the end of a piece in which a cut is looked for when it has to be made
# A pause of so long is taken once the piece is so long: the shorter the piece, the clearer the pause must be
PAUSES_S = ((2.5, 3.0), (12.0, 0.7), (17.0, 0.4), (21.0, 0.25))
KEPT_SILENCE_S = 0.5  # before the first word, and behind the last one at a long pause
AUDIBLE_DB = -60.0  # RMS of 20 ms, relative to full scale
CLEAR_DB = 12.0  # speech stands out from the pauses by this, or no pause can be told

Bools = NDArray[np.bool_]


def levels_db(samples: F32) -> NDArray[np.float64]:
    """RMS of each whole 20 ms, in dB relative to full scale."""
    hops = samples[: len(samples) // HOP * HOP].reshape(-1, HOP).astype(np.float64)
    return np.asarray(10 * np.log10(np.square(hops).mean(axis=1) + 1e-12))


def speaks(levels: NDArray[np.float64]) -> Bools:
    """Which 20 ms sound like speech by level alone: nearer, in dB, to the loud parts than to the quiet ones."""
    if not len(levels):
        return np.zeros(0, np.bool_)
    smooth = np.convolve(levels, np.full(5, 0.2), "valid") if len(levels) >= 5 else levels
    floor, top = smooth.min(), np.percentile(levels, 95)
    if top - floor < CLEAR_DB:
        return np.asarray(levels > AUDIBLE_DB)
    return np.asarray(levels > max(AUDIBLE_DB, floor + 0.4 * (top - floor)))


class Piece:
    """Audio of one stretch of a dictation, which begins `start` samples into it."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self._blocks: list[F32] = []
        self._n_samples = 0

    def append(self, samples: F32) -> None:
        self._blocks.append(samples)
        self._n_samples += len(samples)

    def __len__(self) -> int:
        return self._n_samples

    @property
    def end(self) -> int:
        return self.start + self._n_samples

    @property
    def seconds(self) -> float:
        return self._n_samples / SAMPLE_RATE_HZ

    @property
    def samples(self) -> F32:
        """The audio, float32 at 16 kHz."""
        if len(self._blocks) != 1:
            self._blocks = [np.concatenate([np.empty(0, np.float32), *self._blocks])]
        return self._blocks[0]

    def split(self, at: int) -> Piece:
        """Keep the first `at` samples; the rest becomes the next piece."""
        samples = self.samples
        rest = Piece(self.start + at)
        rest.append(samples[at:].copy())
        self._blocks, self._n_samples = [samples[:at]], min(at, len(samples))
        return rest


def silence_to_drop(piece: Piece) -> int:
    """Samples at the beginning of a piece, all of it silence so far, that need not be kept."""
    surplus = len(piece) - int(2 * KEPT_SILENCE_S * SAMPLE_RATE_HZ)
    if surplus <= 0 or levels_db(piece.samples).max() > AUDIBLE_DB:
        return 0
    return surplus // HOP * HOP


def find_cut(piece: Piece) -> int | None:
    """Where to end the piece now, in samples from its start; None to let it grow."""
    seconds = piece.seconds
    if seconds < PAUSES_S[0][0]:
        return None
    levels = levels_db(piece.samples)
    speech = speaks(levels)
    wanted = min(pause for from_s, pause in PAUSES_S if seconds >= from_s)
    first = max(0, len(speech) - int(SEARCH_S * 50))
    begin, end = _longest_pause(speech, first)
    if (end - begin) / 50 >= wanted and speech[:begin].any():
        # Long silence goes to the next piece, which drops it; a short pause is shared out
        return int(min((begin + end) // 2, begin + KEPT_SILENCE_S * 50)) * HOP
    if seconds < LONGEST_S:
        return None
    return ((begin + end) // 2 if end - begin >= 5 else _quietest(levels, first)) * HOP


def _longest_pause(speech: Bools, first: int) -> tuple[int, int]:
    """The longest run of no speech at or after `first`, as [begin, end); the later of equals. (0, 0) if none."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], speech[first:], [True]]).astype(np.int8)))
    runs = [(int(end - begin), int(begin)) for begin, end in zip(edges[::2], edges[1::2], strict=True)]
    if not runs:
        return 0, 0
    length, begin = max(runs)
    return first + begin, first + begin + length


def _quietest(levels: NDArray[np.float64], first: int) -> int:
    """The middle of the quietest 120 ms at or after `first`."""
    power = np.convolve(10 ** (levels[first:] / 10), np.ones(6), "valid")
    return first + int(power.argmin()) + 3
