"""`sayso models`: what is installed, where it lies, and how it gets here and away."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from dictation.commands import workshop
from dictation.commands.verbs import add_verb, progress_bars, size_text

if TYPE_CHECKING:
    from pathlib import Path

    from engine.store import InstalledModel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Each verb names its function; a new one is a few lines here, or in `workshop`, and a function below."""
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    verb = add_verb(verbs, "list", _list, "show the installed models, or those that can be had")
    verb.add_argument("--available", action="store_true", help="the catalogue: every known model and quant")
    verb.add_argument(
        "--remote", metavar="REPO", help="the model files of a repository on the Hub (owner/name), by their headers"
    )
    verb.add_argument("--json", action="store_true", help="one JSON object per model, for scripts")

    verb = add_verb(verbs, "pull", _pull, "fetch a model from the Hub; goes on where an earlier attempt ended")
    verb.add_argument("model", help="base, base:Q5_K_M, owner/name, owner/name:Q8_0 or owner/name:gguf:Q8_0")

    verb = add_verb(verbs, "use", _use, "dictate with this model from now on")
    verb.add_argument("model", help="an installed model (base, base:Q8_0) or a model file")

    verb = add_verb(verbs, "verify", _verify, "read whole model files and compare them with their known checksums")
    verb.add_argument("models", nargs="*", metavar="MODEL", help="installed models; none given: all")

    verb = add_verb(verbs, "calibrate", _calibrate, "measure speed, memory and errors on this computer")
    verb.add_argument("models", nargs="*", metavar="MODEL", help="installed models; none given: all")
    verb.add_argument("--json", action="store_true", help="one JSON object per model, for scripts")

    verb = add_verb(verbs, "import", _import, "make the starter models, use a GGUF as it lies, or convert the rest")
    verb.add_argument(
        "sources", nargs="+", metavar="SOURCE", help="`starter`, a model file or folder, or a folder of many models"
    )
    verb.add_argument("--name", help="call the model so, instead of what the file says")

    verb = add_verb(verbs, "info", _info, "show what a model is and can")
    verb.add_argument("model", help="an installed model (base, base:Q8_0) or a model file")
    verb.add_argument("--json", action="store_true", help="one JSON object, for scripts")

    verb = add_verb(verbs, "remove", _remove, "delete models from Sayso's folder; files elsewhere are only forgotten")
    verb.add_argument("models", nargs="+", metavar="MODEL", help="an installed model (base, base:Q8_0), or its file")

    verb = add_verb(verbs, "where", _where, "show the models folder, or a model's file")
    verb.add_argument("model", nargs="?", help="an installed model")

    workshop.add_verbs(verbs)


def run(arguments: argparse.Namespace) -> int:
    verb: Callable[[argparse.Namespace], int] = arguments.verb
    return verb(arguments)


def _list(arguments: argparse.Namespace) -> int:
    import json

    from dictation.cli import DONE, say
    from engine import store

    if arguments.remote or arguments.available:
        return _list_remote(arguments)
    models = store.installed()
    if arguments.json:
        for model in models:
            print(json.dumps(_fields(model), ensure_ascii=False))
        return DONE
    away = store.absent()
    if not models and not away:
        say(f"No model is installed. Run `{store.first_model()}`.")
    width = max((len(model.label) for model in models), default=0)
    for model in models:
        print(f"{model.label:{width}}  {size_text(model.size_bytes):>8}  {model.path}")
    for model in away:
        say(f"{model.label} is not there now; connect its disk, or remove it: {model.path}")
    return DONE


def _list_remote(arguments: argparse.Namespace) -> int:
    import json

    from dictation.cli import DONE
    from engine import catalog, hub, remote

    if arguments.remote:
        looked = remote.look_at_all(hub.list_files(hub.parse_ref(arguments.remote).repo))
        rows = [(at.reference, at.file.size_bytes, at.file.quant, at.note) for at in looked]
    else:
        rows = [(f"{m.name}:{f.quant}", f.size_bytes, f.quant, "") for m in catalog.models() for f in m.files]
    width = max((len(row[0]) for row in rows), default=0)
    for label, size_bytes, quant, note in rows:
        if arguments.json:
            print(json.dumps({"model": label, "size_bytes": size_bytes, "quant": quant, "note": note}))
        else:
            print(f"{label:{width}}  {size_text(size_bytes):>8}  {quant or '?':6}  {note}".rstrip())
    return DONE


def _pull(arguments: argparse.Namespace) -> int:
    from dictation.cli import DONE, say
    from dictation.model_facts import free_memory_bytes
    from engine import catalog, hub, remote, store
    from engine.install import install, name_of

    name, _, words = arguments.model.partition(":")
    quant = ":".join(word for word in words.split(":") if word.lower() not in ("", "gguf"))
    known = catalog.find(name)
    if known is not None:
        advice = None if quant else catalog.recommend(known, free_memory_bytes())
        if advice:
            say(advice.reason)
        file = known.remote(advice.quant if advice else quant.upper())
        if file.sha256 is None:
            file = hub.choose(hub.list_files(file.repo), hub.ModelRef(file.repo, filename=file.path))
        name = known.name
    else:
        file = remote.choose(hub.parse_ref(arguments.model), free_memory_bytes=free_memory_bytes())
        if not quant:
            say(f"{file.path} is taken ({file.quant or 'quant unknown'}, {size_text(file.size_bytes)}).")
        name = name_of(file)
    bar = progress_bars()
    pulled = install(file, name, on_progress=lambda p: bar(name, p.done_bytes, p.total_bytes) if bar else None)
    found = store.known_as(pulled.path) if pulled.path else None
    say(f"{found.label if found else name} is {pulled.outcome}: {pulled.path}")
    return DONE


