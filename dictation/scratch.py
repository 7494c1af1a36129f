"""Temporary folders that go in every case: when the work ends, and, of a process that was killed, at the next work.

A folder is locked by its process for as long as it is used, so the sweep takes nobody's away. (Windows has no such
lock; there a killed process's folder is left to the system.)
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "sayso-work-"
YOUNG_S = 60.0  # one that was made just now may not be locked yet


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for the length of a `with` block. Raises OSError where none can be made."""
    sweep()
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        lock = _lock(Path(name))
        try:
            yield Path(name)
        finally:
            if lock is not None:
                os.close(lock)


def sweep() -> None:
    """Remove the folders that processes of ours left behind when they were killed."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            found = folder.lstat()
        except OSError:
            continue
        is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not is_ours or time.time() - found.st_mtime < YOUNG_S:
            continue
        lock = _lock(folder)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


if sys.platform == "win32":  # pragma: no cover - not run here

    def _lock(folder: Path) -> int | None:
        return None
else:
    import fcntl

    def _lock(folder: Path) -> int | None:
        """A descriptor that holds the folder's lock; None when somebody else does."""
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
        return handle
