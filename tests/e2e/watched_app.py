"""Sayso as it is, with a watch on its main thread; at its end prints the longest waits as JSON, in milliseconds, and
where the main thread was then."""

from __future__ import annotations

import json
import sys
import threading
import time
import traceback
from pathlib import Path

from ui.main import Front, main

EVERY_S = 0.005
WORTH_NOTING_S = 0.02


class Watch(threading.Thread):
    """Asks the main thread for an answer again and again: for as long as it keeps us waiting it did something else."""

    def __init__(self, front: Front) -> None:
        super().__init__(name="watch", daemon=True)
        self._bridge = front.bridge
        self.over = threading.Event()
        self.asked = 0
        self._clock = time.pthread_getcpuclockid(threading.main_thread().ident or 0)
        self.waits: list[tuple[float, float, str]] = []  # ms waited, of them ms of the main thread's own work, where

    def run(self) -> None:
        while not self.over.wait(EVERY_S):
            answered = threading.Event()
            asked_s, worked_s = time.monotonic(), time.clock_gettime(self._clock)
            self._bridge.run_on_main(answered.set)
            where = ""
            while not answered.wait(WORTH_NOTING_S) and not self.over.is_set():
                where = where or _main_thread()
            self.asked += 1
            if where:
                worked_ms = 1000 * (time.clock_gettime(self._clock) - worked_s)
                self.waits.append((round(1000 * (time.monotonic() - asked_s), 1), round(worked_ms, 1), where))


def _main_thread() -> str:
    """What the main thread does now: innermost call first."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    calls = [f"{Path(f.f_code.co_filename).name}:{f.f_code.co_name}" for f, _ in traceback.walk_stack(frame)]
    return " < ".join(calls[:5])


def run() -> int:
    watches: list[Watch] = []

    def ready(front: Front) -> None:
        watches.append(Watch(front))
        watches[0].start()

    code = main(sys.argv, None, ready)
    watches[0].over.set()
    print(json.dumps({"asked": watches[0].asked, "longest": sorted(watches[0].waits, reverse=True)[:12]}), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(run())
