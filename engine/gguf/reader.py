"""GGUF files, read as the untrusted input they are: nothing is used before it was checked against the file's size.

The `gguf` package supplies the block layouts; its own reader trusts counts, offsets and sizes, so the walk over the
header is ours. Tensor data stay views into the memory map. Every fault is one ModelFileError.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3, little endian.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as TensorType
from gguf import GGUFValueType as ValueType
from numpy.typing import NDArray

from engine.checkpoint import Tensor
from engine.errors import ModelFileError

MAGIC = b"GGUF"
MAX_RANK = 4
MAX_NAME_BYTES = 1024
MAX_KEYS = 1 << 16
MAX_TENSORS = 1 << 16
MAX_TEXT_BYTES = 16 << 20  # of one value; chat templates have kilobytes
MAX_STRINGS = 1 << 22  # in all arrays together; the largest vocabularies and merge lists stay below a million
DEFAULT_ALIGNMENT = 32

_SCALARS = {
    ValueType.UINT8: "<B",
    ValueType.INT8: "<b",
    ValueType.UINT16: "<H",
    ValueType.INT16: "<h",
    ValueType.UINT32: "<I",
    ValueType.INT32: "<i",
    ValueType.FLOAT32: "<f",
    ValueType.UINT64: "<Q",
    ValueType.INT64: "<q",
    ValueType.FLOAT64: "<d",
    ValueType.BOOL: "<?",
}
_U64 = struct.Struct("<Q")

Buffer = NDArray[np.uint8]


class Strings(Sequence[str]):
    """An array of strings in the file, decoded when asked for: `starts` holds the offset of each length field."""

    def __init__(self, view: memoryview, starts: NDArray[np.uint64]) -> None:
        self._view = view
        self._starts = starts

    def __len__(self) -> int:
        return len(self._starts)

    def raw(self, index: int) -> bytes:
        start = int(self._starts[index])
        (length,) = _U64.unpack_from(self._view, start)
        return bytes(self._view[start + 8 : start + 8 + length])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return _text(self.raw(index), "an array of strings")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


Value = str | int | float | bool | Strings | NDArray[np.generic]


@dataclass(frozen=True)
class GGUF:
    """A checked file. `tensors` keep the order and the names of the file; shapes are in NumPy order."""

    path: Path
    version: int
    metadata: Mapping[str, Value]
    tensors: Mapping[str, Tensor]

    def text(self, key: str) -> str | None:
        """The string under `key`; None where it is missing or of another type."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else None

    def integer(self, *keys: str) -> int | None:
        """The first of `keys` that holds a whole number."""
        for key in keys:
            value = self.metadata.get(key)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
        return None

    def integers(self, *keys: str) -> tuple[int, ...] | None:
        """The first of `keys` that holds an array of whole numbers."""
        for key in keys:
            value = self.metadata.get(key)
            if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
                return tuple(int(v) for v in value)
        return None

    def strings(self, key: str) -> Strings | None:
        value = self.metadata.get(key)
        return value if isinstance(value, Strings) else None


def _text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise ModelFileError(f"This GGUF file is damaged: {where} is not text. Download it again.") from fault


class _Cursor:
    """Reads forward through the header; every step is checked against the end of the file."""

    def __init__(self, data: Buffer) -> None:
        self.view = memoryview(data.data)
        self.size = len(data)
        self.offset = 0
        self.n_strings = 0  # in arrays, so far

    def skip(self, n_bytes: int, what: str) -> int:
        """Step over `n_bytes`; returns where they start."""
        start = self.offset
        if n_bytes > self.size - start:
            raise ModelFileError(f"This GGUF file ends inside its {what}: the download is incomplete. Fetch it again.")
        self.offset = start + n_bytes
        return start

    def scalar(self, layout: str, what: str) -> int:
        value: int = struct.unpack_from(layout, self.view, self.skip(struct.calcsize(layout), what))[0]
        return value

    def string(self, what: str, limit: int) -> str:
        length = self.scalar("<Q", what)
        if length > limit:
            raise ModelFileError(f"This GGUF file is damaged: a text in its {what} is {length} bytes long.")
        start = self.skip(length, what)
        return _text(bytes(self.view[start : start + length]), f"a text in its {what}")

    def count(self, limit: int, smallest: int, what: str) -> int:
        """A count of things of at least `smallest` bytes each that must still fit in the file."""
        value = self.scalar("<Q", what)
        if value > limit or value * smallest > self.size:
            raise ModelFileError(f"This GGUF file is damaged: it claims {value} entries of its {what}.")
        return value


