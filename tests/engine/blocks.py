"""Quantized tensors of random bits, for the block types that nothing here can write, and checkpoints made of them."""

from dataclasses import replace

import numpy as np
from gguf import GGML_QUANT_SIZES
from gguf import GGMLQuantizationType as TensorType

from engine.checkpoint import Checkpoint, Tensor
from tests.conftest import make_random_checkpoint

HALVES = {  # byte offsets of the f16 fields in a block
    TensorType.Q8_0: (0,),
    TensorType.Q4_0: (0,),
    TensorType.Q4_1: (0, 2),
    TensorType.Q5_0: (0,),
    TensorType.Q5_1: (0, 2),
    TensorType.Q4_K: (0, 2),
    TensorType.Q5_K: (0, 2),
    TensorType.Q6_K: (208,),
}
# about the root mean square of q (times the sub-block scale) in each type, so that values come out near `scale`
SPREAD = {
    TensorType.Q8_0: 74,
    TensorType.Q4_0: 5,
    TensorType.Q4_1: 9,
    TensorType.Q5_0: 9,
    TensorType.Q5_1: 18,
    TensorType.Q4_K: 320,
    TensorType.Q5_K: 660,
    TensorType.Q6_K: 1370,
}


def random_blocks(type: TensorType, rows: int, columns: int, seed: int, scale: float = 1.0) -> Tensor:
    """A matrix in which every bit of every block is random, except that the f16 fields hold finite numbers."""
    rng = np.random.default_rng(seed)
    values, size = GGML_QUANT_SIZES[type]
    blocks = rng.integers(0, 256, (rows * columns // values, size), dtype=np.uint8)
    for at in HALVES[type]:
        half = rng.normal(0, scale / SPREAD[type], len(blocks)).astype(np.float16)
        blocks[:, at : at + 2] = half.view(np.uint8).reshape(-1, 2)
    return Tensor("w", (rows, columns), type, blocks.reshape(rows, -1))


def checkpoint_of(type: TensorType, n_state: int = 128, **sizes: int) -> Checkpoint:
    """A random Whisper whose matrices, token table included, are random blocks of `type`."""
    made = make_random_checkpoint(n_state=n_state, **sizes)
    tensors = dict(made.tensors)
    for i, (name, tensor) in enumerate(made.tensors.items()):
        if len(tensor.shape) == 2 and "embed_positions" not in name:
            rows, columns = tensor.shape
            packed = random_blocks(type, rows, columns, seed=i, scale=0.7 * columns**-0.5)
            tensors[name] = replace(packed, name=name)
    return replace(made, tensors=tensors, quant=type.name)
