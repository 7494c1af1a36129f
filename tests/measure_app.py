"""What the tray app costs: time to a usable tray, memory and processor time at rest, without a model.

    python -m tests.measure_app [--runs 5] [--rest-s 20]

Every run is a process of its own with a home of its own, started as `sayso-app` starts; prints medians.
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

import psutil

from dictation.settings import Settings, save
from ui.welcome import STEP_KEY, STEPS

CHILD = """
import sys
from PySide6.QtCore import QTimer
from ui.main import main
def ready(front):
    QTimer.singleShot(0, lambda: print("usable", flush=True))
sys.exit(main(["sayso", "-platform", "offscreen"], None, ready))
"""


def prepare(home: Path) -> None:
    """As after the first steps, with a chosen model that is not there: nothing loads."""
    (home / "models").mkdir()
    (home / "models" / "other-Q8_0.gguf").touch()
    save(Settings({STEP_KEY: STEPS, "recognition.model": "absent"}), home / "config" / "settings.toml")


def run(rest_s: float) -> tuple[float, float, float]:
    """Seconds to usable, MB resident at rest, percent of one core at rest."""
    with tempfile.TemporaryDirectory() as home:
        prepare(Path(home))
        environment = os.environ | {"SAYSO_HOME": home, "SAYSO_MODELS": f"{home}/models"}
        started = time.perf_counter()
        with subprocess.Popen([sys.executable, "-c", CHILD], env=environment, stdout=subprocess.PIPE, text=True) as app:
            assert app.stdout is not None
            while app.stdout.readline().strip() != "usable":
                if app.poll() is not None:
                    raise SystemExit("Sayso ended at once.")
            usable_s = time.perf_counter() - started
            process = psutil.Process(app.pid)
            time.sleep(2)  # what starts beside the tray
            before = sum(process.cpu_times()[:2])
            time.sleep(rest_s)
            percent = 100 * (sum(process.cpu_times()[:2]) - before) / rest_s
            resident = process.memory_info().rss / 1e6
            app.terminate()
        return usable_s, resident, percent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rest-s", type=float, default=20.0)
    asked = parser.parse_args()
    runs = [run(asked.rest_s) for _ in range(asked.runs)]
    usable, resident, percent = (statistics.median(column) for column in zip(*runs, strict=True))
    print(f"usable after {usable:.2f} s, {resident:.0f} MB at rest, {percent:.2f} % of a core at rest")
    print(f"medians of {asked.runs} runs, {asked.rest_s:g} s at rest each; a tick of processor time is 0.01 s")


if __name__ == "__main__":
    main()
