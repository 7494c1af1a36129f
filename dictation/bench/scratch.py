"""The window that `sayso replay --type` types into: a process of its own (`ui/scratch.py`), asked what it holds.

It is a program like any other to the typist: nothing is known of it but what the desktop tells.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from typing import Any

from dictation.bench.errors import BenchError

START_S, ANSWER_S = 30.0, 10.0
QUIET_S, MOST_S, POLL_S = 0.3, 3.0, 0.03  # a text that has not changed for a while has arrived


class ScratchWindow:
    """`measure.Window`. Raises BenchError where no window can be opened, or it does not get the keyboard."""

    def __init__(self) -> None:
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ui.scratch"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._read, name="scratch", daemon=True).start()
        self._answer(START_S)

    def clear(self) -> None:
        if not self._ask("clear")["active"]:
            raise BenchError("The scratch window does not get the keyboard. Leave the mouse and the keyboard alone.")

    def text(self, expected: str) -> str:
        deadline = time.monotonic() + MOST_S
        last, since = "", time.monotonic()
        while True:
            now = str(self._ask("text")["text"])
            if now == expected or time.monotonic() > deadline:
                return now
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > QUIET_S:
                return now
            time.sleep(POLL_S)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def _ask(self, question: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(question + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise BenchError("The scratch window was closed.") from error
        return self._answer(ANSWER_S)

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        try:
            answer = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            answer = None
        if answer is None:
            raise BenchError("The scratch window does not answer. Is there a desktop here? `sayso doctor` says.")
        return answer
