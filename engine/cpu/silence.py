"""Silence caches on disk: what a window of silence leaves in the encoder, so that it is computed once per model.

One file per model file, silence level and instruction set, 10 to 25 MB for the small models. They can be deleted at
any time. A file that cannot be read or written is as good as none.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs

from engine.checkpoint import Checkpoint
from engine.files import atomic

Image = np.ndarray[Any, np.dtype[np.uint8]]
_VERSION = 1  # of the layout in native/kernels.h and of what the encoder computes
_HASH_BYTES = 32


class SilenceFiles:
    """Those of one model. A checkpoint that is not from a file has none."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._folder = Path(platformdirs.user_cache_path("sayso")) / "silence"
        self._key = _key(checkpoint)

    def read(self, name: str, size: int) -> Image | None:
        if self._key is None:
            return None
        try:
            data = np.fromfile(self._path(name), np.uint8)
        except OSError:
            return None
        if len(data) != size + _HASH_BYTES or _digest(data[_HASH_BYTES:]) != data[:_HASH_BYTES].tobytes():
            return None  # cut short or damaged
        return data[_HASH_BYTES:]

    def write(self, name: str, image: Image) -> None:
        if self._key is None:
            return
        with (
            contextlib.suppress(OSError),
            atomic(self._path(name), durable=False) as part,
            part.open("wb") as file,
        ):
            file.write(_digest(image))
            file.write(image.data)

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._key}-{name}.v{_VERSION}"


def _digest(image: Image) -> bytes:
    return hashlib.blake2b(image.data, digest_size=_HASH_BYTES).digest()


def _key(checkpoint: Checkpoint) -> str | None:
    """The file's hash where it is known; hashing it now would take longer than the silence."""
    if checkpoint.sha256:
        return checkpoint.sha256[:32]
    if checkpoint.path is None:
        return None
    try:
        status = checkpoint.path.stat()
    except OSError:
        return None
    identity = f"{checkpoint.path.resolve()}:{status.st_size}:{status.st_mtime_ns}"
    return hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()
