"""A program of its own that owns the clipboard (text, HTML, PNG) and the primary selection, as an editor would.

Run as a script: prints "ready" once both are set and goes on until it is ended.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until

TEXT = "what the user had copied – ü"
HTML = "<p>what the <b>user</b> had copied – ü</p>"
PRIMARY = "what the user had selected"


def png(side: int = 320) -> bytes:
    """A picture whose noise doesn't compress, 300 KB: it takes several pieces to hand over."""
    rows = b"".join(b"\0" + os.urandom(side * 3) for _ in range(side))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")


class ClipboardOwner:
    """The contents as other programs see them, by xclip."""

    def __init__(self, desktop: VirtualDesktop) -> None:
        self._desktop = desktop

    def contents(self) -> tuple[bytes, bytes, bytes, bytes]:
        """Text, HTML, picture, primary selection."""
        html = self.read("clipboard", "text/html")
        return self.read("clipboard", "UTF8_STRING"), html, self.read("clipboard", "image/png"), self.read("primary")

    def read(self, selection: str, target: str = "UTF8_STRING") -> bytes:
        command = ["xclip", "-selection", selection, "-o", "-t", target]
        done = subprocess.run(command, env=self._desktop.environment, capture_output=True, timeout=20, check=False)
        return done.stdout


@contextmanager
def clipboard_owner(desktop: VirtualDesktop) -> Iterator[ClipboardOwner]:
    command = [sys.executable, "-m", "tests.e2e.clipboard_owner"]
    desktop.processes.start("clipboard-owner", command, desktop.environment)
    until("clipboard owner", lambda: "ready" in desktop.processes.log("clipboard-owner"))
    yield ClipboardOwner(desktop)
    desktop.processes.end("clipboard-owner")


def _own() -> None:
    from PySide6.QtCore import QMimeData, QTimer
    from PySide6.QtGui import QClipboard, QGuiApplication

    app = QGuiApplication([])
    data = QMimeData()
    data.setText(TEXT)
    data.setHtml(HTML)
    data.setData("image/png", png())
    primary = QMimeData()
    primary.setText(PRIMARY)
    app.clipboard().setMimeData(data)
    app.clipboard().setMimeData(primary, QClipboard.Mode.Selection)
    QTimer.singleShot(0, lambda: print("ready", flush=True))
    app.exec()


if __name__ == "__main__":
    _own()
