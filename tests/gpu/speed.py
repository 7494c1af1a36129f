"""On a GPU: every size and quant in turn, round after round, with transformers beside them.

    python -m tests.gpu.speed [--sizes tiny base ...] [--quants F16 Q8_0 Q4_K_M] [--kinds default] [-o x.json]
    for size in tiny base; do python -m tests.gpu.speed --sizes $size --in-turn /tmp/turn -o $size.json & done; wait

Random weights of the right shapes: speed does not depend on their values. All variants of a size are loaded at once
and run in turn, every other round backwards, so that a host that slows down slows all of them; figures are medians
over the rounds' medians, and "to" is the slowest round. "of first" is the median of the rounds' ratios to the first
variant's time per token. "goal" says by what factor a token may still slow down before it misses issue 7's goal.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from engine import bench
from engine.audio import SAMPLE_RATE_HZ, log_mel, mel_filters
from engine.checkpoint import Checkpoint
from engine.mlx_runtime import MlxRuntime, available_device

WARM_UP_TOKENS, TOKENS, ENCODES, PROMPTS = 50, 200, 8, 8  # a round
PROTOTYPE_TOKEN_MS = {
    "tiny": 0.72,
    "base": 0.99,
    "small": 1.82,
    "large-v3-turbo": 0.75,
}  # a bare chain of MLX ops, H200
KINDS = {"default": {}, "merged": {"merged": True}, "separate": {"merged": False}, "plain": {"kernels": False}}
EAGER = "transformers eager f16"


@dataclass
class Variant:
    name: str
    encode: Callable[[], object]
    tokens: Callable[[], list[float]]  # milliseconds of each
    prompt: Callable[[], object] | None = None
    report: bench.BenchReport | None = None
    encode_ms: list[float] = field(default_factory=list)  # a median a round
    token_ms: list[float] = field(default_factory=list)
    prompt_ms: list[float] = field(default_factory=list)

    def round(self) -> None:
        if self.prompt is not None:
            self.prompt_ms.append(bench.timed(self.prompt, PROMPTS)[0])
        self.encode_ms.append(bench.timed(self.encode, ENCODES)[0])
        self.token_ms.append(median(self.tokens()))

    def row(self) -> dict[str, object]:
        found = {} if self.report is None else self.report.as_dict()
        rounds = {"encode_rounds_ms": self.encode_ms, "token_rounds_ms": self.token_ms}
        return {
            **found,
            "variant": self.name,
            "encode_ms": median(self.encode_ms),
            "token_ms": median(self.token_ms),
            **({"prompt_ms": median(self.prompt_ms)} if self.prompt_ms else {}),
            **rounds,
        }


def sayso(checkpoint: Checkpoint, kind: str) -> Variant:
    """kind: a key of KINDS."""
    started = time.perf_counter()
    runtime = MlxRuntime(checkpoint, available_device() or "mlx-cpu", **KINDS[kind])
    report = bench.measure(runtime, checkpoint, (time.perf_counter() - started) * 1e3, n_tokens=TOKENS)
    samples = np.random.default_rng(0).normal(0, 0.1, 30 * SAMPLE_RATE_HZ).astype(np.float32)
    mel = log_mel(samples, mel_filters(checkpoint.dims.n_mels))
    decoder, rules = runtime.decoder(runtime.encode(mel)), bench.endless(checkpoint)

    def prompt() -> None:
        decoder.rewind(0)
        decoder.prefill([rules.eot + 1] * bench.PROMPT_TOKENS)
        decoder.logits()

    def tokens() -> list[float]:
        prompt()
        return bench.token_times(decoder.generate(rules), TOKENS, WARM_UP_TOKENS)

    name = f"{checkpoint.name.removeprefix('random ')} {checkpoint.quant}" + f" {kind}"
    return Variant(name, lambda: runtime.encode(mel), tokens, prompt, report)


def attempted(checkpoint: Checkpoint, kind: str) -> Variant | None:
    try:
        return sayso(checkpoint, kind)
    except RuntimeError as error:  # MLX's, where a kernel does not compile or start
        print(f"{checkpoint.name} {checkpoint.quant} {kind} did not run: {str(error)[:1000]}", flush=True)
        return None


def transformers_eager(size: str) -> Variant | None:
    """transformers with eager attention in f16. None: not installed."""
    try:
        import torch
        from transformers import WhisperConfig, WhisperForConditionalGeneration
        from transformers.modeling_outputs import BaseModelOutput
    except ImportError:
        return None
    n_mels, d, n_encoder, n_decoder, n_vocab = bench.SIZES[size]
    config = WhisperConfig(
        vocab_size=n_vocab, num_mel_bins=n_mels, d_model=d, encoder_layers=n_encoder, decoder_layers=n_decoder,
        encoder_attention_heads=d // 64, decoder_attention_heads=d // 64, encoder_ffn_dim=4 * d, decoder_ffn_dim=4 * d,
        attn_implementation="eager",
    )  # fmt: skip
    model = WhisperForConditionalGeneration(config).half().cuda().eval()
    mel = torch.randn(1, n_mels, 3000, dtype=torch.float16, device="cuda")

    @torch.no_grad()
    def encode():
        states = model.model.encoder(mel).last_hidden_state
        torch.cuda.synchronize()
        return states

    encoded = encode()

    @torch.no_grad()
    def tokens() -> list[float]:
        token, past, spent = torch.tensor([[50258]], device="cuda"), None, []
        for _ in range(50):
            started = time.perf_counter()
            out = model(
                encoder_outputs=BaseModelOutput(last_hidden_state=encoded),
                decoder_input_ids=token,
                past_key_values=past,
                use_cache=True,
            )
            past, token = out.past_key_values, out.logits[:, -1:].argmax(-1)
            token.item()
            spent.append((time.perf_counter() - started) * 1e3)
        return spent[10:]

    return Variant(f"{size} {EAGER}", encode, tokens)


class Turn:
    """Processes that name the same file get ready together, and measure one after the other once all are ready."""

    def __init__(self, path: str | None) -> None:
        self._file = None if path is None else Path(path).open("w")  # noqa: SIM115  (until the process ends)

    def take(self, operation: int) -> None:
        """fcntl.LOCK_SH while getting ready, LOCK_EX to measure, LOCK_UN at the end."""
        if self._file is not None:
            fcntl.flock(self._file, operation)


def measured(variants: list[Variant], rounds: int) -> float:
    """Run the rounds; bytes a second of the device's memory."""
    for i in range(rounds):
        for variant in variants if i % 2 == 0 else reversed(variants):
            variant.round()
    return bench.bandwidth(available_device() or "mlx-cpu")


