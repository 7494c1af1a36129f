"""Choosing a device: what is there is opened, what is not gets a sentence; nothing heavy is imported for it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from engine.checkpoint import Checkpoint
from engine.devices import open_runtime, stays_on_its_thread
from engine.errors import DeviceError


def test_numpy_is_always_there(random_checkpoint: Callable[..., Checkpoint]) -> None:
    assert open_runtime(random_checkpoint(), "numpy").device == "numpy"


def test_the_cpu_computes_natively_or_in_numpy(random_checkpoint: Callable[..., Checkpoint]) -> None:
    assert open_runtime(random_checkpoint(preset="Q8_0"), "cpu").device in ("cpu", "numpy")


@pytest.mark.skipif(sys.platform == "darwin", reason="this computer may have Metal")
def test_a_device_that_is_not_there_is_named(random_checkpoint: Callable[..., Checkpoint]) -> None:
    with pytest.raises(DeviceError, match="Metal"):
        open_runtime(random_checkpoint(), "metal")
    with pytest.raises(DeviceError, match="gpu0"):
        open_runtime(random_checkpoint(), "gpu0")


def test_only_what_mlx_computes_stays_on_the_thread_that_built_it() -> None:
    assert [device for device in ("metal", "cuda", "mlx-cpu", "cpu", "numpy") if stays_on_its_thread(device)] == [
        "metal",
        "cuda",
        "mlx-cpu",
    ]


def test_importing_the_engine_and_choosing_a_device_imports_nothing_heavy() -> None:
    code = (
        "import sys, engine, engine.devices; "
        "heavy = {'numpy', 'mlx', 'tiktoken', 'soundfile', 'gguf'} & set(sys.modules); print(sorted(heavy))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
