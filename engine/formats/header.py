"""What a model file is by its first bytes: for files that are still elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.anatomy import canonical_name
from engine.errors import ModelFileError
from engine.formats import ggml
from engine.formats.assemble import main_type
from engine.formats.sniff import HEAD_BYTES, Kind, sniff_bytes
from engine.gguf import bundle, reader


@dataclass(frozen=True)
class Header:
    quant: str  # of the whole file
    types: frozenset[str]  # of its tensors; only `quant` where the bytes end before their table does


def read_header(start: bytes, name: str, size_bytes: int) -> Header | None:
    """By the first bytes of a file of `size_bytes`; None where they do not say it, and more of them may.

    Raises ModelFileError with what the file is where it is no Whisper.
    """
    kind = sniff_bytes(start[:HEAD_BYTES], size_bytes, name)
    if kind is Kind.GGML:
        quant = ggml.quant_in_header(start)
        return Header(quant, frozenset({quant})) if quant else None
    if kind is not Kind.GGUF:
        raise ModelFileError(f"{name} is a {kind.value} model, which can't be pulled as a single file.")
    file, is_whole = reader.read_start(start, Path(name))
    architecture = file.text("general.architecture")
    if is_whole or (architecture and architecture != "whisper"):
        bundle.refuse_other_models(file)
    word = bundle.quant_word(file)
    if not is_whole:
        return Header(word, frozenset({word})) if word else None
    tensors = {canonical_name(tensor.name): tensor for tensor in file.tensors.values()}
    quant = word or main_type(tensors)
    return Header(quant, frozenset(tensor.type.name for tensor in tensors.values())) if quant else None
