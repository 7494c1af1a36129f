"""A folder of model files -> a repository on the Hub, with a model card that agrees with the files.

`read_folder` looks at what is there, `problems` and `model_card` are pure, `publish` uploads in one commit. A card of
the person's own (README.md) is checked and used as it is; otherwise one is built. Nothing in the folder is changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import HubError, PublishError
from engine.languages import LANGUAGES

BESIDE = re.compile(r"(LICEN[CS]E.*|config\.json|generation_config\.json|tokenizer.*\.json|vocab.*\.json|merges\.txt)")
TOKENIZERS = ("tokenizer.json", "vocab.json", "vocabulary.json")
OPENAI_SIZES = ("tiny", "base", "small", "medium", "large-v1", "large-v2", "large-v3", "large-v3-turbo")
_LICENCE_TEXTS = {"mit license": "mit", "apache license": "apache-2.0"}
_FILE_IN_TEXT = re.compile(r"[\w.+-]+\.gguf")


@dataclass(frozen=True)
class ModelFile:
    """One GGUF file, as its header says."""

    file: str
    name: str  # "base"
    quant: str
    size_bytes: int
    n_languages: int
    licence: str | None
    has_tokenizer: bool
    reproducible: bool  # every tensor has the type that `sayso models export --format` gives it


@dataclass(frozen=True)
class Declared:
    """What one document in the folder claims."""

    where: str  # "README.md", "config.json"
    licence: str | None = None
    quants: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measured:
    """Error of one file, as `sayso eval` found it. Fractions."""

    metric: str
    error_rate: float
    low: float
    high: float
    clips: int


@dataclass(frozen=True)
class Collection:
    """What lies in a folder that is to be published."""

    models: tuple[ModelFile, ...]
    beside: tuple[str, ...] = ()  # other files that go along
    declared: tuple[Declared, ...] = ()
    measured: Mapping[str, Measured] = field(default_factory=dict)  # by file
    card: str | None = None  # README.md
    base_model: str | None = None  # where a document names it

    @property
    def licences(self) -> dict[str, list[str]]:
        """Every licence that is named, and where."""
        found: dict[str, list[str]] = {}
        for where, licence in [(m.file, m.licence) for m in self.models] + [
            (d.where, d.licence) for d in self.declared
        ]:
            if licence:
                found.setdefault(licence.lower(), []).append(where)
        return found


def read_folder(folder: Path) -> Collection:
    """Raises PublishError where there is no model or a document can't be read, ModelFileError for a broken model."""
    paths = sorted(folder.glob("*.gguf")) if folder.is_dir() else []
    if not paths:
        raise PublishError(
            f"There is no GGUF file in {folder}; `sayso models quantize-all SOURCE -o {folder}` makes some."
        )
    beside = tuple(sorted(path.name for path in folder.iterdir() if BESIDE.fullmatch(path.name) and path.is_file()))
    has_tokenizer = any(name in beside for name in TOKENIZERS)
    models = tuple(_read_model(path, has_tokenizer) for path in paths)
    readme = folder / "README.md"
    try:
        text = readme.read_text("utf-8") if readme.is_file() else None
    except UnicodeDecodeError as error:
        raise PublishError("README.md is not UTF-8. Save it as UTF-8.") from error
    front = _front_matter(text) if text else {}
    declared = [_declaration("README.md", front, text or "")]
    config = _json(folder / "config.json")
    declared.append(_declaration("config.json", config))
    for name in beside:
        if name.upper().startswith("LICEN"):
            start = (folder / name).read_text("utf-8", errors="replace")[:400].lower()
            licence = next((licence for words, licence in _LICENCE_TEXTS.items() if words in start), None)
            declared.append(Declared(name, licence))
    base_model = front.get("base_model") or config.get("base_model")
    return Collection(models, beside, tuple(declared), _read_measured(folder), text, base_model and str(base_model))


def _read_model(path: Path, tokenizer_beside: bool) -> ModelFile:
    from engine.formats.load import load
    from engine.gguf import reader
    from engine.presets import PRESETS, plan

    has_tokenizer = reader.read(path).strings("tokenizer.ggml.tokens") is not None or tokenizer_beside
    checkpoint = load(path)
    quant = checkpoint.quant
    reproducible = quant in PRESETS and all(t.type == t.source_type for t in plan(checkpoint, quant))
    return ModelFile(
        file=path.name,
        name=checkpoint.name,
        quant=quant,
        size_bytes=path.stat().st_size,
        n_languages=checkpoint.n_languages or 1,
        licence=checkpoint.licence,
        has_tokenizer=has_tokenizer,
        reproducible=reproducible,
    )


