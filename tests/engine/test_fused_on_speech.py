"""The fused step against the plain reference step on every recorded clip, with real weights. Minutes: slow."""

from __future__ import annotations

from math import ceil

import pytest

from engine.audio import POSITIONS_PER_S, SAMPLE_RATE_HZ, log_mel, mel_filters, read_clip
from engine.evaluate import read_clips
from engine.gguf.bundle import load
from engine.mlx_runtime import MlxRuntime
from engine.tokenizer import Tokenizer
from tests.accuracy import SPEECH
from tests.conftest import starter_bundle
from tests.engine.greedy import reference_choices, until_end

pytestmark = [pytest.mark.slow, pytest.mark.timeout(7200)]
LONGEST = 60  # tokens


@pytest.mark.parametrize(("name", "preset"), [("tiny.en", "F16"), ("tiny.en", "Q8_0"), ("base", "Q8_0")])
def test_the_fused_step_gives_the_tokens_of_the_reference_step_for_every_clip(name: str, preset: str) -> None:
    checkpoint = load(starter_bundle(name, preset))
    runtime, tokenizer = MlxRuntime(checkpoint, "mlx-cpu"), Tokenizer.of(checkpoint)
    rules, different, n_clips = tokenizer.rules(timestamps=False), [], 0
    for clip in read_clips(SPEECH, scored_only=False):
        if not tokenizer.is_multilingual and clip.language != "en":
            continue
        samples = read_clip(clip.path)
        # a short window: MLX's CPU wheel takes most of a minute for a whole one
        n_positions = min(1500, ceil((len(samples) / SAMPLE_RATE_HZ + 0.5) * POSITIONS_PER_S))
        audio = runtime.encode(log_mel(samples, mel_filters(runtime.dims.n_mels)), n_positions)
        prompt = list(tokenizer.sot_sequence(clip.language, "transcribe", False))
        n_clips += 1
        expected, _ = reference_choices(runtime, audio.cross, prompt, rules, LONGEST)
        decoder = runtime.decoder(audio)
        decoder.prefill(prompt)
        if until_end(decoder.generate(rules), rules, LONGEST) != [choice.token for choice in expected]:
            different.append(clip.id)
    print(f"{name} {preset}: {n_clips - len(different)} of {n_clips} clips alike")
    assert not different
