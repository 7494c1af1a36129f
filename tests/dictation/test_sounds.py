"""The tones: soft, short, told apart."""

from __future__ import annotations

import numpy as np
import pytest

from dictation.events import Cue
from dictation.sounds import RATE_HZ, VOLUME, tone


@pytest.mark.parametrize("cue", Cue)
def test_a_tone_is_short_soft_and_clicks_nowhere(cue: Cue) -> None:
    samples = tone(cue)
    assert 0.05 < len(samples) / RATE_HZ < 0.5
    assert np.abs(samples).max() <= VOLUME
    assert abs(samples[0]) < 1e-3 and abs(samples[-1]) < 1e-2
    assert np.abs(np.diff(samples)).max() < 0.05  # no jump between two samples


def test_every_cue_sounds_different() -> None:
    pairs = [(a, b) for a in Cue for b in Cue if a < b]
    assert not any(np.array_equal(tone(a), tone(b)) for a, b in pairs)
    assert {len(tone(Cue.DONE)), len(tone(Cue.HELD)), len(tone(Cue.FAILED))} == {4320, 8640, 12960}  # by rhythm too
