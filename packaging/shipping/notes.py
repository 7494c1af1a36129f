"""What CHANGELOG.md says about this version, as the notes of its release. Needs no package.

python packaging/shipping/notes.py              # the section, as Markdown
python packaging/shipping/notes.py --version    # which version this tree is
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def version() -> str:
    """The number in pyproject.toml."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def section(changelog: str, version: str) -> str:
    """The text under "## VERSION", with or without a date after it. Raises ValueError where there is none."""
    found = re.search(
        rf"^## {re.escape(version)}(?:[ ,(][^\n]*)?\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    text = found[1].strip() if found else ""
    if not text:
        raise ValueError(f'CHANGELOG.md has no section "## {version}": rename "Unreleased" before you tag.')
    return text + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(version())
    else:
        try:
            print(section((ROOT / "CHANGELOG.md").read_text("utf-8"), version()), end="")
        except ValueError as fault:
            sys.exit(str(fault))
