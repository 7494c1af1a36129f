"""Audio on disk while it is recorded, so that nothing said is lost.

Each take is one WAV file (16 kHz, mono, 16 bit) that grows with every block: what `write` has taken survives
`kill -9`, since it lies in the system's cache. A file that is being written is locked by its process, so another
Sayso's start does not offer it. It goes away when its take is delivered; every other end leaves it for `sayso recover`.
"""

from __future__ import annotations

import os
import re
import struct
import sys
import time
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from dictation import paths
from dictation.errors import SpoolError
from dictation.events import Recording
from dictation.frames import SAMPLE_RATE_HZ

F32 = NDArray[np.float32]
_HEADER_BYTES = 44
_NAME = re.compile(r"take-(?P<ms>\d{13})-(?P<pid>\d+)-(?P<take>\d+)(?:-(?P<reason>[a-z]+))?\.wav")


class SpoolFile:
    """One take's audio on its way to the disk. Only the session loop writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.samples = 0
        self._on_disk = 0  # of them, when the disk is full; the others are in the overflow
        self._overflow: list[F32] = []
        self._file: BinaryIO = open(path, "xb", buffering=0)  # noqa: SIM115 - open for as long as the take
        if os.name == "posix":
            os.fchmod(self._file.fileno(), 0o600)
        _lock(self._file)
        self._file.write(_wav_header(0))

    @property
    def name(self) -> str:
        return self.path.name

    def write(self, samples: F32) -> None:
        """Append frames. Raises SpoolError once, when the disk takes no more; what follows is held in memory."""
        first = self.samples
        self.samples += len(samples)
        if self._overflow:
            self._overflow.append(samples)
            return
        pcm = (np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
        try:
            written, why = self._file.write(pcm) or 0, "the disk is full"
        except OSError as error:
            written, why = 0, error.strerror or str(error)
        if written != len(pcm):
            self._on_disk = first + written // 2
            self._overflow.append(samples[written // 2 :])
            raise SpoolError(f"The recording can't be kept on disk ({why}); it goes on in memory.")

    def read(self, start: int = 0, stop: int | None = None) -> F32:
        """Frames taken so far, from one sample to another."""
        if not self._overflow:
            return read(self.path, start, stop)
        return np.concatenate([read(self.path, 0, self._on_disk), *self._overflow])[start:stop]

    def keep(self, reason: str) -> Path:
        """Close the file and leave it for later under a name that says why."""
        self._close()
        kept = self.path.with_name(f"{self.path.stem}-{reason}.wav")
        os.replace(self.path, kept)
        self.path = kept
        return kept

    def move_to(self, path: Path) -> None:
        """Close the file and make it part of the history."""
        self._close()
        paths.private_dir(path.parent)
        os.replace(self.path, path)

    def remove(self) -> None:
        self._close()
        self.path.unlink(missing_ok=True)

    def _close(self) -> None:
        if self._file.closed:
            return
        try:
            self._file.seek(0)
            self._file.write(_wav_header(self.samples))
        except OSError:
            pass  # readers go by the file's length
        self._file.close()


class MemoryFile:
    """A take's audio where no file can be written: as SpoolFile, but it ends with the program."""

    name = ""

    def __init__(self) -> None:
        self._parts: list[F32] = []
        self.samples = 0

    def write(self, samples: F32) -> None:
        self._parts.append(samples)
        self.samples += len(samples)

    def read(self, start: int = 0, stop: int | None = None) -> F32:
        return np.concatenate([np.zeros(0, np.float32), *self._parts])[start:stop]

    def keep(self, reason: str) -> None:
        return None

    def move_to(self, path: Path) -> None:
        return None

    def remove(self) -> None:
        self._parts.clear()


class Spool:
    """The folder of recordings that are not delivered yet."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or paths.spool_dir()

    def begin(self, take: int) -> SpoolFile:
        """Start a take's file. Raises SpoolError when the folder can't be written."""
        name = f"take-{int(time.time() * 1000):013d}-{os.getpid()}-{take}.wav"
        try:
            paths.private_dir(self.folder)
            return SpoolFile(self.folder / name)
        except OSError as error:
            raise SpoolError(
                f"Recordings can't be kept in {self.folder} ({error.strerror}); this one is in memory only."
            ) from error

    def recordings(self) -> tuple[Recording, ...]:
        """What earlier takes have left, oldest first. Files of takes that go on now are not among them."""
        found = []
        for path in sorted(self.folder.glob("take-*.wav")) if self.folder.is_dir() else []:
            match = _NAME.fullmatch(path.name)
            try:
                if match is None or _in_use(path):
                    continue
                duration_s = _duration_s(path)
            except FileNotFoundError:  # delivered meanwhile
                continue
            if duration_s == 0.0:
                path.unlink(missing_ok=True)
                continue
            reason = match["reason"] or "crash"
            found.append(Recording(path.name, int(match["ms"]) / 1000, duration_s, reason))
        return tuple(found)

    def path(self, name: str) -> Path:
        """The file of a recording. Raises SpoolError when there is none of that name."""
        path = self.folder / name
        if not _NAME.fullmatch(name) or not path.is_file():
            raise SpoolError(f"There is no kept recording {name}. `sayso recover` lists them.")
        return path

    def remove(self, name: str) -> None:
        self.path(name).unlink(missing_ok=True)


def read(path: Path, start: int = 0, stop: int | None = None) -> F32:
    """Frames of a spool file, which may still be growing or have lost its end in a crash."""
    with open(path, "rb") as file:
        file.seek(_HEADER_BYTES + 2 * start)
        data = file.read() if stop is None else file.read(2 * max(0, stop - start))
    return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / 32767.0


def _duration_s(path: Path) -> float:
    return max(0, path.stat().st_size - _HEADER_BYTES) // 2 / SAMPLE_RATE_HZ


def _wav_header(samples: int) -> bytes:
    size = 2 * samples
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + size, b"WAVE", b"fmt ", 16, 1, 1, SAMPLE_RATE_HZ, 2 * SAMPLE_RATE_HZ, 2, 16, b"data", size),
    )


if sys.platform == "win32":  # pragma: no cover - not run here
    import msvcrt

    _LOCK_AT = 0x7FFFFFFE  # a byte no recording reaches, so that readers are not kept out

    def _lock(file: BinaryIO) -> None:
        place = file.tell()
        file.seek(_LOCK_AT)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        file.seek(place)

    def _in_use(path: Path) -> bool:
        with open(path, "r+b") as file:
            try:
                _lock(file)
            except OSError:
                return True
        return False
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _in_use(path: Path) -> bool:
        with open(path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False
