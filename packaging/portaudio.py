"""Runs before the program in a Linux build: where the system has no PortAudio, the one that came along is used.

The system's own comes first, because it fits the system's JACK and ALSA.
"""

import ctypes.util
import os
import sys

_find = ctypes.util.find_library


def _find_library(name: str) -> "str | None":
    found = _find(name)
    if found is None and name == "portaudio":
        bundled = os.path.join(sys._MEIPASS, "libportaudio.so.2")  # type: ignore[attr-defined]
        return bundled if os.path.exists(bundled) else None
    return found


ctypes.util.find_library = _find_library
