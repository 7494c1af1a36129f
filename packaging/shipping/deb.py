"""The Debian packages, from the folder that `stage.py` made, with Debian's own tools.

    python -m shipping.deb build/stage build/inventory.json dist

dpkg-shlibdeps finds out which system libraries the build needs, dpkg-gencontrol writes the control file.
"""

from __future__ import annotations

import calendar
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from dictation.version import version
from shipping.inventory import Part, read
from shipping.stage import HERE, source_date

INSIDE = "usr/lib/sayso/_internal"


def build(stage: Path, parts: list[Part], target: Path) -> list[Path]:
    """Write the packages into `target` and return their paths.

    parts: of the build. What comes from Debian packages is left to Debian, which keeps it up to date.
    """
    debians = [name for part in parts if part.kind == "debian" for name in part.files]
    with tempfile.TemporaryDirectory(prefix="sayso-deb-") as name:
        work = Path(name)
        shutil.copytree(HERE / "linux/debian", work / "debian")
        (work / "debian/changelog").write_text(_changelog(), "utf-8")
        return [
            _package("sayso", work, target, lambda root: _fill_sayso(root, stage, debians)),
            _package("sayso-uinput", work, target, _fill_uinput),
        ]


def debian_version(version: str) -> str:
    """A Python version in Debian's order: a release candidate comes before its release."""
    from packaging.version import Version

    parsed = Version(version)
    text = parsed.base_version
    if parsed.pre:
        text += f"~{parsed.pre[0]}{parsed.pre[1]}"
    if parsed.dev is not None:
        text += f"~dev{parsed.dev}"
    return text


def _fill_sayso(root: Path, stage: Path, debians: list[str]) -> None:
    shutil.copytree(stage / "usr", root / "usr", symlinks=True)
    for name in debians:
        (root / INSIDE / name).unlink()
    document = root / "usr/share/doc/sayso"
    document.mkdir(parents=True)
    # one copy: the page About reads it from the program's own folder
    _gzip(root / INSIDE / "resources/THIRD-PARTY-NOTICES.txt", document / "THIRD-PARTY-NOTICES.txt.gz")
    _gzip(HERE.parent / "CHANGELOG.md", document / "changelog.gz")


def _fill_uinput(root: Path) -> None:
    for name, folder in (("70-sayso-uinput.rules", "udev/rules.d"), ("sayso-uinput.conf", "modules-load.d")):
        (root / "usr/lib" / folder).mkdir(parents=True)
        shutil.copy(HERE / "linux/uinput" / name, root / "usr/lib" / folder / name)


def _package(name: str, work: Path, target: Path, fill: Callable[[Path], None]) -> Path:
    root = work / name
    root.mkdir()
    fill(root)
    document = root / "usr/share/doc" / name
    document.mkdir(parents=True, exist_ok=True)
    (document / "copyright").write_text(_copyright(), "utf-8")
    (work / "debian/substvars").write_text("misc:Depends=\n")
    binaries = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink() and _is_elf(path)]
    if binaries:
        private = sorted({str(path.parent) for path in binaries if path.name.startswith("lib")})
        libraries = [f"-l{folder}" for folder in private]
        # what wheels bring has no package information, and needs none: it lies beside its users
        _run(work, "dpkg-shlibdeps", "--ignore-missing-info", "-Tdebian/substvars", *libraries, *map(str, binaries))
    _run(work, "chmod", "-R", "u=rwX,go=rX", str(root))
    control = root / "DEBIAN"
    control.mkdir()
    (control / "md5sums").write_text(_sums(root), "utf-8")
    _run(
        work,
        "dpkg-gencontrol",
        f"-p{name}",
        f"-P{root}",
        "-Tdebian/substvars",
        "-fdebian/files",
        f"-O{control}/control",
    )
    target.mkdir(parents=True, exist_ok=True)
    before = set(target.glob("*.deb"))
    for old in target.glob(f"{name}_*.deb"):
        old.unlink()
        before.discard(old)
    _run(work, "dpkg-deb", "--root-owner-group", "-Zzstd", "-z12", "--build", str(root), str(target.resolve()))
    (made,) = set(target.glob("*.deb")) - before
    return made


def _run(work: Path, *command: str) -> None:
    when = str(calendar.timegm(source_date()))
    done = subprocess.run(
        command, cwd=work, env=os.environ | {"SOURCE_DATE_EPOCH": when}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")


def _is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _sums(root: Path) -> str:
    files = sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink() and "DEBIAN" not in p.parts)
    lines = [f"{hashlib.md5(p.read_bytes(), usedforsecurity=False).hexdigest()}  {p.relative_to(root)}" for p in files]
    return "\n".join(lines) + "\n"


def _changelog() -> str:
    when = time.strftime("%a, %d %b %Y %H:%M:%S +0000", source_date())
    maintainer = next(
        line.partition(": ")[2]
        for line in (HERE / "linux/debian/control").read_text("utf-8").splitlines()
        if line.startswith("Maintainer: ")
    )
    return (
        f"sayso ({debian_version(version())}) unstable; urgency=medium\n\n"
        f"  * See changelog.gz.\n\n -- {maintainer}  {when}\n"
    )


def _copyright() -> str:
    licence = (HERE.parent / "LICENSE").read_text("utf-8").partition("\n\n")[2].partition("\n\n")[2]
    lines = [f" {line}" if line.strip() else " ." for line in licence.strip().splitlines()]
    return (HERE / "linux/debian/copyright").read_text("utf-8").replace("@LICENCE@", "\n".join(lines))


def _gzip(source: Path, target: Path) -> None:
    target.write_bytes(gzip.compress(source.read_bytes(), 9, mtime=0))


if __name__ == "__main__":
    for made in build(Path(sys.argv[1]), read(Path(sys.argv[2])), Path(sys.argv[3])):
        print(made)
