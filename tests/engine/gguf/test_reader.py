"""The GGUF reader against damaged, hostile and foreign files, and against gguf-py on good ones."""

from __future__ import annotations

import shutil
import struct
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType as TensorType
from gguf import GGUFReader, GGUFWriter
from gguf import GGUFValueType as ValueType
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import ModelFileError
from engine.gguf import bundle
from engine.gguf.reader import Strings, read
from engine.gguf.writer import Slot, write


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


@dataclass
class Crafted:
    """A GGUF put together by hand, so that every field can lie."""

    version: int = 3
    keys: list[bytes] = field(default_factory=lambda: [_string("general.name") + struct.pack("<I", 8) + _string("x")])
    tensors: list[bytes] = field(default_factory=lambda: [tensor_info("a", (32, 2), 0, 0)])
    n_tensors: int | None = None
    n_keys: int | None = None
    data: bytes = bytes(256)

    def write(self, path: Path) -> Path:
        n_tensors = len(self.tensors) if self.n_tensors is None else self.n_tensors
        n_keys = len(self.keys) if self.n_keys is None else self.n_keys
        head = b"GGUF" + struct.pack("<IQQ", self.version, n_tensors, n_keys)
        head += b"".join(self.keys) + b"".join(self.tensors)
        path.write_bytes(head + bytes(-len(head) % 32) + self.data)
        return path


def tensor_info(name: str, ne: tuple[int, ...], type_id: int, offset: int) -> bytes:
    return _string(name) + struct.pack(f"<I{len(ne)}QIQ", len(ne), *ne, type_id, offset)


def key(name: str, type_id: int, value: bytes) -> bytes:
    return _string(name) + struct.pack("<I", type_id) + value


def test_a_crafted_file_without_lies_is_read(tmp_path: Path) -> None:
    file = read(Crafted().write(tmp_path / "good.gguf"))
    assert file.text("general.name") == "x"
    assert file.tensors["a"].shape == (2, 32)


HUGE = 2**64 - 1
LIES = {
    "version": Crafted(version=4),
    "big-endian": Crafted(version=3 << 24),
    "claims 18446744073709551615 entries of its tensors": Crafted(n_tensors=HUGE),
    "claims 18446744073709551615 entries of its metadata": Crafted(n_keys=HUGE),
    "a text in its metadata is 18446744073709551615 bytes": Crafted(keys=[key("k", 8, struct.pack("<Q", HUGE))]),
    "ends inside its metadata": Crafted(keys=[key("k", 8, struct.pack("<Q", 1 << 20))]),
    "a text in its metadata is 1099511627776 bytes": Crafted(keys=[struct.pack("<Q", 1 << 40) + b"k"]),
    "comes twice": Crafted(keys=[key("k", 0, b"\1"), key("k", 0, b"\1")]),
    "unknown type 99": Crafted(keys=[key("k", 99, b"")]),
    "array of type 9": Crafted(keys=[key("k", 9, struct.pack("<IQ", 9, 1))]),
    "claims 4611686018427387904 entries": Crafted(keys=[key("k", 9, struct.pack("<IQ", 6, 1 << 62))]),
    "entries of its array 'k'": Crafted(keys=[key("k", 9, struct.pack("<IQ", 8, 1 << 40))]),
    "ends inside its array 'k'": Crafted(keys=[key("k", 9, struct.pack("<IQQ", 8, 1, HUGE))]),
    "is not text": Crafted(keys=[struct.pack("<Q", 2) + b"\xff\xfe" + struct.pack("<IB", 0, 1)]),
    "has 0 dimensions": Crafted(tensors=[tensor_info("a", (), 0, 0)]),
    "has 5 dimensions": Crafted(tensors=[tensor_info("a", (1,) * 5, 0, 0)]),
    "has 4294967295 dimensions": Crafted(tensors=[_string("a") + struct.pack("<I", 2**32 - 1)]),
    "has the type 77": Crafted(tensors=[tensor_info("a", (32,), 77, 0)]),
    "rows of 31 do not fit Q8_0": Crafted(tensors=[tensor_info("a", (31, 2), 8, 0)]),
    "rows of 0 do not fit F32": Crafted(tensors=[tensor_info("a", (0, 2), 0, 0)]),
    "ends inside the tensor 'wraps'": Crafted(tensors=[tensor_info("wraps", (1 << 32, 1 << 32, 1 << 32), 0, 0)]),
    "ends inside the tensor 'far'": Crafted(tensors=[tensor_info("far", (8,), 0, 1 << 40)]),
    "is not aligned": Crafted(tensors=[tensor_info("a", (8,), 0, 4)]),
    "overlaps another": Crafted(tensors=[tensor_info("a", (32,), 0, 0), tensor_info("b", (8,), 0, 96)]),
    "'twice' comes twice": Crafted(tensors=[tensor_info("twice", (8,), 0, 0), tensor_info("twice", (8,), 0, 32)]),
    "alignment is not a power of two": Crafted(keys=[key("general.alignment", 4, struct.pack("<I", 24))]),
    "its alignment": Crafted(keys=[key("general.alignment", 4, struct.pack("<I", 0))]),
    "alignment is not": Crafted(keys=[key("general.alignment", 8, _string("wide"))]),
}


