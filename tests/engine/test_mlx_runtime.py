"""The MLX encoder: whole windows, the silence cache, frozen blocks; threads, cancelling, devices. Random weights."""

import subprocess
import sys
import threading
from itertools import islice

import mlx.core as mx
import numpy as np
import pytest

from engine.errors import Cancelled, DeviceError, OptionError
from engine.gguf.bundle import load
from engine.mlx_runtime import MlxRuntime, available_device
from engine.runtime import Rules
from tests.conftest import make_random_checkpoint

RULES = Rules((1,), (220, 50257), 50257, 50363, 50364)


@pytest.fixture(scope="module")
def runtime():
    return MlxRuntime(make_random_checkpoint(n_state=64, preset="Q8_0"), "mlx-cpu")


def speech_like(frames: int, n_mels: int = 80) -> np.ndarray:
    """log10 mel power of noise that comes and goes."""
    rng = np.random.default_rng(1)
    loudness = 2 * np.sin(np.arange(frames) / 17)[:, None]
    return (rng.normal(-2, 1, (frames, n_mels)) + loudness).astype(np.float32)


def window(log_power: np.ndarray) -> np.ndarray:
    """The normalised 30 s mel of log power followed by digital silence."""
    log = np.full((3000, log_power.shape[1]), -10, np.float32)
    log[: len(log_power)] = log_power
    return (np.maximum(log, log.max() - 8) + 4) / 4


@pytest.fixture(scope="module")
def silent(runtime):
    """States of an all-silence window, encoded whole."""
    return runtime.encode(np.full((3000, 80), -1.5, np.float32)).states()


def test_silence_encoded_in_part_equals_silence_encoded_whole(runtime, silent):
    part = runtime.encode(np.full((3000, 80), -1.5, np.float32), audio_context=37)
    assert (part.n_positions, part.n_encoded) == (1500, 37)
    np.testing.assert_allclose(part.states(), silent, atol=2e-4)


def test_silence_encoded_in_blocks_equals_silence_encoded_whole(runtime, silent):
    stream = runtime.encoder_stream()
    for keep in (0, 5, 27, 60):
        stream.append(np.full((70, 80), -10, np.float32))
        state = stream.state(keep)
    assert (stream.n_heard, stream.n_encoded, state.n_encoded, state.n_positions) == (140, 165, 165, 1500)
    np.testing.assert_allclose(state.states(), silent, atol=2e-4)


def test_a_stream_with_nothing_kept_equals_a_short_window_encoded_at_once(runtime):
    log = speech_like(89)
    stream = runtime.encoder_stream()
    for chunk in np.array_split(log, 4):
        stream.append(chunk)
    got = stream.state()
    at_once = runtime.encode(window(log), audio_context=got.n_encoded)
    assert got.n_encoded == 45 + 25
    np.testing.assert_allclose(got.states(), at_once.states(), atol=2e-4)


def test_kept_positions_stay_as_they_were_whatever_follows(runtime):
    log = speech_like(400)
    stream = runtime.encoder_stream()
    stream.append(log[:101])
    early = stream.state()
    stream.append(log[101:])
    late = stream.state(keep=25)
    np.testing.assert_array_equal(late.states()[:25], early.states()[:25])
    for old, new in zip(early.cross.layers, late.cross.layers, strict=True):
        np.testing.assert_array_equal(np.array(new)[:, :, :25], np.array(old)[:, :, :25])
    assert np.abs(late.states()[25:75] - early.states()[25:75]).max() > 1e-3


def test_a_truncated_stream_is_one_that_never_heard_the_rest(runtime):
    log = speech_like(200) - np.linspace(0, 1, 200, dtype=np.float32)[:, None]  # the loudest bin lies early
    cut, short = runtime.encoder_stream(), runtime.encoder_stream()
    cut.append(log)
    cut.state()
    cut.truncate(80)
    assert (cut.n_heard, cut.n_encoded) == (40, 40)
    short.append(log[:80])
    np.testing.assert_allclose(cut.state().states(), short.state().states(), atol=2e-4)


def test_a_stream_takes_no_more_than_thirty_seconds(runtime):
    stream = runtime.encoder_stream()
    stream.append(speech_like(3500))
    assert (stream.n_heard, stream.state().n_encoded) == (1500, 1500)


def test_a_cancelled_pass_leaves_what_was_kept(runtime):
    stream = runtime.encoder_stream()
    stream.append(speech_like(80))
    first = stream.state().states()
    stream.append(speech_like(80))
    runtime.set_cancel(lambda: True)
    with pytest.raises(Cancelled):
        stream.state(keep=20)
    runtime.set_cancel(None)
    assert stream.n_encoded == 20
    np.testing.assert_array_equal(stream.state(keep=20).states()[:20], first[:20])


def test_128_mels_and_the_100_language_vocabulary_encode_and_decode():
    runtime = MlxRuntime(make_random_checkpoint(n_state=64, n_mels=128, n_vocab=51866, preset="F16"), "mlx-cpu")
    decoder = runtime.decoder(runtime.encode(window(speech_like(60, 128)), audio_context=40))
    decoder.prefill([50258, 50259, 50360, 50364])
    assert decoder.logits().shape == (51866,)
    rules = Rules((1,), (220, 50257), 50257, 50364, 50365)
    tokens = [choice.token for choice in islice(decoder.generate(rules), 5)]
    assert len(tokens) == 5 and max(tokens) < 50365


