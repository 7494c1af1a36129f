"""The MLX runtime: Metal on Apple silicon, CUDA on NVIDIA, MLX on the CPU for tests.

Owner thread: everything here, and every array it makes, belongs to the thread that called the constructor. `close` is
the last call on it. Failure mode: a lazy array evaluated on another thread raises "There is no Stream in current
thread", so nothing lazy is ever handed out.
"""

from __future__ import annotations

import gc
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

# One token must be one submission, however many nodes and weights it has. MLX reads these once, at first use.
os.environ.setdefault("MLX_MAX_OPS_PER_BUFFER", "250")
os.environ.setdefault("MLX_MAX_MB_PER_BUFFER", "4096")

import mlx.core as mx
import numpy as np

from engine.cache import CrossKV, Slabs
from engine.checkpoint import Checkpoint
from engine.errors import Cancelled, DeviceError, OptionError
from engine.fused import FusedDecoder, Pending, read_choice, state_row
from engine.growing import GrowingAudio
from engine.host_memory import keep_on_host
from engine.kernels.encoder import EncoderKernels
from engine.kernels.step import KernelStep, product_with_a_few
from engine.model import KV, Model
from engine.runtime import F32, N_AUDIO_CTX, VERIFY_LIMIT, Choice, Dims, Rules

MERGED_STATE = 768  # widest decoder for which merged kernels measured faster
CACHE_LIMIT_BYTES = 256 << 20  # freed buffers that MLX may keep for reuse
BUCKET = 50  # on a GPU short windows are rounded up to whole seconds, so that few distinct shapes exist
LOG_FLOOR = -10.0  # log10 of the least mel power, 1e-10
MEL_FLOOR = (LOG_FLOOR + 4) / 4  # the same, normalised
SILENCE_STEP = 0.5  # silence caches are made for levels rounded to this


def available_device() -> str | None:
    """The GPU that MLX can use here, "metal" or "cuda", or None."""
    if mx.metal.is_available():
        return "metal"
    return "cuda" if _has_cuda() else None


def _has_cuda() -> bool:
    cuda = getattr(mx, "cuda", None)
    return bool(cuda is not None and cuda.is_available())


class MlxAudio:
    """Encoded audio on the device."""

    def __init__(self, states: mx.array, cross: CrossKV, n_encoded: int) -> None:
        self._states = states
        self.cross = cross
        self._n_encoded = n_encoded

    @property
    def n_positions(self) -> int:
        return int(self._states.shape[0])

    @property
    def n_encoded(self) -> int:
        return self._n_encoded

    def states(self) -> F32:
        return np.array(self._states.astype(mx.float32))


@dataclass(frozen=True)
class Encoded:
    """What the encoder made of consecutive positions, all of it evaluated."""

    states: mx.array  # (n, d), after the final norm
    kv: list[KV]  # each encoder layer's K and V, [1, heads, n, 64]
    cross: CrossKV

    @property
    def n_positions(self) -> int:
        return int(self.states.shape[0])

    def first(self, n: int) -> Encoded:
        """The first n positions, copied, so that the rest is freed."""
        kv = [(mx.contiguous(k[:, :, :n]), mx.contiguous(v[:, :, :n])) for k, v in self.kv]
        return Encoded(mx.contiguous(self.states[:n]), kv, self.cross.part(0, n)).evaluated()

    def followed_by(self, other: Encoded) -> Encoded:
        kv = [
            (mx.concatenate([k, k2], axis=2), mx.concatenate([v, v2], axis=2))
            for (k, v), (k2, v2) in zip(self.kv, other.kv, strict=True)
        ]
        states = mx.concatenate([self.states, other.states])
        return Encoded(states, kv, CrossKV.join([self.cross, other.cross])).evaluated()

    def evaluated(self) -> Encoded:
        mx.eval(self.states, self.kv, self.cross.layers)
        return self


class Silence(Encoded):
    """The encoder's view of an all-silence window at one mel level."""

    def kv_after(self, position: int) -> list[KV] | None:
        if position >= N_AUDIO_CTX:
            return None
        return [(k[:, :, position:], v[:, :, position:]) for k, v in self.kv]


