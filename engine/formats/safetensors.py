"""safetensors -> arrays and Checkpoints: Hugging Face models (sharded too) and MLX ones; data stay memory-mapped.

Layout: u64 length, a JSON header {name: {dtype, shape, data_offsets}}, data. Source: huggingface/safetensors, README.
The header is checked here, because the file is untrusted and bf16 has no NumPy type that the library could return.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.anatomy import canonical_name
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.formats import beside, vocabulary
from engine.formats.assemble import assemble, main_type
from engine.gguf.reader import map_file

MAX_HEADER_BYTES = 100 << 20  # the library's own limit
MAX_SHARDS = 1000
ITEM_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "U32": 4, "I32": 4, "I64": 8, "U8": 1, "I8": 1, "BOOL": 1, "F64": 8}
TENSOR_TYPES = {"F32": TensorType.F32, "F16": TensorType.F16, "BF16": TensorType.BF16}


@dataclass(frozen=True)
class Array:
    """One array of a file: `dtype` in safetensors' own word, `data` its bytes, flat."""

    dtype: str
    shape: tuple[int, ...]
    data: NDArray[np.uint8]


def load(path: Path) -> Checkpoint:
    """Read a Hugging Face Whisper: its .safetensors file or the index of its shards.

    Raises ModelFileError where the files are damaged or hold another model.
    """
    return from_arrays(read(path), path)


def from_arrays(arrays: Mapping[str, Array], path: Path) -> Checkpoint:
    """Put a model together from arrays under OpenAI's or Hugging Face's names."""
    tensors: dict[str, Tensor] = {}
    for name, array in arrays.items():
        kind = TENSOR_TYPES.get(array.dtype)
        if kind is None or not array.shape:
            continue
        own = canonical_name(name)
        rows = array.data.reshape(-1, array.shape[-1] * ITEM_BYTES[array.dtype])
        tensors[own] = Tensor(own, array.shape, kind, rows)
    return assemble_from_folder(tensors, path)


def assemble_from_folder(tensors: Mapping[str, Tensor], path: Path) -> Checkpoint:
    """Put a model together whose configuration and vocabulary lie beside its weights."""
    generation = beside.generation(path.parent)
    return assemble(
        tensors,
        vocabulary=lambda n_vocab: vocabulary.beside(path, n_vocab) or vocabulary.built_in(n_vocab),
        n_head=beside.n_head(path.parent),
        name=beside.name(path),
        quant=main_type(tensors),
        path=path,
        licence=beside.licence(path.parent),
        suppress_tokens=generation.suppress_tokens,
        begin_suppress_tokens=generation.begin_suppress_tokens,
        alignment_heads=generation.alignment_heads,
    )


def read(path: Path) -> dict[str, Array]:
    """All arrays of a .safetensors file, or of the shards that an index (…safetensors.index.json) names."""
    if path.suffix != ".json":
        return read_file(path)
    arrays: dict[str, Array] = {}
    for shard in _shards(path):
        arrays |= read_file(path.parent / shard)
    return arrays


def _shards(path: Path) -> list[str]:
    weight_map = beside.json_object(path).get("weight_map")
    if not isinstance(weight_map, dict):
        raise ModelFileError(f"{path.name} names no files.")
    shards = sorted({str(name) for name in weight_map.values()})
    if len(shards) > MAX_SHARDS or any(Path(name).name != name for name in shards):
        raise ModelFileError(f"{path.name} names files outside its folder.")
    return shards


def read_file(path: Path) -> dict[str, Array]:
    """The arrays of one file, checked against its size; the bytes are views."""
    data = map_file(path)
    if len(data) < 8:
        raise _damaged(path, "it ends inside its header")
    (length,) = struct.unpack_from("<Q", data.data)
    if not 0 < length <= min(MAX_HEADER_BYTES, len(data) - 8):
        raise _damaged(path, "it ends inside its header")
    try:
        header = json.loads(bytes(data[8 : 8 + length]))
    except (ValueError, RecursionError) as fault:
        raise _damaged(path, "its header is not JSON") from fault
    if not isinstance(header, dict):
        raise _damaged(path, "its header is not a table")
    body = data[8 + length :]
    arrays = {name: _array(path, name, entry, body) for name, entry in header.items() if name != "__metadata__"}
    _refuse_overlap(path, header)
    return arrays


def _array(path: Path, name: str, entry: object, body: NDArray[np.uint8]) -> Array:
    try:
        dtype, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]  # type: ignore[index]
    except (KeyError, TypeError, ValueError) as fault:
        raise _damaged(path, f"{name[:80]!r} has no type, shape or place") from fault
    numbers = [*shape, begin, end] if isinstance(shape, list) else [None]
    if not all(type(n) is int and n >= 0 for n in numbers) or len(shape) > 8:
        raise _damaged(path, f"{name[:80]!r} has an impossible shape or place")
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        raise ModelFileError(f"{path.name} holds {name[:80]!r} as {dtype!r}, which Sayso does not read.")
    if not begin <= end <= len(body):
        raise _damaged(path, f"it ends inside {name[:80]!r}")
    if math.prod(shape) * ITEM_BYTES[dtype] != end - begin:
        raise _damaged(path, f"the size of {name[:80]!r} does not fit its shape")
    return Array(dtype, tuple(shape), body[begin:end])


def _refuse_overlap(path: Path, header: Mapping[str, Mapping[str, list[int]]]) -> None:
    last = 0
    for begin, end in sorted(entry["data_offsets"] for name, entry in header.items() if name != "__metadata__"):
        if begin < last:
            raise _damaged(path, "two of its tensors overlap")
        last = end


def _damaged(path: Path, what: str) -> ModelFileError:
    return ModelFileError(f"{path.name} is damaged: {what}. Fetch it again.")
