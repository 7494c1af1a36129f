"""Time and memory of `sayso models export` for a large model: random weights in its true shapes, as an F16 GGUF.

    python -m tests.measure_export [--size large-v3-turbo] [--formats Q8_0 Q5_K_M Q4_K_M] [--folder DIR]

Whole commands without the smoke test, one after the other. "Own" is the largest memory that a process had for itself;
"with the file" also counts the pages of the source that were mapped then, which the system takes back at will. Linux.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from engine import bench
from engine.export import export
from engine.formats.vocabulary import built_in
from engine.presets import PRESETS

EVERY_S = 0.02


def source(size: str, folder: Path) -> Path:
    path = folder / f"{size}-F16.gguf"
    if not path.exists():
        made = bench.random_checkpoint(size, "F16")
        export(replace(made, vocabulary=built_in(made.dims.n_vocab), name=size), "F16", path)
    return path


def memory(pid: int) -> dict[str, float]:
    """MB by the name of the line in /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    return {
        name: int(rest.split()[0]) / 1e3 for name, _, rest in (line.partition(":") for line in lines) if "kB" in rest
    }


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, the most memory of its own in MB, the most with mapped files."""
    began, own, all_of_it = time.perf_counter(), 0.0, 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            now = memory(process.pid)
            own, all_of_it = max(own, now.get("RssAnon", 0.0)), max(all_of_it, now.get("VmHWM", 0.0))
            time.sleep(EVERY_S)
        if process.returncode:
            sys.exit(f"{command}: {process.stderr.read()[-2000:] if process.stderr else ''}")
    return time.perf_counter() - began, own, all_of_it


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=tuple(bench.SIZES), default="large-v3-turbo")
    parser.add_argument("--formats", nargs="+", choices=tuple(PRESETS), default=["Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M"])
    parser.add_argument("--folder", type=Path, help="keep the source here (default: a temporary folder)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sayso-") as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        path = source(asked.size, folder)
        print(f"{asked.size}, {path.stat().st_size / 1e6:.0f} MB as F16, {os.cpu_count()} cores\n", flush=True)
        print("| format | MB | seconds | own memory, MB | with the file, MB |\n|---|---|---|---|---|", flush=True)
        for preset in asked.formats:
            made = folder / f"{asked.size}-{preset}.gguf"
            command = [sys.executable, "-m", "dictation.cli", "models", "export", str(path), "--format", preset]
            seconds, own, all_of_it = measured([*command, "-o", str(made), "--no-smoke"])
            size_mb = made.stat().st_size / 1e6
            made.unlink()
            print(f"| {preset} | {size_mb:.0f} | {seconds:.0f} | {own:.0f} | {all_of_it:.0f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
