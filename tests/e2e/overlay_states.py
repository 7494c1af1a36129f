"""Shows the overlay in one state after the other, each until a line comes in; started by test_overlay_x11."""

from __future__ import annotations

import sys
import time

from PySide6.QtCore import QSocketNotifier
from PySide6.QtWidgets import QApplication

from dictation.glance import Face, Glance, Phrase
from ui.overlay import Overlay

STATES = (
    Glance(face=Face.OPENING, words=Phrase("Getting the microphone ready"), overlay=True),
    Glance(face=Face.LISTENING, firm="Some words", tentative="and more", overlay=True, started_s=time.monotonic()),
    Glance(face=Face.HELD, words=Phrase("Not typed"), firm="word " * 60, overlay=True, actions=("copy",)),
    Glance(overlay=False),
)


def main() -> None:
    qt = QApplication(sys.argv)
    overlay = Overlay(lambda action: None, lambda: None)
    states = iter(STATES)

    def step() -> None:
        sys.stdin.readline()
        state = next(states, None)
        if state is None:
            qt.quit()
            return
        overlay.see(state)
        qt.processEvents()
        print(int(overlay.winId()) if overlay.isVisible() else 0, flush=True)

    lines = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
    lines.activated.connect(step)
    qt.exec()


if __name__ == "__main__":
    main()
