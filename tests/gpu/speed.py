"""On a GPU: `engine.bench` for every size and quant, with MLX's own kernels and with transformers beside it.

    python -m tests.gpu.speed [--sizes tiny base small large-v3-turbo] [--quants F16 Q8_0 Q4_K_M] [-o table.json]

Random weights of the right shapes: speed does not depend on their values. One row a run; ratios are of the same run.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

from engine import bench
from engine.mlx_runtime import MlxRuntime, available_device


def transformers_eager(size: str, n_tokens: int) -> tuple[float, float] | None:
    """Median milliseconds of the encoder and of a token with transformers, eager attention, f16. None: not there."""
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

    encoder = model.model.encoder

    def encode():
        states = encoder(mel).last_hidden_state
        torch.cuda.synchronize()
        return states

    with torch.no_grad():
        encode_ms, encoded = bench.timed(encode, 10)
        token, past, spent = torch.tensor([[50258]], device="cuda"), None, []
        for _ in range(n_tokens):
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
    torch.cuda.empty_cache()
    return encode_ms, statistics.median(spent[10:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", default=["tiny", "base", "small", "large-v3-turbo"])
    parser.add_argument("--quants", nargs="+", default=["F16", "Q8_0", "Q4_K_M"])
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--no-transformers", action="store_true")
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args()
    rows = []
    print(f"{'':28}load    mel  encode  prompt   token  nodes   MB/token  GB/s of memory")
    for size in arguments.sizes:
        for quant in arguments.quants:
            checkpoint = bench.random_checkpoint(size, quant)
            for kernels in (True, False):
                started = time.perf_counter()
                runtime = MlxRuntime(checkpoint, available_device() or "mlx-cpu", kernels=kernels)
                report = bench.measure(runtime, checkpoint, (time.perf_counter() - started) * 1e3, arguments.tokens)
                rows.append({**report.as_dict(), "ours": kernels})
                name = f"{size} {quant} {'kernels' if kernels else 'plain MLX'}"
                print(
                    f"{name:28}{report.load_ms:5.0f}{report.mel_ms:7.1f}{report.encode_ms:8.2f}{report.prompt_ms:8.2f}"
                    f"{report.token_ms:8.3f}{report.kernels:7}{report.bytes_per_token / 1e6:11.1f}"
                    f"{report.bandwidth_bytes_per_s / 1e9:8.0f} ({100 * report.bandwidth_share:.0f} %)",
                    flush=True,
                )
                del runtime
        if not arguments.no_transformers and (theirs := transformers_eager(size, 60)):
            rows.append(
                {"model": size, "device": "transformers eager f16", "encode_ms": theirs[0], "token_ms": theirs[1]}
            )
            print(f"{size + ' transformers eager':40}{theirs[0]:8.2f}{'':8}{theirs[1]:8.3f}", flush=True)
    if arguments.output:
        Path(arguments.output).write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
