"""Runs kernel bodies on the CPU: the shared dialect compiled as C++, threads and SIMD groups emulated."""

import ctypes
import hashlib
import os
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from engine.kernels.dialect import Kernel

CPP_TYPES = {
    np.dtype(np.float32): "float",
    np.dtype(np.float16): "half_t",
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "uint",
    np.dtype(np.uint16): "uint16_t",
    np.dtype(np.uint8): "uint8_t",
}


def run(kernel: Kernel, inputs: list[np.ndarray], groups: int, outputs: list[tuple[tuple[int, ...], type]]):
    """Outputs of the kernel; they start as NaN (or a strange number), so that what is not written shows."""
    inputs = [array if array.flags.c_contiguous else np.ascontiguousarray(array) for array in inputs]
    made = [np.full(shape, np.nan if np.issubdtype(dtype, np.floating) else -77, dtype) for shape, dtype in outputs]
    names = [*kernel.inputs, *kernel.outputs]
    types = {name: CPP_TYPES[a.dtype] for name, a in zip(names, [*inputs, *made], strict=True)}
    library = _build(kernel.cpp(types))
    if library.launch(groups, _pointers(inputs), _pointers(made)):
        raise RuntimeError(f"{kernel.name}: threads wait for each other forever")
    return made


def _pointers(arrays: list[np.ndarray]) -> ctypes.Array:
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


@lru_cache
def _build(source: str) -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder) / hashlib.sha256(source.encode()).hexdigest()[:16]
        stem.with_suffix(".cpp").write_text(source)
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-o", f"{stem}.so", f"{stem}.cpp"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(f"{stem}.so")
