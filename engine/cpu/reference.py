"""Whisper in NumPy, all in float32: to be read, to be tested against, and to run on where nothing faster is there.

From top to bottom: the parts (norm, GELU, attention), the encoder, the decoder, the runtime that holds the weights.
A slab is an array for all positions there can be, filled row by row and never moved.

Encoding computes positions `first` to `end` only. What lies before them in the encoder's slabs is the frozen past of
a stream, what lies after them is silence, encoded once per level and kept: the positions attend to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from engine.audio import N_FRAMES, window_mel
from engine.checkpoint import Checkpoint
from engine.errors import Cancelled
from engine.filters import Filters, choose
from engine.growing import GrowingAudio
from engine.runtime import F32, HEAD_SIZE, N_AUDIO_CTX, VERIFY_LIMIT, AudioState, Choice, Dims, Rules

MAX_SILENCES = 3  # levels kept; a voice and a microphone need one or two
LEVEL_STEP = 0.5  # silence levels are rounded to it: as good as exact ones, measured


# ------------------------------------------------------------------------------------------------------------ parts


def layer_norm(x: F32, weight: F32, bias: F32) -> F32:
    centred = x - x.mean(-1, keepdims=True)
    variance = np.square(centred).mean(-1, keepdims=True)
    normed: F32 = centred / np.sqrt(variance + np.float32(1e-5)) * weight + bias
    return normed


def gelu(x: F32) -> F32:
    """x / 2 * (1 + erf(x / sqrt 2)); erf by Abramowitz and Stegun 7.1.26, whose error, 1.5e-7, is float32's own."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (np.float32(1) + np.float32(0.3275911) * z)
    p = np.float32(1.061405429) * t
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        p = (p + np.float32(coefficient)) * t
    p *= np.exp(-z * z)  # 1 - erf(z)
    return np.asarray(np.float32(0.5) * x * (1 + np.sign(x) * (1 - p)), np.float32)


def softmax(scores: F32) -> F32:
    """Over the last axis, in place."""
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return scores


def split_heads(x: F32) -> F32:
    """(n, heads * 64) -> (heads, n, 64), a view."""
    return x.reshape(len(x), -1, HEAD_SIZE).swapaxes(0, 1)


def attend(q: F32, k: F32, v: F32, mask: F32 | None = None, watched: dict[int, F32] | None = None) -> F32:
    """q (heads, n, 64), k and v (heads, m, 64) -> (n, heads * 64). mask: added to the scores, (n, m).

    watched: heads whose probabilities, (n, m), are written down.
    """
    out = np.empty((q.shape[1], len(q) * HEAD_SIZE), np.float32)
    for head in range(len(q)):
        scores = q[head] * np.float32(HEAD_SIZE**-0.5) @ k[head].T
        if mask is not None:
            scores += mask
        out[:, head * HEAD_SIZE : (head + 1) * HEAD_SIZE] = softmax(scores) @ v[head]
        if watched is not None and head in watched:
            watched[head][:] = scores
    return out


class Linear:
    """y = x W' + b. Several of one input are stacked into one product."""

    def __init__(self, weights: dict[str, F32], *names: str) -> None:
        parts = [weights[f"{name}.weight"] for name in names]
        self.weight = np.concatenate(parts) if len(parts) > 1 else parts[0]
        # Whisper's keys have no bias
        self.bias = np.concatenate(
            [weights.get(f"{n}.bias", np.zeros(len(p), np.float32)) for n, p in zip(names, parts, strict=True)]
        )

    def __call__(self, x: F32) -> F32:
        y: F32 = x @ self.weight.T
        y += self.bias
        return y


class Norm:
    def __init__(self, weights: dict[str, F32], name: str) -> None:
        self.weight, self.bias = weights[f"{name}.weight"], weights[f"{name}.bias"]

    def __call__(self, x: F32) -> F32:
        return layer_norm(x, self.weight, self.bias)


