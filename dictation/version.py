"""Which Sayso this is. The number stands in pyproject.toml and nowhere else."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """The installed package's version, or that of the checkout this file lies in."""
    try:
        return metadata.version("sayso")
    except metadata.PackageNotFoundError:
        project = Path(__file__).parent.parent / "pyproject.toml"
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
