"""What the tray app costs, and whether it lasts. Each run has a home of its own and starts as `sayso-app` does.

    python -m tests.measure_app rest [--runs 5] [--rest-s 20]   time to a usable tray; memory and processor time at rest
    python -m tests.measure_app stalls [--takes 20]             longest time that the main thread was busy meanwhile
    python -m tests.measure_app soak [--takes 1000]             memory over many dictations, every text delivered

`rest` has no model, and no screen unless `--display` is given. `stalls` and `soak` dictate a short clip with tiny.en
into xterm on a virtual desktop, with a held key and a virtual microphone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from dictation.settings import Settings, save
from ui.welcome import STEP_KEY, STEPS

CHILD = """
import sys
from PySide6.QtCore import QTimer
from ui.main import main
def ready(front):
    QTimer.singleShot(0, lambda: print("usable", flush=True))
sys.exit(main(["sayso", *sys.argv[1:]], None, ready))
"""
SETTLE_S = 12.0  # what starts beside the tray, and the notice that there is no model
CLIP = Path(__file__).parent / "data" / "speech" / "en" / "gcp-mountain-view.flac"
SOAK_STEP = 25  # takes between two looks at the memory


# at rest


def prepare(home: Path) -> None:
    """As after the first steps, with a chosen model that is not there: nothing loads."""
    (home / "models").mkdir()
    (home / "models" / "other-Q8_0.gguf").touch()
    save(Settings({STEP_KEY: STEPS, "recognition.model": "absent"}), home / "config" / "settings.toml")


def rest_once(rest_s: float, screen: dict[str, str]) -> tuple[float, float, float]:
    """Seconds to usable, MB resident at rest, percent of one core at rest."""
    with tempfile.TemporaryDirectory() as home:
        prepare(Path(home))
        environment = os.environ | screen | {"SAYSO_HOME": home, "SAYSO_MODELS": f"{home}/models"}
        platform = [] if screen else ["-platform", "offscreen"]
        started = time.perf_counter()
        command = [sys.executable, "-c", CHILD, *platform]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as app:
            assert app.stdout is not None
            while app.stdout.readline().strip() != "usable":
                if app.poll() is not None:
                    raise SystemExit("Sayso ended at once.")
            usable_s = time.perf_counter() - started
            process = psutil.Process(app.pid)
            time.sleep(SETTLE_S)
            before = sum(process.cpu_times()[:2])
            time.sleep(rest_s)
            percent = 100 * (sum(process.cpu_times()[:2]) - before) / rest_s
            resident = process.memory_info().rss / 1e6
            app.terminate()
        return usable_s, resident, percent


def rest(asked: argparse.Namespace) -> None:
    from tests.e2e.desktop import VirtualDesktop

    if asked.display:
        with short_folder() as folder, VirtualDesktop(folder) as desktop:
            runs = [rest_once(asked.rest_s, desktop.environment) for _ in range(asked.runs)]
    else:
        runs = [rest_once(asked.rest_s, {}) for _ in range(asked.runs)]
    usable, resident, percent = (statistics.median(column) for column in zip(*runs, strict=True))
    print(f"usable after {usable:.2f} s, {resident:.0f} MB at rest, {percent:.2f} % of a core at rest")
    print(f"medians of {asked.runs} runs, {asked.rest_s:g} s at rest each; a tick of processor time is 0.01 s")


# dictating


def stalls(asked: argparse.Namespace) -> None:
    from tests.e2e.programs import Xterm

    with dictating("tests.e2e.watched_app") as (app, desktop):
        window = desktop.open(Xterm)
        for _ in range(asked.takes):
            window.clear()
            app.dictate(CLIP)
        app.end()
        told = json.loads(app.output().splitlines()[-1])
    print(f"longest waits for the main thread over {asked.takes} takes and the loading of the model before them, ms:")
    for waited_ms, worked_ms, where in told["longest"]:
        print(f"{waited_ms:8.1f}, of them {worked_ms:5.1f} its own work: {where}")
    print(f"the main thread was asked {told['asked']} times")


def soak(asked: argparse.Namespace) -> None:
    """Goes on to the end whatever happens to a single take; prints after every SOAK_STEP."""
    from tests.e2e.programs import Xterm

    memory: list[tuple[int, float]] = []
    lost = disturbed = 0
    started_s = time.monotonic()
    with dictating("ui.main") as (app, desktop):
        window = desktop.open(Xterm)
        process = psutil.Process(app.process.pid)
        for take in range(1, asked.takes + 1):
            window.clear()
            try:
                text, delivered = app.dictate(CLIP)
            except (subprocess.CalledProcessError, AssertionError):
                # this computer was stopped meanwhile (another measurement), and the stand-in for a microphone with it
                disturbed += 1
                desktop.person.let_go()
                time.sleep(10)
                continue
            if delivered["outcome"] != "delivered" or window.text(text) != text:
                lost += 1
            if take % SOAK_STEP == 0:
                memory.append((take, process.memory_info().rss / 1e6))
                minutes = (time.monotonic() - started_s) / 60
                print(
                    f"{take} takes, {minutes:.1f} min: {memory[-1][1]:.1f} MB, {process.num_threads()} threads, "
                    f"{process.num_fds()} open files, {lost} texts not delivered",
                    flush=True,
                )
        app.end()
    later = memory[len(memory) // 5 :]
    slope = np.polyfit(*zip(*later, strict=True), 1)[0]
    print(f"memory slope after the first fifth: {1000 * slope:.2f} MB per 1,000 dictations; {lost} texts lost")
    print(f"{disturbed} takes not counted: the stand-in for a microphone had stopped")


@contextmanager
def dictating(module: str) -> Iterator[tuple]:
    """A running app with a model that is ready, and the desktop that it runs on."""
    from tests.conftest import starter_bundle
    from tests.e2e.audio import VirtualMicrophone
    from tests.e2e.desktop import VirtualDesktop
    from tests.e2e.running_app import RunningApp

    starter_bundle("tiny.en", "Q8_0")
    settings = {"general.sound_ready": False, "recognition.model": "tiny.en:Q8_0"}
    with (
        short_folder() as folder,
        short_folder() as home,
        VirtualDesktop(folder) as desktop,
        VirtualMicrophone(folder) as microphone,
    ):
        app = RunningApp(desktop, microphone, home, settings, module)
        try:
            app.until("model_changed", status="ready", name="tiny.en:Q8_0")
            yield app, desktop
        finally:
            app.end()


@contextmanager
def short_folder() -> Iterator[Path]:
    """Short, because sockets lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="sayso-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(required=True)
    at_rest = what.add_parser("rest")
    at_rest.add_argument("--runs", type=int, default=5)
    at_rest.add_argument("--rest-s", type=float, default=20.0)
    at_rest.add_argument("--display", action="store_true", help="on a virtual X desktop, with hotkeys bound")
    at_rest.set_defaults(measure=rest)
    for name, measure, takes in (("stalls", stalls, 20), ("soak", soak, 1000)):
        one = what.add_parser(name)
        one.add_argument("--takes", type=int, default=takes)
        one.set_defaults(measure=measure)
    asked = parser.parse_args()
    asked.measure(asked)


if __name__ == "__main__":
    main()
