"""How fast a model runs on a device, stage by stage: mel, encode, prompt, per token.

    report = bench.run(checkpoint, device="auto")           # or of random_checkpoint("small")
    print(report.table())                           # for people
    json.dumps(report.as_dict())                    # for scripts

Tokens are timed where the user waits for them: from one `Choice` to the next, median of 200. On a GPU the first runs
of everything are left out: they compile, and the clocks rise.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from gguf import GGMLQuantizationType as TensorType

from engine.anatomy import TOKEN_TABLE, expected_shapes
from engine.audio import SAMPLE_RATE_HZ, log_mel, mel_filters
from engine.checkpoint import Checkpoint, Tensor
from engine.devices import open_runtime
from engine.errors import OptionError
from engine.export import packed
from engine.formats.vocabulary import end_of_text
from engine.presets import plan
from engine.runtime import Dims, Rules, Runtime

PROMPT_TOKENS = 4  # start of transcript, language, task, no timestamps
GPUS = ("metal", "cuda")
WARM_UP_TOKENS = {True: 50, False: 8}  # left out; by whether the device is a GPU
WARM_UP_RUNS, RUNS = {True: 3, False: 1}, {True: 20, False: 5}
TILE_ROWS = 64  # random matrices repeat this many rows: speed depends on shapes and types alone

# n_mels, width, encoder layers, decoder layers, vocabulary
SIZES = {
    "tiny": (80, 384, 4, 4, 51865),
    "base": (80, 512, 6, 6, 51865),
    "small": (80, 768, 12, 12, 51865),
    "medium": (80, 1024, 24, 24, 51865),
    "large-v3": (128, 1280, 32, 32, 51866),
    "large-v3-turbo": (128, 1280, 32, 4, 51866),
}


@dataclass(frozen=True)
class BenchReport:
    """Medians in milliseconds. None where a runtime has no such thing, or it can't be measured."""

    model: str
    quant: str
    device: str
    load_ms: float
    mel_ms: float  # of 30 s
    encode_ms: float  # whole window, cross-attention K and V included
    prompt_ms: float  # a prompt of four tokens, until its logits are there
    token_ms: float
    n_tokens: int  # tokens that token_ms is the median of
    graph_nodes: int | None  # of one token's graph, on MLX
    kernels: int | None  # of these, the ones that launch something
    bytes_per_token: int  # weights and cross-attention K and V that a token reads
    bandwidth_bytes_per_s: float  # of the device's memory, measured by copying: bytes read and written
    bandwidth_share: float  # bytes_per_token / token time / bandwidth

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def table(self) -> str:
        graph = "-" if self.graph_nodes is None else f"{self.graph_nodes} nodes, {self.kernels} kernels"
        share = 100 * self.bandwidth_share
        rows = [
            ("model", f"{self.model} {self.quant}"),
            ("device", self.device),
            ("load", f"{self.load_ms:.0f} ms"),
            ("mel of 30 s", f"{self.mel_ms:.2f} ms"),
            ("encode 30 s", f"{self.encode_ms:.2f} ms"),
            ("prompt of 4", f"{self.prompt_ms:.2f} ms"),
            ("per token", f"{self.token_ms:.3f} ms (median of {self.n_tokens})"),
            ("graph of a token", graph),
            ("read per token", f"{self.bytes_per_token / 1e6:.1f} MB"),
            ("memory bandwidth", f"{self.bandwidth_bytes_per_s / 1e9:.0f} GB/s, used {share:.0f} %"),
        ]
        return "\n".join(f"{name:18}{value}" for name, value in rows)


def run(checkpoint: Checkpoint, device: str = "auto", n_tokens: int = 200, threads: int | None = None) -> BenchReport:
    """Load the model on the device, run every stage several times, free it. Call it on the thread that may own it."""
    started = time.perf_counter()
    runtime = open_runtime(checkpoint, device, threads)
    load_ms = (time.perf_counter() - started) * 1e3
    try:
        return measure(runtime, checkpoint, load_ms, n_tokens)
    finally:
        runtime.close()


def measure(runtime: Runtime, checkpoint: Checkpoint, load_ms: float, n_tokens: int = 200) -> BenchReport:
    """Time the stages of a loaded runtime."""
    filters = mel_filters(checkpoint.dims.n_mels)
    samples = np.random.default_rng(0).normal(0, 0.1, 30 * SAMPLE_RATE_HZ).astype(np.float32)
    mel_ms, mel = timed(lambda: log_mel(samples, filters), 5)
    on_gpu = runtime.device in GPUS
    encode_ms, audio = timed(lambda: runtime.encode(mel), RUNS[on_gpu], WARM_UP_RUNS[on_gpu])
    rules = endless(checkpoint)
    decoder = runtime.decoder(audio)

    def prompt() -> None:
        decoder.rewind(0)
        decoder.prefill([rules.eot + 1] * PROMPT_TOKENS)
        decoder.logits()

    prompt_ms, _ = timed(prompt, 2 * RUNS[on_gpu], WARM_UP_RUNS[on_gpu])
    tokens = token_times(decoder.generate(rules), n_tokens, WARM_UP_TOKENS[on_gpu])
    token_ms = statistics.median(tokens)
    nodes, kernels = _graph(runtime, decoder)
    kv_bytes = 2 if on_gpu else 4
    read = bytes_per_token(checkpoint, kv_bytes)
    bytes_per_s = bandwidth(runtime.device)
    return BenchReport(
        model=checkpoint.name,
        quant=checkpoint.quant,
        device=runtime.device,
        load_ms=load_ms,
        mel_ms=mel_ms,
        encode_ms=encode_ms,
        prompt_ms=prompt_ms,
        token_ms=token_ms,
        n_tokens=len(tokens),
        graph_nodes=nodes,
        kernels=kernels,
        bytes_per_token=read,
        bandwidth_bytes_per_s=bytes_per_s,
        bandwidth_share=read / (token_ms / 1e3) / bytes_per_s,
    )


