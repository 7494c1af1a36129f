"""Whisper in MLX, top to bottom: encoder, cross-attention K and V, and the plain reference decoder.

Reads like the paper: pre-norm transformer, exact GELU, heads of 64, k without bias, logits through the token table.
The fast one-token step is in `fused.py` beside it; tests hold the two together. Shapes: n positions, d = n_*_state,
heads = d / 64; K and V are head-major, [1, heads, positions, 64].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mlx.core as mx

from engine.cache import CrossKV, keys_values
from engine.checkpoint import Checkpoint
from engine.kernels.encoder import EncoderKernels
from engine.runtime import HEAD_SIZE, N_AUDIO_CTX, Dims
from engine.weights import Linear, Loader, Matrix, Multiply, Norm

KV = tuple[mx.array, mx.array]
LayerFunction = Callable[[mx.array, mx.array, mx.array, mx.array], mx.array]
VOCAB_ROWS = 8  # rows of the logit head are padded to a multiple of this: GPU matvec kernels want it
PIECE_LAYERS = 4  # encoder layers submitted at once: the GPU works on them while the next are prepared


def gelu(x: mx.array) -> mx.array:
    """Exact GELU (erf)."""
    return x * (1 + mx.erf(x * 2**-0.5)) * 0.5


def split_heads(x: mx.array) -> mx.array:
    """(n, d) -> [1, heads, n, 64]."""
    return x.reshape(1, x.shape[0], -1, HEAD_SIZE).transpose(0, 2, 1, 3)


def join_heads(x: mx.array) -> mx.array:
    """[1, heads, n, 64] -> (n, d)."""
    return x.transpose(0, 2, 1, 3).reshape(x.shape[2], -1)


def attention(q: mx.array, k: mx.array, v: mx.array, mask: mx.array | None = None) -> mx.array:
    """[1, heads, n, 64] queries over [1, heads, m, 64]; mask True where a key may be seen."""
    return mx.fast.scaled_dot_product_attention(q, k, v, scale=HEAD_SIZE**-0.5, mask=mask)


class ShiftedNorm:
    """Layer norm of x + shift, where the row `shift` holds the biases that were left out of the residual stream x.

    So a residual sum is one operation, `Linear.added_to`, and what it lacks is added where x is read anyway.
    """

    def __init__(self, norm: Norm, shift: mx.array, kernels: EncoderKernels | None) -> None:
        self._norm, self._shift, self._kernels = norm, shift, kernels
        self._table = mx.stack([shift, norm.weight, norm.bias])
        mx.eval(self._shift, self._table)

    def __call__(self, x: mx.array) -> mx.array:
        """x (n, d) -> (n, d)."""
        return self._norm(x + self._shift) if self._kernels is None else self._kernels.norm(x, self._table)


@dataclass(frozen=True)
class EncoderLayer:
    norm: ShiftedNorm
    qkv: Linear  # q, k, v stacked
    out: Linear  # its bias is in the norms that follow, as that of fc2
    mlp_norm: ShiftedNorm
    fc1: Linear
    fc2: Linear


@dataclass(frozen=True)
class DecoderLayer:
    norm: Norm
    qkv: Linear  # q, k, v stacked
    out: Linear
    cross_norm: Norm
    cross_q: Linear
    cross_out: Linear
    mlp_norm: Norm
    fc1: Linear
    fc2: Linear


class Encoder:
    def __init__(self, load: Loader, widen: bool, compiled: bool, kernels: EncoderKernels | None = None) -> None:
        """widen: hold quantized matrices dense, for devices where that is faster.

        compiled: fuse elementwise operations, and submit PIECE_LAYERS at once rather than one by one.
        kernels: of ours, for f16 on a GPU; None for plain MLX.
        """
        dims = load.checkpoint.dims
        self._kernels = kernels
        self._dtype = load.dtype
        # (out, in, 3) -> (3 * in, out): a convolution is one product over three frames side by side
        conv1, conv2 = (load.array(f"encoder.conv{i}.weight").transpose(2, 1, 0) for i in (1, 2))
        self.conv1 = mx.contiguous(conv1.reshape(-1, dims.n_audio_state))
        self.conv2 = mx.contiguous(conv2.reshape(-1, dims.n_audio_state))
        self.conv1_bias, self.conv2_bias = load.array("encoder.conv1.bias"), load.array("encoder.conv2.bias")
        self.positions = load.array("encoder.embed_positions.weight")
        self.layers: list[EncoderLayer] = []
        shift = mx.zeros(dims.n_audio_state, mx.float32)
        for i in range(dims.n_audio_layer):
            layer, shift = self._layer(load, f"encoder.layers.{i}", widen, shift)
            self.layers.append(layer)
        self.norm = self._norm(load, "encoder.layer_norm", shift)
        self.piece_layers = PIECE_LAYERS if compiled else 1
        self._attended = [_function(layer, compiled) for layer in self.layers]
        mx.eval(self.conv1, self.conv2)

    def _norm(self, load: Loader, name: str, shift: mx.array) -> ShiftedNorm:
        return ShiftedNorm(load.norm(name), shift.astype(load.dtype), self._kernels)

    def _layer(self, load: Loader, at: str, widen: bool, shift: mx.array) -> tuple[EncoderLayer, mx.array]:
        """The layer, given the biases (d,) f32 that the residual stream lacks before it, and what it lacks after it."""
        out = load.linear(f"{at}.self_attn.out_proj", widen=widen)
        fc2 = load.linear(f"{at}.fc2", widen=widen)
        between = shift if out.bias is None else shift + out.bias
        after = between if fc2.bias is None else between + fc2.bias
        layer = EncoderLayer(
            self._norm(load, f"{at}.self_attn_layer_norm", shift),
            load.linear(*(f"{at}.self_attn.{x}_proj" for x in "qkv"), widen=widen),
            out,
            self._norm(load, f"{at}.final_layer_norm", between),
            load.linear(f"{at}.fc1", widen=widen),
            fc2,
        )
        return layer, after

    def stem(self, frames: mx.array, first: int) -> mx.array:
        """Positions first, first + 1, … from mel frames: (n, d).

        frames: mel frames 2 * first - 2 (or 0, at the left edge) up to and with 2 * (first + n), the one to the right.
        """
        left = int(first == 0)  # what lies left of the window is zero, before each convolution
        x = gelu(self._three(frames, 1, left) @ self.conv1 + self.conv1_bias)
        x = gelu(self._three(x, 2, left) @ self.conv2 + self.conv2_bias)
        return x + self.positions[first : first + x.shape[0]]

    def _three(self, x: mx.array, step: int, left: int) -> mx.array:
        """Every `step`-th window of three rows, side by side: (rows, c) -> (n, 3 * c).

        left: rows of zeros before the first. n is (left + rows - 2) / step, rounded up.
        """
        n, columns = -(-(left + x.shape[0] - 2) // step), x.shape[1]
        if self._kernels is not None:
            return self._kernels.three(x, n, step, left)
        x = x.astype(self._dtype)
        if left:
            x = mx.concatenate([mx.zeros((left, columns), x.dtype), x])
        return mx.as_strided(x, (n, 3 * columns), (step * columns, 1))  # rows follow each other in memory

    def __call__(
        self,
        frames: mx.array,
        first: int,
        past: Sequence[KV] | None,
        tail: Sequence[KV] | None,
        between: Callable[[mx.array], None],
    ) -> tuple[mx.array, list[KV]]:
        """Encode positions from `first` on; `frames` as for `stem`.

        past, tail: each layer's K and V of the positions before and after these, or None where there are none.
        between: called with the output of every `piece_layers`-th layer.
        Returns the final states (n, d) and each layer's K and V of these positions.
        """
        x = self.stem(frames, first)
        made: list[KV] = []
        for i, layer in enumerate(self.layers):
            q, k, v = projected(layer, x)
            made.append((k, v))
            seen = [kv for kv in (past and past[i], (k, v), tail and tail[i]) if kv]
            keys, values = (mx.concatenate(list(part), axis=2) for part in zip(*seen, strict=True))
            x = self._attended[i](x, q, keys, values)
            if (i + 1) % self.piece_layers == 0:
                between(x)
        return self.norm(x), made


def projected(layer: EncoderLayer, x: mx.array) -> list[mx.array]:
    """Queries, keys and values of x (n, d): [1, heads, n, 64] each."""
    return [split_heads(part) for part in mx.split(layer.qkv(layer.norm(x)), 3, axis=-1)]


def attended(layer: EncoderLayer, x: mx.array, q: mx.array, keys: mx.array, values: mx.array) -> mx.array:
    """The rest of a layer: x (n, d) after attention over the keys and the feed-forward part."""
    x = layer.out.added_to(x, join_heads(attention(q, keys, values)))
    return layer.fc2.added_to(x, gelu(layer.fc1(layer.mlp_norm(x))))


def _function(layer: EncoderLayer, compiled: bool) -> LayerFunction:
    """`attended`, compiled: once for each number of positions, as the keys are those of a whole window."""

    def run(x: mx.array, q: mx.array, keys: mx.array, values: mx.array) -> mx.array:
        return attended(layer, x, q, keys, values)

    return mx.compile(run) if compiled else run


class Decoder:
    def __init__(self, load: Loader, widen_cross: bool) -> None:
        """widen_cross: hold the matrices for cross-attention K and V dense; they belong to encoding."""
        dims = load.checkpoint.dims
        self.n_vocab = dims.n_vocab
        self.table: Matrix = load.matrix(["decoder.embed_tokens.weight"], pad_rows_to=VOCAB_ROWS)
        self.positions = load.array("decoder.embed_positions.weight")
        names = [f"decoder.layers.{i}" for i in range(dims.n_text_layer)]
        self.layers = [self._layer(load, name) for name in names]
        self.norm = load.norm("decoder.layer_norm")
        # k and v of all layers stacked, used once per window
        matrices = [f"{name}.encoder_attn.{x}_proj" for name in names for x in "kv"]
        self.cross_kv = load.linear(*matrices, widen=widen_cross)

    @staticmethod
    def _layer(load: Loader, at: str) -> DecoderLayer:
        return DecoderLayer(
            load.norm(f"{at}.self_attn_layer_norm"),
            load.linear(*(f"{at}.self_attn.{x}_proj" for x in "qkv")),
            load.linear(f"{at}.self_attn.out_proj"),
            load.norm(f"{at}.encoder_attn_layer_norm"),
            load.linear(f"{at}.encoder_attn.q_proj"),
            load.linear(f"{at}.encoder_attn.out_proj"),
            load.norm(f"{at}.final_layer_norm"),
            load.linear(f"{at}.fc1"),
            load.linear(f"{at}.fc2"),
        )

    def cross(self, states: mx.array) -> CrossKV:
        """Cross-attention K and V of encoder states (n, d), contiguous; computed once per window."""
        n = states.shape[0]
        both = mx.contiguous(self.cross_kv(states).reshape(n, -1, HEAD_SIZE).transpose(1, 0, 2))
        return CrossKV(list(both.reshape(len(self.layers), 2, -1, n, HEAD_SIZE)))

    def reference(
        self,
        tokens: Sequence[int],
        cache: list[KV | None],
        cross: CrossKV,
        watch: Callable[[int, mx.array], None] = lambda layer, probabilities: None,
    ) -> mx.array:
        """The plain decoder that the fused step is held against: raw logits (n_tokens, n_vocab).

        cache: one entry per layer, None at the start; grows by these tokens. Q, K and V are products of their own,
        and nothing is written in place.
        watch: called with each layer's cross-attention probabilities, lazy, [1, heads, n_tokens, n_positions].
        """
        start = 0 if cache[0] is None else cache[0][0].shape[2]
        x = self.table.take(mx.array(list(tokens))) + self.positions[start : start + len(tokens)]
        d = x.shape[1]
        for i, layer in enumerate(self.layers):
            h = layer.norm(x)
            q, k, v = (split_heads(layer.qkv.part(j * d, (j + 1) * d)(h)) for j in range(3))
            if (before := cache[i]) is not None:
                k, v = mx.concatenate([before[0], k], axis=2), mx.concatenate([before[1], v], axis=2)
            cache[i] = (k, v)
            seen = mx.arange(k.shape[2])[None] <= mx.arange(start, k.shape[2])[:, None]
            x = x + layer.out(join_heads(_probabilities(q, k, seen) @ v))
            q = split_heads(layer.cross_q(layer.cross_norm(x)))
            keys, values = keys_values(cross.layers[i])
            looked_at = _probabilities(q, keys)
            watch(i, looked_at)
            x = x + layer.cross_out(join_heads(looked_at @ values))
            x = x + layer.fc2(gelu(layer.fc1(layer.mlp_norm(x))))
        return self.table.product(self.norm(x))[:, : self.n_vocab]


def _probabilities(q: mx.array, k: mx.array, seen: mx.array | None = None) -> mx.array:
    """What attention looks at, [1, heads, n, m]; seen: True where a key may be seen."""
    scores = (q * HEAD_SIZE**-0.5) @ k.transpose(0, 1, 3, 2)
    if seen is not None:
        scores = mx.where(seen, scores, -mx.inf)
    return mx.softmax(scores, axis=-1, precise=True)


class Model:
    """Encoder and decoder of a checkpoint, on the default device, in `dtype`."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        dtype: mx.Dtype,
        widen_encoder: bool,
        compiled: bool = False,
        multiply_q6_k: Multiply | None = None,
        multiply_affine: Multiply | None = None,
        encoder_kernels: EncoderKernels | None = None,
    ) -> None:
        """compiled: compile the encoder.

        multiply_q6_k, multiply_affine: as for `Loader`.
        encoder_kernels: as for `Encoder`.
        """
        self.dims: Dims = checkpoint.dims
        self.dtype = dtype
        load = Loader(checkpoint, dtype, multiply_q6_k, multiply_affine)
        self.encoder = Encoder(load, widen_encoder, compiled, encoder_kernels)
        self.decoder = Decoder(load, widen_encoder)
        self._window = _window_pieces(self.encoder, self.decoder, compiled)

    def window(self, frames: mx.array, between: Callable[[mx.array], None]) -> tuple[mx.array, CrossKV]:
        """A whole window, lazily: final states (1500, d) and cross-attention K and V.

        frames: (3001, n_mels), the last one zero. between: called with what is handed from one submission to the next.
        """
        x = frames
        for piece in self._window[:-1]:
            x = piece(x)[0]
            between(x)
        states, *cross = self._window[-1](x)
        return states, CrossKV(cross)


def _window_pieces(encoder: Encoder, decoder: Decoder, compiled: bool) -> list[Callable[[mx.array], list[mx.array]]]:
    """A whole window's encoder in pieces that are one graph each; nothing of a layer but its output is kept."""

    def piece(start: int) -> Callable[[mx.array], list[mx.array]]:
        layers = encoder.layers[start : start + encoder.piece_layers]
        is_last = start + len(layers) == len(encoder.layers)

        def run(x: mx.array) -> list[mx.array]:
            x = encoder.stem(x, 0) if start == 0 else x
            for layer in layers:
                x = attended(layer, x, *projected(layer, x))
            if not is_last:
                return [x]
            states = encoder.norm(x)
            return [states, *decoder.cross(states).layers]

        return mx.compile(run) if compiled else run

    return [piece(start) for start in range(0, len(encoder.layers), encoder.piece_layers)]


__all__ = [
    "KV",
    "N_AUDIO_CTX",
    "Decoder",
    "DecoderLayer",
    "Encoder",
    "Model",
    "attention",
    "gelu",
    "join_heads",
    "split_heads",
]
