"""A file on the Hub becomes an installed model: what it needs comes along, it is pulled, checked and made known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from engine import hub, store
from engine.errors import ModelFileError
from engine.hub import Progress, Pulled, RemoteFile, Wish

if TYPE_CHECKING:
    from engine.checkpoint import Checkpoint

# what loaders look for beside a model (`formats/vocabulary.py`, `formats/beside.py`); all of them are small
BESIDE = ("config.json", "generation_config.json", "tokenizer.json", "vocab.json", "vocabulary.json", "vocabulary.txt")
MAX_BESIDE_BYTES = 16 << 20


def install(
    file: RemoteFile,
    name: str,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    on_checking: Callable[[], None] = lambda: None,
    wish: Callable[[], Wish] = lambda: Wish.GO_ON,
    endpoint: str | None = None,
    cache_dir: Path | None = None,
) -> Pulled:
    """Pull `file` and make it known as `name` ("base", "large-v3-turbo").

    A GGUF is used where it lies in the cache; a ggml file is converted into the models folder. What was fetched and is
    no Whisper is taken out of the cache again; whatever else goes wrong, it stays there for the next attempt. A file
    that was there is compared with its checksum, and fetched again where it is damaged. Raises HubError and
    ModelFileError.
    """

    from engine.formats import load

    def check(part: Path) -> None:
        on_checking()
        _check_header(part, file)

    def fetch() -> Pulled:
        return hub.pull(file, on_progress=on_progress, wish=wish, check=check, endpoint=endpoint, cache_dir=cache_dir)

    pulled = fetch()
    if pulled.outcome == "already there" and pulled.path is not None:
        on_checking()
        if not hub.is_right(pulled.path, file):  # it has become damaged since
            hub.forget(pulled.path)
            pulled = fetch()
    if pulled.path is None:
        return pulled
    try:
        if not _is_complete(pulled.path):
            _pull_beside(file, endpoint, cache_dir)
        checkpoint = load.load(pulled.path)  # the whole check: every tensor, the vocabulary
    except ModelFileError:
        if pulled.outcome == "installed":  # else it is another program's
            hub.forget(pulled.path)
        raise
    return Pulled(pulled.outcome, _make_known(checkpoint, pulled.path, name, file.quant))


def _check_header(part: Path, file: RemoteFile) -> None:
    """The header and every offset in it, before the file enters the cache."""
    if file.path.endswith(".gguf"):
        from engine.gguf import reader

        reader.read(part)


def _is_complete(path: Path) -> bool:
    """Whether the file holds its own vocabulary; all else follows from its tensors."""
    if path.suffix != ".gguf":
        return True  # ggml
    from engine.gguf import reader

    return reader.read(path).strings("tokenizer.ggml.tokens") is not None


def _pull_beside(file: RemoteFile, endpoint: str | None, cache_dir: Path | None) -> None:
    """The tokenizer and configuration in the same folder of the repository, where there are any."""
    folder, stem = PurePosixPath(file.path).parent, PurePosixPath(file.path).stem
    for other in hub.list_all(file.repo, file.commit, endpoint):
        path = PurePosixPath(other.path)
        wanted = path.name in BESIDE or (path.suffix == ".json" and path.stem.startswith(("config-", "tokenizer-")))
        if path.parent == folder and wanted and other.size_bytes <= MAX_BESIDE_BYTES and path.stem != stem:
            hub.pull(other, endpoint=endpoint, cache_dir=cache_dir)


def _make_known(checkpoint: Checkpoint, path: Path, name: str, quant: str | None) -> Path:
    from engine.formats.sniff import Kind, sniff

    if sniff(path) is Kind.GGUF:
        store.register(path, name, quant or checkpoint.quant)
        return path
    from engine.export import export

    preset = "F16" if checkpoint.quant in ("F16", "F32", "BF16") else "Q8_0"
    target = store.models_dir() / f"{name}-{preset}.gguf"
    export(checkpoint, preset, target)
    return target


def name_of(file: RemoteFile) -> str:
    """What to call a model whose repository the catalogue does not know: its file's name without quant and prefix."""
    stem = PurePosixPath(file.path).stem
    if file.quant and stem.lower().endswith(file.quant.lower()):
        stem = stem[: -len(file.quant)].rstrip("-_.")
    for prefix in ("ggml-", "whisper-"):
        stem = stem.removeprefix(prefix)
    return store.plain_name(
        stem if stem not in ("", "model") else file.repo.rpartition("/")[2].removeprefix("whisper-")
    )
