"""What the tests start ends with them, even when they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.e2e.processes import until

ROOT = Path(__file__).parents[2]
RUN = """
import os, pathlib, sys, time
from tests.e2e.processes import Processes
print(Processes(pathlib.Path(sys.argv[1])).start("sleep", ["sleep", "100"], dict(os.environ)).pid, flush=True)
time.sleep(100)
"""


def test_a_killed_run_leaves_nothing_behind(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE) as run:
        started = int(run.stdout.readline())
        until("the program", lambda: Path(f"/proc/{started}/comm").read_text() == "sleep\n")
        run.send_signal(signal.SIGKILL)
    until("its end", lambda: not os.path.exists(f"/proc/{started}") or is_zombie(started))


def is_zombie(pid: int) -> bool:
    """Ended, and not yet noticed by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
