"""Opus packets become samples, by the system's libopus (RFC 6716), which most Linux systems have.

PyAV could do it as well, and does where there is no libopus; but it is 100 MB, and self-contained builds leave it out.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import weakref
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]

RATE_HZ = 48_000
MOST_FRAMES = RATE_HZ * 120 // 1000  # in one packet
_NAMES = {"linux": "libopus.so.0", "darwin": "libopus.0.dylib"}


class OpusError(ValueError):
    """What is no Opus packet, or a damaged one."""


@lru_cache(maxsize=1)
def library() -> Any:
    """libopus, or None. Self-contained builds bring one for systems without it."""
    name = _NAMES.get(sys.platform)
    try:
        found: Any = ctypes.CDLL(name) if name else None
    except OSError:
        return None
    if found is not None:
        found.opus_decoder_create.argtypes = [ctypes.c_int32, ctypes.c_int, ctypes.POINTER(ctypes.c_int)]
        found.opus_decoder_create.restype = ctypes.c_void_p
        found.opus_decoder_destroy.argtypes = [ctypes.c_void_p]
        found.opus_decoder_destroy.restype = None
        found.opus_decode_float.argtypes = [
            ctypes.c_void_p,
            ctypes.c_char_p,
            ctypes.c_int32,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_int,
        ]
    return found


class Decoder:
    """One stream's decoder. head: an OpusHead of mapping family 0 (RFC 7845, 5.1), checked, for one or two channels."""

    def __init__(self, head: bytes) -> None:
        self._channels = head[9]
        self._skip, gain = struct.unpack_from("<H4xh", head, 10)
        self._factor = np.float32(10.0 ** (gain / 256.0 / 20.0))
        self._library = library()
        fault = ctypes.c_int(0)
        self._state = self._library.opus_decoder_create(RATE_HZ, self._channels, ctypes.byref(fault))
        if not self._state:
            raise OpusError(f"libopus makes no decoder for {self._channels} channels.")
        weakref.finalize(self, self._library.opus_decoder_destroy, self._state)
        self._out = np.empty((MOST_FRAMES, self._channels), np.float32)

    def decode(self, packet: bytes) -> F32:
        """(n, channels) at 48 kHz, without the beginning that is to be skipped. Raises OpusError."""
        n = self._library.opus_decode_float(self._state, packet, len(packet), self._out.ctypes.data, MOST_FRAMES, 0)
        if n < 0:
            raise OpusError("This is no Opus packet.")
        skipped = min(self._skip, n)
        self._skip -= skipped
        decoded: F32 = self._out[skipped:n] * self._factor
        return decoded
