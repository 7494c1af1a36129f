"""Waiting for something to appear in a folder."""

import threading
import time
from pathlib import Path

from dictation.folder_watch import FolderWatch


def test_what_appears_ends_the_wait_and_a_missing_folder_does_no_harm(tmp_path: Path) -> None:
    watch = FolderWatch([tmp_path / "absent", tmp_path])
    assert not watch.wait(0.05)
    threading.Timer(0.1, (tmp_path / "native").touch).start()
    assert watch.wait(10)
    watch.close()


def test_waking_ends_the_wait_without_news(tmp_path: Path) -> None:
    watch = FolderWatch([tmp_path])
    threading.Timer(0.1, watch.wake).start()
    started_s = time.monotonic()
    assert not watch.wait(10) and time.monotonic() - started_s < 5
    watch.close()
