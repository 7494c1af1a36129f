"""The verbs of `sayso models` that make models and give them away: export, quantize-all, publish."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dictation.commands.verbs import add_verb, progress_bars, size_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from engine.checkpoint import Checkpoint
    from engine.presets import PlannedTensor

# as in engine.presets and engine.export, which are too heavy for listing verbs; a test compares them
FORMATS = ("F32", "F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q5_K", "Q4_K", "Q5_1", "Q5_0", "Q4_1", "Q4_0")
DIALECTS = ("sayso", "transcribe.cpp", "whisper.cpp")


def add_verbs(verbs) -> None:  # type: ignore[no-untyped-def]
    verb = add_verb(verbs, "export", _export, "write a model in another format, quantized or not, and try it out")
    verb.add_argument("source", metavar="SOURCE", help="an installed model (base, base:F16), or a model file or folder")
    verb.add_argument("--format", required=True, type=str.upper, choices=FORMATS, help="of the decoder's matrices")
    verb.add_argument("--include", type=_prefixes, default=(), metavar="P,...", help="quantize these tensors only")
    verb.add_argument("--exclude", type=_prefixes, default=(), metavar="P,...", help="keep these tensors as they are")
    verb.add_argument("--dialect", choices=DIALECTS, default="sayso", help="for which program (default: sayso)")
    verb.add_argument("-o", "--output", metavar="FILE", help="write here (default: the models folder)")
    verb.add_argument("--dry-run", action="store_true", help="only show every tensor with its type, size and reason")
    _add_no_smoke(verb)

    verb = add_verb(verbs, "quantize-all", _quantize_all, "write every usual format that is smaller than the source")
    verb.add_argument("source", metavar="SOURCE", help="an installed model (base, base:F16), or a model file or folder")
    verb.add_argument("-o", "--output", metavar="DIR", help="write here (default: the models folder)")
    _add_no_smoke(verb)

    verb = add_verb(
        verbs, "publish", _publish, "put a folder of GGUF files on the Hub, with a card that agrees with them"
    )
    verb.add_argument("folder", metavar="DIR", help="the GGUF files of one model, and what belongs to them")
    verb.add_argument("repo", metavar="REPO", help="owner/name; made where it is missing")
    seen_by = verb.add_mutually_exclusive_group()
    seen_by.add_argument("--private", action="store_true", help="only you can see it (the default)")
    seen_by.add_argument("--public", action="store_true", help="everybody can see it")
    verb.add_argument("--dry-run", action="store_true", help="check the folder and show the card; upload nothing")


def _add_no_smoke(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--no-smoke", action="store_true", help="do not load what was written to hear a sample with it")


def _prefixes(text: str) -> tuple[str, ...]:
    prefixes = tuple(prefix for prefix in (part.strip() for part in text.split(",")) if prefix)
    if not prefixes:
        raise argparse.ArgumentTypeError("name how at least one tensor's name begins")
    return prefixes


def _export(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from dictation.cli import DONE, wrong_use
    from engine.export import export, plan_export

    checkpoint = _source(arguments.source)
    choices = {"include": arguments.include, "exclude": arguments.exclude, "dialect": arguments.dialect}
    if arguments.dry_run:
        _show_plan(plan_export(checkpoint, arguments.format, **choices))
        return DONE
    path = Path(arguments.output).expanduser() if arguments.output else _target(checkpoint, arguments)
    if path.is_dir():
        return wrong_use(f"{path} is a folder; -o names the file to write")
    bars = progress_bars()
    report = (lambda done, total: bars(path.name, done, total)) if bars else None
    export(checkpoint, arguments.format, path, report, check=_check(arguments), **choices)
    _tell(path, arguments)
    return DONE


def _quantize_all(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from dictation.cli import DONE, say, wrong_use
    from engine import store
    from engine.export import export_matrix

    checkpoint = _source(arguments.source)
    folder = Path(arguments.output).expanduser() if arguments.output else store.models_dir()
    if folder.exists() and not folder.is_dir():
        return wrong_use(f"{folder} is a file; -o names the folder to write into")
    made = export_matrix(checkpoint, folder, progress_bars(), _check(arguments))
    if not made:
        say(f"Nothing is smaller than {arguments.source} already is ({checkpoint.quant}); start from a larger format.")
    for path in made:
        _tell(path, arguments)
    return DONE


def _publish(arguments: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    from dictation.cli import DONE, fail, say
    from engine import publish

    folder = Path(arguments.folder).expanduser()
    publish.check_name(arguments.repo)
    collection = publish.read_folder(folder)
    found = publish.problems(collection)
    for problem in found:
        say(problem)
    if found:
        return fail("nothing is published.")
    if arguments.dry_run:
        print(publish.model_card(collection, arguments.repo))
        return DONE
    size = size_text(sum(model.size_bytes for model in collection.models))
    say(f"{len(collection.models)} model files ({size}) agree with their card and are sent to the Hub.")
    address = publish.publish(folder, arguments.repo, private=not arguments.public, show_progress=sys.stderr.isatty())
    print(address)
    return DONE


def _source(text: str) -> Checkpoint:
    """The model that `text` names, with a name that can be part of a file's."""
    from dataclasses import replace
    from pathlib import Path

    from engine import store
    from engine.formats.load import load

    path = Path(text).expanduser()
    path = path if path.exists() else store.find(text)
    checkpoint = load(path)
    return replace(checkpoint, name=store.plain_name(checkpoint.name or path.stem))


def _target(checkpoint: Checkpoint, arguments: argparse.Namespace) -> Path:
    """In the models folder, as an installed model; what is for other programs goes into the current folder."""
    from pathlib import Path

    from engine import store

    if arguments.dialect == "whisper.cpp":
        return Path(f"ggml-{checkpoint.name}-{arguments.format.lower()}.bin")
    file = f"{checkpoint.name}-{arguments.format}.gguf"
    return store.models_dir() / file if arguments.dialect == "sayso" else Path(file)


def _show_plan(planned: Sequence[PlannedTensor]) -> None:
    """A line per tensor: name, shape, type before and after, bytes, reason; then the total."""
    width = max(len(tensor.name) for tensor in planned)
    for tensor in planned:
        shape = "x".join(str(n) for n in tensor.shape)
        kinds = f"{tensor.source_type.name} -> {tensor.type.name}"
        print(f"{tensor.name:{width}}  {shape:>12}  {kinds:14}  {tensor.n_bytes:>13,}  {tensor.reason}")
    total = sum(tensor.n_bytes for tensor in planned)
    print(f"{'all':{width}}  {len(planned):>4} tensors  {'':14}  {total:>13,}")


def _check(arguments: argparse.Namespace) -> Callable[[Path], None]:
    """Hears the sample with a new file, before it takes the place of an older one that works."""
    from engine.errors import ModelFileError
    from engine.smoke import smoke

    def hear(part: Path) -> None:
        try:
            smoke(part)
        except ModelFileError as error:
            raise ModelFileError(
                f"{arguments.source} does not work in this format, so nothing is written. {error} "
                "--no-smoke writes such a file."
            ) from error

    return (lambda part: None) if arguments.no_smoke else hear


def _tell(path: Path, arguments: argparse.Namespace) -> None:
    from dictation.cli import say

    heard = "." if arguments.no_smoke else ", and hears the sample."
    say(f"{path} is written ({size_text(path.stat().st_size)}){heard}")
