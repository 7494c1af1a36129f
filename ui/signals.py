"""Ctrl-C in the terminal and the system's request to end (SIGTERM), as a call on Qt's main thread.

Python runs its signal handlers between two of its own instructions, and inside `exec` Qt runs none; so the signal wakes
Qt through a socket.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier


class EndSignals(QObject):
    """Calls `end` when the program is asked to end, as long as this object lives."""

    def __init__(self, end: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._end = end
        self._read, self._write = socket.socketpair()
        self._read.setblocking(False)
        self._write.setblocking(False)
        signal.set_wakeup_fd(self._write.fileno())
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # what matters goes through the socket
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._woken)

    def _woken(self) -> None:
        signals = set(self._read.recv(64))
        if signals & {signal.SIGINT, signal.SIGTERM}:
            self._end()
