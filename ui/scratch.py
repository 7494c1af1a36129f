"""A window with nothing but a text field: `sayso replay --type` types into it, and it tells what it holds.

Asked through stdin, a word per line, answered through stdout in JSON: `clear` empties it and takes the keyboard, `text`
tells what is in it. It ends with stdin.
"""

from __future__ import annotations

import json
import sys
import threading
import time

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QPlainTextEdit

ACTIVE_S, POLL_MS = 5.0, 20


class _Questions(QObject):
    """Lines of stdin, on the main thread."""

    asked = Signal(str)
    ended = Signal()

    def read(self) -> None:
        for line in sys.stdin:
            self.asked.emit(line.strip())
        self.ended.emit()


class Scratch(QPlainTextEdit):
    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Sayso replay: texts are typed here")
        self.resize(640, 240)

    def answer(self, question: str) -> None:
        if question == "text":
            _say(text=self.toPlainText())
        elif question == "clear":
            self.clear()
            self.raise_()
            self.activateWindow()
            self.setFocus()
            self._wait_active(time.monotonic() + ACTIVE_S)

    def _wait_active(self, deadline_s: float) -> None:
        if self.isActiveWindow() and self.hasFocus():
            _say(active=True)
        elif time.monotonic() > deadline_s:
            _say(active=False)
        else:
            QTimer.singleShot(POLL_MS, lambda: self._wait_active(deadline_s))


def _say(**answer: object) -> None:
    print(json.dumps(answer), flush=True)


def main() -> int:
    app = QApplication(sys.argv)
    window = Scratch()
    window.show()
    questions = _Questions()
    questions.asked.connect(window.answer)
    questions.ended.connect(app.quit)
    threading.Thread(target=questions.read, name="questions", daemon=True).start()
    _say(ready=True)
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())