def _front_matter(text: str) -> dict[str, Any]:
    import yaml

    found = re.match(r"---\r?\n(.*?)\r?\n---\r?\n", text, re.DOTALL)
    try:
        front = yaml.safe_load(found[1]) if found else {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a 13th month
        raise PublishError("README.md begins with metadata that are no YAML; mend the part between the ---.") from error
    return front if isinstance(front, dict) else {}


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise PublishError(f"{path.name} is no JSON; mend it, or take it out of the folder.") from error
    return content if isinstance(content, dict) else {}


def _declaration(where: str, content: Mapping[str, Any], text: str = "") -> Declared:
    """`license`, `quants` (names, or names to files) and `files` of a document; also the GGUF files its text names."""
    quants, files = content.get("quants") or (), content.get("files") or ()
    for name, value in (("quants", quants), ("files", files)):
        if not isinstance(value, Mapping | list | tuple):
            raise PublishError(f"{where}: {name} must be a list of names.")
    files = [str(name) for name in files]
    if isinstance(quants, Mapping):
        files += [str(file) for file in quants.values()]
    files += sorted(set(_FILE_IN_TEXT.findall(text)))
    licence = content.get("license")
    return Declared(where, licence and str(licence), tuple(str(quant) for quant in quants), tuple(dict.fromkeys(files)))


def _read_measured(folder: Path) -> dict[str, Measured]:
    """From the report that `sayso eval --report` wrote into the folder, or into one inside it."""
    found: dict[str, Measured] = {}
    for path in sorted([*folder.glob("report.json"), *folder.glob("*/report.json")]):
        models = _json(path).get("models")
        for item in models if isinstance(models, list) else ():
            try:
                score = item["score"]
                if item["size_bytes"] == (folder / item["file"]).stat().st_size:  # else of another file
                    found[item["file"]] = Measured(
                        metric=str(item["metric"]),
                        error_rate=float(score["error_rate"]),
                        low=float(score["low"]),
                        high=float(score["high"]),
                        clips=int(score["clips"]),
                    )
            except (KeyError, TypeError, ValueError, OSError):
                continue
    return found


def problems(collection: Collection) -> list[str]:
    """What contradicts itself or is missing, a sentence each. Empty: it may be published."""
    return [
        *_file_problems(collection),
        *_licence_problems(collection),
        *(
            f"{m.file} has no tokenizer in it, and none lies beside it."
            for m in collection.models
            if not m.has_tokenizer
        ),
    ]


def _file_problems(collection: Collection) -> Iterable[str]:
    models = collection.models
    files, quants = {m.file for m in models}, {m.quant for m in models}
    for document in collection.declared:
        for file in document.files:
            if file not in files:
                yield f"{document.where} names {file}, which is not in the folder."
        for quant in document.quants:
            if quant.upper() not in quants:
                yield f"{document.where} declares {quant}, but no file has it."
        if document.files or document.quants:
            declared = {quant.upper() for quant in document.quants}
            for m in models:
                if m.file not in document.files and m.quant not in declared:
                    yield f"{m.file} is in the folder, but {document.where} does not declare it."
    for m in models:
        twins = [other.file for other in models if (other.name, other.quant) == (m.name, m.quant)]
        if len(twins) > 1 and twins[0] == m.file:
            yield f"{' and '.join(twins)} are the same quant."
    names = sorted({m.name for m in models})
    if len(names) > 1:
        yield f"The files are of different models ({', '.join(names)}); give each a repository of its own."
    if base_model(collection) is None:
        yield "Which model was it made from? Name it as base_model at the top of README.md or in config.json."


def _licence_problems(collection: Collection) -> Iterable[str]:
    licences = collection.licences
    if not licences:
        yield 'No licence is named: put {"license": "..."} into config.json, or license: at the top of README.md.'
    elif len(licences) > 1:
        named = "; ".join(f"{licence} by {', '.join(places)}" for licence, places in licences.items())
        yield f"More than one licence is named: {named}."


def base_model(collection: Collection) -> str | None:
    """The repository of the original weights: as a document says, or OpenAI's for a name of theirs."""
    name = collection.models[0].name.removeprefix("whisper-")
    known = name in OPENAI_SIZES or name.removesuffix(".en") in OPENAI_SIZES[:4]
    return collection.base_model or (f"openai/whisper-{name}" if known else None)


def model_card(collection: Collection, repo: str) -> str:
    """README.md of the repository: the folder's own, or a new one. The collection has no `problems`."""
    if collection.card is not None:
        return collection.card
    import yaml

    first = collection.models[0]
    base = base_model(collection)
    metadata = {
        "library_name": "gguf",
        "pipeline_tag": "automatic-speech-recognition",
        "base_model": base,
        "base_model_relation": "quantized",
        "license": next(iter(collection.licences)),
        "language": list(LANGUAGES)[: first.n_languages],
        "tags": ["whisper", "gguf", "sayso"],
        "quants": [m.quant for m in collection.models],
    }
    front = yaml.safe_dump(metadata, sort_keys=False, default_flow_style=None, width=1000)
    smallest = min(collection.models, key=lambda m: m.size_bytes)
    return (
        f"---\n{front}---\n\n# {repo.rpartition('/')[2]}\n\n"
        f"[{base}](https://huggingface.co/{base}) as GGUF, for Sayso and other programs that read Whisper so.\n\n"
        f"{_quant_table(collection)}\n\n## Use\n\n    sayso models pull {repo}:{smallest.quant}\n\n"
        f"{_commands(collection.models, base or 'the original')}"
    )


def _quant_table(collection: Collection) -> str:
    heads = ["File", "Quant", "Size"] + (["Error (95 % interval)"] if collection.measured else [])
    rows = [heads, ["---"] * len(heads)]
    for m in sorted(collection.models, key=lambda m: -m.size_bytes):
        row = [f"[{m.file}](./{m.file})", m.quant, f"{m.size_bytes / 1e6:.1f} MB"]
        if collection.measured:
            found = collection.measured.get(m.file)
            row.append(
                f"{found.metric} {100 * found.error_rate:.2f} % ({100 * found.low:.2f} to {100 * found.high:.2f}), "
                f"{found.clips} clips"
                if found
                else "not measured"
            )
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _commands(models: Sequence[ModelFile], base: str) -> str:
    lines = [f"    sayso models export SOURCE --format {m.quant} -o {m.file}" for m in models if m.reproducible]
    others = [m.file for m in models if not m.reproducible]
    text = f"## How the files were made\n\nSOURCE is the folder with the files of {base}.\n\n" + "\n".join(lines) + "\n"
    if others:
        text += f"\nWith types of their own for some tensors: {', '.join(others)}.\n"
    return text if lines or others else ""


def check_name(repo: str) -> None:
    """Raises HubError for what the Hub takes for no name."""
    from huggingface_hub.utils._validators import validate_repo_id

    from engine.hub import plain_words

    with plain_words(repo):
        validate_repo_id(repo)


def publish(
    folder: Path, repo: str, *, private: bool = True, show_progress: bool = False, endpoint: str | None = None
) -> str:
    """Check the folder, make the repository where it is missing, upload all in one commit. Returns its address.

    private: what a new repository becomes; into a public one is published only where this is False. The
    token is the one that `hf auth login` keeps, or $HF_TOKEN.
    show_progress: a bar per file on stderr, the Hub package's own.
    Raises PublishError with all problems, ModelFileError, and HubError where the Hub refuses.
    """
    from contextlib import nullcontext

    from huggingface_hub import CommitOperationAdd, HfApi
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    from engine.hub import plain_words

    check_name(repo)
    collection = read_folder(folder)
    if found := problems(collection):
        raise PublishError(" ".join(found))
    operations = [CommitOperationAdd("README.md", model_card(collection, repo).encode())]
    for name in (*collection.beside, *(m.file for m in collection.models)):
        operations.append(CommitOperationAdd(name, folder / name))
    with plain_words(repo), nullcontext() if show_progress else disable_progress_bars():
        api = HfApi(endpoint=endpoint)
        api.create_repo(repo, private=private, exist_ok=True)
        if private and not api.model_info(repo).private:
            raise PublishError(f"{repo} is there already and everybody can see it; say --public to publish into it.")
        message = f"{len(collection.models)} GGUF files and their card"
        try:
            made = api.create_commit(repo, operations, commit_message=message)
        except HfHubHTTPError:
            raise
        except (RuntimeError, OSError) as error:  # of the thread, or the Xet library, that sent a file
            raise HubError(f"{error} Nothing is published yet; run the command again.") from error
    return str(made.repo_url)
