"""The licences of everything that a self-contained build holds, from the packages that its files came from.

A part without a licence text ends the build: nothing is shipped whose terms nobody read.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from shipping.inventory import Part

LICENCES = Path(__file__).parents[1] / "licences"
# parts that carry no text of their own
TEXTS = {
    "pyside6-essentials": ("LGPL-3.0.txt", "GPL-3.0.txt"),
    "shiboken6": ("LGPL-3.0.txt", "GPL-3.0.txt"),
}
RULE = "=" * 100
HEAD = """Sayso is under the MIT licence (below). It stands on the work of others, which this build contains in part.

Qt and Qt for Python (PySide6, Shiboken) are used under the GNU Lesser General Public License, version 3. Their source
is at https://download.qt.io. You may change them: every Qt library lies in a file of its own in the folder PySide6
beside Sayso's program, so put your build of it there. The same holds for the other parts under the LGPL: libsndfile (a
file in _soundfile_data), soxr (the file soxr/soxr_ext), python-xlib (source files in the folder Xlib).
Nothing in Sayso's own licence or in the way it is packed keeps you from doing so, or from examining it for that.
"""


def notices(parts: Iterable[Part]) -> str:
    """The whole document. Raises ValueError for a part whose licence has no text here."""
    listed = sorted(parts, key=lambda part: (part.kind != "sayso", part.name))
    head = [HEAD, *(f"  {part.name} {part.version}: {name_of_licence(part)}" for part in listed)]
    chapters = ["\n".join(head)]
    said: dict[str, str] = {}
    for part in listed:
        pieces = []
        for name, text in texts(part):
            if text in said:
                pieces.append(f"[{name}: the text is under {said[text]}]")
            else:
                said[text] = f"{part.name} {part.version}"
                pieces.append(text.strip("\n"))
        if not pieces:
            raise ValueError(f"{part.name} {part.version} comes without a licence text: add one to packaging/licences.")
        chapters.append("\n\n".join([f"{RULE}\n{part.name} {part.version}: {name_of_licence(part)}\n{RULE}", *pieces]))
    return "\n\n".join(chapters) + "\n"


def name_of_licence(part: Part) -> str:
    """As the package names it."""
    if part.kind == "debian":
        return "see below"
    if part.kind in ("python", "sayso"):
        return {"python": "PSF-2.0", "sayso": "MIT"}[part.kind]
    about = metadata.metadata(part.name)
    named = about.get("License-Expression") or (about.get("License") or "").partition("\n")[0]
    classified = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or [] if c.startswith("License")]
    return named or ", ".join(classified) or "see below"


def texts(part: Part) -> Iterator[tuple[str, str]]:
    """(file name, text) of each licence of a part."""
    if part.kind == "debian":
        files = [Path("/usr/share/doc") / part.name / "copyright"]
    elif part.kind == "python":
        places = (
            Path(sysconfig.get_path("stdlib")) / "LICENSE.txt",
            Path(sys.base_prefix) / "LICENSE.txt",  # Windows
            Path("/usr/share/doc/python3/copyright"),  # Debian
        )
        files = [file for file in places if file.is_file()][:1]
    else:
        files = [LICENCES / name for name in TEXTS.get(part.name, ())] + list(_in_distribution(part.name))
    for file in files:
        if file.is_file():
            yield file.name, file.read_text("utf-8", "replace")


def _in_distribution(name: str) -> Iterator[Path]:
    distribution = metadata.distribution(name)
    for file in distribution.files or ():
        if ".dist-info" in file.parts[0] and re.match(r"(licen[sc]e|copying|notice|authors)", file.name, re.IGNORECASE):
            yield Path(str(distribution.locate_file(file)))
