"""The native CPU runtime: ctypes over the library in `native/`, which one wheel carries for every Python version.

Importing this module raises ImportError where the library was not built, or does not fit this Python code.

Weights: Q8_0 and Q4_0 blocks stay packed as they are in the file, copied once into the kernels' order. Every other
type becomes Q8_0: of 4, 5 and 6-bit types its rounding is at most an eighth of their own step, of F16 and F32 it is
what a Q8_0 bundle has. Norms, biases and positions are float32.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from ctypes import POINTER, c_char_p, c_float, c_int, c_int32, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as TensorType
from gguf import quants

from engine.audio import window_mel
from engine.checkpoint import Checkpoint, Tensor
from engine.cpu.cores import physical_cores
from engine.cpu.silence import SilenceFiles
from engine.errors import Cancelled
from engine.growing import GrowingAudio
from engine.runtime import F32, N_AUDIO_CTX, VERIFY_LIMIT, AudioState, Choice, Dims, Rules

_ABI = 1
_OK, _CANCELLED, _BAD_ARGUMENT, _NO_MEMORY = range(4)
_Q8_0, _Q4_0, _F32 = range(3)
_BLOCK = 32  # columns that share a scale
_CONVERT_ROWS = 2048  # at a time, so that converting other types needs little memory
LEVEL_STEP = 0.5  # silence levels are rounded to it: as good as exact ones, measured

_CancelCallback = ctypes.CFUNCTYPE(c_int)
_NEVER_CANCELLED: Any = _CancelCallback()  # a null pointer


class _Dims(ctypes.Structure):
    _fields_ = [
        (name, c_int32)
        for name in (
            *("n_mels", "n_audio_state", "n_audio_head", "n_audio_layer"),
            *("n_vocab", "n_text_ctx", "n_text_state", "n_text_head", "n_text_layer"),
        )
    ]


class _Rules(ctypes.Structure):
    _fields_ = [
        ("suppress", POINTER(c_int32)),
        ("n_suppress", c_int32),
        ("suppress_first", POINTER(c_int32)),
        ("n_suppress_first", c_int32),
        *((name, c_int32) for name in ("eot", "no_timestamps", "timestamp_begin", "timestamps")),
        ("max_initial_timestamp", c_int32),
    ]


class _Choice(ctypes.Structure):
    _fields_ = [("token", c_int32), ("logprob", c_float)]


_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "abi": (c_int, []),
    "instruction_sets": (c_char_p, []),
    "model_new": (c_void_p, [POINTER(_Dims), c_int, c_char_p]),
    "model_free": (None, [c_void_p]),
    "model_instruction_set": (c_char_p, [c_void_p]),
    "model_vector": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t]),
    "model_matrix": (c_int, [c_void_p, c_char_p, c_int, c_void_p, c_int, c_int, c_int, c_int]),
    "model_missing": (None, [c_void_p, c_char_p, c_size_t]),
    "silence_has": (c_int, [c_void_p, c_float]),
    "silence_make": (c_int, [c_void_p, c_float, _CancelCallback]),
    "silence_size": (c_size_t, [c_void_p]),
    "silence_export": (c_int, [c_void_p, c_float, c_void_p]),
    "silence_import": (c_int, [c_void_p, c_float, c_void_p]),
    "weight_offset": (c_int, [c_void_p]),
    "stream_new": (c_void_p, [c_void_p, c_int]),
    "stream_free": (None, [c_void_p]),
    "stream_encode": (c_int, [c_void_p, c_void_p, c_int, c_int, c_int, c_int, c_float, _CancelCallback]),
    "stream_audio": (c_void_p, [c_void_p]),
    "audio_free": (None, [c_void_p]),
    "audio_states": (None, [c_void_p, c_void_p]),
    "decoder_new": (c_void_p, [c_void_p, c_void_p]),
    "decoder_free": (None, [c_void_p]),
    "decoder_length": (c_int, [c_void_p]),
    "decoder_append": (c_int, [c_void_p, c_void_p, c_int]),
    "decoder_logits": (c_int, [c_void_p, c_void_p]),
    "decoder_step": (
        c_int,
        [c_void_p, c_int32, POINTER(_Rules), c_void_p, c_int, c_float, c_uint64, POINTER(_Choice)],
    ),
    "decoder_verify": (
        c_int,
        [c_void_p, c_void_p, c_int, POINTER(_Rules), c_void_p, c_int, POINTER(_Choice), POINTER(c_int)],
    ),
    "decoder_align": (c_int, [c_void_p, c_void_p, c_int, c_void_p, c_int, c_int, c_void_p, c_void_p]),
    "decoder_rewind": (c_int, [c_void_p, c_int]),
}


def _load_library() -> ctypes.CDLL:
    path = Path(__file__).with_name("_native.dll" if sys.platform == "win32" else "_native.so")
    if not path.exists():
        raise ImportError(f"The native CPU library was not built: {path} is missing.")
    library = ctypes.CDLL(str(path))
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, f"sayso_{name}", None)
        if function is None:
            raise ImportError(f"{path} is of another version of Sayso: build it again.")
        function.restype, function.argtypes = result, arguments
    if library.sayso_abi() != _ABI:
        raise ImportError(f"{path} is of another version of Sayso: build it again.")
    return library


_lib = _load_library()


def instruction_sets() -> list[str]:
    """Those that this processor can run, best first."""
    names: bytes = _lib.sayso_instruction_sets()
    return names.decode().split()


def _check(status: int) -> None:
    if status == _CANCELLED:
        raise Cancelled("Stopped.")
    if status == _NO_MEMORY:
        raise MemoryError("Out of memory for the model.")
    assert status == _OK, "a value that the native library does not take"


class _Handle:
    """Owns one object of the library."""

    def __init__(self, pointer: int | None, free: Callable[[int], None]) -> None:
        self.pointer: int = pointer or 0  # before the error: __del__ looks at it
        if not pointer:
            raise MemoryError("Out of memory for the model.")
        self._free = free

    def close(self) -> None:
        if self.pointer:
            self._free(self.pointer)
            self.pointer = 0

    def __del__(self) -> None:
        self.close()


# ---------------------------------------------------------------------------------------------------------- encoding


class NativeAudio:
    """See runtime.AudioState."""

    n_positions = N_AUDIO_CTX

    def __init__(self, runtime: NativeRuntime, handle: _Handle, n_encoded: int) -> None:
        self._runtime = runtime  # must outlive the handle
        self.handle = handle
        self.n_encoded = n_encoded

    def states(self) -> F32:
        out = np.empty((N_AUDIO_CTX, self._runtime.dims.n_audio_state), np.float32)
        _lib.sayso_audio_states(self.handle.pointer, out.ctypes.data)
        return out


class _Encoder:
    """The library's encoder: positions in order, silence behind them."""

    def __init__(self, runtime: NativeRuntime, keep_layers: bool) -> None:
        self._runtime = runtime
        self._handle = _Handle(_lib.sayso_stream_new(runtime.handle.pointer, keep_layers), _lib.sayso_stream_free)

    def encode(self, mel: F32, first: int, end: int) -> NativeAudio:
        """mel: (3000, n_mels), silence at its end where `end` is below 1500."""
        level = 0.0
        if end < N_AUDIO_CTX:
            level = self._runtime.silence(float(mel[-1, 0]))
        mel = np.ascontiguousarray(mel, np.float32)
        status = _lib.sayso_stream_encode(
            self._handle.pointer, mel.ctypes.data, 0, len(mel), first, end, level, self._runtime.cancel_callback
        )
        _check(status)
        return NativeAudio(
            self._runtime, _Handle(_lib.sayso_stream_audio(self._handle.pointer), _lib.sayso_audio_free), end
        )


