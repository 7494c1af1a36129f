"""The MLX runtime: Metal on Apple silicon, CUDA on NVIDIA, MLX on the CPU for tests.

Owner thread: everything here, and every array it makes, belongs to the thread that called the constructor. `close` is
the last call on it. Failure mode: a lazy array evaluated on another thread raises "There is no Stream in current
thread", so nothing lazy is ever handed out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

# One token must be one submission: the CUDA backend cuts its graphs after this many nodes. Read once, at first use.
os.environ.setdefault("MLX_MAX_OPS_PER_BUFFER", "250")

import mlx.core as mx
import numpy as np

from engine.cache import CrossKV, Slabs
from engine.checkpoint import Checkpoint
from engine.errors import Cancelled, DeviceError, OptionError
from engine.fused import FusedDecoder, Pending, history, read_choice
from engine.model import KV, Model
from engine.runtime import F32, N_AUDIO_CTX, VERIFY_LIMIT, Choice, Dims, Rules

CACHE_LIMIT_BYTES = 256 << 20  # freed buffers that MLX may keep for reuse
BUCKET = 50  # on a GPU short windows are rounded up to whole seconds, so that few distinct shapes exist
BLOCK_S, LOOK_AHEAD_S = 4.0, 1.0
POSITIONS_PER_S = 50
FLOOR = -1.5  # the lowest normalised mel value there can be: log10 of 1e-10
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


class Silence:
    """The encoder's view of an all-silence window at one mel level."""

    def __init__(self, states: mx.array, kv: list[KV], cross: CrossKV) -> None:
        self.states, self.kv, self.cross = states, kv, cross

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
    ) -> None:
        """device: "auto", "metal", "cuda" or "mlx-cpu".

        widen_encoder: hold quantized encoder matrices dense (f16 on a GPU). None: as measured to be faster, which is
        everywhere but on Metal, where memory is shared with the rest of the system.
        compiled: compile the one-token step. None: on a GPU; on the CPU that would need a C++ compiler at run time.
        Raises DeviceError if the device is not there.
        """
        self._device = self._choose(device)
        mx.set_default_device(mx.cpu if self._device == "mlx-cpu" else mx.gpu)
        mx.set_cache_limit(CACHE_LIMIT_BYTES)
        on_cpu = self._device == "mlx-cpu"
        self.dtype = mx.float32 if on_cpu else mx.float16
        widen = self._device != "metal" if widen_encoder is None else widen_encoder
        self.model = Model(checkpoint, self.dtype, widen)
        self.fused = FusedDecoder(self.model.decoder, checkpoint.dims, not on_cpu if compiled is None else compiled)
        self.bucket = 1 if on_cpu else BUCKET
        self.ahead = not on_cpu
        self._silences: dict[float, Silence] = {}
        self._cancelled: Callable[[], bool] | None = None

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
            raise Cancelled("Stopped.")

    def close(self) -> None:
        del self.fused, self.model
        self._silences.clear()
        mx.synchronize()
        mx.clear_cache()
        mx.clear_streams()

    # encoder

    def encode(self, mel: F32, audio_context: int | None = None) -> MlxAudio:
        n = N_AUDIO_CTX if audio_context is None else self.round_up(audio_context)
        frames = mx.array(mel, self.dtype)
        if n == N_AUDIO_CTX:
            edge = mx.zeros((1, frames.shape[1]), self.dtype)
            states, _ = self.encode_block(mx.concatenate([frames, edge]), 0, None, None)
            return self.audio(states, None, n)
        silence = self.silence(max(float(mel.max()) - 2, FLOOR))  # the floor lies 8 decades, so 2 units, below the peak
        states, _ = self.encode_block(frames[: 2 * n + 1], 0, None, silence.kv_after(n))
        return self.audio(states, silence, n)

    def encoder_stream(self, block_s: float | None = None, look_ahead_s: float | None = None) -> MlxEncoderStream:
        block, ahead = (
            round((default if value is None else value) * POSITIONS_PER_S)
            for value, default in ((block_s, BLOCK_S), (look_ahead_s, LOOK_AHEAD_S))
        )
        if block < 1 or ahead < 0 or block + ahead > N_AUDIO_CTX:
            raise OptionError("A block must last at least 0.02 s, and block and look-ahead together at most 30 s.")
        return MlxEncoderStream(self, block, ahead)

    def round_up(self, positions: int) -> int:
        """To the bucket, within 1 and 1500."""
        return min(N_AUDIO_CTX, max(1, -(-positions // self.bucket)) * self.bucket)

    def encode_block(
        self, frames: mx.array, first: int, past: list[KV] | None, tail: list[KV] | None
    ) -> tuple[mx.array, list[KV]]:
        """`Encoder.__call__`, evaluated, with the cancel flag checked between layers."""
        self.check_cancel()
        states, made = self.model.encoder(frames, first, past, tail, self._between_layers)
        mx.eval(states, made)
        return states, made

    def _between_layers(self, x: mx.array) -> None:
        if self._cancelled is not None:
            mx.async_eval(x)  # type: ignore[no-untyped-call]  # the device starts on it while the next layer is being built
            self.check_cancel()
        if not self.ahead:
            mx.eval(x)

    def silence(self, level: float) -> Silence:
        """The cache for a mel level, rounded to 0.5; made on first use."""
        level = max(round(level / SILENCE_STEP) * SILENCE_STEP, FLOOR)
        if level not in self._silences:
            frames = mx.full((2 * N_AUDIO_CTX, self.dims.n_mels), level, self.dtype)
            edge = mx.zeros((1, self.dims.n_mels), self.dtype)
            states, kv = self.encode_block(mx.concatenate([frames, edge]), 0, None, None)
            self._silences[level] = Silence(states, kv, self.cross(states))
        return self._silences[level]

    def cross(self, states: mx.array) -> CrossKV:
        """Cross-attention K and V of final states, contiguous and evaluated."""
        cross = self.model.decoder.cross(states)
        cross = CrossKV([mx.contiguous(k) for k in cross.keys], [mx.contiguous(v) for v in cross.values])
        mx.eval(cross.keys, cross.values)
        return cross

    def audio(self, states: mx.array, silence: Silence | None, n_encoded: int) -> MlxAudio:
        """States of the first n_encoded positions, followed by silence, as an AudioState."""
        cross = self.cross(states)
        if silence is not None and n_encoded < N_AUDIO_CTX:
            states = mx.concatenate([states, silence.states[n_encoded:]])
            cross = CrossKV.join([cross, silence.cross.part(n_encoded, N_AUDIO_CTX)])
            mx.eval(states, cross.keys, cross.values)
        return MlxAudio(states, cross, n_encoded)

    def decoder(self, audio: MlxAudio) -> MlxDecoder:
        return MlxDecoder(self, audio)


class MlxEncoderStream:
    """Blocks with a frozen past (see `engine.runtime.EncoderStream`): at most block + look-ahead positions are redone.

    Frozen positions keep their K and V per encoder layer, final states and cross K and V; the look-ahead is encoded
    with its block and dropped. The mel floor follows the loudest bin heard so far.
    """

    MARGIN = 25  # positions of real silence encoded after the last frame, 0.5 s

    def __init__(self, runtime: MlxRuntime, block: int, look_ahead: int) -> None:
        self._runtime, self._block, self._ahead = runtime, block, look_ahead
        self._log = np.empty((0, runtime.dims.n_mels), np.float32)  # from two frames before the frozen border on
        self._start = 0  # index of its first frame in the utterance
        self._n_frames = 0
        self._loudest = -10.0
        self._frozen = 0
        self._past: list[KV] | None = None
        self._states: list[mx.array] = []
        self._cross: list[CrossKV] = []

    @property
    def n_frozen(self) -> int:
        return self._frozen

    def append(self, log_power: F32) -> None:
        room = 2 * N_AUDIO_CTX - self._n_frames
        self._log = np.concatenate([self._log, log_power[:room].astype(np.float32)])
        self._n_frames += min(len(log_power), room)
        while self._n_frames >= 2 * (self._frozen + self._block + self._ahead):
            self._freeze()

    def state(self) -> MlxAudio:
        runtime, p = self._runtime, self._frozen
        end = min(N_AUDIO_CTX, p + runtime.round_up(-(-self._n_frames // 2) + self.MARGIN - p))
        states, _, silence = self._encode(end)
        n = end - p
        cross = runtime.cross(states)
        parts, crosses = [*self._states, states], [*self._cross, cross]
        if end < N_AUDIO_CTX:
            parts.append(silence.states[p + n :])
            crosses.append(silence.cross.part(p + n, N_AUDIO_CTX))
        joined, all_states = CrossKV.join(crosses), mx.concatenate(parts)
        mx.eval(all_states, joined.keys, joined.values)
        return MlxAudio(all_states, joined, end)

    def _freeze(self) -> None:
        keep = self._block
        states, made, _ = self._encode(self._frozen + self._block + self._ahead)
        states = mx.contiguous(states[:keep])
        own = [(k[:, :, :keep], v[:, :, :keep]) for k, v in made]
        if self._past is not None:
            own = [
                (mx.concatenate([a, c], axis=2), mx.concatenate([b, d], axis=2))
                for (a, b), (c, d) in zip(self._past, own, strict=True)
            ]
        self._past = [(mx.contiguous(k), mx.contiguous(v)) for k, v in own]
        mx.eval(states, self._past)
        self._states.append(states)
        self._cross.append(self._runtime.cross(states))
        self._frozen += keep
        left = max(0, 2 * self._frozen - 2)
        self._log, self._start = self._log[left - self._start :], left

    def _encode(self, end: int) -> tuple[mx.array, list[KV], Silence]:
        """Encode from the frozen border to `end`, with silence after what was heard."""
        runtime, p = self._runtime, self._frozen
        heard = self._log[: 2 * end - self._start]
        self._loudest = max(self._loudest, float(heard.max(initial=-10.0)))
        floor = max(self._loudest - 8, -10)
        level = (floor + 4) / 4
        mel = (np.maximum(heard, floor) + 4) / 4
        left = max(0, 2 * p - 2)
        edge_value = 0.0 if end == N_AUDIO_CTX else level
        frames = np.full((2 * end + 1 - left, mel.shape[1]), level, np.float32)
        frames[: len(mel)] = mel
        frames[-1] = edge_value
        silence = runtime.silence(level)
        states, made = runtime.encode_block(mx.array(frames, runtime.dtype), p, self._past, silence.kv_after(end))
        return states, made, silence


class MlxDecoder:
    """Decodes one utterance (see `engine.runtime.Decoder`)."""

    def __init__(self, runtime: MlxRuntime, audio: MlxAudio) -> None:
        self._runtime = runtime
        self._fused = runtime.fused
        self._cross = audio.cross
        self.slabs = Slabs.empty(runtime.dims, runtime.dtype)
        self._length = 0
        self._logits: mx.array | None = None

    @property
    def length(self) -> int:
        return self._length

    def prefill(self, tokens: Sequence[int]) -> None:
        self._logits = self._append(tokens)[-1:]
        self._length += len(tokens)

    def logits(self) -> F32:
        row = self._pending()[0, : self._runtime.dims.n_vocab]
        return np.array(row.astype(mx.float32))

    def rewind(self, length: int) -> None:
        if not 0 <= length <= self._length:
            raise OptionError(f"Can't rewind to {length} tokens: {self._length} are decoded.")
        mx.eval(self.slabs.keys, self.slabs.values)  # a step that ran ahead must not write after this
        self._length = length
        self._logits = None

    def generate(
        self, rules: Rules, temperature: float = 0.0, seed: int = 0, sampled: Sequence[int] = ()
    ) -> Iterator[Choice]:
        pending = Pending(
            self._pending(),
            mx.array([self._length], mx.int32),
            mx.array([history(sampled, rules)], mx.int32),
            mx.random.key(seed),
        )
        room = self._runtime.dims.n_text_ctx - self._length
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

    def verify(self, draft: Sequence[int], rules: Rules, sampled: Sequence[int] = ()) -> list[Choice]:
        if len(draft) > VERIFY_LIMIT:
            raise OptionError(f"A draft has at most {VERIFY_LIMIT} tokens.")
        rows = self._pending()
        if draft:
            rows = mx.concatenate([rows, self._append(draft)])
        past = [history([*sampled, *draft[:i]], rules) for i in range(len(draft) + 1)]
        tokens, logprobs = self._fused.chooser(rules).greedy(rows, mx.array(past, mx.int32))
        mx.eval(tokens, logprobs)
        choices = [Choice(int(t), float(p)) for t, p in zip(np.array(tokens), np.array(logprobs), strict=True)]
        agreed = next((i for i, token in enumerate(draft) if choices[i].token != token), len(draft))
        self._logits = mx.contiguous(rows[agreed : agreed + 1])
        mx.eval(self._logits)
        self._length += agreed
        return choices[: agreed + 1]

    def _pending(self) -> mx.array:
        if self._logits is None:
            raise OptionError("No logits are pending: prefill first.")
        return self._logits

    def _append(self, tokens: Sequence[int]) -> mx.array:
        """Write tokens behind `length`, evaluated: logits (n_tokens, rows). Does not move `length`."""
        self._runtime.check_cancel()
        if not 0 < len(tokens) <= self._runtime.dims.n_text_ctx - self._length:
            raise OptionError(f"{len(tokens)} tokens don't fit: {self._length} of 448 are taken.")
        position = mx.array([self._length], mx.int32)
        states = self._fused.block(mx.array(list(tokens), mx.int32), position, self.slabs, self._cross)
        logits = self._fused.logits(states)
        mx.eval(logits, self.slabs.keys, self.slabs.values)
        return logits

    def _submit_ahead(self, pending: Pending, rules: Rules, temperature: float) -> mx.array:
        record = self._fused.step(pending, self.slabs, self._cross, rules, temperature)
        mx.async_eval(record, pending.logits, pending.position, pending.past, pending.key)  # type: ignore[no-untyped-call]
        return record

    def _submit_and_wait(self, pending: Pending, rules: Rules, temperature: float) -> mx.array:
        record = self._fused.step(pending, self.slabs, self._cross, rules, temperature)
        mx.eval(record, pending.logits, pending.position, pending.past, pending.key, self.slabs.keys, self.slabs.values)
        return record
