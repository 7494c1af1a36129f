"""What ways to pack Sayso cost at the start: programs in turn, medians over the rounds.

    python -m tests.measure_build --model MODEL.gguf FOLDER...

Each FOLDER holds `sayso` and `sayso-app`: build/package/stage/usr/lib/sayso is the self-contained build, and
build/package/env/bin the same packages on a plain Python. Timed, each in a process of its own: `sayso --version`;
transcribing the sample clip (11 s); the tray program until its control socket answers, without a screen or a model.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Client
from pathlib import Path

from tests.measure_app import prepare

ROOT = Path(__file__).parents[1]


def timed(*command: object) -> float:
    """Seconds that a command takes."""
    started = time.perf_counter()
    subprocess.run(list(map(str, command)), check=True, capture_output=True, cwd="/")
    return time.perf_counter() - started


def tray(folder: Path) -> float:
    """Seconds until the tray program can be told what to do."""
    with tempfile.TemporaryDirectory() as home:
        prepare(Path(home))
        environment = os.environ | {
            "SAYSO_HOME": home,
            "SAYSO_MODELS": f"{home}/models",
            "QT_QPA_PLATFORM": "offscreen",
        }
        started = time.perf_counter()
        with subprocess.Popen([folder / "sayso-app"], env=environment, cwd="/", stderr=subprocess.DEVNULL) as app:
            while not _answers(Path(home)):
                if app.poll() is not None or time.perf_counter() - started > 60:
                    app.kill()
                    raise SystemExit(f"{folder}: the tray program does not answer.")
                time.sleep(0.005)
            usable_s = time.perf_counter() - started
            app.terminate()
        return usable_s


def _answers(home: Path) -> bool:
    for socket in home.glob("**/run/control"):
        try:
            Client(str(socket), "AF_UNIX").close()
        except OSError:
            return False
        return True
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    model, clip = asked.model.resolve(), ROOT / "resources/sample.wav"
    ways: dict[str, Callable[[Path], float]] = {
        "--version": lambda folder: timed(folder / "sayso", "--version"),
        "transcribe": lambda folder: timed(folder / "sayso", "transcribe", clip, "--model", model),
        "tray": tray,
    }
    folders = [folder.resolve() for folder in asked.folders]
    times: dict[tuple[str, Path], list[float]] = {(way, folder): [] for way in ways for folder in folders}
    for _ in range(asked.rounds + 1):
        for (way, folder), seen in times.items():
            seen.append(ways[way](folder))
    for folder in folders:
        told = ", ".join(f"{way} {statistics.median(times[way, folder][1:]):.2f} s" for way in ways)
        print(f"{folder}: {told}")
    print(f"medians of {asked.rounds} rounds after one that only fills the caches")


if __name__ == "__main__":
    main()
