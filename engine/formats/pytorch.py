"""PyTorch files (OpenAI's .pt, Hugging Face's pytorch_model.bin) -> Checkpoint, without running their pickle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from numpy.typing import NDArray

from engine.anatomy import canonical_name
from engine.checkpoint import Checkpoint, Tensor
from engine.errors import ModelFileError
from engine.formats import pickled
from engine.formats.pickled import StoredTensor
from engine.formats.safetensors import assemble_from_folder
from engine.formats.zipped import members

MAX_PICKLE_BYTES = 64 << 20
_TYPES = {
    "torch.FloatStorage": (TensorType.F32, 4),
    "torch.HalfStorage": (TensorType.F16, 2),
    "torch.BFloat16Storage": (TensorType.BF16, 2),
}


def load(path: Path) -> Checkpoint:
    """Read a PyTorch Whisper. Raises ModelFileError where it is damaged, executable, or another model."""
    files = members(path)
    pickles = [name for name in files if name.endswith("/data.pkl") or name == "data.pkl"]
    if len(pickles) != 1:
        raise ModelFileError(f"{path.name} is not a PyTorch model: it has no data.pkl.")
    if len(files[pickles[0]]) > MAX_PICKLE_BYTES:
        raise ModelFileError(f"{path.name} is not plain weights: its pickle is too large.")
    folder = pickles[0].removesuffix("data.pkl")
    content = pickled.load(files[pickles[0]].tobytes())
    state = content.get("model_state_dict", content) if isinstance(content, dict) else None
    if not isinstance(state, dict):
        raise ModelFileError(f"{path.name} holds no table of weights.")
    tensors = {}
    for name, value in state.items():
        if isinstance(name, str) and isinstance(value, StoredTensor) and value.storage.kind in _TYPES and value.shape:
            own = canonical_name(name)
            tensors[own] = _tensor(own, value, files, folder)
    return assemble_from_folder(tensors, path)


def _tensor(name: str, value: StoredTensor, files: Mapping[str, NDArray[np.uint8]], folder: str) -> Tensor:
    kind, item_bytes = _TYPES[value.storage.kind]
    data = files.get(f"{folder}data/{value.storage.key}")
    start, n_items = value.offset * item_bytes, math.prod(value.shape)
    if data is None or start + n_items * item_bytes > len(data):
        raise ModelFileError(f"This PyTorch file is damaged: {name} has no data.")
    if n_items and value.strides != _row_major(value.shape):
        raise ModelFileError(f"{name} is stored transposed: save the model again with contiguous tensors.")
    rows = data[start : start + n_items * item_bytes].reshape(-1, max(1, value.shape[-1]) * item_bytes)
    return Tensor(name, value.shape, kind, rows)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))
