"""Word error rates of whole models beside faster-whisper on the same weights, in the same run. Minutes: slow."""

from __future__ import annotations

from functools import cache

import pytest

import engine
from engine.audio import read_clip
from engine.evaluate import LabelledClip, evaluate, read_clips, score
from tests.accuracy import SPEECH, Transcribe, faster_whisper, sayso
from tests.conftest import starter_bundle

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]
POINTS = 0.3 / 100


def english() -> list[LabelledClip]:
    return [clip for clip in read_clips(SPEECH) if clip.language == "en"]


def error_rate(transcribe: Transcribe) -> float:
    return score(evaluate(english(), transcribe)).error_rate


@cache
def peer_error_rate(name: str, argument: str) -> float:
    return error_rate(faster_whisper(name, argument))


@pytest.mark.parametrize("preset", ["F16", "Q8_0"])
@pytest.mark.parametrize("name", ["tiny.en", "base"])
def test_error_rates_are_faster_whispers(name: str, preset: str) -> None:
    model = engine.load(starter_bundle(name, preset), device="numpy")
    assert error_rate(sayso(model, "auto")) <= peer_error_rate(name, "float32") + POINTS
    # Given audio that is padded as OpenAI pads it, the other one must agree with the full window both ways
    assert abs(error_rate(sayso(model, "full")) - peer_error_rate(name, "float32+padded")) <= POINTS


def test_every_language_is_heard_as_numpy_hears_it() -> None:
    heard = []
    for device in ("cpu", "numpy"):
        model = engine.load(starter_bundle("base", "Q8_0"), device=device)
        found = [model.detect_language(read_clip(clip.path)) for clip in read_clips(SPEECH)]
        heard.append([max(probabilities, key=probabilities.__getitem__) for probabilities in found])
    assert heard[0] == heard[1]
    assert len(set(heard[0])) > 4
