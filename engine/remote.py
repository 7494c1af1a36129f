"""What files on a Hub are, by their own first bytes, before any of them is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine import hub
from engine.catalog import LAYOUT_FACTOR, PREFERENCE, PROCESS_BYTES
from engine.errors import HubError, ModelFileError, NotOnHubError
from engine.hub import ModelRef, RemoteFile

if TYPE_CHECKING:
    from engine.formats.header import Header

START_BYTES = 64 << 10  # a GGUF's own words about itself come first
TABLE_BYTES = 8 << 20  # with a vocabulary, and the table of tensors behind it
AT_ONCE = 8


@dataclass(frozen=True)
class Looked:
    """A remote file after a look at its header."""

    file: RemoteFile  # with the quant that its header says; its name's where the header does not say any
    note: str = ""  # what a person should know: it is no Whisper, its name says another quant
    usable: bool = True

    @property
    def reference(self) -> str:
        """What `sayso models pull` takes to get this very file."""
        named = hub.quant_in_name(self.file.path)
        return f"{self.file.repo}:{named if named and named == self.file.quant else self.file.path}"


def look(file: RemoteFile, endpoint: str | None = None) -> Looked:
    """Read the header of a file on a Hub and compare it with the file's name. Raises HubError."""
    try:
        header = _read(file, endpoint)
    except ModelFileError as error:
        return Looked(file, str(error), usable=False)
    if header is None:
        return Looked(file, "" if file.quant else "its header does not say the quant")
    if file.quant is None:
        return Looked(replace(file, quant=header.quant))
    if _base(file.quant) in {_base(kind) for kind in header.types}:
        return Looked(file)
    return Looked(replace(file, quant=header.quant), f"it is {header.quant}, whatever its name says")


def look_at_all(files: Sequence[RemoteFile], endpoint: str | None = None) -> list[Looked]:
    """`look` at several at once; one that can't be read gets a note."""

    def one(file: RemoteFile) -> Looked:
        try:
            return look(file, endpoint)
        except HubError as error:
            return Looked(file, str(error))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(one, files))


def choose(ref: ModelRef, endpoint: str | None = None, free_memory_bytes: int | None = None) -> RemoteFile:
    """The file of a repository that `ref` names, by its name first, else by its header, which has the last word.

    free_memory_bytes: where `ref` has no quant, the file is to fit into it. Raises HubError, and ModelFileError where
    the file is no Whisper.
    """
    files = hub.list_files(ref.repo, endpoint=endpoint)
    try:
        if files and free_memory_bytes is not None and not (ref.quant or ref.filename):
            ref = replace(ref, filename=_recommended(files, free_memory_bytes).path)
        file = hub.choose(files, ref)
    except NotOnHubError:
        nameless = [f for f in files if f.quant is None]
        if not (ref.quant and nameless):
            raise
        file = hub.choose([looked.file for looked in look_at_all(nameless, endpoint)], ref)
    looked = look(file, endpoint)
    if not looked.usable:
        raise ModelFileError(looked.note)
    if ref.quant and _base(looked.file.quant or ref.quant) != _base(ref.quant):
        raise NotOnHubError(
            f"{file.path} is called {ref.quant}, but its header says {looked.file.quant}; "
            f"pull it as {looked.reference} if that is what you want."
        )
    return looked.file


def _recommended(files: Sequence[RemoteFile], free_memory_bytes: int) -> RemoteFile:
    """The first in the catalogue's order that fits into the memory, or the smallest."""
    fitting = [f for f in files if f.size_bytes * LAYOUT_FACTOR + PROCESS_BYTES <= free_memory_bytes]
    if not fitting:
        return min(files, key=lambda f: f.size_bytes)
    order = {quant: rank for rank, quant in enumerate(PREFERENCE)}
    return min(fitting, key=lambda f: (order.get(f.quant or "", len(order)), len(f.path)))


def _read(file: RemoteFile, endpoint: str | None) -> Header | None:
    from engine.formats.header import read_header

    for n_bytes in (START_BYTES, TABLE_BYTES):
        start = hub.read_start(file, n_bytes, endpoint)
        header = read_header(start, file.path, file.size_bytes)
        if header is not None or len(start) < n_bytes:
            return header
    return None


def _base(quant: str) -> str:
    """The blocks of a quant: those of Q4_K_M, which mixes in better ones, are Q4_K."""
    return quant.removesuffix("_S").removesuffix("_M").removesuffix("_L")
