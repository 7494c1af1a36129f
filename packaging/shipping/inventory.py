"""What is inside a self-contained build, told by the build itself: each file's origin, as parts with versions.

`sayso.spec` makes the list; `notices.py` and `sbom.py` make the licences and the bill of materials from it. A part is
a Python distribution, a Debian package, Python itself, or Sayso.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.utils import canonicalize_name

Kind = Literal["sayso", "python", "pypi", "debian"]


@dataclass(frozen=True)
class Part:
    kind: Kind
    name: str
    version: str
    files: tuple[str, ...]  # their names in the build


def write(path: Path, found: Iterable[Part]) -> None:
    path.write_text(json.dumps([asdict(part) for part in found], indent=1), "utf-8")


def read(path: Path) -> list[Part]:
    return [Part(**part | {"files": tuple(part["files"])}) for part in json.loads(path.read_text("utf-8"))]


def parts(entries: Iterable[tuple[str, str, str]]) -> list[Part]:
    """The parts that PyInstaller's (name in the build, path here, kind) entries come from.

    Raises ValueError for a file that nobody knows.
    """
    owners = _files_of_distributions()
    standard_library = [Path(sysconfig.get_path(p)).resolve() for p in ("stdlib", "platstdlib")]
    found: dict[tuple[Kind, str, str], list[str]] = {}
    for name, source, kind in entries:
        if source and kind not in ("SYMLINK", "OPTION"):
            path = os.path.realpath(source)
            found.setdefault(owners.get(path) or _origin(Path(path), standard_library), []).append(name)
    return [Part(*part, tuple(sorted(names))) for part, names in sorted(found.items())]


def _files_of_distributions() -> dict[str, tuple[Kind, str, str]]:
    owners: dict[str, tuple[Kind, str, str]] = {}
    for distribution in metadata.distributions():
        name = canonicalize_name(distribution.metadata["Name"])
        part: tuple[Kind, str, str] = ("sayso" if name == "sayso" else "pypi", name, distribution.version)
        folder = os.path.realpath(str(distribution.locate_file("")))
        for file in distribution.files or ():
            owners[os.path.normpath(os.path.join(folder, file))] = part
    return owners


def _origin(source: Path, standard_library: list[Path]) -> tuple[Kind, str, str]:
    """The owner of a file that no distribution lists."""
    folders = [*standard_library, *([] if sys.base_prefix == "/usr" else [Path(sys.base_prefix).resolve()])]
    if any(source.is_relative_to(folder) for folder in folders) or source.name.startswith(
        ("base_library.zip", "libpython")
    ):
        return ("python", "python", sys.version.split()[0])
    if source.is_relative_to(Path(__file__).parents[2].resolve()):  # what the build itself made
        return ("sayso", "sayso", metadata.version("sayso"))
    if sys.platform.startswith("linux"):
        return _debian(source)
    raise ValueError(f"{source} would be in the build, but nobody knows where it comes from.")


def _debian(source: Path) -> tuple[Kind, str, str]:
    for path in (str(source), str(source).removeprefix("/usr")):  # the database knows paths before /lib was moved
        found = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            package = found.stdout.partition(": ")[0].split(",")[0]
            shown = subprocess.run(
                ["dpkg-query", "-W", "-f", "${Package} ${Version}", package],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            return ("debian", shown[0], shown[1])
    raise ValueError(f"{source} would be in the build, but nobody knows where it comes from.")


def module_folder(package: str) -> Path:
    """Folder of an installed package, found without running it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"{package} is not installed here.")
    return Path(next(iter(spec.submodule_search_locations)))


def system_library(name: str) -> str | None:
    """Path of a shared library of the system, on Linux."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        if line.strip().startswith(name + " "):
            return line.rpartition(" => ")[2]
    return None


def linked_with(path: str) -> list[str]:
    """Names of the shared libraries that a library or program asks for itself, on Linux."""
    shown = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=False).stdout
    return [line.split()[1] for line in shown.splitlines() if line.strip().startswith("NEEDED")]
