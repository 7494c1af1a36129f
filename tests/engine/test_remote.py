"""Files on a Hub are known by their headers, of which only the first bytes are fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType as TensorType
from gguf import GGUFValueType as ValueType

from engine import hub, remote
from engine.errors import ModelFileError, NotOnHubError
from engine.export import export
from engine.formats.header import read_header
from engine.formats.load import load
from engine.gguf.writer import Slot, write
from engine.hub import ModelRef
from tests.fakes.hub_server import Fault, Hub, serve

REPO = "some/whisper-gguf"


@pytest.fixture
def server() -> Iterator[Hub]:
    with serve() as state:
        yield state


def other_model(folder: Path, architecture: str) -> bytes:
    metadata = {"general.architecture": (ValueType.STRING, architecture), "x.words": (ValueType.STRING, ["a"] * 99_999)}
    slots = [Slot("token_embd.weight", (2, 32), TensorType.Q8_0)]
    write(folder / "other.gguf", metadata, slots, lambda slot: np.zeros(slot.n_bytes, np.uint8))
    return (folder / "other.gguf").read_bytes()


def look(server: Hub, name: str, data: bytes) -> remote.Looked:
    server.add(REPO, name, data)
    (looked,) = remote.look_at_all(hub.list_files(REPO, endpoint=server.url), server.url)
    return looked


@pytest.mark.parametrize(
    ("name", "reference", "note"),
    [
        ("whisper-tiny.en-Q8_0.gguf", f"{REPO}:Q8_0", ""),
        ("model.gguf", f"{REPO}:model.gguf", ""),
        ("whisper-Q4_K_M.gguf", f"{REPO}:whisper-Q4_K_M.gguf", "it is Q8_0, whatever its name says"),
    ],
)
def test_the_header_has_the_last_word_and_costs_its_first_bytes_only(
    server: Hub, tiny_en_q8: Path, name: str, reference: str, note: str
) -> None:
    looked = look(server, name, tiny_en_q8.read_bytes())
    assert (looked.file.quant, looked.reference, looked.note, looked.usable) == ("Q8_0", reference, note, True)
    assert server.bytes_sent <= remote.START_BYTES


def test_a_file_without_words_about_itself_is_known_by_its_tensors(
    server: Hub, tiny_en_q8: Path, tmp_path: Path
) -> None:
    source = load(tiny_en_q8)
    slots = [Slot(name, tensor.shape, tensor.type) for name, tensor in source.tensors.items()]
    metadata = {"tokenizer.ggml.tokens": (ValueType.STRING, ["token"] * 50_000)}  # the table lies behind all of it
    write(tmp_path / "bare.gguf", metadata, slots, lambda slot: source[slot.name].data)
    assert look(server, "bare.gguf", (tmp_path / "bare.gguf").read_bytes()).file.quant == "Q8_0"
    assert server.bytes_sent <= remote.START_BYTES + remote.TABLE_BYTES


def test_whisper_cpp_s_files_say_their_quant_too(server: Hub, tiny_en_q8: Path, tmp_path: Path) -> None:
    export(load(tiny_en_q8), "Q8_0", tmp_path / "x.bin", dialect="whisper.cpp")
    looked = look(server, "ggml-tiny.en.bin", (tmp_path / "x.bin").read_bytes())
    assert (looked.file.quant, looked.reference) == ("Q8_0", f"{REPO}:ggml-tiny.en.bin")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is a llama model, not a Whisper"),
        (b"<!doctype html><title>Sign in</title>", "web page"),
        (b"version https://git-lfs.github.com/spec/v1", "git-lfs pointer"),
        (b"", "empty"),
        (bytes(1000), "zeros"),
        (b"GGUF\x09\0\0\0" + bytes(90), "version 9"),
    ],
)
def test_what_is_no_whisper_is_said_before_it_is_downloaded(
    server: Hub, tmp_path: Path, content: bytes | None, words: str
) -> None:
    looked = look(server, "x-Q8_0.gguf", other_model(tmp_path, "llama") if content is None else content)
    assert not looked.usable and words in looked.note
    with pytest.raises(ModelFileError, match=words):
        remote.choose(ModelRef(REPO, "Q8_0"), server.url)


def test_a_quant_is_found_by_header_where_no_name_has_it(server: Hub, tiny_en_q8: Path) -> None:
    server.add(REPO, "model.gguf", tiny_en_q8.read_bytes())
    assert remote.choose(ModelRef(REPO, "Q8_0"), server.url).path == "model.gguf"
    with pytest.raises(NotOnHubError, match="has no Q6_K; it has Q8_0"):
        remote.choose(ModelRef(REPO, "Q6_K"), server.url)


def test_one_file_that_can_not_be_read_does_not_cost_the_list(server: Hub, tiny_en_q8: Path) -> None:
    server.add(REPO, "a-Q8_0.gguf", tiny_en_q8.read_bytes())
    server.add(REPO, "b-Q4_0.gguf", b"GGUF")
    server.fail("b-Q4_0.gguf", *[Fault("status", code=500)] * 20)
    looked = remote.look_at_all(hub.list_files(REPO, endpoint=server.url), server.url)
    assert [(at.file.quant, "500" in at.note) for at in looked] == [("Q8_0", False), ("Q4_0", True)]


def test_any_cut_of_a_header_is_undecided_or_right(tiny_en_q8: Path) -> None:
    with tiny_en_q8.open("rb") as file:
        start = file.read(4096)
    for length in (*range(8, 400), 1000, 4096):
        header = read_header(start[:length], "x.gguf", 10**8)
        assert header is None or header.quant == "Q8_0"


def test_without_a_quant_the_best_that_fits_into_the_memory_is_taken(server: Hub, tiny_en_q8: Path) -> None:
    data = tiny_en_q8.read_bytes()
    for name, size in (("a-F16.gguf", 500), ("a-Q8_0.gguf", 300), ("a-Q5_0.gguf", 100)):  # in KB, and some data
        server.add(REPO, name, data[: 1 << 16] + bytes(size << 10))
    files = hub.list_files(REPO, endpoint=server.url)
    sizes = [f.size_bytes for f in files]
    room = [int(size * 1.15) + (121 << 20) for size in sizes]
    assert remote._recommended(files, room[0]).quant == "Q8_0"
    assert remote._recommended(files, room[1]).quant == "Q8_0"
    assert remote._recommended(files, 0).quant == "Q5_0"
    assert remote.choose(ModelRef(REPO), server.url, room[0]).path == "a-Q8_0.gguf"
