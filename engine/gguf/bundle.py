"""A Whisper GGUF of any dialect -> Checkpoint. The dialect is known by its tensor names, never by its metadata.

Read: our own bundles, antfly (Hugging Face names), transcribe.cpp (`enc.`/`dec.`), candle and ratchet (no metadata,
configuration and tokenizer beside the file, quantized positions), OpenAI-named. Sizes come from the shapes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from gguf import LlamaFileType

from engine.anatomy import canonical_name
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.formats import vocabulary
from engine.formats.assemble import READABLE, assemble, main_type
from engine.formats.sniff import Kind, sniff
from engine.gguf.reader import GGUF, read
from engine.runtime import F32

BUNDLE_VERSION = 2  # of our own keys; a starter bundle with a lower one is made anew
FRONTEND_MELS = "frontend.mel_filterbank"  # transcribe.cpp keeps the filters as a tensor
N_FREQUENCIES = 201


def load(path: Path) -> Checkpoint:
    """Read a Whisper GGUF of any dialect; the data stay memory-mapped.

    Raises ModelFileError where the file is damaged, is not a Whisper, or has no vocabulary in it or beside it.
    """
    kind = sniff(path)
    if kind != Kind.GGUF:
        raise ModelFileError(f"{path.name} is a {kind.value} model: convert it with `sayso models import {path}`.")
    file = read(path)
    refuse_other_models(file)
    tensors: dict[str, Tensor] = {}
    for tensor in file.tensors.values():
        if tensor.name.startswith("frontend."):
            continue
        if tensor.type not in READABLE:
            raise ModelFileError(f"The tensor {tensor.name!r} is {tensor.type.name}, which Sayso does not read.")
        name = canonical_name(tensor.name)
        if name in tensors:
            raise ModelFileError(f"This GGUF file is damaged: it holds {name} under two names.")
        tensors[name] = Tensor(name, tensor.shape, tensor.type, tensor.data)
    return assemble(
        tensors,
        n_head=(
            file.integer("whisper.encoder.attention.head_count", "stt.whisper.encoder.n_heads"),
            file.integer("whisper.decoder.attention.head_count", "stt.whisper.decoder.n_heads"),
        ),
        vocabulary=lambda n_vocab: _vocabulary(file, n_vocab),
        name=file.text("general.name") or path.stem,
        quant=quant_word(file) or main_type(tensors),
        path=path,
        licence=file.text("general.license"),
        suppress_tokens=file.integers("whisper.suppress_tokens", "stt.whisper.suppress_tokens"),
        begin_suppress_tokens=file.integers("whisper.begin_suppress_tokens", "stt.whisper.begin_suppress_tokens"),
        alignment_heads=_pairs(file.integers("whisper.alignment_heads")),
        mel_filters=_mel_filters(file),
        metadata={key: value for key, value in file.metadata.items() if isinstance(value, str | int | float)},
    )


def refuse_other_models(file: GGUF) -> None:
    """Raise ModelFileError with what the file is, where it is recognisably another kind of model."""
    architecture = file.text("general.architecture") or ""
    if any(canonical_name(name) == "encoder.conv1.weight" for name in file.tensors):
        return
    if architecture in ("clip", "mmproj") or any(name.startswith(("mm.", "a.", "v.")) for name in file.tensors):
        raise ModelFileError(f"{file.path.name} is the audio or image projector of a language model, not a Whisper.")
    if architecture and architecture != "whisper":
        raise ModelFileError(f"{file.path.name} is a {architecture} model, not a Whisper: dictation needs a Whisper.")
    if any(name.startswith("blk.") or name == "token_embd.weight" for name in file.tensors):
        raise ModelFileError(f"{file.path.name} is a language model, not a Whisper: dictation needs a Whisper.")
    raise ModelFileError(f"{file.path.name} is a GGUF file, but holds no Whisper model.")


def _vocabulary(file: GGUF, n_vocab: int) -> vocabulary.Vocabulary:
    tokens = file.strings("tokenizer.ggml.tokens")
    if tokens is not None:
        return vocabulary.from_printable(tokens, n_vocab)
    found = vocabulary.beside(file.path, n_vocab)
    if found is None:
        raise ModelFileError(
            f"{file.path.name} has no vocabulary in it: put the model's tokenizer.json beside it and try again."
        )
    return found


def quant_word(file: GGUF) -> str | None:
    """The quant in the file's own word, where its keys have one."""
    if word := file.text("sayso.format"):
        return word
    file_type = file.integer("general.file_type")
    return _FILE_TYPES.get(file_type) if file_type is not None else None


_FILE_TYPES = {
    int(kind): kind.name.removeprefix("MOSTLY_").removeprefix("ALL_")
    for kind in LlamaFileType
    if kind.name.removeprefix("MOSTLY_").removeprefix("ALL_") in {t.name for t in TensorType} | {"Q4_K_M", "Q5_K_M"}
}


def _pairs(flat: tuple[int, ...] | None) -> tuple[tuple[int, int], ...] | None:
    if not flat or len(flat) % 2:
        return None
    return tuple(zip(flat[::2], flat[1::2], strict=True))


def _mel_filters(file: GGUF) -> F32 | None:
    stored = file.metadata.get("whisper.mel_filters")
    if isinstance(stored, np.ndarray) and stored.dtype == np.float32 and stored.size in (80 * 201, 128 * 201):
        return np.array(stored, np.float32).reshape(-1, N_FREQUENCIES)
    tensor = file.tensors.get(FRONTEND_MELS)
    if tensor is not None and tensor.type == TensorType.F32 and tensor.shape in ((80, 201), (128, 201)):
        return tensor.f32()
    return None
