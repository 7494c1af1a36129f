"""Waits until something appears in a folder, by Linux's inotify: nothing runs until then."""

from __future__ import annotations

import ctypes
import os
import select
from collections.abc import Iterable
from pathlib import Path

_IN_CREATE, _IN_MOVED_TO = 0x100, 0x80
_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC if os.name == "posix" else 0


class FolderWatch:
    """Watches the folders among `folders` that exist; those that can't be watched are left out."""

    def __init__(self, folders: Iterable[Path]) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._events: int = libc.inotify_init1(_FLAGS)
        self._wake_read, self._wake_write = os.pipe()
        for folder in folders:
            if self._events >= 0 and folder.is_dir():
                libc.inotify_add_watch(self._events, os.fsencode(folder), _IN_CREATE | _IN_MOVED_TO)

    def wait(self, timeout_s: float) -> bool:
        """Whether something appeared within the time. `wake` ends it early."""
        sources = [self._wake_read] + ([self._events] if self._events >= 0 else [])
        readable, _, _ = select.select(sources, [], [], timeout_s)
        if self._events in readable:
            os.read(self._events, 65536)
            return True
        return False

    def wake(self) -> None:
        """From any thread: end every wait, now and later."""
        os.write(self._wake_write, b"x")

    def close(self) -> None:
        for handle in (self._events, self._wake_read, self._wake_write):
            if handle >= 0:
                os.close(handle)
