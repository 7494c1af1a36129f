"""Audio on disk: what was written survives kill -9, and is offered until it is delivered."""

import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest
import soundfile

from dictation.errors import SpoolError
from dictation.spool import Spool, read

RATE = 16_000
WRITER = """
import sys, time
import numpy as np
from pathlib import Path
from dictation.spool import Spool
file = Spool(Path(sys.argv[1])).begin(1)
block = 0
while True:  # in real time, 32 ms blocks whose samples tell their number
    file.write(np.full(512, (block % 100) / 200, np.float32))
    block += 1
    print(block, flush=True)
    time.sleep(0.032)
"""


def test_kill_9_loses_at_most_200_ms(tmp_path):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    for line in writer.stdout:
        if int(line) == 40:
            break
    assert Spool(tmp_path).recordings() == (), "not offered while it is being written"
    os.kill(writer.pid, signal.SIGKILL)
    last = [40, *map(int, writer.stdout.read().split())][-1]
    writer.wait()
    (left,) = Spool(tmp_path).recordings()
    assert left.reason == "crash"
    assert abs(left.started_unix_s - time.time()) < 60
    samples = read(Spool(tmp_path).path(left.name))
    assert len(samples) >= last * 512 - 0.2 * RATE
    assert np.allclose(samples[::512], (np.arange(len(samples) // 512) % 100) / 200, atol=1e-4)


def test_a_delivered_take_leaves_nothing_and_a_failed_one_its_audio(tmp_path):
    spool = Spool(tmp_path)
    tone = np.sin(np.arange(RATE) * 0.1).astype(np.float32)
    delivered, failed = spool.begin(1), spool.begin(2)
    delivered.write(tone)
    failed.write(tone)
    delivered.remove()
    kept = failed.keep("failed")
    (left,) = spool.recordings()
    assert (left.name, left.reason, left.duration_s) == (kept.name, "failed", 1.0)
    heard, rate = soundfile.read(kept, dtype="float32")  # a plain WAV file for any program
    assert rate == RATE and np.allclose(heard, tone, atol=1e-3)
    spool.remove(left.name)
    assert spool.recordings() == ()


def test_only_the_owner_can_read_recordings(tmp_path):
    file = Spool(tmp_path / "spool").begin(1)
    file.write(np.zeros(100, np.float32))
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "spool").stat().st_mode) == 0o700
        assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_parts_are_read_back_while_the_take_goes_on(tmp_path):
    file = Spool(tmp_path).begin(1)
    ramp = np.linspace(-1, 1, RATE, dtype=np.float32)
    file.write(ramp)
    assert np.allclose(file.read(100, 200), ramp[100:200], atol=1e-4)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_costs_no_sample(tmp_path):
    file = Spool(tmp_path).begin(1)
    first, second, third = (np.full(300, v, np.float32) for v in (0.1, 0.2, 0.3))
    file.write(first)
    file._file.flush()
    os.dup2(os.open("/dev/full", os.O_WRONLY), file._file.fileno())
    with pytest.raises(SpoolError, match="in memory"):
        file.write(second)
    file.write(third)  # says it once only
    assert np.allclose(file.read(), np.concatenate([first, second, third]), atol=1e-4)


def test_a_folder_that_can_not_be_written_is_one_sentence(tmp_path):
    (tmp_path / "spool").write_text("a file in the way")
    with pytest.raises(SpoolError, match="in memory only"):
        Spool(tmp_path / "spool").begin(1)


@pytest.mark.parametrize("name", ["../../etc/passwd", "take-x.wav", "", "take-1234567890123-1-1.wav"])
def test_only_recordings_of_the_spool_can_be_named(tmp_path, name):
    with pytest.raises(SpoolError, match="no kept recording"):
        Spool(tmp_path).path(name)
