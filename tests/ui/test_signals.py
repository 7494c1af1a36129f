"""Ctrl-C and SIGTERM end a program that sits in Qt's event loop, through its own way out."""

import signal
import subprocess
import sys

import pytest

from tests.shell import ROOT

PROGRAM = """
from PySide6.QtCore import QCoreApplication, QTimer
from ui.signals import EndSignals
app = QCoreApplication([])
signals = EndSignals(lambda: app.exit(7))
QTimer.singleShot(0, lambda: print("running", flush=True))
raise SystemExit(app.exec())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_end_takes_the_programs_own_way_out(number):
    running = subprocess.Popen([sys.executable, "-c", PROGRAM], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout.readline() == "running\n"
        running.send_signal(number)
        assert running.wait(20) == 7
    finally:
        running.kill()
        running.communicate()
