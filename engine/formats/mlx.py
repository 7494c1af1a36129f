"""MLX community models (npz or safetensors, quantized or not) -> Checkpoint.

OpenAI's names with `mlp1`/`mlp2`; convolutions as [out, kernel, in]; no encoder positions; a quantized matrix is
`weight` (u32, values packed as a little-endian bit stream), `scales`, `biases`: value = scale * q + bias per group.
Up to 4 bits repack to Q4_1 and 5 bits to Q5_1 exactly where f16 holds the scales; others become F16.
Source: ml-explore/mlx-examples, whisper/convert.py; ml-explore/mlx, `mx.quantize`.
"""

from __future__ import annotations

import ast
import math
import struct
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.anatomy import canonical_name
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.formats import beside, safetensors, zipped
from engine.formats.assemble import dense
from engine.formats.safetensors import ITEM_BYTES, TENSOR_TYPES, Array, assemble_from_folder
from engine.runtime import F32

BITS = (2, 3, 4, 5, 6, 8)
GROUP_SIZES = (32, 64, 128)
_NPY_TYPES = {"<f4": "F32", "<f2": "F16", "<u4": "U32", "<i4": "I32", "|V2": "BF16", "<V2": "BF16"}


def load(path: Path) -> Checkpoint:
    """Read an MLX Whisper: weights.npz, or weights.safetensors with config.json beside it."""
    return from_arrays(read_npz(path) if path.suffix == ".npz" else safetensors.read(path), path)


def is_mlx(names: Mapping[str, object]) -> bool:
    """Whether these tensor names are an MLX conversion's, not OpenAI's or Hugging Face's."""
    return any(name.endswith(".mlp1.weight") for name in names)


def from_arrays(arrays: Mapping[str, Array], path: Path) -> Checkpoint:
    quantization = beside.json_object(path.parent / "config.json").get("quantization")
    bits, group_size = _quantization(quantization) if quantization else (0, 0)
    tensors: dict[str, Tensor] = {}
    for name, array in arrays.items():
        stem = name.removesuffix(".weight")
        if name.endswith((".scales", ".biases")) or not array.shape:
            continue
        own = canonical_name(name)
        if array.dtype == "U32" and stem + ".scales" in arrays and stem + ".biases" in arrays:
            if not bits:
                raise ModelFileError(f"{path.name} is quantized: put its config.json beside it and try again.")
            scales, biases = _values(arrays[stem + ".scales"]), _values(arrays[stem + ".biases"])
            tensors[own] = _quantized(own, array, scales, biases, bits, group_size)
        elif len(array.shape) == 3:
            values = np.moveaxis(_values(array), 1, 2)  # [out, kernel, in] -> [out, in, kernel]
            tensors[own] = dense(own, values.astype(np.float16) if array.dtype == "F16" else values)
        elif array.dtype in TENSOR_TYPES:
            rows = array.data.reshape(-1, max(1, array.shape[-1]) * ITEM_BYTES[array.dtype])
            tensors[own] = Tensor(own, array.shape, TENSOR_TYPES[array.dtype], rows)
    return assemble_from_folder(tensors, path)


def _quantization(entry: object) -> tuple[int, int]:
    bits, group_size = (entry.get("bits"), entry.get("group_size")) if isinstance(entry, dict) else (None, None)
    if bits not in BITS or group_size not in GROUP_SIZES:
        raise ModelFileError(f"This MLX model is quantized as {entry!r:.80}, which Sayso does not read.")
    return bits, group_size


def _values(array: Array) -> F32:
    """A dense array as f32."""
    data = array.data
    if array.dtype == "BF16":
        return (data.view("<u2").astype(np.uint32) << 16).view(np.float32).reshape(array.shape)
    if array.dtype not in ("F32", "F16"):
        raise ModelFileError(f"This MLX model holds weights as {array.dtype}, which Sayso does not read.")
    return data.view("<f4" if array.dtype == "F32" else "<f2").astype(np.float32).reshape(array.shape)


