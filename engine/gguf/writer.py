"""Writes GGUF files atomically, a tensor at a time, through the `gguf` package's writer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGUFWriter
from gguf import GGMLQuantizationType as TensorType
from gguf import GGUFValueType as ValueType
from numpy.typing import NDArray

from engine.errors import ModelFileError
from engine.files import atomic

Typed = tuple[ValueType, object]  # for an array: the type of its items and a sequence
Metadata = Mapping[str, Typed]


@dataclass(frozen=True)
class Slot:
    """Room for one tensor in a file: its name there, shape in NumPy order, type."""

    name: str
    shape: tuple[int, ...]
    type: TensorType

    @property
    def row_bytes(self) -> int:
        block, block_bytes = GGML_QUANT_SIZES[self.type]
        return self.shape[-1] // block * block_bytes

    @property
    def n_bytes(self) -> int:
        return self.row_bytes * int(np.prod(self.shape[:-1], dtype=np.int64))


def write(
    path: Path,
    metadata: Metadata,
    slots: Sequence[Slot],
    data: Callable[[Slot], NDArray[np.uint8]],
    progress: Callable[[int, int], None] | None = None,
    check: Callable[[Path], None] = lambda path: None,
) -> None:
    """Write a GGUF v3 file. Readers see the old file or the whole new one.

    data: called once per slot, in order; returns the packed bytes, any shape. Only one tensor is in memory at a time.
    progress: called with (bytes of tensors written, of all) after each tensor.
    check: called with the whole new file before it counts; what it raises leaves the old one.
    Raises ModelFileError where the disk refuses; nothing is left behind then.
    """
    with atomic(path, fault=ModelFileError) as part:
        _write_parts(part, metadata, slots, data, progress)
        check(part)


def _write_parts(
    part: Path,
    metadata: Metadata,
    slots: Sequence[Slot],
    data: Callable[[Slot], NDArray[np.uint8]],
    progress: Callable[[int, int], None] | None,
) -> None:
    architecture = metadata.get("general.architecture", (ValueType.STRING, "whisper"))[1]
    writer = GGUFWriter(part, str(architecture))
    for key, (kind, value) in metadata.items():
        if key == "general.architecture":
            continue
        if isinstance(value, str | int | float):
            writer.add_key_value(key, value, kind)
        else:
            items = value.tolist() if isinstance(value, np.ndarray) else list(value)  # type: ignore[call-overload]
            if items:
                writer.add_key_value(key, items, ValueType.ARRAY, sub_type=kind)
    for slot in slots:
        writer.add_tensor_info(slot.name, slot.shape, np.dtype(np.float32), slot.n_bytes, raw_dtype=slot.type)
    try:
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        total, done = sum(slot.n_bytes for slot in slots), 0
        for slot in slots:
            packed = np.ascontiguousarray(data(slot)).view(np.uint8).reshape(-1)
            if packed.nbytes != slot.n_bytes:
                raise ValueError(f"{slot.name}: {packed.nbytes} bytes for room of {slot.n_bytes}")
            writer.write_tensor_data(packed)
            done += slot.n_bytes
            if progress:
                progress(done, total)
    finally:
        writer.close()