def read(path: Path) -> GGUF:
    """Check the whole structure of a GGUF file and map it into memory.

    Raises ModelFileError with one sentence on any fault: truncation, wrong magic or version, counts, names, types,
    shapes, offsets or sizes that do not fit the file, tensors that overlap.
    """
    cursor = _Cursor(map_file(path))
    version = _read_version(cursor)
    n_tensors = cursor.count(MAX_TENSORS, 8 + 4 + 8 + 4 + 8, "tensors")
    n_keys = cursor.count(MAX_KEYS, 8 + 4 + 1, "metadata")
    metadata: dict[str, Value] = {}
    for _ in range(n_keys):
        key = cursor.string("metadata", MAX_NAME_BYTES)
        if key in metadata:
            raise ModelFileError(f"This GGUF file is damaged: the key {key!r} comes twice.")
        metadata[key] = _read_value(cursor, cursor.scalar("<I", "metadata"), key)
    headers = [_read_tensor_header(cursor) for _ in range(n_tensors)]
    start = _data_start(cursor.offset, metadata)
    return GGUF(path, version, metadata, _map_tensors(cursor.view, headers, start, _alignment(metadata)))


def read_start(start: bytes, path: Path) -> tuple[GGUF, bool]:
    """What the first bytes of a file say, as far as they go, and whether the whole header lies in them.

    The tensors have no data. path: for messages. Raises ModelFileError where this is no GGUF that Sayso reads.
    """
    cursor = _Cursor(np.frombuffer(start, np.uint8))
    version = _read_version(cursor)
    metadata: dict[str, Value] = {}
    tensors: dict[str, Tensor] = {}
    try:
        n_tensors, n_keys = cursor.scalar("<Q", "tensors"), cursor.scalar("<Q", "metadata")
        for _ in range(n_keys):
            key = cursor.string("metadata", MAX_NAME_BYTES)
            metadata[key] = _read_value(cursor, cursor.scalar("<I", "metadata"), key)
        for _ in range(n_tensors):
            header = _read_tensor_header(cursor)
            tensors[header.name] = Tensor(header.name, header.shape, header.type, np.empty((0, 0), np.uint8))
    except ModelFileError:  # where the bytes end, or where a fault lies: `read` tells which, when the file is here
        return GGUF(path, version, metadata, tensors), False
    return GGUF(path, version, metadata, tensors), True


def map_file(path: Path) -> Buffer:
    """The file as read-only bytes; raises ModelFileError where it is missing, empty, a directory or unreadable."""
    try:
        if path.is_dir():
            raise ModelFileError(f"{path} is a folder, not a model file.")
        if path.stat().st_size == 0:
            raise ModelFileError(f"{path.name} is empty: the download did not start. Fetch it again.")
        return np.memmap(path, dtype=np.uint8, mode="r")
    except FileNotFoundError as fault:
        raise ModelFileError(f"There is no file {path}.") from fault
    except (OSError, ValueError) as fault:
        raise ModelFileError(f"{path.name} can't be read: {fault}.") from fault


def _read_version(cursor: _Cursor) -> int:
    start = cursor.skip(4, "first bytes")
    if bytes(cursor.view[start : start + 4]) != MAGIC:
        raise ModelFileError("This is not a GGUF file.")
    version = cursor.scalar("<I", "version")
    if version not in (2, 3):
        if version and version & 0xFFFF == 0:
            raise ModelFileError("This GGUF file is big-endian; Sayso reads little-endian files.")
        raise ModelFileError(f"This GGUF file has version {version}; Sayso reads versions 2 and 3.")
    return version


