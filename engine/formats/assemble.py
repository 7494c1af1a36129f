"""The last step of every reader: canonical tensors -> a checked Checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as TensorType

from engine.anatomy import ENCODER_POSITIONS, LOGIT_HEAD, TOKEN_TABLE, dims_from_shapes, expected_shapes
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.runtime import F32, Dims

READABLE = frozenset(
    {
        TensorType.F32,
        TensorType.F16,
        TensorType.BF16,
        TensorType.Q8_0,
        TensorType.Q4_0,
        TensorType.Q4_1,
        TensorType.Q5_0,
        TensorType.Q5_1,
        TensorType.Q4_K,
        TensorType.Q5_K,
        TensorType.Q6_K,
    }
)


def assemble(
    tensors: Mapping[str, Tensor],
    vocabulary: Callable[[int], tuple[bytes, ...]],
    *,
    n_head: tuple[int | None, int | None] = (None, None),
    name: str = "",
    quant: str = "",
    path: Path | None = None,
    licence: str | None = None,
    suppress_tokens: tuple[int, ...] | None = None,
    begin_suppress_tokens: tuple[int, ...] | None = None,
    alignment_heads: tuple[tuple[int, int], ...] | None = None,
    mel_filters: F32 | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Checkpoint:
    """Check that every tensor of a Whisper is there in the right shape, and put the model together.

    tensors: under canonical names; others than a Whisper's are left out.
    vocabulary: called with n_vocab.
    Lists that do not fit the sizes (token ids, heads, filters) are dropped, so that the defaults apply.
    Raises ModelFileError where a tensor is missing or has another shape.
    """
    dims = dims_from_shapes({key: tensor.shape for key, tensor in tensors.items()}, n_head)
    whole = dict(tensors)
    if ENCODER_POSITIONS not in whole:  # MLX and candle leave them out: they are computed, not learned
        whole[ENCODER_POSITIONS] = dense(ENCODER_POSITIONS, sinusoids(dims.n_audio_ctx, dims.n_audio_state))
    _check_logit_head(whole)
    return Checkpoint(
        dims=dims,
        tensors={key: _fitting(whole, key, shape) for key, shape in expected_shapes(dims)},
        vocabulary=vocabulary(dims.n_vocab),
        name=name,
        quant=quant,
        path=path,
        licence=licence,
        suppress_tokens=_token_ids(suppress_tokens, dims),
        begin_suppress_tokens=_token_ids(begin_suppress_tokens, dims),
        alignment_heads=_heads(alignment_heads, dims),
        mel_filters=mel_filters if mel_filters is not None and len(mel_filters) == dims.n_mels else None,
        metadata=metadata or {},
    )


def dense(name: str, values: F32 | np.ndarray[tuple[int, ...], np.dtype[np.float16]]) -> Tensor:
    """A Tensor of f32 or f16 values."""
    kind = TensorType.F16 if values.dtype == np.float16 else TensorType.F32
    rows = np.ascontiguousarray(values).reshape(-1, values.shape[-1])
    return Tensor(name, values.shape, kind, rows.view(np.uint8))


def main_type(tensors: Mapping[str, Tensor]) -> str:
    """The type of most decoder matrices, as the word for the whole file: "F16", "Q5_0"."""
    types = Counter(
        tensor.type.name for name, tensor in tensors.items() if name.startswith("decoder.layers") and tensor.shape[1:]
    )
    return types.most_common(1)[0][0] if types else ""


def sinusoids(length: int, channels: int, max_timescale: float = 10000.0) -> F32:
    """The encoder's position table, (length, channels); OpenAI's `model.sinusoids`."""
    step = np.log(max_timescale) / (channels // 2 - 1)
    inverse = np.exp(-step * np.arange(channels // 2, dtype=np.float32)).astype(np.float32)
    angle = np.arange(length, dtype=np.float32)[:, None] * inverse[None]
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=1).astype(np.float32)


def _fitting(tensors: Mapping[str, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    tensor = tensors.get(name)
    if tensor is None:
        raise ModelFileError(f"This is not a whole Whisper model: the tensor {name} is missing.")
    if tensor.shape == shape:
        return tensor
    # whisper.cpp stores convolution biases as [n, 1]; the bytes are the same
    if tensor.type in (TensorType.F32, TensorType.F16) and _without_ones(tensor.shape) == _without_ones(shape):
        width = shape[-1] * GGML_QUANT_SIZES[tensor.type][1]
        return Tensor(name, shape, tensor.type, tensor.data.reshape(-1, width))
    raise ModelFileError(f"The tensor {name} has the shape {tensor.shape} where this Whisper needs {shape}.")


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


def _check_logit_head(tensors: Mapping[str, Tensor]) -> None:
    head, table = tensors.get(LOGIT_HEAD), tensors.get(TOKEN_TABLE)
    if head is None or table is None or (head.type == table.type and np.array_equal(head.data, table.data)):
        return
    raise ModelFileError("This model's output layer differs from its token table, which no Whisper's does.")


def _token_ids(ids: tuple[int, ...] | None, dims: Dims) -> tuple[int, ...] | None:
    return ids if ids is not None and all(0 <= i < dims.n_vocab for i in ids) else None


def _heads(heads: tuple[tuple[int, int], ...] | None, dims: Dims) -> tuple[tuple[int, int], ...] | None:
    if not heads:
        return None
    fits = all(0 <= layer < dims.n_text_layer and 0 <= head < dims.n_text_head for layer, head in heads)
    return heads if fits else None
