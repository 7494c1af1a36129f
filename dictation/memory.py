"""What memory the computer has left: for another model, whether a model that rests should give its own
back, and freed memory that goes back."""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

import psutil

RESERVE_BYTES = 1 << 30  # left to everything else

# A model that has rested for so long is freed when memory is short; it is back at the next key-down.
REST_S = 60.0
LOOK_EVERY_S = 30.0  # at rest: takes 0.05 ms
SHORT_PERCENT = 5.0  # available, of all
TIGHT_PERCENT = 20.0  # short only if programs wait for memory, too
STALLED_PERCENT = 10.0  # of the last ten seconds, in which some program waited for memory
_STALLS = Path("/proc/pressure/memory")  # Linux; Documentation/accounting/psi.rst


def free_bytes() -> int:
    """What a model may take on this computer now."""
    return max(0, psutil.virtual_memory().available - RESERVE_BYTES)


def is_short() -> bool:
    """Whether other programs need memory more than a model that rests."""
    memory = psutil.virtual_memory()
    percent = 100 * memory.available / memory.total
    return percent < SHORT_PERCENT or (percent < TIGHT_PERCENT and stalled_percent() >= STALLED_PERCENT)


def stalled_percent(file: Path = _STALLS) -> float:
    """How much of the last ten seconds some program waited for memory; 0 where the system does not say."""
    try:
        found = re.search(r"^some avg10=([\d.]+)", file.read_text("ascii"), re.MULTILINE)
    except (OSError, ValueError):
        return 0.0
    return float(found[1]) if found else 0.0


def give_memory_back() -> None:
    """In a process that has run for long glibc keeps freed blocks of this size for later; here none is wanted soon."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc only
        if trim is not None:
            trim(0)