def _quantized(name: str, packed: Array, scales: F32, biases: F32, bits: int, group_size: int) -> Tensor:
    if len(packed.shape) != 2 or scales.shape != biases.shape or len(scales.shape) != 2:
        raise ModelFileError(f"This MLX model is damaged: {name} has the shape {packed.shape}.")
    rows, width = packed.shape[0], packed.shape[1] * 32 // bits
    if scales.shape != (rows, width // group_size) or width % group_size or packed.shape[1] * 32 % bits:
        raise ModelFileError(f"{name} does not fit the quantization that config.json states ({bits} bits).")
    words = packed.data.reshape(rows, -1)
    exact = all(np.array_equal(part.astype(np.float16).astype(np.float32), part) for part in (scales, biases))
    if bits > 5 or not exact:
        return dense(name, _dequantized(words, scales, biases, bits, group_size))
    q = _unpacked(words, bits).reshape(-1, 32)
    pair = np.stack([scales, biases], axis=-1).astype("<f2")
    pairs = np.repeat(pair.reshape(-1, 2), group_size // 32, axis=0).view(np.uint8)
    if bits == 5:
        high = np.packbits(q >> 4, axis=1, bitorder="little")
        blocks = np.concatenate([pairs, high, (q[:, :16] & 15) | (q[:, 16:] << 4)], axis=1)
    else:
        blocks = np.concatenate([pairs, q[:, :16] | (q[:, 16:] << 4)], axis=1)
    kind = TensorType.Q5_1 if bits == 5 else TensorType.Q4_1
    return Tensor(name, (rows, width), kind, np.ascontiguousarray(blocks.reshape(rows, -1)))


def _unpacked(words: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Values of a little-endian bit stream, (rows, width)."""
    if bits == 8:
        return words
    stream = np.unpackbits(words, axis=1, bitorder="little").reshape(len(words), -1, bits)
    value: NDArray[np.uint8] = np.packbits(stream, axis=2, bitorder="little").reshape(len(words), -1)
    return value


def _dequantized(words: NDArray[np.uint8], scales: F32, biases: F32, bits: int, group_size: int) -> NDArray[np.float16]:
    rows = len(words)
    out = np.empty((rows, scales.shape[1] * group_size), np.float16)
    step = max(1, (1 << 22) // out.shape[1])
    for start in range(0, rows, step):
        part = slice(start, start + step)
        q = _unpacked(words[part], bits).reshape(-1, scales.shape[1], group_size)
        out[part] = (q * scales[part, :, None] + biases[part, :, None]).reshape(-1, out.shape[1])
    return out


def read_npz(path: Path) -> dict[str, Array]:
    """The arrays of an uncompressed .npz, as views."""
    files = zipped.members(path)
    return {name.removesuffix(".npy"): _npy(path, name, data) for name, data in files.items() if name.endswith(".npy")}


def _npy(path: Path, name: str, data: NDArray[np.uint8]) -> Array:
    """One .npy member: magic, version, header length, a Python literal with type, order and shape."""
    head = data[:12].tobytes()
    if len(head) < 12 or not head.startswith(b"\x93NUMPY") or head[6] not in (1, 2, 3):
        raise ModelFileError(f"{path.name} is damaged at {name[:80]!r}: fetch it again.")
    start, layout = (10, "<H") if head[6] == 1 else (12, "<I")
    (length,) = struct.unpack_from(layout, head, 8)
    try:
        if not 0 < length <= 4096:
            raise ValueError("header length")
        header = ast.literal_eval(data[start : start + length].tobytes().decode("latin-1").strip())
        descr, order, shape = header["descr"], header["fortran_order"], header["shape"]
        dtype = _NPY_TYPES[descr]
        if not all(type(n) is int and n >= 0 for n in shape) or len(shape) > 8:
            raise ValueError("shape")
        body = data[start + length :]
        if math.prod(shape) * ITEM_BYTES[dtype] != len(body):
            raise ValueError("size")
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as fault:
        raise ModelFileError(f"{path.name} is damaged or of another kind at {name[:80]!r}.") from fault
    if order and len(shape) > 1:  # MLX also says so of vectors, where it makes no difference
        items = body.view(f"u{ITEM_BYTES[dtype]}").reshape(tuple(reversed(shape)))
        body = np.ascontiguousarray(items.T).reshape(-1).view(np.uint8)
    return Array(dtype, tuple(shape), body)
