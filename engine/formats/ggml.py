"""whisper.cpp's ggml-*.bin, dense or quantized -> Checkpoint; the data stay memory-mapped.

Layout, little endian, nothing aligned: u32 magic; 11 x i32 sizes; mel filters; vocabulary; tensors until the end.
Source: ggml-org/whisper.cpp, src/whisper.cpp `whisper_model_load`. The file holds no suppress lists, heads or
languages: they follow from the vocabulary size.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.anatomy import canonical_name, openai_name
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.formats import vocabulary
from engine.formats.assemble import READABLE, assemble, main_type
from engine.formats.sniff import GGML_MAGIC
from engine.gguf.reader import map_file
from engine.runtime import F32

N_SIZES = 11
N_FREQUENCIES = 201
MAX_TOKEN_BYTES = 1024
MAX_NAME_BYTES = 256
MAX_TENSORS = 1 << 14
QUANTIZATION_VERSION = 2
_FILE_TYPES = {  # of the whole file: another enumeration than the tensors'
    TensorType.F32: 0,
    TensorType.F16: 1,
    TensorType.Q4_0: 2,
    TensorType.Q4_1: 3,
    TensorType.Q8_0: 7,
    TensorType.Q5_0: 8,
    TensorType.Q5_1: 9,
    TensorType.Q4_K: 12,
    TensorType.Q5_K: 13,
    TensorType.Q6_K: 14,
}


def load(path: Path) -> Checkpoint:
    """Read a whisper.cpp model. Raises ModelFileError where it is damaged or another program's ggml file."""
    cursor = _Cursor(map_file(path))
    if bytes(cursor.take(4)) != GGML_MAGIC:
        raise ModelFileError(f"{path.name} is not a whisper.cpp model.")
    sizes = cursor.integers(N_SIZES)
    n_vocab, n_audio_head, n_text_head = sizes[0], sizes[3], sizes[7]
    filters = _read_filters(cursor)
    tokens = _read_vocabulary(cursor, n_vocab)
    tensors = {tensor.name: tensor for tensor in _read_tensors(cursor)}
    if not tensors:
        raise ModelFileError(f"{path.name} holds no weights: it is one of whisper.cpp's files for tests.")
    made = assemble(
        tensors,
        vocabulary=lambda _: tokens,
        n_head=(n_audio_head, n_text_head),
        name=path.stem.removeprefix("ggml-"),
        quant=main_type(tensors),
        path=path,
        mel_filters=filters,
    )
    if made.dims.n_vocab != n_vocab:
        raise ModelFileError(f"{path.name} is damaged: its header and its weights disagree on the vocabulary.")
    return made


def quant_in_header(start: bytes) -> str | None:
    """The quant that the first bytes of a file claim for all of it; None where they are too few or it is unknown."""
    if len(start) < 4 + 4 * N_SIZES:
        return None
    file_type = struct.unpack_from(f"<{N_SIZES}i", start, 4)[-1] % 1000
    return next((kind.name for kind, number in _FILE_TYPES.items() if number == file_type), None)


class _Cursor:
    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.offset = 0

    @property
    def left(self) -> int:
        return len(self.data) - self.offset

    def take(self, n_bytes: int) -> NDArray[np.uint8]:
        if not 0 <= n_bytes <= self.left:
            raise ModelFileError("This whisper.cpp file is cut short: the download is incomplete. Fetch it again.")
        start = self.offset
        self.offset += n_bytes
        return self.data[start : self.offset]

    def integers(self, count: int) -> tuple[int, ...]:
        return struct.unpack(f"<{count}i", self.take(4 * count).tobytes())


def _read_filters(cursor: _Cursor) -> F32:
    n_mels, n_frequencies = cursor.integers(2)
    if n_mels not in (80, 128) or n_frequencies != N_FREQUENCIES:
        raise ModelFileError("This whisper.cpp file is damaged, or another model's: it has no mel filters.")
    values = cursor.take(4 * n_mels * n_frequencies)
    return np.frombuffer(values.tobytes(), "<f4").reshape(n_mels, n_frequencies)


