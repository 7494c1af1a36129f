"""The native library compiled for 64-bit ARM and run under an emulator, against NumPy.

Needs Debian's g++-aarch64-linux-gnu and qemu-user; ARM machines test the same code in test_native.py directly.
"""

from __future__ import annotations

import platform
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.checkpoint import Checkpoint
from engine.cpu import native
from engine.cpu.native import NativeRuntime
from engine.cpu.reference import NumpyRuntime

SOURCES = Path(native.__file__).parent / "native"
COMPILER, EMULATOR = "aarch64-linux-gnu-g++", "qemu-aarch64"
PROMPT = [50258, 50259, 50359, 50363]
END = 70

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not (shutil.which(COMPILER) and shutil.which(EMULATOR)),
    reason="apt-get install g++-aarch64-linux-gnu qemu-user",
)


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arm")
    objects = []
    jobs = []
    for source in [*SOURCES.glob("*.cpp"), Path(__file__).with_name("foreign_driver.cpp")]:
        target = folder / f"{source.stem}.o"
        flags = ["-march=armv8.2-a+dotprod+fp16"] if source.stem == "isa_neon" else []
        command = [
            COMPILER,
            "-std=c++17",
            "-O2",
            "-Wno-psabi",
            *flags,
            f"-I{SOURCES}",
            "-c",
            str(source),
            "-o",
            str(target),
        ]
        jobs.append(subprocess.Popen(command))
        objects.append(str(target))
    assert [job.wait() for job in jobs] == [0] * len(jobs)
    program = folder / "driver"
    subprocess.run([COMPILER, "-static", *objects, "-lpthread", "-o", str(program)], check=True)
    return program


def recorded(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The tensors as NativeRuntime hands them to the library."""
    calls: list[bytes] = []

    class Recorder:
        def __getattr__(self, name: str) -> Any:
            return getattr(library, name)

        def sayso_model_vector(self, model: int, name: bytes, pointer: int, n: int) -> int:
            calls.append(entry(name, -1, 0, 0, 0, 0, pointer, 4 * n))
            return 0

        def sayso_model_matrix(
            self, model: int, name: bytes, kind: int, pointer: int, rows: int, cols: int, first: int, total: int
        ) -> int:
            row_bytes = {0: cols // 32 * 34, 1: cols // 32 * 18, 2: 4 * cols}[kind]
            calls.append(entry(name, kind, rows, cols, first, total, pointer, rows * row_bytes))
            return 0

        def sayso_model_missing(self, model: int, name: Any, size: int) -> None:
            name.value = b""

    def entry(name: bytes, *numbers: int) -> bytes:
        *header, pointer, size = numbers
        import ctypes

        data = ctypes.string_at(pointer, size)
        return struct.pack("<i", len(name)) + name + struct.pack("<6i", *header, size) + data

    library = native._lib
    monkeypatch.setattr(native, "_lib", Recorder())
    NativeRuntime(checkpoint)
    monkeypatch.undo()
    return struct.pack("<i", len(calls)) + b"".join(calls)


@pytest.mark.parametrize("instruction_set", ["neon", "portable"])
@pytest.mark.parametrize("preset", ["Q8_0", "Q4_0"])
def test_arm_computes_what_numpy_does(
    driver: Path,
    random_checkpoint: Callable[..., Checkpoint],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    preset: str,
    instruction_set: str,
) -> None:
    checkpoint = random_checkpoint(preset=preset, n_audio_layer=1, n_text_layer=1)
    mel = np.full((3000, 80), -0.5, np.float32)
    mel[: 2 * END - 40] = np.random.default_rng(0).normal(0, 0.4, (2 * END - 40, 80))
    tensors = recorded(checkpoint, monkeypatch)
    dims = struct.pack("<9i", *(getattr(checkpoint.dims, field[0]) for field in native._Dims._fields_))
    prompt = np.array(PROMPT, np.int32).tobytes()
    (tmp_path / "in").write_bytes(
        dims + tensors + struct.pack("<2i", END, mel.nbytes) + mel.tobytes() + struct.pack("<i", len(prompt)) + prompt
    )
    command = [EMULATOR, "-cpu", "max", str(driver), str(tmp_path / "in"), str(tmp_path / "out"), instruction_set]
    sets = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert sets == ["neon", "portable"]
    out = np.fromfile(tmp_path / "out", np.float32)
    n_states = 1500 * checkpoint.dims.n_audio_state
    oracle = NumpyRuntime(checkpoint)
    audio = oracle.encode(mel, END)
    decoder = oracle.decoder(audio)
    decoder.prefill(PROMPT)
    for mine, theirs in ((out[:n_states], audio.states().ravel()), (out[n_states:], decoder.logits())):
        assert np.abs(mine - theirs).mean() / np.abs(theirs).mean() < 0.03


def test_an_old_arm_processor_gets_the_portable_code(driver: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    command = [EMULATOR, "-cpu", "cortex-a53", str(driver), str(tmp_path / "in"), str(tmp_path / "out"), "neon"]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 2  # the empty file, not an illegal instruction