class MlxRuntime:
    """Weights on an MLX device; implements `engine.runtime.Runtime`."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        device: str = "auto",
        widen_encoder: bool | None = None,
        compiled: bool | None = None,
        kernels: bool = True,
        merged: bool | None = None,
    ) -> None:
        """device: "auto", "metal", "cuda" or "mlx-cpu".

        widen_encoder: hold quantized encoder matrices dense (f16 on a GPU). None: as measured to be faster, which is
        everywhere but on Metal, where memory is shared with the rest of the system.
        compiled: compile the graphs. None: on a GPU; on the CPU that would need a C++ compiler at run time.
        kernels: on a GPU, decode with kernels of ours; False stays with MLX's own.
        merged: on CUDA, with fewer and larger kernels. None: up to small, where that measured faster.
        Raises DeviceError if the device is not there.
        """
        self._device = self._choose(device)
        mx.set_default_device(mx.cpu if self._device == "mlx-cpu" else mx.gpu)
        mx.set_cache_limit(CACHE_LIMIT_BYTES)
        on_cpu = self._device == "mlx-cpu"
        self.dtype = mx.float32 if on_cpu else mx.float16
        widen = self._device != "metal" if widen_encoder is None else widen_encoder
        use_kernels = not on_cpu and kernels
        compiled = not on_cpu if compiled is None else compiled
        multiply = product_with_a_few(self._device) if use_kernels else None
        on_cuda = use_kernels and self._device == "cuda"  # measured; nobody has on Metal yet
        self.model = Model(
            checkpoint,
            self.dtype,
            widen,
            compiled,
            multiply_q6_k=multiply,
            multiply_affine=multiply if on_cuda else None,
            encoder_kernels=EncoderKernels(self._device) if on_cuda else None,
        )
        merged = checkpoint.dims.n_text_state <= MERGED_STATE if merged is None else merged
        self.fused = self._fused(use_kernels, merged and self._device == "cuda", compiled)
        self.bucket = 1 if on_cpu else BUCKET
        self.ahead = use_kernels  # plain MLX writes a slab in place only when no step runs that reads it
        self._frames = mx.array(np.zeros((2 * N_AUDIO_CTX + 3, self.dims.n_mels), np.float32))
        mx.eval(self._frames)
        self._host_frames = np.array(self._frames, copy=False)  # the same memory
        if self._device == "cuda":
            keep_on_host(self._host_frames)
        self._silences: dict[float, Silence] = {}
        self._cancelled: Callable[[], bool] | None = None

    def _fused(self, use_kernels: bool, merged: bool, compiled: bool) -> FusedDecoder:
        decoder = self.model.decoder
        kernels = KernelStep(decoder, self.dims, self._device, merged) if use_kernels else None
        return FusedDecoder(decoder, self.dims, kernels, compiled)

    @staticmethod
    def _choose(device: str) -> str:
        found = available_device()
        if device in ("auto", "mlx-cpu"):
            return device if device == "mlx-cpu" else found or "mlx-cpu"
        if device not in ("metal", "cuda"):
            raise DeviceError(f'There is no MLX device "{device}": choose metal, cuda, mlx-cpu or auto.')
        if device != found:
            hint = "Use --device cpu." if found is None else f"Use --device {found}."
            raise DeviceError(f"MLX finds no {device} device on this computer. {hint}")
        return device

    @property
    def dims(self) -> Dims:
        return self.model.dims

    @property
    def device(self) -> str:
        return self._device

    def set_cancel(self, cancelled: Callable[[], bool] | None) -> None:
        self._cancelled = cancelled

    def check_cancel(self) -> None:
        if self._cancelled is not None and self._cancelled():
            mx.synchronize()  # what still runs reads frames and slabs that are written next
            raise Cancelled("Stopped.")

    def close(self) -> None:
        del self.fused, self.model, self._host_frames, self._frames
        self._silences.clear()
        gc.collect()  # compiled functions and what they belong to hold each other
        mx.synchronize()
        mx.clear_cache()  # streams stay for the thread's next model: `engine.leave_thread` ends them

    # encoder

    def encode(self, mel: F32, audio_context: int | None = None) -> MlxAudio:
        n = N_AUDIO_CTX if audio_context is None else self.round_up(audio_context)
        if n == N_AUDIO_CTX:
            return self._encode_window(mel)
        # the floor lies 8 decades, so 2 units, below the peak
        silence = self.silence(max(float(mel.max()) - 2, MEL_FLOOR))
        return self.audio(self.encode_block(self.upload(mel[: 2 * n + 1]), 0, None, silence.kv_after(n)), silence)

    def _encode_window(self, mel: F32) -> MlxAudio:
        self.check_cancel()
        frames = self.upload(mel, zeros=1)  # beyond the window
        states, cross = self.model.window(frames, self._between_layers)
        mx.eval(states, cross.layers)
        return MlxAudio(states, cross, N_AUDIO_CTX)

    def upload(self, frames: F32, zeros: int = 0) -> mx.array:
        """Mel frames (n, n_mels) f32, and rows of zeros, where the device reads them; they hold until the next call.

        Always the same buffer: a new one is, on CUDA, often one that lay on the device and is moved first. And f32 as
        they come: NumPy takes longer to make them f16 than a small GPU to encode them.
        """
        n = len(frames) + zeros
        self._host_frames[: len(frames)] = frames
        self._host_frames[len(frames) : n] = 0
        return self._frames[:n]

    def encoder_stream(self) -> MlxEncoderStream:
        return MlxEncoderStream(self)

    def round_up(self, positions: int) -> int:
        """To the bucket, within 1 and 1500."""
        return min(N_AUDIO_CTX, max(1, -(-positions // self.bucket)) * self.bucket)

    def encode_block(self, frames: mx.array, first: int, past: list[KV] | None, tail: list[KV] | None) -> Encoded:
        """`Encoder.__call__` and cross-attention K and V, evaluated, with the cancel flag checked between layers."""
        self.check_cancel()
        states, kv = self.model.encoder(frames, first, past, tail, self._between_layers)
        return Encoded(states, kv, self.model.decoder.cross(states)).evaluated()

    def _between_layers(self, x: mx.array) -> None:
        if self._device == "mlx-cpu":
            mx.eval(x)
        else:
            mx.async_eval(x)  # type: ignore[no-untyped-call]  # the GPU starts on it while the next layers are built
        self.check_cancel()

    def silence(self, level: float) -> Silence:
        """The cache for a mel level, rounded to 0.5; made on first use."""
        level = max(round(level / SILENCE_STEP) * SILENCE_STEP, MEL_FLOOR)
        if level not in self._silences:
            frames = mx.full((2 * N_AUDIO_CTX, self.dims.n_mels), level, mx.float32)
            edge = mx.zeros((1, self.dims.n_mels), mx.float32)
            made = self.encode_block(mx.concatenate([frames, edge]), 0, None, None)
            self._silences[level] = Silence(made.states, made.kv, made.cross)
        return self._silences[level]

    def audio(self, encoded: Encoded, silence: Silence | None) -> MlxAudio:
        """Encoded positions, followed by silence up to 1500, as an AudioState."""
        n, states, cross = encoded.n_positions, encoded.states, encoded.cross
        if silence is not None and n < N_AUDIO_CTX:
            states = mx.concatenate([states, silence.states[n:]])
            cross = CrossKV.join([cross, silence.cross.part(n, N_AUDIO_CTX)])
            mx.eval(states, cross.layers)
        return MlxAudio(states, cross, n)

    def decoder(self, audio: MlxAudio) -> MlxDecoder:
        return MlxDecoder(self, audio)


class MlxEncoderStream(GrowingAudio):
    """An utterance encoded while it is spoken (see `engine.runtime.EncoderStream`).

    Of every encoded position it keeps K and V per encoder layer, final states and cross-attention K and V. The
    convolution stem of a pass sees two mel frames to the left of it and silence to the right of what was heard.
    """

    def __init__(self, runtime: MlxRuntime) -> None:
        super().__init__(runtime.dims.n_mels)
        self._runtime = runtime
        self._encoded: Encoded | None = None

    def truncate(self, n_frames: int) -> None:
        super().truncate(n_frames)
        self._forget()

    def state(self, keep: int = 0) -> MlxAudio:
        runtime, least = self._runtime, self.begin_pass(keep)
        self._forget()
        kept = self._encoded
        end = min(N_AUDIO_CTX, keep + runtime.round_up(least - keep))
        frames, silence = self._frames(keep, end)
        made = runtime.encode_block(frames, keep, kept.kv if kept else None, silence.kv_after(end))
        self._encoded = made if kept is None else kept.followed_by(made)
        self._n_encoded = self._encoded.n_positions
        return runtime.audio(self._encoded, silence)

    def _forget(self) -> None:
        """Drop what lies behind `n_encoded`."""
        n = self.n_encoded
        self._encoded = self._encoded.first(n) if self._encoded is not None and n else None

    def _frames(self, start: int, end: int) -> tuple[mx.array, Silence]:
        """Mel frames that the stem needs for positions start to end, and the silence that follows."""
        floor = max(float(self.log_power.max(initial=LOG_FLOOR)) - 8, LOG_FLOOR)
        level = (floor + 4) / 4
        left = max(0, 2 * start - 2)
        heard = self.log_power[left : 2 * end + 1]
        frames = np.full((2 * end + 1 - left, self.log_power.shape[1]), level, np.float32)
        frames[: len(heard)] = (np.maximum(heard, floor) + 4) / 4
        if end == N_AUDIO_CTX:
            frames[-1] = 0  # beyond the window
        return self._runtime.upload(frames), self._runtime.silence(level)


class MlxDecoder:
    """Decodes one utterance (see `engine.runtime.Decoder`)."""

    def __init__(self, runtime: MlxRuntime, audio: MlxAudio) -> None:
        self._runtime = runtime
        self._fused = runtime.fused
        self._cross = audio.cross
        self.slabs = Slabs.empty(runtime.dims, runtime.dtype)
        self._length = 0
        self._logits: mx.array | None = None
        self._running: mx.array | None = None  # of the step that was submitted last

    @property
    def length(self) -> int:
        return self._length

    @property
    def room(self) -> int:
        """Tokens that still fit."""
        return self._runtime.dims.n_text_ctx - self._length

    def prefill(self, tokens: Sequence[int]) -> None:
        self._logits = self._append(tokens)[-1:]
        self._length += len(tokens)

    def logits(self) -> F32:
        row = self._pending()[0, : self._runtime.dims.n_vocab]
        return np.array(row.astype(mx.float32))

    def rewind(self, length: int) -> None:
        if not 0 <= length <= self._length:
            raise OptionError(f"Can't rewind to {length} tokens: {self._length} are decoded.")
        self._length = length
        self._logits = None

    def generate(
        self, rules: Rules, temperature: float = 0.0, seed: int = 0, sampled: Sequence[int] = ()
    ) -> Iterator[Choice]:
        self._settle()
        pending = Pending(
            self._pending(),
            mx.array(state_row(self._length, sampled, rules), mx.int32),
            mx.random.key(seed),
        )
        room = self.room
        submit = self._submit_ahead if self._runtime.ahead else self._submit_and_wait
        record = submit(pending, rules, temperature) if room else None
        while record is not None:
            self._runtime.check_cancel()
            logits, room = pending.logits, room - 1
            following = submit(pending, rules, temperature) if room and self._runtime.ahead else None
            choice = read_choice(record)
            self._length += 1
            self._logits = logits
            yield choice
            record = following if self._runtime.ahead or not room else submit(pending, rules, temperature)
        yield self._choose_last(pending, rules, temperature)

    def verify(self, draft: Sequence[int], rules: Rules, sampled: Sequence[int] = ()) -> list[Choice]:
        if len(draft) > VERIFY_LIMIT:
            raise OptionError(f"A draft has at most {VERIFY_LIMIT} tokens.")
        rows = self._pending()
        draft = draft[: self.room]
        if draft:
            rows = mx.concatenate([rows, self._append(draft)])
        states = [state_row(self._length + i, [*sampled, *draft[:i]], rules) for i in range(len(draft) + 1)]
        tokens, logprobs = self._fused.chooser(rules).greedy(rows, mx.array(states, mx.int32))
        mx.eval(tokens, logprobs)
        choices = [Choice(int(t), float(p)) for t, p in zip(np.array(tokens), np.array(logprobs), strict=True)]
        agreed = next((i for i, token in enumerate(draft) if choices[i].token != token), len(draft))
        self._logits = mx.contiguous(rows[agreed : agreed + 1])
        mx.eval(self._logits)
        self._length += agreed
        return choices[: agreed + 1]

    def align(self, tokens: Sequence[int], heads: Sequence[tuple[int, int]], n_words: int) -> tuple[F32, F32]:
        if self._length:
            raise OptionError("Only an empty decoder aligns: rewind it first.")
        self._runtime.check_cancel()
        seen: dict[tuple[int, int], mx.array] = {}

        def watch(layer: int, probabilities: mx.array) -> None:
            seen.update({pair: probabilities[0, pair[1]] for pair in heads if pair[0] == layer})

        decoder = self._runtime.model.decoder
        logits = decoder.reference(tokens, [None] * len(decoder.layers), self._cross, watch)[:-1, :n_words]
        logits = logits.astype(mx.float32)
        following = np.array(tokens[1:], np.int32)
        wanted = mx.array(np.minimum(following, n_words - 1)[:, None])
        chosen = mx.take_along_axis(logits, wanted, axis=1)[:, 0] - mx.logsumexp(logits, axis=1)
        weights = mx.stack([seen[layer, head] for layer, head in heads]).astype(mx.float32)
        mx.eval(weights, chosen)
        return np.array(weights), np.where(following < n_words, np.array(chosen), -np.inf).astype(np.float32)

    def _settle(self) -> None:
        """Wait for a step that ran ahead: it writes a slab row that is about to be written again."""
        if self._running is not None:
            mx.eval(self._running)
            self._running = None

    def _pending(self) -> mx.array:
        if self._logits is None:
            raise OptionError("No logits are pending: prefill first.")
        return self._logits

    def _append(self, tokens: Sequence[int]) -> mx.array:
        """Write tokens behind `length`, evaluated: logits (n_tokens, rows). Does not move `length`."""
        self._runtime.check_cancel()
        if not 0 < len(tokens) <= self.room:
            raise OptionError(f"{len(tokens)} tokens don't fit: {self._length} of 448 are taken.")
        self._settle()
        state = mx.array([self._length, 0, 0, 0, 0, len(tokens), 0, 0], mx.int32)
        logits = self._fused.append(mx.array(list(tokens), mx.int32), state, self.slabs, self._cross)
        mx.eval(logits, self.slabs.layers)
        return logits

    def _choose_last(self, pending: Pending, rules: Rules, temperature: float) -> Choice:
        """The choice after the last token that fits; it can't be appended any more."""
        chooser = self._fused.chooser(rules)
        if temperature > 0:
            heat = mx.array(temperature, mx.float32)
            token, logprob = chooser.sample(pending.logits, pending.state[None], heat, pending.key)
        else:
            token, logprob = chooser.greedy(pending.logits, pending.state[None])
        return Choice(int(np.array(token)[0]), float(np.array(logprob)[0]))

    def graph_of_a_step(self) -> list[str]:
        """Names of the nodes in the graph of one greedy step, for `bench` and tests. Appends nothing."""
        rules = Rules((), (), 0, 0, self._runtime.dims.n_vocab - 1501)
        state = mx.array(state_row(self._length, [], rules), mx.int32)
        pending = Pending(self._pending(), state, mx.random.key(0))
        slabs = Slabs.empty(self._runtime.dims, self._runtime.dtype)
        record = self._fused.step(pending, slabs, self._cross, rules, 0.0)
        dot = io.StringIO()
        mx.export_to_dot(dot, record, pending.logits, pending.state, *slabs.layers)
        return re.findall(r'label ="(\w+)"', dot.getvalue())

    def _submit_ahead(self, pending: Pending, rules: Rules, temperature: float) -> mx.array:
        record = self._fused.step(pending, self.slabs, self._cross, rules, temperature)
        self._running = pending.logits
        mx.async_eval(record, pending.logits, pending.state, pending.key)  # type: ignore[no-untyped-call]
        return record

    def _submit_and_wait(self, pending: Pending, rules: Rules, temperature: float) -> mx.array:
        record = self._fused.step(pending, self.slabs, self._cross, rules, temperature)
        mx.eval(record, pending.logits, pending.state, pending.key, self.slabs.layers)
        return record
