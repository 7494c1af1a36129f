"""`sayso bench` as a shell user meets it."""

import json

from engine.export import export
from tests.dictation.test_cli import sayso


def test_a_model_is_measured_and_scripts_get_one_object(random_checkpoint, tmp_path):
    export(random_checkpoint(n_state=64), "Q8_0", tmp_path / "random.gguf")
    done = sayso("bench", "--model", tmp_path / "random.gguf", "--device", "numpy", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["device"], found["quant"], found["n_tokens"]) == ("numpy", "Q8_0", 200)
    assert 0 < found["token_ms"] < found["encode_ms"]


def test_a_model_that_others_do_not_have_cannot_be_compared():
    done = sayso("bench", "--model", "large-v3-turbo:Q4_K_M", "--compare")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--model" in done.stderr and "tiny.en" in done.stderr