def _read_value(cursor: _Cursor, type_id: int, key: str) -> Value:
    try:
        kind = ValueType(type_id)
    except ValueError as fault:
        raise ModelFileError(f"This GGUF file is damaged: the key {key!r} has the unknown type {type_id}.") from fault
    if kind == ValueType.STRING:
        return cursor.string("metadata", MAX_TEXT_BYTES)
    if kind != ValueType.ARRAY:
        return cursor.scalar(_SCALARS[kind], "metadata")
    item_id = cursor.scalar("<I", "metadata")
    if item_id == ValueType.STRING:
        return _read_strings(cursor, key)
    layout = _SCALARS.get(item_id)  # type: ignore[call-overload]  # IntEnum keys compare equal to int
    if layout is None:
        raise ModelFileError(f"This GGUF file has an array of type {item_id} under {key!r}, which Sayso does not read.")
    dtype = np.dtype(layout)
    n_items = cursor.count(cursor.size, dtype.itemsize, "metadata")
    start = cursor.skip(n_items * dtype.itemsize, "metadata")
    return np.frombuffer(cursor.view, dtype, n_items, start)


def _read_strings(cursor: _Cursor, key: str) -> Strings:
    n_items = cursor.count(MAX_STRINGS - cursor.n_strings, 8, f"array {key!r}")
    cursor.n_strings += n_items
    starts = np.empty(n_items, np.uint64)
    view, size, offset = cursor.view, cursor.size, cursor.offset
    unpack = _U64.unpack_from
    for i in range(n_items):  # hot: 100 000 strings in a Whisper file
        if offset > size - 8:
            break
        starts[i] = offset
        offset += 8 + unpack(view, offset)[0]
    else:
        cursor.skip(offset - cursor.offset, f"array {key!r}")
        return Strings(view, starts)
    raise ModelFileError(f"This GGUF file ends inside its array {key!r}: the download is incomplete. Fetch it again.")


@dataclass(frozen=True)
class _Header:
    name: str
    shape: tuple[int, ...]
    type: TensorType
    offset: int  # from the start of the data section
    n_bytes: int
    row_bytes: int


def _read_tensor_header(cursor: _Cursor) -> _Header:
    name = cursor.string("tensors", MAX_NAME_BYTES)
    rank = cursor.scalar("<I", "tensors")
    if not 1 <= rank <= MAX_RANK:
        raise ModelFileError(f"This GGUF file is damaged: the tensor {name!r} has {rank} dimensions.")
    ne = [cursor.scalar("<Q", "tensors") for _ in range(rank)]
    type_id = cursor.scalar("<I", "tensors")
    offset = cursor.scalar("<Q", "tensors")
    try:
        kind = TensorType(type_id)
        block, block_bytes = GGML_QUANT_SIZES[kind]
    except (ValueError, KeyError) as fault:
        raise ModelFileError(f"The tensor {name!r} has the type {type_id}, which Sayso does not know.") from fault
    if 0 in ne or ne[0] % block:
        raise ModelFileError(f"This GGUF file is damaged: rows of {ne[0]} do not fit {kind.name} in {name!r}.")
    row_bytes = ne[0] // block * block_bytes
    return _Header(name, tuple(reversed(ne)), kind, offset, row_bytes * math.prod(ne[1:]), row_bytes)


def _alignment(metadata: Mapping[str, Value]) -> int:
    value = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(value, int) or value < 1 or value & (value - 1) or value > 1 << 20:
        raise ModelFileError("This GGUF file is damaged: its alignment is not a power of two.")
    return value


def _data_start(end_of_header: int, metadata: Mapping[str, Value]) -> int:
    alignment = _alignment(metadata)
    return (end_of_header + alignment - 1) // alignment * alignment


def _map_tensors(view: memoryview, headers: list[_Header], start: int, alignment: int) -> dict[str, Tensor]:
    end = start
    for header in sorted(headers, key=lambda h: h.offset):
        first = start + header.offset
        if header.offset % alignment:
            raise ModelFileError(f"This GGUF file is damaged: the tensor {header.name!r} is not aligned.")
        if first < end:
            raise ModelFileError(f"This GGUF file is damaged: the tensor {header.name!r} overlaps another.")
        end = first + header.n_bytes
        if end > len(view):
            raise ModelFileError(
                f"This GGUF file ends inside the tensor {header.name!r}: the download is incomplete. Fetch it again."
            )
    tensors: dict[str, Tensor] = {}
    for header in headers:
        if header.name in tensors:
            raise ModelFileError(f"This GGUF file is damaged: the tensor {header.name!r} comes twice.")
        data = np.frombuffer(view, np.uint8, header.n_bytes, start + header.offset).reshape(-1, header.row_bytes)
        tensors[header.name] = Tensor(header.name, header.shape, header.type, data)
    return tensors
