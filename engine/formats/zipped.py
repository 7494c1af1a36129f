"""Members of an uncompressed zip archive as views into its memory map: what .npz and .pt files are."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelFileError
from engine.gguf.reader import map_file

MAX_MEMBERS = 1 << 14
_LOCAL_HEADER_BYTES = 30


def members(path: Path) -> Mapping[str, NDArray[np.uint8]]:
    """The bytes of every member, by name. Raises ModelFileError where the archive is damaged or compressed."""
    data = map_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as fault:
        raise ModelFileError(f"{path.name} is cut short or damaged: fetch it again.") from fault
    if len(entries) > MAX_MEMBERS or sum(entry.file_size for entry in entries) > len(data):
        raise ModelFileError(f"{path.name} is compressed or damaged: save the model again without compression.")
    # not `is_dir`, which fails for a member without a name
    return {entry.filename: _member(path, data, entry) for entry in entries if not entry.filename.endswith("/")}


def _member(path: Path, data: NDArray[np.uint8], entry: zipfile.ZipInfo) -> NDArray[np.uint8]:
    if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
        raise ModelFileError(f"{path.name} is compressed: save the model again without compression.")
    header = data[entry.header_offset : entry.header_offset + _LOCAL_HEADER_BYTES].tobytes()
    if len(header) == _LOCAL_HEADER_BYTES and header.startswith(b"PK\x03\x04"):
        name_bytes, extra_bytes = struct.unpack_from("<HH", header, 26)
        start = entry.header_offset + _LOCAL_HEADER_BYTES + name_bytes + extra_bytes
        if start + entry.file_size <= len(data):
            return data[start : start + entry.file_size]
    raise ModelFileError(f"{path.name} is cut short or damaged: fetch it again.")
