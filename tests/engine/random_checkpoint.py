"""Small Whisper checkpoints of random weights, for questions of shape and equality where no transcript is claimed."""

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from gguf.quants import quantize

from engine.checkpoint import Checkpoint, Tensor
from engine.runtime import Dims


def random_dims(n_mels: int = 80, d: int = 128, layers: int = 2, n_vocab: int = 51865) -> Dims:
    return Dims(n_mels, 1500, d, d // 64, layers, n_vocab, 448, d, d // 64, layers)


def random_checkpoint(dims: Dims, type: TensorType = TensorType.F32, seed: int = 0) -> Checkpoint:
    """Matrices of `type` (any that gguf-py can write), norms and positions f32; weights about 1/sqrt(d)."""
    rng = np.random.default_rng(seed)
    tensors: dict[str, Tensor] = {}

    def add(name: str, *shape: int, scale: float, shift: float = 0.0, type: TensorType = TensorType.F32) -> None:
        values = (rng.standard_normal(shape, dtype=np.float32) * scale + shift).astype(np.float32)
        packed = quantize(values.reshape(-1, shape[-1]), type)
        tensors[name] = Tensor(name, shape, type, np.ascontiguousarray(packed).view(np.uint8))

    def norm(name: str, d: int) -> None:
        add(f"{name}.weight", d, scale=0.1, shift=1)
        add(f"{name}.bias", d, scale=0.1)

    def linear(name: str, n: int, m: int, bias: bool = True) -> None:
        add(f"{name}.weight", n, m, scale=2 * m**-0.5, type=type)
        if bias:
            add(f"{name}.bias", n, scale=0.1)

    def attend(name: str, d: int) -> None:
        for part in ("q", "k", "v", "out"):
            linear(f"{name}.{part}_proj", d, d, bias=part != "k")

    def mlp(name: str, d: int) -> None:
        norm(f"{name}.final_layer_norm", d)
        linear(f"{name}.fc1", 4 * d, d)
        linear(f"{name}.fc2", d, 4 * d)

    d = dims.n_audio_state
    add("encoder.conv1.weight", d, dims.n_mels, 3, scale=0.1)
    add("encoder.conv1.bias", d, scale=0.1)
    add("encoder.conv2.weight", d, d, 3, scale=0.1)
    add("encoder.conv2.bias", d, scale=0.1)
    add("encoder.embed_positions.weight", dims.n_audio_ctx, d, scale=0.5)
    for i in range(dims.n_audio_layer):
        norm(f"encoder.layers.{i}.self_attn_layer_norm", d)
        attend(f"encoder.layers.{i}.self_attn", d)
        mlp(f"encoder.layers.{i}", d)
    norm("encoder.layer_norm", d)
    d = dims.n_text_state
    linear("decoder.embed_tokens", dims.n_vocab, d, bias=False)
    add("decoder.embed_positions.weight", dims.n_text_ctx, d, scale=0.5)
    for i in range(dims.n_text_layer):
        for norm_name, attn_name in (
            ("self_attn_layer_norm", "self_attn"),
            ("encoder_attn_layer_norm", "encoder_attn"),
        ):
            norm(f"decoder.layers.{i}.{norm_name}", d)
            attend(f"decoder.layers.{i}.{attn_name}", d)
        mlp(f"decoder.layers.{i}", d)
    norm("decoder.layer_norm", d)
    return Checkpoint(dims, tensors, vocabulary=(), name="random", quant=type.name)
