"""The command `sayso` in a process of its own, as a shell user or a script meets it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SPEECH = ROOT / "tests/data/speech"
JFK = SPEECH / "en/jfk.flac"
SAYSO = (sys.executable, "-m", "dictation.cli")


def sayso(*arguments: object, before: tuple[str, ...] = (), **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `sayso` to its end. before: a command that runs it; options: of subprocess.run."""
    defaults = {"capture_output": True, "text": True, "cwd": ROOT, "stdin": subprocess.DEVNULL, "timeout": 120}
    if "input" in options:
        del defaults["stdin"]
    return subprocess.run([*before, *SAYSO, *map(str, arguments)], check=False, **(defaults | options))


def complaints(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The sentences on stderr, each proved to be one of ours and no traceback."""
    lines = done.stderr.splitlines()
    assert all(line.startswith("sayso: ") for line in lines), done.stderr
    return [line.removeprefix("sayso: ") for line in lines]


def environment(**changes: str) -> dict[str, str]:
    """The tests' own environment with changes."""
    return os.environ | changes


def free_port() -> int:
    """A port that nobody listened at a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