class Mlp:
    def __init__(self, weights: dict[str, F32], layer: str) -> None:
        self.norm = Norm(weights, f"{layer}.final_layer_norm")
        self.fc1, self.fc2 = Linear(weights, f"{layer}.fc1"), Linear(weights, f"{layer}.fc2")

    def __call__(self, x: F32) -> F32:
        return self.fc2(gelu(self.fc1(self.norm(x))))


# ---------------------------------------------------------------------------------------------------------- encoder


@dataclass
class EncoderSlabs:
    """What encoding leaves behind, for all positions: per layer K and V, the final states, cross K and V."""

    keys: list[F32]  # per encoder layer (1500, n_audio_state)
    values: list[F32]
    states: F32  # (1500, n_audio_state)
    cross_keys: list[F32]  # per decoder layer (heads, 1500, 64)
    cross_values: list[F32]

    @classmethod
    def empty(cls, dims: Dims) -> EncoderSlabs:
        def slab() -> F32:
            return np.empty((dims.n_audio_ctx, dims.n_audio_state), np.float32)

        def cross_slab() -> F32:
            return np.empty((dims.n_text_head, dims.n_audio_ctx, HEAD_SIZE), np.float32)

        encoder, decoder = range(dims.n_audio_layer), range(dims.n_text_layer)
        return cls(
            keys=[slab() for _ in encoder],
            values=[slab() for _ in encoder],
            states=slab(),
            cross_keys=[cross_slab() for _ in decoder],
            cross_values=[cross_slab() for _ in decoder],
        )

    def copy_from(self, other: EncoderSlabs, first: int) -> None:
        """Take over the positions from `first` on."""
        for mine, theirs in zip(self.keys + self.values, other.keys + other.values, strict=True):
            mine[first:] = theirs[first:]
        self.states[first:] = other.states[first:]
        for mine, theirs in zip(
            self.cross_keys + self.cross_values, other.cross_keys + other.cross_values, strict=True
        ):
            mine[:, first:] = theirs[:, first:]


class EncoderLayer:
    def __init__(self, weights: dict[str, F32], layer: str) -> None:
        attention = f"{layer}.self_attn"
        self.norm = Norm(weights, f"{layer}.self_attn_layer_norm")
        self.qkv = Linear(weights, f"{attention}.q_proj", f"{attention}.k_proj", f"{attention}.v_proj")
        self.out = Linear(weights, f"{attention}.out_proj")
        self.mlp = Mlp(weights, layer)

    def __call__(self, x: F32, keys: F32, values: F32, first: int) -> F32:
        """x: positions from `first` on. Writes their K and V into the slabs and attends to all of these."""
        end = first + len(x)
        q, keys[first:end], values[first:end] = np.split(self.qkv(self.norm(x)), 3, axis=-1)
        x = x + self.out(attend(split_heads(q), split_heads(keys), split_heads(values)))
        return x + self.mlp(x)


