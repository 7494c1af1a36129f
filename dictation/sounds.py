"""The sounds of Sayso: short tones, one shape per cue, and recordings played back. Never blocks, never fails loudly."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dictation import log
from dictation.events import Cue

RATE_HZ = 48_000
TONE_S, EDGE_S, VOLUME = 0.09, 0.012, 0.18
# rising, falling, single, repeated, low: told apart without a good ear for pitch
_TONES_HZ: dict[Cue, tuple[float, ...]] = {
    Cue.READY: (660.0, 880.0),
    Cue.STOPPED: (880.0, 660.0),
    Cue.DONE: (990.0,),
    Cue.HELD: (520.0, 520.0),
    Cue.FAILED: (440.0, 330.0, 220.0),
}


def tone(cue: Cue) -> NDArray[np.float32]:
    """The samples of a cue, mono at RATE_HZ, with soft edges so that nothing clicks."""
    at = np.arange(int(TONE_S * RATE_HZ), dtype=np.float32) / RATE_HZ
    edge = np.minimum(1.0, np.minimum(at, TONE_S - at) / EDGE_S)
    notes = [np.sin(2 * np.pi * hz * at) * edge for hz in _TONES_HZ[cue]]
    return (VOLUME * np.concatenate(notes)).astype(np.float32)


def play(cue: Cue) -> None:
    """Play a cue beside whatever goes on."""
    _in_background(tone(cue), RATE_HZ)


def play_samples(samples: NDArray[np.float32], rate_hz: int) -> None:
    """Play mono samples; another sound that still plays is ended."""
    if len(samples):
        _in_background(samples, rate_hz)


def play_file(path: Path) -> None:
    """Play a recording; another one that still plays is ended."""
    import soundfile

    samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    _in_background(samples, rate_hz)


def _in_background(samples: NDArray[np.float32], rate_hz: int) -> None:
    threading.Thread(target=_play, args=(samples, rate_hz), name="sound", daemon=True).start()


def _play(samples: NDArray[np.float32], rate_hz: int) -> None:
    try:
        import sounddevice

        sounddevice.play(samples, rate_hz, blocking=True)
    except Exception as error:  # noqa: BLE001 - top of a thread: a computer without a speaker dictates all the same
        log.get("sounds").info("no sound: %s", type(error).__name__)
