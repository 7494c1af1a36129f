"""`.sayso-clip`: clips in one file that can be handed to someone else. A zip of a `manifest.jsonl` and its audio.

One that comes from elsewhere is untrusted: names that lead out of it, and sizes beyond all clips, are refused before
anything is written.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from dictation.bench.errors import ClipError
from engine.files import atomic

SUFFIX = ".sayso-clip"
MANIFEST = "manifest.jsonl"
MOST_FILES, MOST_BYTES = 10_000, 4 << 30
_BLOCK_BYTES = 1 << 20


def unpack(file: Path, into: Path) -> Path:
    """Unpack an archive into a new folder in `into`, and return that. Raises ClipError."""
    folder = Path(tempfile.mkdtemp(dir=into))
    try:
        with zipfile.ZipFile(file) as zipped:
            members = [member for member in zipped.infolist() if not member.is_dir()]
            _check(file, members)
            for member in members:
                path = folder / member.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                _copy(file, zipped, member, path)
    except FileNotFoundError as error:
        raise ClipError(f"{file} is not there.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ClipError(f"{file} is damaged, or no {SUFFIX}: ask for it again.") from error
    except OSError as error:
        raise ClipError(f"{file} can't be unpacked: {error.strerror or error}.") from error
    return folder


def _check(file: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    if MANIFEST not in {member.filename for member in members}:
        raise ClipError(f"{file} is no {SUFFIX}: it holds no {MANIFEST}.")
    if len(members) > MOST_FILES or sum(member.file_size for member in members) > MOST_BYTES:
        raise ClipError(f"{file} holds more than Sayso unpacks ({MOST_FILES} files, {MOST_BYTES >> 30} GB).")
    for member in members:
        path = PurePosixPath(member.filename)
        if path.is_absolute() or ".." in path.parts or ":" in member.filename or "\\" in member.filename:
            raise ClipError(f"{file} holds a name that leads out of it; it is not used.")


def _copy(file: Path, zipped: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    left = member.file_size  # what it says; a bomb says less than it holds
    with zipped.open(member) as source, path.open("xb") as target:
        while block := source.read(_BLOCK_BYTES):
            left -= len(block)
            if left < 0:
                raise ClipError(f"{file} holds more than it says; it is not used.")
            target.write(block)


def pack(file: Path, items: Sequence[Mapping[str, Any]], audio: Mapping[str, Path]) -> None:
    """Write an archive, whole or not at all. items: manifest objects; audio: their audio, by its name in them."""
    with (
        atomic(file, fault=ClipError, private=True) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as zipped,
    ):
        lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
        zipped.writestr(MANIFEST, lines)
        for name, path in audio.items():
            zipped.write(path, name, zipfile.ZIP_STORED if path.suffix != ".wav" else None)