def test_compiled_pieces_of_a_whole_window_give_what_single_layers_give():
    checkpoint = make_random_checkpoint(n_state=64, n_audio_layer=5, preset="Q8_0")  # two pieces
    plain, compiled = MlxRuntime(checkpoint, "mlx-cpu"), MlxRuntime(checkpoint, "mlx-cpu", compiled=True)
    mel = window(speech_like(400))
    frames = np.concatenate([mel, np.zeros((1, 80), np.float32)])
    block = plain.encode_block(mx.array(frames), 0, None, None)
    asked = []
    compiled.set_cancel(lambda: bool(asked.append(1)))
    whole = compiled.encode(mel)
    assert len(asked) == 2  # at the start and between the pieces
    np.testing.assert_allclose(whole.states(), np.array(block.states), atol=1e-5)
    for got, expected in zip(whole.cross.layers, block.cross.layers, strict=True):
        assert got.shape == (2, 1, 1500, 64)
        np.testing.assert_allclose(np.array(got), np.array(expected), atol=1e-5)


def test_cancelling_stops_between_encoder_layers_and_between_steps():
    runtime = MlxRuntime(make_random_checkpoint(n_state=64, n_audio_layer=4), "mlx-cpu")
    asked = []
    runtime.set_cancel(lambda: asked.append(1) or len(asked) > 3)
    with pytest.raises(Cancelled):
        runtime.encode(window(speech_like(20)), audio_context=1500)
    assert len(asked) == 4
    runtime.set_cancel(None)
    decoder = runtime.decoder(runtime.encode(window(speech_like(20)), audio_context=10))
    decoder.prefill([50258])
    steps = decoder.generate(RULES)
    next(steps)
    runtime.set_cancel(lambda: True)
    with pytest.raises(Cancelled):
        next(steps)


def test_wrong_calls_get_a_sentence(runtime):
    decoder = runtime.decoder(runtime.encode(window(speech_like(20)), audio_context=10))
    with pytest.raises(OptionError, match="prefill first"):
        next(decoder.generate(RULES))
    with pytest.raises(OptionError, match="fit"):
        decoder.prefill([1] * 449)
    with pytest.raises(OptionError, match="rewind"):
        decoder.rewind(1)
    with pytest.raises(OptionError, match="at most 32"):
        decoder.verify([1] * 33, RULES)
    with pytest.raises(OptionError, match="keep 1"):
        runtime.encoder_stream().state(keep=1)


@pytest.mark.skipif(available_device() is not None, reason="this computer has a GPU that MLX can use")
@pytest.mark.parametrize("device", ["metal", "cuda"])
def test_a_device_that_is_not_there_is_named(device):
    with pytest.raises(DeviceError, match=f"no {device} device"):
        MlxRuntime(make_random_checkpoint(n_state=64), device)


def test_building_on_one_thread_and_running_on_another_is_possible_after_close():
    """Two runtimes, each living and dying on a thread of its own, as model switches do; the process exits cleanly."""
    program = """
import threading, numpy as np
from engine.mlx_runtime import MlxRuntime
from engine.runtime import Rules
from tests.conftest import make_random_checkpoint
def work():
    runtime = MlxRuntime(make_random_checkpoint(n_state=64), "mlx-cpu")
    decoder = runtime.decoder(runtime.encode(np.zeros((3000, 80), np.float32), audio_context=10))
    decoder.prefill([50258])
    print(next(decoder.generate(Rules((), (), 50257, 50363, 50364))).token)
    runtime.close()
for _ in range(2):
    thread = threading.Thread(target=work); thread.start(); thread.join()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    first, second = done.stdout.split()
    assert first == second


def test_importing_the_runtime_makes_no_array_so_any_thread_may_build_one():
    tokens = []

    def work() -> None:
        runtime = MlxRuntime(make_random_checkpoint(n_state=64), "mlx-cpu")
        decoder = runtime.decoder(runtime.encode(np.zeros((3000, 80), np.float32), audio_context=10))
        decoder.prefill([50258])
        tokens.append(next(decoder.generate(RULES)).token)
        runtime.close()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(tokens) == 1


def test_loading_holds_little_more_than_the_finished_model(tiny_en_q8):
    checkpoint = load(tiny_en_q8)
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    runtime = MlxRuntime(checkpoint, "mlx-cpu", widen_encoder=False)
    held, peak = mx.get_active_memory() - before, mx.get_peak_memory() - before
    assert sum(t.data.nbytes for t in checkpoint.tensors.values()) < held <= peak < 1.3 * held
    del runtime


def test_a_thread_can_load_another_model_after_closing_one():
    for _ in range(2):
        runtime = MlxRuntime(make_random_checkpoint(n_state=64, preset="Q8_0"), "mlx-cpu")
        assert runtime.encode(window(speech_like(200)), 100).n_encoded == 100
        runtime.close()