class NativeEncoderStream(GrowingAudio):
    """See runtime.EncoderStream."""

    def __init__(self, runtime: NativeRuntime) -> None:
        super().__init__(runtime.dims.n_mels)
        self._encoder = _Encoder(runtime, keep_layers=True)

    def state(self, keep: int = 0) -> NativeAudio:
        end = self.begin_pass(keep)
        first = self._n_encoded = min(keep, end - 1)  # nothing to add: encode the last position once more
        audio = self._encoder.encode(window_mel(self.log_power), first, end)
        self._n_encoded = end
        return audio


# ---------------------------------------------------------------------------------------------------------- decoding


def _int32(values: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.ascontiguousarray(values, np.int32)


class _NativeRules:
    """Rules as the library takes them; keeps the arrays alive."""

    def __init__(self, rules: Rules) -> None:
        self._suppress, self._first = _int32(rules.suppress), _int32(rules.suppress_first)
        pointer = POINTER(c_int32)
        self.struct = _Rules(
            suppress=self._suppress.ctypes.data_as(pointer),
            n_suppress=len(self._suppress),
            suppress_first=self._first.ctypes.data_as(pointer),
            n_suppress_first=len(self._first),
            eot=rules.eot,
            no_timestamps=rules.no_timestamps,
            timestamp_begin=rules.timestamp_begin,
            timestamps=rules.timestamps,
            max_initial_timestamp=-1 if rules.max_initial_timestamp is None else rules.max_initial_timestamp,
        )


class NativeDecoder:
    """See runtime.Decoder."""

    def __init__(self, runtime: NativeRuntime, audio: NativeAudio) -> None:
        self._runtime = runtime
        self._audio = audio  # must outlive the handle
        self._handle = _Handle(
            _lib.sayso_decoder_new(runtime.handle.pointer, audio.handle.pointer), _lib.sayso_decoder_free
        )
        self._rules: tuple[Rules, _NativeRules] | None = None

    @property
    def length(self) -> int:
        n: int = _lib.sayso_decoder_length(self._handle.pointer)
        return n

    def prefill(self, tokens: Sequence[int]) -> None:
        assert len(tokens) and self.length + len(tokens) <= self._runtime.dims.n_text_ctx, "the text context is full"
        self._runtime.check_cancelled()
        ids = _int32(tokens)
        _check(_lib.sayso_decoder_append(self._handle.pointer, ids.ctypes.data, len(ids)))

    def logits(self) -> F32:
        out = np.empty(self._runtime.dims.n_vocab, np.float32)
        _check(_lib.sayso_decoder_logits(self._handle.pointer, out.ctypes.data))
        return out

    def generate(
        self, rules: Rules, temperature: float = 0.0, seed: int = 0, sampled: Sequence[int] = ()
    ) -> Iterator[Choice]:
        n_text_ctx = self._runtime.dims.n_text_ctx
        struct = self._native_rules(rules)
        history = np.empty(len(sampled) + n_text_ctx + 1, np.int32)
        history[: len(sampled)] = sampled
        n, token, choice = len(sampled), -1, _Choice()
        random = np.random.default_rng(seed).integers(0, 2**64, n_text_ctx + 1, np.uint64) if temperature else None
        for step in range(n_text_ctx + 1 - self.length):
            self._runtime.check_cancelled()
            draw = 0 if random is None else int(random[step])
            status = _lib.sayso_decoder_step(
                self._handle.pointer, token, struct, history.ctypes.data, n, temperature, draw, choice
            )
            _check(status)
            token = history[n] = choice.token
            n += 1
            yield Choice(choice.token, choice.logprob)

    def verify(self, draft: Sequence[int], rules: Rules, sampled: Sequence[int] = ()) -> list[Choice]:
        assert len(draft) <= VERIFY_LIMIT
        self._runtime.check_cancelled()
        ids = _int32(draft[: self._runtime.dims.n_text_ctx - self.length])
        before = _int32(sampled)
        choices, n = (_Choice * (len(ids) + 1))(), c_int(0)
        status = _lib.sayso_decoder_verify(
            self._handle.pointer,
            ids.ctypes.data,
            len(ids),
            self._native_rules(rules),
            before.ctypes.data,
            len(before),
            choices,
            n,
        )
        _check(status)
        return [Choice(choice.token, choice.logprob) for choice in choices[: n.value]]

    def align(self, tokens: Sequence[int], heads: Sequence[tuple[int, int]], n_words: int) -> tuple[F32, F32]:
        self._runtime.check_cancelled()
        ids, pairs = _int32(tokens), _int32([number for pair in heads for number in pair])
        weights = np.empty((len(heads), len(ids), N_AUDIO_CTX), np.float32)
        logprobs = np.empty(len(ids) - 1, np.float32)
        status = _lib.sayso_decoder_align(
            self._handle.pointer,
            ids.ctypes.data,
            len(ids),
            pairs.ctypes.data,
            len(heads),
            n_words,
            weights.ctypes.data,
            logprobs.ctypes.data,
        )
        _check(status)
        return weights, logprobs

    def rewind(self, length: int) -> None:
        _check(_lib.sayso_decoder_rewind(self._handle.pointer, length))

    def _native_rules(self, rules: Rules) -> _Rules:
        if self._rules is None or self._rules[0] is not rules:
            self._rules = (rules, _NativeRules(rules))
        return self._rules[1].struct


# ----------------------------------------------------------------------------------------------------------- weights


class _Loader:
    """Hands a checkpoint's tensors to the library, under its own names, stacked where it multiplies them at once."""

    def __init__(self, model: int, checkpoint: Checkpoint) -> None:
        self._model = model
        self._checkpoint = checkpoint

    def load(self) -> None:
        dims = self._checkpoint.dims
        self.convolution("encoder.conv1", padded_to=-(-dims.n_mels // _BLOCK) * _BLOCK)
        self.convolution("encoder.conv2", padded_to=dims.n_audio_state)
        for side in ("encoder", "decoder"):
            self.vector(f"{side}.positions", f"{side}.embed_positions.weight")
            self.norm(f"{side}.norm", f"{side}.layer_norm")
        self.matrix("decoder.tokens", ["decoder.embed_tokens.weight"])
        for i in range(dims.n_audio_layer):
            self.layer(f"encoder.{i}", f"encoder.layers.{i}", "attention_norm")
        for i in range(dims.n_text_layer):
            to, source = f"decoder.{i}", f"decoder.layers.{i}"
            self.layer(to, source, "self_norm")
            self.norm(f"{to}.cross_norm", f"{source}.encoder_attn_layer_norm")
            cross = f"{source}.encoder_attn"
            self.linear(f"{to}.cross_q", f"{cross}.q_proj")
            self.linear(f"{to}.cross_kv", f"{cross}.k_proj", f"{cross}.v_proj")
            self.linear(f"{to}.cross_out", f"{cross}.out_proj")
        missing = ctypes.create_string_buffer(80)
        _lib.sayso_model_missing(self._model, missing, len(missing))
        assert not missing.value, missing.value

    def layer(self, to: str, source: str, attention_norm: str) -> None:
        attention = f"{source}.self_attn"
        self.norm(f"{to}.{attention_norm}", f"{source}.self_attn_layer_norm")
        self.linear(f"{to}.qkv", f"{attention}.q_proj", f"{attention}.k_proj", f"{attention}.v_proj")
        self.linear(f"{to}.out", f"{attention}.out_proj")
        self.norm(f"{to}.mlp_norm", f"{source}.final_layer_norm")
        self.linear(f"{to}.fc1", f"{source}.fc1")
        self.linear(f"{to}.fc2", f"{source}.fc2")

    def norm(self, to: str, source: str) -> None:
        self.vector(f"{to}.gain", f"{source}.weight")
        self.vector(f"{to}.bias", f"{source}.bias")

    def vector(self, to: str, source: str) -> None:
        self._set_vector(to, self._checkpoint[source].f32())

    def _set_vector(self, to: str, values: F32) -> None:
        values = np.ascontiguousarray(values, np.float32)
        _check(_lib.sayso_model_vector(self._model, to.encode(), values.ctypes.data, values.size))

    def linear(self, to: str, *sources: str) -> None:
        self.matrix(to, [f"{source}.weight" for source in sources])
        zeros = np.zeros(self._checkpoint[f"{sources[0]}.weight"].shape[0], np.float32)  # Whisper's keys have no bias
        tensors = self._checkpoint.tensors
        biases = [tensors[f"{s}.bias"].f32() if f"{s}.bias" in tensors else zeros for s in sources]
        self._set_vector(f"{to}.bias", np.concatenate(biases))

    def matrix(self, to: str, sources: list[str]) -> None:
        """Stack the rows of `sources`. All Q4_0 stays Q4_0, anything else becomes Q8_0."""
        parts = [self._checkpoint[source] for source in sources]
        total = sum(part.shape[0] for part in parts)
        q4 = all(part.type == TensorType.Q4_0 for part in parts)
        row = 0
        for part in parts:
            if q4 or part.type == TensorType.Q8_0:
                self._set_rows(to, _Q4_0 if q4 else _Q8_0, part.data, part.shape[1], row, total)
            else:
                for start in range(0, part.shape[0], _CONVERT_ROWS):
                    values = quants.dequantize(part.data[start : start + _CONVERT_ROWS], part.type)
                    self._set_rows(to, _F32, values.astype(np.float32, copy=False), part.shape[1], row + start, total)
            row += part.shape[0]
            _release(part)

    def convolution(self, name: str, padded_to: int) -> None:
        """(out, in, 3) -> a matrix over three frames of `padded_to` channels."""
        kernel = self._checkpoint[f"{name}.weight"].f32()
        matrix = np.zeros((len(kernel), 3, padded_to), np.float32)
        matrix[:, :, : kernel.shape[1]] = kernel.swapaxes(1, 2)
        self._set_rows(name, _F32, matrix.reshape(len(kernel), -1), 3 * padded_to, 0, len(kernel))
        self._set_vector(f"{name}.bias", self._checkpoint[f"{name}.bias"].f32())

    def _set_rows(
        self, to: str, kind: int, rows: np.ndarray[Any, np.dtype[Any]], n_cols: int, first: int, total: int
    ) -> None:
        rows = np.ascontiguousarray(rows)
        status = _lib.sayso_model_matrix(
            self._model, to.encode(), kind, rows.ctypes.data, len(rows), n_cols, first, total
        )
        _check(status)


def _release(tensor: Tensor) -> None:
    """Let go of the file's pages that the tensor was read from, where it is a view of a mapping."""
    base: Any = tensor.data
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if not isinstance(base, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return
    page = mmap.PAGESIZE
    whole = np.frombuffer(base, np.uint8)
    start = tensor.data.ctypes.data - whole.ctypes.data
    first = -(-start // page) * page
    length = (start + tensor.data.nbytes) // page * page - first
    if length > 0:
        base.madvise(mmap.MADV_DONTNEED, first, length)


# ----------------------------------------------------------------------------------------------------------- runtime


class NativeRuntime:
    """See runtime.Runtime.

    threads: None takes the physical cores. instruction_set: None takes the best (or $SAYSO_INSTRUCTION_SET); for tests.
    """

    device = "cpu"

    def __init__(self, checkpoint: Checkpoint, threads: int | None = None, instruction_set: str | None = None) -> None:
        self.dims: Dims = checkpoint.dims
        self.threads = threads or physical_cores()
        name = instruction_set or os.environ.get("SAYSO_INSTRUCTION_SET", "")
        if name and name not in instruction_sets():
            raise ValueError(f"This processor has no {name}; it has {', '.join(instruction_sets())}.")
        sizes = _Dims(**{field[0]: getattr(self.dims, field[0]) for field in _Dims._fields_})
        self.handle = _Handle(_lib.sayso_model_new(sizes, self.threads, name.encode()), _lib.sayso_model_free)
        self._silence_files = SilenceFiles(checkpoint)
        self._cancelled: Callable[[], bool] | None = None
        self.cancel_callback: Any = _NEVER_CANCELLED
        _Loader(self.handle.pointer, checkpoint).load()

    @property
    def instruction_set(self) -> str:
        name: bytes = _lib.sayso_model_instruction_set(self.handle.pointer)
        return name.decode()

    def encode(self, mel: F32, audio_context: int | None = None) -> NativeAudio:
        end = N_AUDIO_CTX if audio_context is None else max(1, min(N_AUDIO_CTX, audio_context))
        return _Encoder(self, keep_layers=False).encode(mel, 0, end)

    def encoder_stream(self) -> NativeEncoderStream:
        return NativeEncoderStream(self)

    def decoder(self, audio: AudioState) -> NativeDecoder:
        assert isinstance(audio, NativeAudio), "audio of another runtime"
        return NativeDecoder(self, audio)

    def silence(self, level: float) -> float:
        """Have a window of silence of this mel value ready; the rounded value, which names it."""
        level = round(level / LEVEL_STEP) * LEVEL_STEP
        model = self.handle.pointer
        if _lib.sayso_silence_has(model, level):
            return level
        size: int = _lib.sayso_silence_size(model)
        name = f"{level:+.1f}-{_lib.sayso_weight_offset(model)}-{self.instruction_set}"
        if (image := self._silence_files.read(name, size)) is not None:
            _check(_lib.sayso_silence_import(model, level, image.ctypes.data))
            return level
        _check(_lib.sayso_silence_make(model, level, self.cancel_callback))
        image = np.empty(size, np.uint8)
        _check(_lib.sayso_silence_export(model, level, image.ctypes.data))
        self._silence_files.write(name, image)
        return level

    def set_cancel(self, cancelled: Callable[[], bool] | None) -> None:
        self._cancelled = cancelled
        self.cancel_callback = _NEVER_CANCELLED if cancelled is None else _CancelCallback(cancelled)

    def check_cancelled(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise Cancelled("Stopped.")

    def close(self) -> None:
        self.handle.close()
