"""The log: what happened and how long it took, never what was said.

Only names, numbers and error types belong in a log line. As a second line of defence, text fields of events are left
out of their `repr`, `_NoText` takes events out of records, and `_NoMessages` the messages out of tracebacks.
"""

from __future__ import annotations

import logging
import logging.handlers
import traceback
from pathlib import Path
from typing import Any

from dictation import paths
from dictation.events import Command, Event, kind

ROOT = "sayso"
MAX_BYTES = 1_000_000


def get(name: str) -> logging.Logger:
    """The logger of a module: `get("loop")`."""
    return logging.getLogger(f"{ROOT}.{name}")


class _NoText(logging.Filter):
    """Replaces events and commands in a record's arguments by their names."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(kind(a) if isinstance(a, (Command, Event)) else a for a in record.args)
        if isinstance(record.msg, (Command, Event)):
            record.msg = kind(record.msg)
        return True


class _NoMessages(logging.Formatter):
    """Of a fault the places and the types: its message may quote what was said."""

    def formatException(self, ei: Any) -> str:
        told, seen = [], set()
        error: BaseException | None = ei[1]
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            places = "".join(traceback.format_tb(error.__traceback__))
            told.append(f"Traceback (most recent call last):\n{places}{type(error).__qualname__}")
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\nwhich came of\n".join(told)


def start(level: str = "INFO", file: Path | None = None) -> str:
    """Write Sayso's log to a file of its own (rotated, owner only). Safe to call again with another level.

    Returns "", or a sentence where no file can be written: Sayso works without.
    """
    root = logging.getLogger(ROOT)
    root.setLevel(level.upper())
    root.propagate = False
    for old in list(root.handlers):
        root.removeHandler(old)
        old.close()
    file = file or paths.log_file()
    try:
        paths.private_dir(file.parent)
        handler = logging.handlers.RotatingFileHandler(file, maxBytes=MAX_BYTES, backupCount=2, encoding="utf-8")
        file.chmod(0o600)
    except OSError as error:
        root.addHandler(logging.NullHandler())
        return f"The log can't be written to {file} ({error.strerror})."
    handler.setFormatter(_NoMessages("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.addFilter(_NoText())
    root.addHandler(handler)
    return ""