class Encoder:
    def __init__(self, weights: dict[str, F32], dims: Dims) -> None:
        self.conv1 = Linear(_as_matrix(weights, "encoder.conv1"), "encoder.conv1")
        self.conv2 = Linear(_as_matrix(weights, "encoder.conv2"), "encoder.conv2")
        self.positions = weights["encoder.embed_positions.weight"]
        self.layers = [EncoderLayer(weights, f"encoder.layers.{i}") for i in range(dims.n_audio_layer)]
        self.norm = Norm(weights, "encoder.layer_norm")
        self.cross = [
            Linear(weights, f"decoder.layers.{i}.encoder_attn.k_proj", f"decoder.layers.{i}.encoder_attn.v_proj")
            for i in range(dims.n_text_layer)
        ]

    def __call__(self, mel: F32, slabs: EncoderSlabs, first: int, end: int, check: Callable[[], None]) -> None:
        """Fill positions first to end of the slabs. mel: (3000, n_mels); what lies around them is in the slabs."""
        x = self.stem(mel, first, end)
        for layer, keys, values in zip(self.layers, slabs.keys, slabs.values, strict=True):
            check()
            x = layer(x, keys, values, first)
        x = slabs.states[first:end] = self.norm(x)
        for project, keys, values in zip(self.cross, slabs.cross_keys, slabs.cross_values, strict=True):
            check()
            k, v = np.split(project(x), 2, axis=-1)
            keys[:, first:end], values[:, first:end] = split_heads(k), split_heads(v)

    def stem(self, mel: F32, first: int, end: int) -> F32:
        """Two convolutions of width 3, the second of stride 2, and the positions: (end - first, n_audio_state)."""
        # position p takes conv1 frames 2p-1 to 2p+1, these take mel frames 2p-2 to 2p+2; zeros beyond the window
        start, stop = 2 * first - 1, 2 * end
        frames = np.zeros((stop - start + 2, mel.shape[1]), np.float32)
        low, high = max(0, start - 1), min(len(mel), stop + 1)
        frames[low - (start - 1) : high - (start - 1)] = mel[low:high]
        x = gelu(self.conv1(_windows_of_3(frames)))
        if start < 0:
            x[0] = 0  # conv2's own padding, not conv1 of padding
        x = gelu(self.conv2(_windows_of_3(x)[::2]))
        return x + self.positions[first:end]


def _as_matrix(weights: dict[str, F32], name: str) -> dict[str, F32]:
    """A convolution's (out, in, 3) kernel as the matrix that multiplies windows laid out (3, in)."""
    kernel = weights[f"{name}.weight"]
    matrix = np.ascontiguousarray(kernel.swapaxes(1, 2)).reshape(len(kernel), -1)
    return {f"{name}.weight": matrix, f"{name}.bias": weights[f"{name}.bias"]}


def _windows_of_3(x: F32) -> F32:
    """(n, c) -> (n - 2, 3 * c)."""
    return np.concatenate([x[:-2], x[1:-1], x[2:]], axis=1)


@dataclass
class NumpyAudio:
    """See runtime.AudioState."""

    slabs: EncoderSlabs
    n_encoded: int

    @property
    def n_positions(self) -> int:
        return len(self.slabs.states)

    def states(self) -> F32:
        return self.slabs.states.copy()


class NumpyEncoderStream(GrowingAudio):
    """See runtime.EncoderStream. Slabs hold: kept | encoded last | silence."""

    def __init__(self, runtime: NumpyRuntime) -> None:
        super().__init__(runtime.dims.n_mels)
        self._runtime = runtime
        self._slabs = EncoderSlabs.empty(runtime.dims)

    def state(self, keep: int = 0) -> NumpyAudio:
        end = self.begin_pass(keep)
        mel = window_mel(self.log_power)
        if end < N_AUDIO_CTX:
            self._slabs.copy_from(self._runtime.silence(float(mel[-1, 0])), end)
        if end > keep:
            self._runtime.encode_positions(mel, self._slabs, keep, end)
        self._n_encoded = end
        return NumpyAudio(self._slabs, end)


# ---------------------------------------------------------------------------------------------------------- decoder


class DecoderLayer:
    def __init__(self, weights: dict[str, F32], layer: str) -> None:
        attention, cross = f"{layer}.self_attn", f"{layer}.encoder_attn"
        self.norm = Norm(weights, f"{layer}.self_attn_layer_norm")
        self.qkv = Linear(weights, f"{attention}.q_proj", f"{attention}.k_proj", f"{attention}.v_proj")
        self.out = Linear(weights, f"{attention}.out_proj")
        self.cross_norm = Norm(weights, f"{layer}.encoder_attn_layer_norm")
        self.cross_q = Linear(weights, f"{cross}.q_proj")
        self.cross_out = Linear(weights, f"{cross}.out_proj")
        self.mlp = Mlp(weights, layer)

    def __call__(
        self,
        x: F32,
        keys: F32,
        values: F32,
        cross_keys: F32,
        cross_values: F32,
        first: int,
        mask: F32 | None,
        watched: dict[int, F32] | None = None,
    ) -> F32:
        """x: tokens from position `first` on. keys and values: slabs (heads, 448, 64), their rows written here.

        watched: heads of cross-attention whose probabilities are written down.
        """
        end = first + len(x)
        q, k, v = np.split(self.qkv(self.norm(x)), 3, axis=-1)
        keys[:, first:end], values[:, first:end] = split_heads(k), split_heads(v)
        x = x + self.out(attend(split_heads(q), keys[:, :end], values[:, :end], mask))
        q = split_heads(self.cross_q(self.cross_norm(x)))
        x = x + self.cross_out(attend(q, cross_keys, cross_values, watched=watched))
        return x + self.mlp(x)


