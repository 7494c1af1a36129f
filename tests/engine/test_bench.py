"""The bench on a small NumPy model: every stage has a time, and the bytes are those of the packed weights."""

import pytest

from engine import bench
from engine.errors import OptionError
from tests.conftest import make_random_checkpoint


@pytest.fixture(scope="module")
def report():
    return bench.run(make_random_checkpoint(n_state=64, preset="Q8_0"), "numpy", n_tokens=20)


def test_every_stage_has_a_time_and_scripts_get_all_of_it(report):
    found = report.as_dict()
    assert all(found[key] > 0 for key in ("load_ms", "mel_ms", "encode_ms", "prompt_ms", "token_ms", "bandwidth_share"))
    assert report.n_tokens == 20 and report.device == "numpy"
    assert len(report.table().splitlines()) == 10


def test_a_token_reads_the_table_the_decoder_and_cross_attention(report):
    d, table = 64, 51865 * 64
    layer = (4 + 2 + 8) * d * d  # self-attention, q and out of cross-attention, feed-forward; norms and biases apart
    packed = (table + 2 * layer) * 34 // 32
    cross = 2 * 2 * 1500 * d * 4
    assert packed + cross < report.bytes_per_token < (packed + cross) * 1.01


@pytest.mark.parametrize("quant", ["F16", "Q4_K_M"])
def test_a_random_model_has_the_shapes_and_types_of_a_real_one(quant):
    made = bench.random_checkpoint("base", quant)
    assert (made.dims.n_text_state, made.dims.n_text_layer, made.dims.n_vocab) == (512, 6, 51865)
    assert all(tensor.f32().shape == tensor.shape for name, tensor in made.tensors.items() if "layers.5" in name)


def test_an_unknown_size_is_named():
    with pytest.raises(OptionError, match="'huge'"):
        bench.random_checkpoint("huge")
