"""Any model file or folder that Sayso reads -> Checkpoint."""

from __future__ import annotations

from pathlib import Path

from engine.checkpoint import Checkpoint
from engine.errors import ModelFileError
from engine.formats import ctranslate2, ggml, mlx, pytorch, safetensors
from engine.formats.sniff import Kind, main_file, sniff
from engine.gguf import bundle


def load_named(path: Path) -> Checkpoint:
    """`load`, with the file's name in whatever it raises: for where several are read."""
    try:
        return load(path)
    except ModelFileError as error:
        if path.name in str(error):
            raise
        raise ModelFileError(f"{path.name}: {error}") from error


def load(path: Path) -> Checkpoint:
    """Read a Whisper in any format, known by its bytes. Raises ModelFileError with what is wrong in one sentence."""
    file = main_file(path)
    match sniff(file):
        case Kind.GGUF:
            return bundle.load(file)
        case Kind.GGML:
            return ggml.load(file)
        case Kind.CTRANSLATE2:
            return ctranslate2.load(file)
        case Kind.SAFETENSORS:
            arrays = safetensors.read(file)
            return mlx.from_arrays(arrays, file) if mlx.is_mlx(arrays) else safetensors.from_arrays(arrays, file)
        case Kind.NPZ:
            return mlx.from_arrays(mlx.read_npz(file), file)
        case Kind.PT:
            return pytorch.load(file)
