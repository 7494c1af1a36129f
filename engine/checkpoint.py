"""A Whisper model in memory, whatever file it came from: sizes, packed tensors, vocabulary, defaults.

Readers (`gguf/`, `formats/`) make a Checkpoint, runtimes (`model.py`, `cpu/`) and the exporter take one. Tensor names
are Hugging Face's without the leading "model.": `encoder.layers.0.self_attn.q_proj.weight`. Data stays packed, as a
view into the memory-mapped file, until somebody asks for f32.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from gguf import quants
from numpy.typing import NDArray

from engine.runtime import F32, Dims


@dataclass(frozen=True)
class Tensor:
    """One weight. `shape` is in NumPy order (rows first), `data` the raw bytes, row by row, uint8.

    data has shape (rows, bytes per row), where rows is the product of all but the last dimension.
    """

    name: str
    shape: tuple[int, ...]
    type: TensorType
    data: NDArray[np.uint8]

    def f32(self) -> F32:
        """The values, dequantized, in `shape`. A new array of 4 bytes per value."""
        flat: F32 = quants.dequantize(self.data, self.type).astype(np.float32, copy=False)
        return flat.reshape(self.shape)


@dataclass(frozen=True)
class Checkpoint:
    dims: Dims
    tensors: Mapping[str, Tensor]
    vocabulary: tuple[bytes, ...]  # byte-level BPE tokens; index = token id = merge rank; ids below end of text
    name: str = ""  # "base", "tiny.en", or the file's own word
    quant: str = ""  # "Q8_0", "F16", "Q4_K_M": of most decoder matrices, or as the file says
    path: Path | None = None
    sha256: str | None = None  # of the file, when known
    licence: str | None = None
    suppress_tokens: tuple[int, ...] | None = None  # from the file; None: derived from the vocabulary size
    begin_suppress_tokens: tuple[int, ...] | None = None
    alignment_heads: tuple[tuple[int, int], ...] | None = None  # (layer, head)
    mel_filters: F32 | None = None  # (n_mels, 201), from the file; None: computed
    metadata: Mapping[str, object] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Tensor:
        return self.tensors[name]

    @property
    def is_multilingual(self) -> bool:
        return self.dims.n_vocab >= 51865

    @property
    def n_languages(self) -> int:
        """99 or 100 for multilingual models; 0 for `.en`."""
        return self.dims.n_vocab - 51765 - 1 if self.is_multilingual else 0
