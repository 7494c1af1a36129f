"""Checkpoint -> GGUF bundle: which tensor gets which type (`plan`), and the writing of it (`export`).

Policy (ARCHITECTURE.md, quantization): position tables, norms, biases and convolutions stay dense; the token table,
which is also the logit head, and the whole encoder never go below Q8_0; decoder matrices take the requested format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGUF_DEFAULT_ALIGNMENT, LlamaFileType, quants
from gguf import GGMLQuantizationType as TensorType
from gguf import GGUFValueType as ValueType
from numpy.typing import NDArray

from engine.anatomy import TOKEN_TABLE
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import OptionError
from engine.formats import vocabulary
from engine.gguf import writer
from engine.gguf.writer import Slot

BUNDLE_VERSION = 1  # of our keys; a starter bundle with another one is made anew

PRESETS: Mapping[str, TensorType] = {
    "F32": TensorType.F32,
    "F16": TensorType.F16,
    "Q8_0": TensorType.Q8_0,
    "Q4_0": TensorType.Q4_0,
}
_FILE_TYPES = {name: LlamaFileType["ALL_F32" if name == "F32" else f"MOSTLY_{name}"] for name in PRESETS}
_BITS = {kind: GGML_QUANT_SIZES[kind][1] * 8 / GGML_QUANT_SIZES[kind][0] for kind in TensorType}
_CHUNK_VALUES = 1 << 22  # quantized at a time: bounds memory at some 50 MB


@dataclass(frozen=True)
class PlannedTensor:
    """What will become of one tensor, for the export and for `--dry-run`."""

    name: str  # canonical
    shape: tuple[int, ...]
    type: TensorType
    reason: str  # for people: "dense: norm", "Q8_0 at least: encoder", "as asked"

    @property
    def n_bytes(self) -> int:
        return Slot(self.name, self.shape, self.type).n_bytes


def plan(checkpoint: Checkpoint, preset: str) -> list[PlannedTensor]:
    """The type of every tensor under `preset` (a key of PRESETS), with the reason, in file order.

    Raises OptionError for an unknown preset.
    """
    if preset not in PRESETS:
        raise OptionError(f"There is no format {preset!r}; choose one of {', '.join(PRESETS)}.")
    return [
        PlannedTensor(name, tensor.shape, *_choose(name, tensor, PRESETS[preset]))
        for name, tensor in checkpoint.tensors.items()
    ]


def _choose(name: str, tensor: Tensor, wanted: TensorType) -> tuple[TensorType, str]:
    dense = TensorType.F16 if tensor.type == TensorType.F16 and wanted != TensorType.F32 else TensorType.F32
    if len(tensor.shape) == 1:
        return TensorType.F32, "dense: norm" if "layer_norm" in name else "dense: bias"
    if "embed_positions" in name:
        return dense, "dense: positions"
    if len(tensor.shape) == 3:
        return dense, "dense: convolution"
    if _BITS[wanted] < _BITS[TensorType.Q8_0] and (name == TOKEN_TABLE or name.startswith("encoder.")):
        part = "token table and logit head" if name == TOKEN_TABLE else "encoder"
        return TensorType.Q8_0, f"Q8_0 at least: {part}"
    return wanted, "as asked"


def export(
    checkpoint: Checkpoint,
    preset: str,
    path: Path,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Write `checkpoint` as a GGUF bundle of ours, atomically, one tensor in memory at a time.

    progress: called with (bytes written, bytes of all tensors).
    Raises OptionError for an unknown preset, ModelFileError where the disk refuses.
    """
    planned = plan(checkpoint, preset)
    slots = [Slot(f"model.{tensor.name}", tensor.shape, tensor.type) for tensor in planned]
    writer.write(
        path,
        _metadata(checkpoint, preset),
        slots,
        lambda slot: packed(checkpoint[slot.name.removeprefix("model.")], slot.type),
        progress,
    )


