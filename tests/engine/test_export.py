"""Exports: every format loads again as planned, and other programs read ours."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gguf import GGUFReader

import resources
from engine.checkpoint import Checkpoint
from engine.errors import ModelFileError, OptionError
from engine.export import export, export_matrix, packed
from engine.gguf import bundle
from engine.gguf.reader import read
from engine.presets import PRESETS, plan
from engine.smoke import smoke

WORDS = "ask not what your country can do for you"


@pytest.mark.parametrize("preset", [preset for preset in PRESETS if preset not in ("F32", "F16", "Q8_0")])
def test_every_format_loads_with_the_types_and_bytes_of_its_plan(
    tiny_en_f16: Path, tmp_path: Path, preset: str
) -> None:
    source = bundle.load(tiny_en_f16)
    path = tmp_path / "exported.gguf"
    planned = export(source, preset, path)
    assert planned == plan(source, preset)
    loaded = bundle.load(path)
    assert (loaded.quant, loaded.name, loaded.vocabulary) == (preset, "tiny.en", source.vocabulary)
    assert [(t.name, t.type, t.shape) for t in loaded.tensors.values()] == [(t.name, t.type, t.shape) for t in planned]
    for name in ("decoder.layers.1.fc2.weight", "encoder.layers.0.fc1.weight", "encoder.conv1.weight"):
        assert np.array_equal(loaded[name].data, packed(source[name], loaded[name].type))
    path.unlink()


def test_a_bundle_is_complete_in_itself(base_q8: Path) -> None:
    file = read(base_q8)
    tokens, merges = file.strings("tokenizer.ggml.tokens"), file.strings("tokenizer.ggml.merges")
    assert tokens is not None and merges is not None
    assert (len(tokens), tokens[50258], tokens[50259], tokens[50363], tokens[50364], tokens[51864]) == (
        51865, "<|startoftranscript|>", "<|en|>", "<|notimestamps|>", "<|0.00|>", "<|30.00|>",
    )  # fmt: skip
    assert (len(merges), merges[0]) == (50000, "Ġ t")
    loaded = bundle.load(base_q8)
    assert loaded.mel_filters is not None and loaded.mel_filters.shape == (80, 201)
    assert loaded.suppress_tokens is not None and loaded.alignment_heads is not None
    assert file.integer("whisper.encoder.block_count", "") == 6
    assert len(GGUFReader(base_q8).tensors) == len(file.tensors)  # gguf-py reads it too


def test_exporting_takes_memory_for_a_tensor_not_for_the_model(base_q8: Path, tmp_path: Path) -> None:
    source = bundle.load(base_q8)
    tracemalloc.start()
    export(source, "F16", tmp_path / "base.gguf")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    largest = max(tensor.n_bytes for tensor in plan(source, "F16"))
    assert peak < 3 * largest  # 53 MB of 145: the token table, and the chunks it is made in


# Each in a process of its own: both bring a ggml library, and two of those in one process crash
TRANSCRIBE_CPP = """
import sys, soundfile, transcribe_cpp
samples, _ = soundfile.read(sys.argv[2], dtype="float32")
with transcribe_cpp.Model(sys.argv[1]) as model, model.session() as session:
    print(session.run(samples).text)
"""
WHISPER_CPP = """
import sys, soundfile
from pywhispercpp.model import Model
samples, _ = soundfile.read(sys.argv[2], dtype="float32")
model = Model(sys.argv[1], print_progress=False, print_realtime=False)
print("".join(segment.text for segment in model.transcribe(samples)))
"""


def heard_by(program: str, model: Path) -> str:
    command = [sys.executable, "-c", program, str(model), str(resources.path("sample.wav"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("preset", ["F16", "Q4_K_M"])
def test_transcribe_cpp_reads_our_export_and_so_do_we(tiny_en_f16: Path, tmp_path: Path, preset: str) -> None:
    path = tmp_path / "whisper-tiny.en.gguf"
    source = bundle.load(tiny_en_f16)
    export(source, preset, path, dialect="transcribe.cpp")
    assert WORDS in heard_by(TRANSCRIBE_CPP, path)
    loaded = bundle.load(path)
    assert (loaded.quant, loaded.dims, loaded.suppress_tokens) == (preset, source.dims, source.suppress_tokens)
    assert loaded.mel_filters is not None and loaded.vocabulary == source.vocabulary


@pytest.mark.parametrize("preset", ["F16", "Q8_0"])
def test_whisper_cpp_reads_our_export(tiny_en_f16: Path, tmp_path: Path, preset: str) -> None:
    path = tmp_path / "ggml-tiny.en.bin"
    export(bundle.load(tiny_en_f16), preset, path, dialect="whisper.cpp")
    assert WORDS in heard_by(WHISPER_CPP, path)


def test_whisper_cpp_s_format_refuses_mixed_types(tiny_en_f16: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="choose F32, F16 or Q8_0"):
        export(bundle.load(tiny_en_f16), "Q4_0", tmp_path / "no.bin", dialect="whisper.cpp")
    assert list(tmp_path.iterdir()) == []


def test_the_matrix_is_written_whole_and_each_file_hears_the_sample(tiny_en_q8: Path, tmp_path: Path) -> None:
    made = export_matrix(bundle.load(tiny_en_q8), tmp_path)
    assert [path.name for path in made] == ["tiny.en-Q6_K.gguf", "tiny.en-Q5_K_M.gguf", "tiny.en-Q4_K_M.gguf"]
    sizes = [path.stat().st_size for path in (tiny_en_q8, *made)]
    assert sizes == sorted(sizes, reverse=True)
    assert WORDS in smoke(made[-1], "cpu").replace(",", "")


def test_a_model_that_loads_but_hears_nothing_fails_the_smoke_test(mute_checkpoint: Checkpoint, tmp_path: Path) -> None:
    export(mute_checkpoint, "F16", tmp_path / "mute.gguf")
    with pytest.raises(ModelFileError, match="was loaded, but wrote"):
        smoke(tmp_path / "mute.gguf", "cpu")
