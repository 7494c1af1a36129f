"""CTranslate2's model.bin (version 6, WhisperSpec revision 3) -> Checkpoint, in the f32 or f16 of the file.

Layout, little endian: u32 version; string spec; u32 revision; u32 count; per variable: string name, u8 rank,
u32 x rank, u8 type, u32 bytes, data; u32 aliases; per alias two strings. A string is u16 length with its NUL.
Source: OpenNMT/CTranslate2, python/ctranslate2/specs/model_spec.py.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.anatomy import DECODER_POSITIONS, ENCODER_POSITIONS, TOKEN_TABLE
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.formats import beside, vocabulary
from engine.formats.assemble import assemble
from engine.gguf.reader import map_file

VERSION = 6
SPEC = "WhisperSpec"
REVISION = 3
MAX_RANK = 4

_TYPES = {0: (TensorType.F32, 4), 4: (TensorType.F16, 2), 5: (TensorType.BF16, 2)}
_ITEM_BYTES = {0: 4, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2}  # f32, i8, i16, i32, f16, bf16

_ATTENTION = {"self_attention": "self_attn", "attention": "encoder_attn"}
_SUFFIX = {"gamma": "weight", "beta": "bias", "weight": "weight", "bias": "bias"}
_LAYER = re.compile(r"(encoder|decoder)/layer_(\d{1,3})/(self_attention|attention|ffn)/(layer_norm|linear_\d)/(\w+)")
_PLAIN = {
    "encoder/position_encodings/encodings": ENCODER_POSITIONS,
    "decoder/position_encodings/encodings": DECODER_POSITIONS,
    "decoder/embeddings/weight": TOKEN_TABLE,
}


def load(path: Path, folder: Path | None = None, name: str = "", licence: str | None = None) -> Checkpoint:
    """Read a CTranslate2 Whisper: `path` is its model.bin or the folder that holds one.

    folder: where config.json and the vocabulary lie; beside model.bin when left out.
    Raises ModelFileError where the file is damaged, quantized to integers, or not a Whisper.
    """
    file = path / "model.bin" if path.is_dir() else path
    folder = folder or file.parent
    variables = read_variables(map_file(file))
    defaults = beside.generation(folder)
    tensors = {tensor.name: tensor for tensor in _tensors(variables)}
    return assemble(
        tensors,
        vocabulary=lambda n_vocab: _vocabulary(folder, n_vocab),
        n_head=(_scalar(variables, "encoder/num_heads"), _scalar(variables, "decoder/num_heads")),
        name=name or folder.name,
        quant=tensors[TOKEN_TABLE].type.name if TOKEN_TABLE in tensors else "",
        path=file,
        licence=licence,
        suppress_tokens=defaults.suppress_tokens,
        begin_suppress_tokens=defaults.begin_suppress_tokens,
        alignment_heads=defaults.alignment_heads,
    )


def _vocabulary(folder: Path, n_vocab: int) -> vocabulary.Vocabulary:
    found = vocabulary.beside(folder, n_vocab)
    if found is None:
        raise ModelFileError(f"There is no tokenizer.json or vocabulary beside the model in {folder}.")
    return found


class _Cursor:
    def __init__(self, data: NDArray[np.uint8]) -> None:
        self.data = data
        self.offset = 0

    def skip(self, n_bytes: int) -> int:
        start = self.offset
        if n_bytes > len(self.data) - start:
            raise ModelFileError("This CTranslate2 file is cut short: the download is incomplete. Fetch it again.")
        self.offset = start + n_bytes
        return start

    def integer(self, layout: str) -> int:
        value: int = struct.unpack_from(layout, self.data.data, self.skip(struct.calcsize(layout)))[0]
        return value

    def string(self) -> str:
        length = self.integer("<H")
        start = self.skip(length)
        return bytes(self.data[start : start + length]).rstrip(b"\0").decode("latin-1")


Variables = Mapping[str, tuple[int, tuple[int, ...], NDArray[np.uint8]]]  # name -> type id, shape, bytes


def read_variables(data: NDArray[np.uint8]) -> Variables:
    """The variables of a model.bin, checked against its size; the bytes are views."""
    cursor = _Cursor(data)
    version, spec, revision = cursor.integer("<I"), cursor.string(), cursor.integer("<I")
    if spec != SPEC:
        raise ModelFileError(f"This CTranslate2 file holds a {spec[:40]!r} model, not a Whisper.")
    if version != VERSION or revision != REVISION:
        raise ModelFileError(
            f"This CTranslate2 file has version {version}, revision {revision}; Sayso reads version 6, revision 3."
        )
    variables: dict[str, tuple[int, tuple[int, ...], NDArray[np.uint8]]] = {}
    for _ in range(cursor.integer("<I")):
        name, rank = cursor.string(), cursor.integer("<B")
        if rank > MAX_RANK or name in variables:
            raise ModelFileError(f"This CTranslate2 file is damaged at {name[:80]!r}.")
        shape = tuple(cursor.integer("<I") for _ in range(rank))
        type_id, n_bytes = cursor.integer("<B"), cursor.integer("<I")
        if math.prod(shape) * _ITEM_BYTES.get(type_id, -1) != n_bytes:
            raise ModelFileError(f"This CTranslate2 file is damaged: {name[:80]!r} has the wrong size.")
        start = cursor.skip(n_bytes)
        variables[name] = (type_id, shape, data[start : start + n_bytes])
    return variables


def _tensors(variables: Variables) -> Iterator[Tensor]:
    """Canonical tensors, with the stacked q, k, v matrices cut apart (views of rows)."""
    for name, (type_id, shape, data) in variables.items():
        targets = _targets(name)
        if not targets:
            continue
        if type_id not in _TYPES:
            raise ModelFileError(
                "This CTranslate2 model is quantized to integers; take the float16 or float32 one and convert that."
            )
        if not shape or shape[0] % len(targets):
            raise ModelFileError(f"This CTranslate2 file is damaged: {name!r} has the shape {shape}.")
        kind, item_bytes = _TYPES[type_id]
        rows = shape[0] // len(targets)
        part_shape = (rows, *shape[1:])
        part_bytes = len(data) // len(targets)
        for i, target in enumerate(targets):
            if target.endswith("k_proj.bias"):
                continue  # zeros: Whisper's keys have no bias
            packed = data[i * part_bytes : (i + 1) * part_bytes].reshape(-1, part_shape[-1] * item_bytes)
            yield Tensor(target, part_shape, kind, packed)


def _targets(name: str) -> list[str]:
    """Canonical names of the tensors stacked in one CTranslate2 variable, in order of their rows."""
    if name in _PLAIN:
        return [_PLAIN[name]]
    found = _LAYER.fullmatch(name)
    if found is None:
        half, _, rest = name.partition("/")
        stem, _, suffix = rest.rpartition("/")
        known = half in ("encoder", "decoder") and stem in ("conv1", "conv2", "layer_norm") and suffix in _SUFFIX
        return [f"{half}.{stem}.{_SUFFIX[suffix]}"] if known else []
    half, layer, block, part, suffix = found.groups()
    if suffix not in _SUFFIX:
        return []
    stem, suffix = f"{half}.layers.{layer}", _SUFFIX[suffix]
    if block == "ffn":
        own = {"layer_norm": "final_layer_norm", "linear_0": "fc1", "linear_1": "fc2"}.get(part)
        return [f"{stem}.{own}.{suffix}"] if own else []
    stem = f"{stem}.{_ATTENTION[block]}"
    if part == "layer_norm":
        return [f"{stem}_layer_norm.{suffix}"]
    stacked = {
        ("self_attention", "linear_0"): ("q_proj", "k_proj", "v_proj"),
        ("self_attention", "linear_1"): ("out_proj",),
        ("attention", "linear_0"): ("q_proj",),
        ("attention", "linear_1"): ("k_proj", "v_proj"),
        ("attention", "linear_2"): ("out_proj",),
    }.get((block, part), ())
    return [f"{stem}.{projection}.{suffix}" for projection in stacked]


def _scalar(variables: Variables, name: str) -> int | None:
    type_id, shape, data = variables.get(name, (-1, (), None))
    if data is None or type_id not in (1, 2, 3) or math.prod(shape) != 1:
        return None
    return int.from_bytes(bytes(data), "little", signed=True)
