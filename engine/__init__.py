"""Whisper on the user's own computer. `load` a model, then `transcribe`. Importing this loads nothing heavy."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.transcriber import Transcriber


def load(path_or_name: str | os.PathLike[str], device: str = "auto", threads: int | None = None) -> Transcriber:
    """Load a model for the calling thread, which then owns it.

    path_or_name: a model file of any format that Sayso reads, or an installed model: "base", "tiny.en", "base:Q8_0".
    device: "auto", "metal", "cuda", "cpu" (native where it is built, else NumPy), "mlx-cpu" or "numpy".
    threads: for "cpu"; None takes the physical cores.
    Raises ModelNotFoundError, ModelFileError, DeviceError or OptionError, each with a sentence for the user.
    """
    from engine.devices import open_runtime
    from engine.errors import OptionError
    from engine.formats.load import load as load_checkpoint
    from engine.store import find
    from engine.transcriber import Transcriber

    if not isinstance(path_or_name, str | os.PathLike):
        raise OptionError(f"A model is named by a text or a path, not by {path_or_name!r}.")
    if not isinstance(device, str) or not isinstance(threads, int | None):
        raise OptionError("device must be a text, and threads a whole number or None.")
    checkpoint = load_checkpoint(find(os.fspath(path_or_name)))
    return Transcriber(open_runtime(checkpoint, device, threads), checkpoint)


def leave_thread() -> None:
    """Last act of a thread that ran models, after they are closed. Free where MLX was not used.

    A thread that ends with MLX streams of its own aborts the process at exit now and then (9 of 46 runs, mlx 0.32.4);
    after this call the thread can't use MLX again.
    """
    mlx = sys.modules.get("mlx.core")
    if mlx is not None:
        mlx.clear_streams()