def line(variant: Variant, size: str, first: Variant, eager: Variant | None, bytes_per_s: float) -> str:
    encode_ms, token_ms = median(variant.encode_ms), median(variant.token_ms)
    text = f"{variant.name:32}{encode_ms:8.2f} to{max(variant.encode_ms):7.2f}"
    text += f"{token_ms:9.3f} to{max(variant.token_ms):7.3f}"
    if variant.report is None:
        return text
    report = variant.report
    share = report.bytes_per_token / (token_ms / 1e3) / bytes_per_s
    text += f"{median(a / b for a, b in zip(variant.token_ms, first.token_ms, strict=True)):9.3f}"
    text += f"{median(variant.prompt_ms):8.2f}{report.load_ms:7.0f}"
    text += f"{report.kernels:6}{report.bytes_per_token / 1e6:8.1f}"
    text += f"{100 * share:5.0f} %{PROTOTYPE_TOKEN_MS.get(size, float('nan')) / 2 / token_ms:8.2f}"
    if eager is not None:
        text += f"{median(eager.token_ms) / token_ms:10.1f}x{median(eager.encode_ms) / encode_ms:7.2f}x"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["tiny", "base", "small", "large-v3-turbo"])
    parser.add_argument("--quants", nargs="+", default=["F16", "Q8_0", "Q4_K_M"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--in-turn", help="a file: processes that name the same one measure in turn")
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=["default"])
    parser.add_argument("--no-transformers", action="store_true")
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    turn = Turn(arguments.in_turn)
    rows = []
    print(
        f"{'ms':32}{'encode':>8}{'':10}{'token':>9}{'':10}{'of first':>9}{'prompt':>8}{'load':>7}"
        f"{'nodes':>6}{'MB/tok':>8}{'memory':>7}{'goal':>8}{'of eager':>11}{'encode':>8}"
    )
    for size in arguments.sizes:
        turn.take(fcntl.LOCK_SH)
        checkpoints = [bench.random_checkpoint(size, quant) for quant in arguments.quants]
        made = [attempted(each, kind) for each in checkpoints for kind in arguments.kinds]
        variants = [variant for variant in made if variant is not None]
        eager = None if arguments.no_transformers else transformers_eager(size)
        variants += [eager] if eager else []
        turn.take(fcntl.LOCK_EX)
        bytes_per_s = measured(variants, arguments.rounds)
        turn.take(fcntl.LOCK_UN)
        for variant in variants:
            print(line(variant, size, variants[0], eager, bytes_per_s), flush=True)
            rows.append(variant.row())
        if arguments.output:  # so that a run that is cut short leaves what it has
            Path(arguments.output).write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
