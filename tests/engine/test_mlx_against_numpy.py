"""The MLX runtime against the NumPy one on real weights: same states, same tokens, nearly the same probabilities."""

from itertools import islice

import numpy as np
import pytest

from engine.audio import log_mel, mel_filters, read_clip
from engine.cpu.reference import NumpyRuntime
from engine.gguf.bundle import load
from engine.mlx_runtime import MlxRuntime
from engine.runtime import Rules
from tests.conftest import starter_bundle


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        ("tiny.en", "Q8_0"),
        pytest.param("tiny.en", "F16", marks=pytest.mark.slow),  # MLX takes half a minute for a window on a CPU
        pytest.param("tiny.en", "Q4_0", marks=pytest.mark.slow),
        pytest.param("base", "Q8_0", marks=pytest.mark.slow),
    ],
)
def test_mlx_gives_the_states_tokens_and_probabilities_of_numpy(name, preset):
    checkpoint = load(starter_bundle(name, preset))
    shift = 1 if checkpoint.is_multilingual else 0
    rules = Rules((1, 2, 7), (220, 50256 + shift), 50256 + shift, 50362 + shift, 50363 + shift)
    prompt = [50258, 50259, 50359, 50363] if checkpoint.is_multilingual else [50257, 50362]
    mel = log_mel(read_clip("resources/sample.wav")[: 3 * 16000], mel_filters(80))
    states, choices = [], []
    for runtime in (MlxRuntime(checkpoint, "mlx-cpu"), NumpyRuntime(checkpoint)):
        audio = runtime.encode(mel, 175)
        states.append(audio.states())
        decoder = runtime.decoder(audio)
        decoder.prefill(prompt)
        choices.append(list(islice(decoder.generate(rules), 8)))
    np.testing.assert_allclose(states[0], states[1], atol=5e-3)  # outlier channels reach 50: 1e-4 of them
    assert [c.token for c in choices[0]] == [c.token for c in choices[1]]
    np.testing.assert_allclose([c.logprob for c in choices[0]], [c.logprob for c in choices[1]], atol=2e-3)
