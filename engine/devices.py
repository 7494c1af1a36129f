"""Which runtime computes on which device, and what "auto" means on this computer."""

from __future__ import annotations

import ctypes
import importlib
import platform
import sys
from typing import TYPE_CHECKING, Any, cast

from engine.errors import DeviceError, OptionError

if TYPE_CHECKING:
    from engine.checkpoint import Checkpoint
    from engine.runtime import Runtime

DEVICES = ("auto", "metal", "cuda", "cpu", "mlx-cpu", "numpy")
MAX_THREADS = 256  # of the native library


def open_runtime(checkpoint: Checkpoint, device: str = "auto", threads: int | None = None) -> Runtime:
    """Bring the weights onto a device.

    Raises DeviceError where it is not there or lacks its library, OptionError for an impossible number of threads.
    """
    if threads is not None and not 1 <= threads <= MAX_THREADS:
        raise OptionError(f"The number of threads is from 1 to {MAX_THREADS}, not {threads}.")
    if device not in DEVICES:
        raise DeviceError(f'There is no device "{device}". Choose one of {", ".join(DEVICES)}.')
    if device == "auto":
        device = best_device()
    if device in ("metal", "cuda", "mlx-cpu"):
        return _open_mlx(checkpoint, device)
    if device == "cpu":
        native = _native()
        if native is not None:
            return cast("Runtime", native.NativeRuntime(checkpoint, threads=threads))
    from engine.cpu.reference import NumpyRuntime

    return NumpyRuntime(checkpoint)


def best_device() -> str:
    """A GPU that MLX can use, else the CPU."""
    if sys.platform == "darwin":
        # Importing MLX is slow; every Mac with an Apple processor has Metal
        return "metal" if platform.machine() == "arm64" else "cpu"
    if not _has_nvidia_driver():
        return "cpu"
    mlx = _mlx()
    return "cuda" if mlx is not None and mlx.cuda.is_available() else "cpu"


def stays_on_its_thread(device: str) -> bool:
    """Whether a runtime can be used only on the thread that built it: all of MLX's, and none of the others."""
    return (best_device() if device == "auto" else device) in ("metal", "cuda", "mlx-cpu")


def _has_nvidia_driver() -> bool:
    """Asked first, because it takes no time; importing MLX costs memory and a good part of a cold start."""
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def why_not_native() -> str | None:
    """Why the native CPU runtime can't be used here; None when it can."""
    try:
        importlib.import_module("engine.cpu.native")
    except (ImportError, OSError) as error:
        return str(error)
    return None


def _open_mlx(checkpoint: Checkpoint, device: str) -> Runtime:
    mlx = _mlx()
    if mlx is None:
        raise DeviceError(f"The device {device} needs MLX, which is not installed: use the device cpu.")
    if device == "metal" and not mlx.metal.is_available():
        raise DeviceError("This computer has no Metal GPU: use the device auto or cpu.")
    if device == "cuda" and not mlx.cuda.is_available():
        raise DeviceError("No NVIDIA GPU that MLX can use was found: use the device auto or cpu.")
    module = importlib.import_module("engine.mlx_runtime")
    return cast("Runtime", module.MlxRuntime(checkpoint, device))


def _mlx() -> Any | None:
    """mlx.core, or None where it is not installed or does not load."""
    try:
        return importlib.import_module("mlx.core")
    except (ImportError, OSError):
        return None


def _native() -> Any | None:
    """The module of the native CPU runtime, or None where its library was not built or does not load."""
    try:
        return importlib.import_module("engine.cpu.native")
    except (ImportError, OSError):
        return None
