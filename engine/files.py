"""Files that are written whole or not at all, and files that one process at a time may change.

Whatever Sayso keeps, and whatever it writes for people, goes through `atomic`. Imports nothing heavy.
"""

from __future__ import annotations

import errno
import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_STALE_S = 3600.0  # a process that writes a file is never silent for so long
_LOCK_WAIT_S = 30.0
_NAME_BYTES = 200  # of a longer name no part could be called after it: file systems take 255


@contextmanager
def atomic(
    path: Path, *, fault: type[Exception] | None = None, private: bool = False, durable: bool = True
) -> Iterator[Path]:
    """A file beside `path` to write to. It becomes `path` when the block ends well, and vanishes otherwise.

    Missing folders are made. A link stays: what it points at is replaced.
    private: only the owner can read the file. durable: on the disk before it counts; False does not wait for that, and
    after a power cut the file may be empty.
    fault: what is raised, as one sentence, where the disk refuses; None: the OSError itself.
    """
    part = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.resolve() if path.is_symlink() else path
        if target.exists() and not target.is_file():  # /dev/null would be replaced, for everybody
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        drop_stale(target)
        part = _make_part(target, 0o600 if private else 0o666)
        yield part
        if durable:
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        if fault is None:
            raise
        raise fault(f"{path} can't be written: {error.strerror or error}.") from error
    finally:
        if part is not None:
            part.unlink(missing_ok=True)


def write_text(
    path: Path, text: str, *, fault: type[Exception] | None = None, private: bool = False, durable: bool = True
) -> None:
    """Write `text` as UTF-8 through `atomic`. What is no valid text (parts of a foreign file's name) is escaped."""
    with atomic(path, fault=fault, private=private, durable=durable) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")


def drop_stale(path: Path) -> None:
    """Remove what earlier, killed processes left of `path`: parts that nobody has written to for long."""
    for part in path.parent.glob(f".{glob.escape(_part_stem(path))}.*.part"):
        with suppress(OSError):  # another process may be as quick
            if time.time() - part.stat().st_mtime > _STALE_S:
                part.unlink()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes and threads from changing `path` while it is read, changed and written.

    The lock goes when its process does. Raises TimeoutError where somebody keeps it for half a minute.
    """
    import filelock

    path.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(path.with_name(f".{path.name}.lock"), timeout=_LOCK_WAIT_S):
        yield


def _make_part(target: Path, mode: int) -> Path:
    """An empty file of a name that nobody has; `mode` less the umask."""
    part = target.with_name(f".{_part_stem(target)}.{os.urandom(4).hex()}.part")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    return part


def _part_stem(path: Path) -> str:
    return path.name if len(os.fsencode(path.name)) <= _NAME_BYTES else "long"
