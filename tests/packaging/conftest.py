"""What `make package` makes, for the tests that try it; made when the sources are newer, which takes minutes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.shell import SPEECH

ROOT = Path(__file__).parents[2]
SOURCES = ("dictation", "engine", "packaging", "resources", "ui", "pyproject.toml", "CHANGELOG.md", "LICENSE")


@dataclass(frozen=True)
class Built:
    dist: Path
    frozen: Path  # the self-contained folder, as PyInstaller left it
    app_dir: Path

    @property
    def stage(self) -> Path:
        """Where the programs lie in AppDir and .deb, under both of their names."""
        return self.app_dir / "usr/bin"

    def one(self, pattern: str) -> Path:
        (found,) = self.dist.glob(pattern)
        return found


@pytest.fixture(scope="session")
def built() -> Built:
    made = Built(ROOT / "dist", ROOT / "build/package/frozen/sayso", ROOT / "build/package/Sayso.AppDir")
    with _one_builder():
        if not _is_current(made.dist / "SHA256SUMS"):
            done = subprocess.run(["make", "package"], cwd=ROOT, capture_output=True, text=True, check=False)
            assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return made


@contextmanager
def _one_builder() -> Iterator[None]:
    import fcntl

    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build/.package.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _is_current(last: Path) -> bool:
    listed = subprocess.run(["git", "ls-files", "-z", *SOURCES], cwd=ROOT, capture_output=True, text=True, check=True)
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    return last.is_file() and all(f.stat().st_mtime <= last.stat().st_mtime for f in files if f.exists())


def shared_clips() -> list[Path]:
    """All clips of the set, in a fixed order."""
    return sorted(p for p in SPEECH.rglob("*") if p.suffix in (".flac", ".wav", ".ogg", ".mp3"))


def transcripts(*command: object, clips: list[Path], **options: object) -> dict[str, str]:
    """What a `sayso` writes down, by clip."""
    done = subprocess.run(
        [*map(str, command), *map(str, clips), "--json"], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {str(line["file"]): str(line["text"]) for line in lines}
