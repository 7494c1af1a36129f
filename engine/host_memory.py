"""Memory that the host writes and an NVIDIA GPU reads, kept where it lies.

MLX's arrays from the host are CUDA's managed memory, which moves page by page to whoever touches it: there and back
takes 0.8 ms for the mel of 30 s on an H200, more than base takes to encode it. Read across the bus it takes 0.1 ms.
"""

from __future__ import annotations

import ctypes
import sys

import numpy as np
from numpy.typing import NDArray

_PREFERRED_LOCATION, _ACCESSED_BY = 3, 5  # CUmem_advise
_HOST = -1  # CU_DEVICE_CPU
_GPU = 0  # the one that MLX uses


def keep_on_host(array: NDArray[np.float32]) -> bool:
    """Ask CUDA to leave an MLX array's memory with the host and have the GPU read it there.

    False where CUDA does not do that (no NVIDIA driver, memory of another kind): all works as before, slower.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    advise = driver.cuMemAdvise
    advise.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    at, size = array.ctypes.data, array.nbytes
    return not advise(at, size, _PREFERRED_LOCATION, _HOST) and not advise(at, size, _ACCESSED_BY, _GPU)
