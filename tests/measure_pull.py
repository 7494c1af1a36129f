"""How fast models are pulled: `sayso models pull` beside `hf download`, from a Hub on this computer, in turn.

    python -m tests.measure_pull [--model base] [--format F32] [--rounds 5]
    python -m tests.measure_pull --large --rounds 5      # 1.6 GB of random weights, where starting hardly counts

Whole commands, from the shell and back to it, each into an empty cache. Sayso's also hashes the bytes as they come,
checks the header, loads the model once and makes it known; `hf` does none of that. Prints seconds, MB/s and the ratio
per pair; exit code 1 where the median ratio is below 0.8.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.presets import PRESETS
from tests.conftest import starter_bundle
from tests.fakes.hub_server import serve
from tests.measure_export import source

GOAL = 0.8
REPO = "some/whisper-gguf"


def server(model: Path) -> None:
    """The other end, in a process of its own: prints its address, ends with its input."""
    with serve() as hub:
        hub.add(REPO, model.name, model.read_bytes())
        print(hub.url, flush=True)
        sys.stdin.read()


def seconds(command: list[str], url: str) -> float:
    with tempfile.TemporaryDirectory(prefix="sayso-") as home:
        places = {"HF_HOME": f"{home}/hf", "SAYSO_HOME": home, "SAYSO_MODELS": f"{home}/models", "HF_ENDPOINT": url}
        quiet = {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
        began = time.perf_counter()
        done = subprocess.run(command, env=os.environ | places | quiet, capture_output=True, text=True, check=False)
        took_s = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{command}: {done.stderr[-2000:]}")
    return took_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=("base", "tiny.en"), default="base")
    parser.add_argument("--format", choices=tuple(PRESETS), default="F32")
    parser.add_argument("--large", action="store_true", help="large-v3-turbo's shapes at F16, random weights")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        server(asked.serve)
        return 0
    if not asked.large:
        return compare(starter_bundle(asked.model, asked.format), asked.format, asked.rounds)
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        return compare(source("large-v3-turbo", Path(folder)), "F16", asked.rounds)


def compare(model: Path, quant: str, rounds: int) -> int:
    """0 where Sayso is fast enough."""
    size_mb = model.stat().st_size / 1e6
    ours = [sys.executable, "-m", "dictation.cli", "models", "pull", f"{REPO}:{quant}"]
    theirs = [str(Path(sys.executable).with_name("hf")), "download", REPO, model.name]
    command = [sys.executable, "-m", "tests.measure_pull", "--serve", str(model)]
    pairs = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other_end:
        assert other_end.stdin is not None and other_end.stdout is not None
        url = other_end.stdout.readline().strip()
        for number in range(rounds + 1):  # the first pair fills the page cache
            first, second = (ours, theirs) if number % 2 else (theirs, ours)
            times = {id(which): seconds(which, url) for which in (first, second)}
            if number:
                pairs.append((times[id(ours)], times[id(theirs)]))
                print(f"sayso {pairs[-1][0]:.2f} s, hf {pairs[-1][1]:.2f} s", flush=True)
        other_end.stdin.close()
    ratio = statistics.median(theirs_s / ours_s for ours_s, theirs_s in pairs)
    ours_s, theirs_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{model.name}, {size_mb:.0f} MB, medians of {rounds} pairs:")
    for name, took_s in (("sayso models pull", ours_s), ("hf download", theirs_s)):
        print(f"{name:18} {took_s:6.2f} s  {size_mb / took_s:5.0f} MB/s")
    print(f"sayso is {ratio:.2f} times as fast")
    return 0 if ratio >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