def timed(work: Callable[[], Any], times: int, warm_up: int = 1) -> tuple[float, Any]:
    """Median of `times` runs in milliseconds, after `warm_up` that are not counted, and the last result."""
    for _ in range(warm_up):
        result = work()
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        result = work()
        spent.append((time.perf_counter() - started) * 1e3)
    return statistics.median(spent), result


def token_times(choices: Iterator[Any], n_tokens: int, warm_up: int) -> list[float]:
    """Milliseconds from one choice to the next, n_tokens times, after `warm_up` that are not counted."""
    for _ in range(warm_up):
        next(choices)
    spent, before = [], time.perf_counter()
    for _ in range(n_tokens):
        if next(choices, None) is None:
            break
        now = time.perf_counter()
        spent.append((now - before) * 1e3)
        before = now
    return spent


def endless(checkpoint: Checkpoint) -> Rules:
    """Rules under which decoding goes on for as long as is asked: end of text is forbidden."""
    eot = end_of_text(checkpoint.dims.n_vocab)
    begin = checkpoint.dims.n_vocab - 1501
    return Rules((eot,), (), eot, begin - 1, begin)


def _graph(runtime: Runtime, decoder: object) -> tuple[int | None, int | None]:
    """Nodes and launched kernels of one token's graph, where the runtime is MLX."""
    count = getattr(decoder, "graph_of_a_step", None)
    if count is None:
        return None, None
    names: list[str] = count()
    views = {"Reshape", "Transpose", "Slice", "Split", "Squeeze", "ExpandDims", "Broadcast", "Unflatten", "Flatten"}
    return len(names), sum(name not in views for name in names)


def bytes_per_token(checkpoint: Checkpoint, kv_bytes: int) -> int:
    """Packed decoder matrices and cross-attention K and V that one token reads. kv_bytes: of one K or V value."""
    read = 0
    for name, tensor in checkpoint.tensors.items():
        if name == TOKEN_TABLE or (name.startswith("decoder.layers.") and "encoder_attn.k_" not in name):
            read += 0 if "encoder_attn.v_" in name else tensor.data.nbytes
    dims = checkpoint.dims
    return read + 2 * dims.n_text_layer * dims.n_audio_ctx * dims.n_text_state * kv_bytes


def bandwidth(device: str) -> float:
    """Bytes a second, read and written, of a large copy on the device."""
    if device in GPUS:
        import mlx.core as mx

        source = mx.zeros((1 << 28,), mx.float32) + 1  # 1 GB, far larger than any cache
        mx.eval(source)
        ms, _ = timed(lambda: mx.eval(source + 1), 5)
        mx.clear_cache()
        return 2 * (4 << 28) / (ms / 1e3)
    numbers = np.ones(1 << 25, np.float32)
    target = np.empty_like(numbers)
    ms, _ = timed(lambda: np.copyto(target, numbers), 5)
    return 2 * numbers.nbytes / (ms / 1e3)


def random_checkpoint(size: str, quant: str = "Q8_0") -> Checkpoint:
    """A Whisper of random weights: what a size would cost here, before anything is downloaded.

    size: a key of SIZES; quant: a preset of `engine.presets`. Raises OptionError for others.
    """
    if size not in SIZES:
        raise OptionError(f"There is no size {size!r}; choose one of {', '.join(SIZES)}.")
    n_mels, d, n_encoder, n_decoder, n_vocab = SIZES[size]
    dims = Dims(n_mels, 1500, d, d // 64, n_encoder, n_vocab, 448, d, d // 64, n_decoder)
    empty = np.empty((0, 0), np.uint8)
    shapes = dict(expected_shapes(dims))
    bare = Checkpoint(dims, {name: Tensor(name, shape, TensorType.F32, empty) for name, shape in shapes.items()}, ())
    rng = np.random.default_rng(0)
    tensors = {item.name: _random(item.name, item.shape, item.type, rng) for item in plan(bare, quant)}
    return Checkpoint(dims, tensors, vocabulary=(), name=f"random {size}", quant=quant)


def _random(name: str, shape: tuple[int, ...], kind: TensorType, rng: np.random.Generator) -> Tensor:
    columns = shape[-1]
    rows = int(np.prod(shape[:-1])) if len(shape) > 1 else 1
    values = rng.standard_normal((min(rows, TILE_ROWS), columns), np.float32) * np.float32(columns**-0.5)
    if name.endswith("layer_norm.weight"):
        values = values + np.float32(1)
    tile = Tensor(name, values.shape, TensorType.F32, values.view(np.uint8))
    packed_tile = packed(tile, kind)
    data = np.resize(packed_tile, (rows, packed_tile.shape[1]))
    return Tensor(name, shape, kind, data)