class NumpyDecoder:
    """See runtime.Decoder."""

    def __init__(self, runtime: NumpyRuntime, audio: NumpyAudio) -> None:
        self._runtime = runtime
        self._audio = audio
        dims = runtime.dims
        shape = (dims.n_text_head, dims.n_text_ctx, HEAD_SIZE)
        self._keys = [np.zeros(shape, np.float32) for _ in range(dims.n_text_layer)]
        self._values = [np.zeros(shape, np.float32) for _ in range(dims.n_text_layer)]
        self._length = 0
        self._pending: F32 | None = None  # logits of the last token

    @property
    def length(self) -> int:
        return self._length

    def prefill(self, tokens: Sequence[int]) -> None:
        self._pending = self._runtime.logits(self._forward(tokens)[-1])

    def logits(self) -> F32:
        assert self._pending is not None, "prefill first"
        return self._pending.copy()

    def generate(
        self, rules: Rules, temperature: float = 0.0, seed: int = 0, sampled: Sequence[int] = ()
    ) -> Iterator[Choice]:
        filters, rng, chosen = Filters(rules, self._runtime.dims.n_vocab), np.random.default_rng(seed), list(sampled)
        while True:
            choice = choose(filters.apply(self.logits(), chosen), temperature, rng)
            yield choice
            if self._length == self._runtime.dims.n_text_ctx:
                return
            chosen.append(choice.token)
            self.prefill([choice.token])

    def verify(self, draft: Sequence[int], rules: Rules, sampled: Sequence[int] = ()) -> list[Choice]:
        assert len(draft) <= VERIFY_LIMIT
        filters, rng, chosen = Filters(rules, self._runtime.dims.n_vocab), np.random.default_rng(0), list(sampled)
        draft = draft[: self._runtime.dims.n_text_ctx - self._length]
        start = self._length
        logits = [self.logits()]
        if len(draft):
            logits += list(self._runtime.logits(self._forward(draft)))
        choices = []
        for i, row in enumerate(logits):
            choices.append(choose(filters.apply(row, chosen), 0.0, rng))
            if i == len(draft) or choices[-1].token != draft[i]:
                break
            chosen.append(draft[i])
        self._length = start + len(choices) - 1
        self._pending = logits[len(choices) - 1]
        return choices

    def align(self, tokens: Sequence[int], heads: Sequence[tuple[int, int]], n_words: int) -> tuple[F32, F32]:
        assert not self._length, "only an empty decoder aligns"
        weights = np.empty((len(heads), len(tokens), self._audio.n_positions), np.float32)
        watched: list[dict[int, F32]] = [{} for _ in self._keys]
        for (layer, head), rows in zip(heads, weights, strict=True):
            watched[layer][head] = rows
        logits = self._runtime.logits(self._forward(tokens, watched)[:-1])[:, :n_words]
        logits -= logits.max(-1, keepdims=True)
        following = np.array(tokens[1:], np.intp)
        chosen = logits[np.arange(len(logits)), np.minimum(following, n_words - 1)]
        logprobs = np.where(following < n_words, chosen - np.log(np.exp(logits).sum(-1)), -np.inf).astype(np.float32)
        self.rewind(0)
        return weights, logprobs

    def rewind(self, length: int) -> None:
        assert 0 <= length <= self._length
        self._length = length
        self._pending = None

    def _forward(self, tokens: Sequence[int], watched: Sequence[dict[int, F32] | None] = ()) -> F32:
        """Append tokens; their final states, (n, n_text_state). watched: by layer, see `DecoderLayer`."""
        runtime, first, n = self._runtime, self._length, len(tokens)
        end = first + n
        assert n > 0 and end <= runtime.dims.n_text_ctx, "the text context is full"
        x = runtime.token_embedding[list(tokens)] + runtime.token_positions[first:end]
        mask = np.triu(np.full((n, end), -np.inf, np.float32), k=first + 1) if n > 1 else None
        slabs = self._audio.slabs
        for i, layer in enumerate(runtime.decoder_layers):
            runtime.check_cancelled()
            cross = slabs.cross_keys[i], slabs.cross_values[i]
            x = layer(x, self._keys[i], self._values[i], *cross, first, mask, watched[i] if watched else None)
        self._length = end
        return runtime.decoder_norm(x)


