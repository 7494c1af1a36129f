"""A minute of hostile model files in every run of the tests, each time others."""

import subprocess
import sys
import time

from tests.shell import ROOT

SECONDS = 60


def test_a_minute_of_hostile_files_ends_in_texts_or_sentences() -> None:
    """In a process of its own, whose memory is limited. What fails prints its seed and keeps the file."""
    command = [sys.executable, "-m", "tests.fuzz_readers", "--seconds", str(SECONDS), "--seed", str(int(time.time()))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    n_files = int(done.stdout.splitlines()[-1].split()[0])
    assert n_files > 10 * SECONDS, "too slow to find anything"
