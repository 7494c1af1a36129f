"""Models that are on this computer already, in another program's folder or in a Hub cache: used where they lie.

Nothing is copied: a GGUF is made known at its place. Other formats have to be converted, which is only done when asked
for file by file (`store.import_file`), because it takes the disk space a second time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from engine import store
from engine.errors import ModelFileError
from engine.store import InstalledModel

MAX_FOLDERS = 20_000  # more are no folder of models
_MODEL_NAMES = re.compile(r".*\.gguf|ggml-.*\.bin|model\.bin|.*\.pt|(model|weights)\.safetensors|weights\.npz")
_CACHED_REPO = re.compile(r"models--([\w.-]+?)--([\w.-]+)")


@dataclass(frozen=True)
class Adopted:
    """What was found in a folder."""

    models: tuple[InstalledModel, ...]  # usable by name now
    convertible: tuple[Path, ...] = ()  # Whispers in other formats


def import_any(source: Path, name: str = "", progress: Callable[[str, int, int], None] | None = None) -> Adopted:
    """Make a model file, the folder of one model, or a folder with many of them known.

    Raises ModelFileError where there is no Whisper.
    """
    from engine.formats.sniff import main_file

    try:
        file = main_file(source)
    except ModelFileError:  # none or several at its top
        return adopt(source, name)
    if source.is_dir() and file.suffix == ".gguf":
        return adopt(source, name)  # there may be more further down
    return Adopted((store.import_file(file, name, progress=progress),))


def adopt(folder: Path, name: str = "") -> Adopted:
    """Make every Whisper GGUF in `folder` and below it known where it lies; what is known already stays as it is.

    name: of the model, where there is only one. Raises ModelFileError where there is none, or several to be named.
    """
    from engine.formats.load import load
    from engine.formats.sniff import Kind, sniff

    found: dict[Path, tuple[str, str]] = {}  # where -> name and quant
    convertible, refusals = [], []
    for path in _candidates(folder):
        try:
            checkpoint = load(path)
        except ModelFileError as error:  # other programs keep other models beside
            refusals.append(error)
            continue
        if sniff(path) is Kind.GGUF:
            found[path] = (_name(path, checkpoint.name, checkpoint.quant), checkpoint.quant)
        else:
            convertible.append(path)
    if name and len(found) > 1:
        raise ModelFileError(f"{folder} holds {len(found)} models: import the one to be called {name} by its file.")
    if not found and convertible:
        raise ModelFileError(
            f"{folder} holds {len(convertible)} models, but none that can be used where it lies; convert one with "
            f"`sayso models import {convertible[0]}`."
        )
    if not found and len(refusals) == 1:
        raise refusals[0]
    if not found:
        raise ModelFileError(f"There is no Whisper that Sayso knows in {folder} or below it.")
    models = tuple(
        store.known_as(path) or store.register_beside(path, name or own, quant) for path, (own, quant) in found.items()
    )
    return Adopted(models, tuple(convertible))


def _candidates(folder: Path) -> Iterator[Path]:
    """Files with a model's name, each once, though a Hub cache shows it under several revisions."""
    seen: set[Path] = set()
    for count, (place, folders, files) in enumerate(os.walk(folder)):
        folders.sort()
        if count >= MAX_FOLDERS:
            raise ModelFileError(f"{folder} holds too many folders to look through: name one nearer to the models.")
        for file in sorted(files):
            path = Path(place, file)
            if _MODEL_NAMES.fullmatch(file) and path.is_file() and path.resolve() not in seen:
                seen.add(path.resolve())
                yield path.absolute()


def _name(path: Path, own: str, quant: str) -> str:
    """As a pull of the same file would call it, in a Hub cache; else what the file says."""
    from engine.hub import RemoteFile, quant_in_name
    from engine.install import name_of

    for part in path.parts:
        if found := _CACHED_REPO.fullmatch(part):
            named = quant_in_name(path.name)
            return store.plain_name(name_of(RemoteFile(f"{found[1]}/{found[2]}", "", path.name, 0, None, named)))
    return store.plain_name(own.removesuffix(f"-{quant}") or path.stem)
