"""Programs that a test starts: logged to a file, ended by their own handle, never by name."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")
# the kernel ends them when the tests are killed, by a timeout for example; forgotten when the user id changes
DIES_WITH_US = ("setpriv", "--pdeathsig", "TERM")


def until(what: str, ask: Callable[[], Value], timeout_s: float = 60.0, every_s: float = 0.03) -> Value:
    """Ask until the answer is true; for outside programs that offer nothing to wait on."""
    deadline = time.monotonic() + timeout_s
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {timeout_s} s")
        time.sleep(every_s)


def listens(socket_file: Path) -> bool:
    """Whether somebody takes connections there: a server's file appears before that."""
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(str(socket_file)) == 0


class Processes:
    """What one desktop has started. The last started is ended first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self,
        name: str,
        command: list[str],
        environment: dict[str, str],
        account: tuple[str, ...] = (),
        **options: object,
    ) -> subprocess.Popen:
        """account: a command before the command that makes it another user's."""
        log = (self.folder / f"{name}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [*account, *DIES_WITH_US, *command],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **options,
            )
        self._running[name] = process
        return process

    def __contains__(self, name: str) -> bool:
        return name in self._running

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text("utf-8", "replace")

    def signal(self, name: str, number: int) -> None:
        self._running[name].send_signal(number)

    def end(self, name: str) -> None:
        process = self._running.pop(name, None)
        if process is None or process.poll() is not None:
            return
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sign)
            except ProcessLookupError:
                break
            try:
                process.wait(4)
                break
            except subprocess.TimeoutExpired:
                continue

    def end_all(self) -> None:
        for name in reversed(list(self._running)):
            self.end(name)
