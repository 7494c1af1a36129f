"""What a model file is, by its first bytes and never by its name; what is recognisably no Whisper is refused.

Every refusal is one sentence that says what the file is and what to do.
"""

from __future__ import annotations

import enum
import re
import struct
from pathlib import Path

from engine.errors import ModelFileError

GGML_MAGIC = b"lmgg"  # u32 0x67676d6c, little endian
HEAD_BYTES = 4096
N_VOCAB = range(51864, 51867)


class Kind(enum.Enum):
    """A file or folder that `load.load` reads."""

    GGUF = "GGUF"
    GGML = "whisper.cpp .bin"
    CTRANSLATE2 = "CTranslate2"
    SAFETENSORS = "safetensors"
    NPZ = "NumPy archive"  # MLX community models
    PT = "PyTorch"


_WEB_PAGE = re.compile(rb"\s*(<!doctype html|<html|<\?xml|<head|<body)", re.IGNORECASE)
_OTHER_MAGICS = (
    (b"tjgg", "a language model in llama.cpp's old format"),
    (b"fmgg", "a language model in llama.cpp's old format"),
    (b"algg", "an adapter for a language model"),
    (b"RIFF", "a sound file"),
    (b"fLaC", "a sound file"),
    (b"OggS", "a sound file"),
    (b"ID3", "a sound file"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"\xfd7zXZ", "an xz archive: unpack it first"),
    (b"7z\xbc\xaf", "a 7z archive: unpack it first"),
    (b"\x89PNG", "a picture"),
    (b"TFL3", "a TensorFlow Lite model"),
)
# In the order of what converts best
_IN_FOLDERS = (
    "model.safetensors.index.json",
    "model.safetensors",
    "weights.safetensors",
    "weights.npz",
    "model.bin",
    "pytorch_model.bin",
)


def main_file(path: Path) -> Path:
    """The file that holds the weights: `path` itself, or the one in the folder `path`.

    For a sharded safetensors model that is its index. Raises ModelFileError where a folder holds none, or several.
    """
    if not path.is_dir():
        return path
    for name in _IN_FOLDERS:
        if (path / name).is_file():
            return path / name
    found = sorted(path.glob("*.gguf"))
    if len(found) == 1:
        return found[0]
    if found:
        raise ModelFileError(f"The folder {path.resolve().name} holds {len(found)} GGUF files: name the one you want.")
    raise ModelFileError(f"The folder {path.resolve().name} holds no model that Sayso knows.")


def sniff(path: Path) -> Kind:
    """The kind of a file. Raises ModelFileError where it is missing, broken, or something else than a Whisper."""
    name = path.name
    try:
        if path.is_dir():
            raise ModelFileError(f"{path} is a folder, not a model file.")
        if path.exists() and not path.is_file():  # reading a pipe would wait for ever
            raise ModelFileError(f"{path} is a pipe or a device, not a model file.")
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        size = path.stat().st_size
    except FileNotFoundError as fault:
        raise ModelFileError(f"There is no file {path}.") from fault
    except OSError as fault:
        raise ModelFileError(f"{name} can't be read: {fault.strerror or fault}.") from fault
    return sniff_bytes(head, size, name)


def sniff_bytes(head: bytes, size: int, name: str) -> Kind:
    """The same by the first HEAD_BYTES of a file of `size` bytes, which may lie elsewhere."""
    if not head:
        raise ModelFileError(f"{name} is empty: the download did not start. Fetch it again.")
    kind = _known(head, size, name)
    if kind is not None:
        return kind
    raise ModelFileError(f"{name} is {_what_else(head, size)}, not a Whisper model.")


def _known(head: bytes, size: int, name: str) -> Kind | None:
    if head.startswith(b"GGUF"):
        return Kind.GGUF
    if head.startswith(GGML_MAGIC):
        _refuse_other_ggml(head, name)
        return Kind.GGML
    if head.startswith(b"PK\x03\x04"):
        return _zip_kind(head, name)
    if (spec := _ctranslate2_spec(head)) is not None:
        if spec != "WhisperSpec":
            raise ModelFileError(f"{name} is a CTranslate2 {spec.removesuffix('Spec')} model, not a Whisper.")
        return Kind.CTRANSLATE2
    if len(head) > 8 and head[8:9] == b"{" and 0 < struct.unpack_from("<Q", head)[0] <= size - 8:
        return Kind.SAFETENSORS
    if (head.lstrip().startswith(b"{") and b'"weight_map"' in head) or name.endswith(".safetensors.index.json"):
        return Kind.SAFETENSORS
    return None


def _refuse_other_ggml(head: bytes, name: str) -> None:
    """whisper.cpp's magic is shared by voice activity models, whose next field is the length of a type string."""
    if len(head) < 8:
        raise ModelFileError(f"{name} is cut short: the download is incomplete. Fetch it again.")
    (first,) = struct.unpack_from("<i", head, 4)
    if b"silero" in head[8:40]:
        raise ModelFileError(f"{name} is a Silero voice activity model, not a Whisper.")
    if first not in N_VOCAB:
        raise ModelFileError(f"{name} is a ggml file of another model, not a Whisper.")


def _zip_kind(head: bytes, name: str) -> Kind:
    """By the name of the first member: PyTorch writes <folder>/data.pkl first, NumPy <array>.npy."""
    (length,) = struct.unpack_from("<H", head, 26) if len(head) >= 30 else (0,)
    member = head[30 : 30 + length]
    if member.endswith(b".npy"):
        return Kind.NPZ
    if b"/" in member or member.endswith(b".pkl"):
        return Kind.PT
    raise ModelFileError(f"{name} is a zip archive, not a model: unpack it first.")


def _ctranslate2_spec(head: bytes) -> str | None:
    if len(head) < 8:
        return None
    version, length = struct.unpack_from("<IH", head)
    if not 1 <= version <= 64 or not 5 <= length <= 64:
        return None
    spec = head[6 : 6 + length].rstrip(b"\0")
    return spec.decode("ascii") if re.fullmatch(rb"[A-Za-z0-9]+Spec", spec) else None


def _what_else(head: bytes, size: int) -> str:
    for magic, what in _OTHER_MAGICS:
        if head.startswith(magic):
            return what
    if head.startswith(b"version https://git-lfs"):
        return "a git-lfs pointer of a model that was not fetched (run `git lfs pull`)"
    if _WEB_PAGE.match(head):
        return "a web page that was saved in the model's place (download it again)"
    if head[:1] == b"\x80" and head[1:2] <= b"\x05":
        return "a PyTorch file of before 2020 or a bare pickle (save it again with a newer PyTorch)"
    if head[:2] == b"\x08\x08" or b"pytorch" in head[:32] or b"onnx" in head[:64].lower():
        return "an ONNX model, which Sayso does not read"
    if not any(head):
        return "a file of zeros (the download is incomplete; fetch it again)"
    if head.lstrip()[:1] in b"{[" and head.lstrip():
        return "a JSON text without weights"
    if _is_text(head):
        return "a text file"
    return "in a format that Sayso does not know" if size > 64 else "too short to be a model"


def _is_text(head: bytes) -> bool:
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError as fault:
        if fault.start < len(head) - 3 or fault.reason != "unexpected end of data":
            return False
        text = head[: fault.start].decode("utf-8")
    return all(character >= " " or character in "\t\n\r\f" for character in text)