def _read_vocabulary(cursor: _Cursor, n_vocab: int) -> vocabulary.Vocabulary:
    (count,) = cursor.integers(1)
    if not 0 <= count <= 51866:
        raise ModelFileError(f"This whisper.cpp file is damaged: it claims {count} tokens.")
    tokens = []
    for _ in range(count):
        (length,) = cursor.integers(1)
        if not 0 <= length <= MAX_TOKEN_BYTES:
            raise ModelFileError(f"This whisper.cpp file is damaged: a token is {length} bytes long.")
        tokens.append(bytes(cursor.take(length)))
    return vocabulary.checked(tuple(tokens[: vocabulary.end_of_text(n_vocab)]), n_vocab)


def _read_tensors(cursor: _Cursor) -> Iterator[Tensor]:
    seen: set[str] = set()
    while cursor.left:
        rank, name_bytes, type_id = cursor.integers(3)
        if not 1 <= rank <= 4 or not 0 < name_bytes <= MAX_NAME_BYTES or len(seen) >= MAX_TENSORS:
            raise ModelFileError("This whisper.cpp file is damaged: a tensor's header makes no sense.")
        ne = cursor.integers(rank)
        name = bytes(cursor.take(name_bytes)).decode("utf-8", "replace")
        try:
            kind = TensorType(type_id)
        except ValueError:
            kind = None
        if kind not in READABLE:
            made_by = "whisper.cpp's newer kinds" if kind else "another program (ratchet has its own)"
            raise ModelFileError(f"The tensor {name!r} has type {type_id}, which is {made_by}; Sayso can't read it.")
        block, block_bytes = GGML_QUANT_SIZES[kind]
        if min(ne) < 1 or ne[0] % block:
            raise ModelFileError(f"This whisper.cpp file is damaged: {name!r} has rows of {ne[0]}.")
        row_bytes = ne[0] // block * block_bytes
        data = cursor.take(row_bytes * math.prod(ne[1:])).reshape(-1, row_bytes)
        name = canonical_name(name)
        if name in seen:
            raise ModelFileError(f"This whisper.cpp file is damaged: the tensor {name!r} comes twice.")
        seen.add(name)
        yield Tensor(name, tuple(reversed(ne)), kind, data)


def write_header(checkpoint: Checkpoint, kind: TensorType, filters: F32, file: BinaryIO) -> None:
    """Write all that comes before the tensors. kind: of all matrices, which whisper.cpp wants to be one."""
    dims = checkpoint.dims
    audio = (dims.n_audio_ctx, dims.n_audio_state, dims.n_audio_head, dims.n_audio_layer)
    text = (dims.n_text_ctx, dims.n_text_state, dims.n_text_head, dims.n_text_layer)
    file_type = _FILE_TYPES[kind] + (QUANTIZATION_VERSION * 1000 if _FILE_TYPES[kind] > 1 else 0)
    sizes = (dims.n_vocab, *audio, *text, dims.n_mels, file_type)
    file.write(GGML_MAGIC + struct.pack(f"<{N_SIZES}i", *sizes))
    file.write(struct.pack("<2i", *filters.shape) + filters.astype("<f4").tobytes())
    file.write(struct.pack("<i", len(checkpoint.vocabulary)))
    for token in checkpoint.vocabulary:
        file.write(struct.pack("<i", len(token)) + token)


def write_tensor(tensor: Tensor, file: BinaryIO) -> None:
    """Write one tensor (canonical name) under OpenAI's name."""
    shape = (*tensor.shape, 1) if tensor.name.endswith(("conv1.bias", "conv2.bias")) else tensor.shape
    ne, foreign = tuple(reversed(shape)), openai_name(tensor.name).encode()
    file.write(struct.pack(f"<3i{len(ne)}i", len(ne), len(foreign), tensor.type, *ne) + foreign)
    file.write(tensor.data.tobytes())