@pytest.mark.parametrize("says", LIES)
def test_every_lie_gets_one_sentence(tmp_path: Path, says: str) -> None:
    with pytest.raises(ModelFileError, match=says) as caught:
        read(LIES[says].write(tmp_path / "lie.gguf"))
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_a_file_cut_at_any_byte_of_its_structure_is_refused(tmp_path: Path) -> None:
    keys = [
        key("k", 9, struct.pack("<IQ", 8, 2) + _string("ab") + _string("c")),
        key("n", 9, struct.pack("<IQI", 4, 1, 7)),
    ]
    whole = Crafted(keys=keys, data=bytes(256)).write(tmp_path / "whole.gguf").read_bytes()
    read(tmp_path / "whole.gguf")
    for length in range(len(whole)):
        (tmp_path / "cut.gguf").write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            read(tmp_path / "cut.gguf")


def test_a_real_model_cut_in_any_tensor_is_refused(tiny_en_q8: Path, tmp_path: Path) -> None:
    ends = sorted((t.data_offset + t.n_bytes for t in GGUFReader(tiny_en_q8).tensors), reverse=True)
    cut = tmp_path / "cut.gguf"
    shutil.copy(tiny_en_q8, cut)
    for end in ends:
        with cut.open("r+b") as file:
            file.truncate(end - 1)
        with pytest.raises(ModelFileError, match="download is incomplete"):
            read(cut)


_SMALL = Crafted(
    keys=[
        key("general.architecture", 8, _string("whisper")),
        key("general.alignment", 4, struct.pack("<I", 32)),
        key("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 3) + _string("a") + _string("bc") + _string("")),
        key("whisper.suppress_tokens", 9, struct.pack("<IQ3i", 5, 3, 1, 2, 7)),
    ],
    tensors=[tensor_info("model.encoder.conv1.weight", (3, 2, 2), 0, 0), tensor_info("b", (64, 2), 8, 64)],
)


@settings(max_examples=500, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edits=st.lists(
        st.tuples(st.integers(0, 600), st.one_of(st.binary(min_size=1, max_size=8), st.just(b"\xff" * 8))), max_size=4
    ),
    cut=st.integers(0, 700),
)
def test_mutated_files_are_read_or_refused_and_nothing_else(
    tmp_path: Path, edits: list[tuple[int, bytes]], cut: int
) -> None:
    path = tmp_path / "mutated.gguf"
    content = bytearray(_SMALL.write(path).read_bytes())
    for offset, patch in edits:
        offset = min(offset, len(content) - 1)
        content[offset : offset + len(patch)] = patch
    path.unlink()
    path.write_bytes(content[: len(content) - cut] if cut < len(content) else content)
    try:
        file = read(path)
    except ModelFileError as refusal:
        assert str(refusal).endswith(".")
    else:
        assert sum(tensor.data.nbytes for tensor in file.tensors.values()) <= len(content)
        for tensor in file.tensors.values():
            bytes(tensor.data)  # every byte is inside the map


def test_what_the_writer_wrote_gguf_py_reads_alike(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    data = {"a": random.bytes(34 * 2 * 3), "b": random.bytes(4 * 5)}
    slots = [Slot("a", (3, 64), TensorType.Q8_0), Slot("b", (5,), TensorType.F32)]
    metadata = {
        "general.name": (ValueType.STRING, "n"),
        "flag": (ValueType.BOOL, True),
        "ids": (ValueType.INT32, [1, -2]),
        "words": (ValueType.STRING, ["ä", "", "c"]),
        "mel": (ValueType.FLOAT32, np.array([0.5, 1], np.float32)),
    }
    path = tmp_path / "new" / "w.gguf"
    write(path, metadata, slots, lambda slot: np.frombuffer(data[slot.name], np.uint8))
    theirs, ours = GGUFReader(path), read(path)
    assert [(t.name, bytes(t.data)) for t in theirs.tensors] == [(n, data[n]) for n in "ab"]
    assert {name: bytes(tensor.data) for name, tensor in ours.tensors.items()} == data
    assert theirs.fields["words"].contents() == ["ä", "", "c"]
    words, mel = ours.metadata["words"], ours.metadata["mel"]
    assert isinstance(words, Strings) and isinstance(mel, np.ndarray)
    assert list(words) == ["ä", "", "c"] and mel.tolist() == [0.5, 1]
    assert (ours.metadata["flag"], ours.integers("ids")) == (True, (1, -2))


def test_a_failed_write_leaves_the_old_file_and_no_part(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"old")

    def fail(slot: Slot) -> np.ndarray:
        raise OSError(28, "No space left on device")

    with pytest.raises(ModelFileError, match="No space left"):
        write(path, {}, [Slot("a", (32,), TensorType.F32)], fail)
    assert [file.name for file in tmp_path.iterdir()] == ["m.gguf"] and path.read_bytes() == b"old"


def _foreign(path: Path, architecture: str, tensor: str) -> Path:
    writer = GGUFWriter(path, architecture)
    writer.add_tensor(tensor, np.zeros((4, 32), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize(
    ("architecture", "tensor", "says"),
    [
        ("llama", "blk.0.attn_q.weight", "is a llama model, not a Whisper"),
        ("clip", "a.conv1d.1.weight", "projector of a language model"),
        ("whisper", "something.weight", "holds no Whisper model"),
    ],
)
def test_gguf_files_of_other_models_are_refused_by_name(
    tmp_path: Path, architecture: str, tensor: str, says: str
) -> None:
    with pytest.raises(ModelFileError, match=says):
        bundle.load(_foreign(tmp_path / "foreign.gguf", architecture, tensor))


def test_other_kinds_of_file_under_a_gguf_name_are_said_to_be_that(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"<!DOCTYPE html><html>404")
    with pytest.raises(ModelFileError, match="web page"):
        bundle.load(file)
    with pytest.raises(ModelFileError, match="There is no file"):
        bundle.load(tmp_path / "none.gguf")
    with pytest.raises(ModelFileError, match="is a folder"):
        bundle.load(tmp_path)