# ---------------------------------------------------------------------------------------------------------- runtime


class NumpyRuntime:
    """See runtime.Runtime. Holds every weight as float32, so a model takes 4 bytes per parameter."""

    device = "numpy"

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.dims = checkpoint.dims
        weights = {name: tensor.f32() for name, tensor in checkpoint.tensors.items()}
        self.encoder = Encoder(weights, self.dims)
        self.decoder_layers = [DecoderLayer(weights, f"decoder.layers.{i}") for i in range(self.dims.n_text_layer)]
        self.decoder_norm = Norm(weights, "decoder.layer_norm")
        self.token_embedding = weights["decoder.embed_tokens.weight"]
        self.token_positions = weights["decoder.embed_positions.weight"]
        self._silences: dict[float, EncoderSlabs] = {}
        self._cancelled: Callable[[], bool] | None = None

    def logits(self, states: F32) -> F32:
        """The token table is the logit head as well."""
        product: F32 = states @ self.token_embedding.T
        return product

    def encode(self, mel: F32, audio_context: int | None = None) -> NumpyAudio:
        slabs = EncoderSlabs.empty(self.dims)
        end = N_AUDIO_CTX if audio_context is None else max(1, min(N_AUDIO_CTX, audio_context))
        if end < N_AUDIO_CTX:
            slabs.copy_from(self.silence(float(mel[-1, 0])), end)
        self.encode_positions(mel, slabs, 0, end)
        return NumpyAudio(slabs, end)

    def encoder_stream(self) -> NumpyEncoderStream:
        return NumpyEncoderStream(self)

    def encode_positions(self, mel: F32, slabs: EncoderSlabs, first: int, end: int) -> None:
        self.encoder(mel, slabs, first, end, self.check_cancelled)

    def silence(self, level: float) -> EncoderSlabs:
        """A whole window of silence of this mel value, rounded; the last few are kept. Not to be written to."""
        level = round(level / LEVEL_STEP) * LEVEL_STEP
        if level not in self._silences:
            slabs = EncoderSlabs.empty(self.dims)
            self.encode_positions(np.full((N_FRAMES, self.dims.n_mels), level, np.float32), slabs, 0, N_AUDIO_CTX)
            if len(self._silences) == MAX_SILENCES:
                del self._silences[next(iter(self._silences))]  # the one that was used longest ago
        else:
            slabs = self._silences.pop(level)
        self._silences[level] = slabs
        return slabs

    def decoder(self, audio: AudioState) -> NumpyDecoder:
        assert isinstance(audio, NumpyAudio), "audio of another runtime"
        return NumpyDecoder(self, audio)

    def set_cancel(self, cancelled: Callable[[], bool] | None) -> None:
        self._cancelled = cancelled

    def check_cancelled(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled("Stopped.")

    def close(self) -> None:
        self._silences.clear()