def _use(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from dictation import control, paths, settings
    from dictation.cli import DONE, say
    from dictation.errors import ControlError
    from engine import store

    found = store.find(arguments.model)  # says what is installed when this one is not
    is_name = not Path(arguments.model).expanduser().is_file()
    model = arguments.model if is_name else str(found.absolute())  # the app starts in another folder
    try:
        control.ask({"do": "use", "model": model})
    except control.NoAnswer:
        raise
    except ControlError:  # none runs
        loaded = settings.load(paths.settings_file())
        settings.save(loaded.settings.changed({"recognition.model": model}), paths.settings_file())
        say(f"{model} is used from the next start on.")
    else:
        say(f"{model} is used from the next dictation on.")
    return DONE


def _verify(arguments: argparse.Namespace) -> int:
    from dictation.cli import DONE, FAILED
    from engine import store
    from engine.errors import ModelFileError
    from engine.formats import load

    labels = arguments.models or [model.label for model in store.installed()]
    damaged = 0
    for label in labels:
        path = store.find(label)
        try:
            for tensor in load.load(path).tensors.values():
                tensor.data.max()  # touches every byte
            expected = path.resolve().name if path.resolve().parent.name == "blobs" else None
            if expected and len(expected) == 64 and _sha256(path) != expected:
                raise ModelFileError("its checksum is wrong: remove it and pull it again.")
            print(f"{label}: whole")
        except ModelFileError as error:
            damaged += 1
            print(f"{label}: damaged: {error}")
    return FAILED if damaged else DONE


def _sha256(path: Path) -> str:
    import hashlib

    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def _calibrate(arguments: argparse.Namespace) -> int:
    import json
    from dataclasses import asdict

    from dictation import calibrate
    from dictation.cli import DONE
    from engine import store

    for label in arguments.models or [model.label for model in store.installed()]:
        result = calibrate.measure(label)
        if arguments.json:
            print(json.dumps({"model": label} | asdict(result)))
        else:
            print(
                f"{label}: {result.speed:.1f} times faster than speech on {result.device}, "
                f"{size_text(result.memory_bytes)} of memory, {result.words_wrong} of {result.words} words wrong"
            )
    return DONE


def _import(arguments: argparse.Namespace) -> int:
    from pathlib import Path

    from dictation.cli import DONE, say, wrong_use
    from engine import store
    from engine.adopt import Adopted, import_any

    if arguments.name and arguments.sources != arguments.sources[:1]:
        return wrong_use("--name can name one model only")
    if "" in arguments.sources:  # of a variable that is not set; it would be the current folder and all below
        return wrong_use("name a file or a folder; . is the current one")
    for source in arguments.sources:
        if source == "starter":
            found = Adopted(tuple(store.import_starter(progress=progress_bars())))
        else:
            found = import_any(Path(source).expanduser(), arguments.name or "", progress_bars())
        for model in found.models:
            say(f"{model.label} is installed: {model.path}")
        for path in found.convertible:
            say(f"{path} can be converted: name it to `sayso models import`.")
    return DONE


def _info(arguments: argparse.Namespace) -> int:
    import json
    from dataclasses import asdict

    from dictation.cli import DONE
    from engine import store
    from engine.formats.load import load

    checkpoint = load(store.find(arguments.model))
    dims = checkpoint.dims
    path = checkpoint.path
    facts = {
        "name": checkpoint.name,
        "quant": checkpoint.quant,
        "file": str(path),
        "size_bytes": path.stat().st_size if path else None,
        "languages": checkpoint.n_languages or 1,
        "translates": checkpoint.is_multilingual,
        "licence": checkpoint.licence,
        "dims": asdict(dims),
    }
    if arguments.json:
        print(json.dumps(facts, ensure_ascii=False))
        return DONE
    languages = f"{checkpoint.n_languages}, and translates into English" if checkpoint.is_multilingual else "English"
    encoder = f"{dims.n_audio_layer} layers of {dims.n_audio_state}, {dims.n_audio_head} heads, {dims.n_mels} mels"
    decoder = f"{dims.n_text_layer} layers of {dims.n_text_state}, {dims.n_text_head} heads, {dims.n_vocab} tokens"
    rows = {
        "model": f"{checkpoint.name or 'without a name'}, {checkpoint.quant}",
        "file": f"{path} ({size_text(path.stat().st_size)})" if path else "",
        "languages": languages,
        "licence": checkpoint.licence or "not said in the file",
        "encoder": encoder,
        "decoder": decoder,
    }
    for label, value in rows.items():
        print(f"{label:10} {value}")
    return DONE


def _remove(arguments: argparse.Namespace) -> int:
    from dictation.cli import DONE, say
    from engine import store

    for name in arguments.models:
        model = store.remove(name)
        stays = model.path.is_file()
        say(f"{model.label} is forgotten; its file stays: {model.path}" if stays else f"{model.label} is removed.")
    return DONE


def _where(arguments: argparse.Namespace) -> int:
    from dictation.cli import DONE
    from engine import store

    print(store.find(arguments.model) if arguments.model else store.models_dir())
    return DONE


def _fields(model: InstalledModel) -> dict[str, object]:
    return {"name": model.name, "quant": model.quant, "size_bytes": model.size_bytes, "file": str(model.path)}