def packed(tensor: Tensor, kind: TensorType) -> NDArray[np.uint8]:
    """The tensor's rows in `kind`: (rows, bytes per row). Bytes as they are where it has that type already."""
    if tensor.type == kind:
        return tensor.data
    slot = Slot(tensor.name, tensor.shape, kind)
    out = np.empty((len(tensor.data), slot.row_bytes), np.uint8)
    step = max(1, _CHUNK_VALUES // tensor.shape[-1])
    for start in range(0, len(out), step):
        values = quants.dequantize(tensor.data[start : start + step], tensor.type).astype(np.float32, copy=False)
        if kind == TensorType.F32:
            out[start : start + step] = values.view(np.uint8)
        elif kind == TensorType.F16:
            out[start : start + step] = values.astype(np.float16).view(np.uint8)
        else:
            out[start : start + step] = quants.quantize(values, kind)
    return out


def _metadata(checkpoint: Checkpoint, preset: str) -> writer.Metadata:
    """ggml's standard `whisper.*` keys, what antfly's loader reads, what both lack, and the tokenizer."""
    found: dict[str, writer.Typed] = {
        "general.architecture": (ValueType.STRING, "whisper"),
        "general.name": (ValueType.STRING, checkpoint.name or "whisper"),
        "general.alignment": (ValueType.UINT32, GGUF_DEFAULT_ALIGNMENT),
        "general.file_type": (ValueType.UINT32, int(_FILE_TYPES[preset])),
        "general.quantization_version": (ValueType.UINT32, 2),
        "sayso.bundle_version": (ValueType.UINT32, BUNDLE_VERSION),
    }
    if checkpoint.licence:
        found["general.license"] = (ValueType.STRING, checkpoint.licence)
    found |= {key: (ValueType.UINT32, value) for key, value in _sizes(checkpoint).items()}
    found["whisper.scale_embedding"] = (ValueType.BOOL, False)
    end = vocabulary.end_of_text(checkpoint.dims.n_vocab)
    for role, token in (("bos", end), ("eos", end), ("pad", end), ("decoder_start", end + 1)):
        name = "whisper.decoder_start_token_id" if role == "decoder_start" else f"whisper.{role}_token_id"
        found[name] = (ValueType.INT64, token)
    lists: dict[str, Sequence[int] | None] = {
        "whisper.suppress_tokens": checkpoint.suppress_tokens,
        "whisper.begin_suppress_tokens": checkpoint.begin_suppress_tokens,
        "whisper.alignment_heads": [n for pair in checkpoint.alignment_heads or () for n in pair],
    }
    found |= {key: (ValueType.INT32, value) for key, value in lists.items() if value}
    if checkpoint.mel_filters is not None:
        found["whisper.mel_filters"] = (ValueType.FLOAT32, checkpoint.mel_filters.reshape(-1))
    return found | _tokenizer(checkpoint)


def _sizes(checkpoint: Checkpoint) -> dict[str, int]:
    dims = checkpoint.dims
    return {
        "whisper.encoder.context_length": dims.n_audio_ctx,
        "whisper.encoder.embedding_length": dims.n_audio_state,
        "whisper.encoder.block_count": dims.n_audio_layer,
        "whisper.encoder.attention.head_count": dims.n_audio_head,
        "whisper.encoder.mels_count": dims.n_mels,
        "whisper.encoder.feed_forward_length": 4 * dims.n_audio_state,
        "whisper.decoder.context_length": dims.n_text_ctx,
        "whisper.decoder.embedding_length": dims.n_text_state,
        "whisper.decoder.block_count": dims.n_text_layer,
        "whisper.decoder.attention.head_count": dims.n_text_head,
        "whisper.decoder.feed_forward_length": 4 * dims.n_text_state,
        "whisper.vocab_size": dims.n_vocab,
        "whisper.embedding_length": dims.n_text_state,  # these two: antfly's spelling
        "whisper.num_mel_bins": dims.n_mels,
    }


def _tokenizer(checkpoint: Checkpoint) -> dict[str, writer.Typed]:
    n_vocab = checkpoint.dims.n_vocab
    end = vocabulary.end_of_text(n_vocab)
    special = vocabulary.special_tokens(n_vocab)
    tokens = [vocabulary.printable(token) for token in checkpoint.vocabulary] + special
    normal, control = 1, 3  # llama.cpp's token types
    found: dict[str, writer.Typed] = {
        "tokenizer.ggml.model": (ValueType.STRING, "gpt2"),
        "tokenizer.ggml.pre": (ValueType.STRING, "gpt-2"),
        "tokenizer.ggml.add_bos_token": (ValueType.BOOL, False),
        "tokenizer.ggml.add_eos_token": (ValueType.BOOL, False),
        "tokenizer.ggml.tokens": (ValueType.STRING, tokens),
        "tokenizer.ggml.token_type": (ValueType.INT32, [normal] * end + [control] * len(special)),
        "tokenizer.ggml.merges": (ValueType.STRING, list(vocabulary.merges(checkpoint.vocabulary))),
    }
    for role in ("bos", "eos", "unknown", "padding"):
        found[f"tokenizer.ggml.{role}_token_id"] = (ValueType.UINT32, end)
    return found
