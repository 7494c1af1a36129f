"""How much of the machine the native runtime uses: memory bandwidth per token, int8 products in the encoder.

    python -m tests.measure_share tiny.en base [--threads 2]        # needs g++ and an x86 processor with AVX-512 VNNI

The limits are measured in the same run by tests/engine/cpu/peak.cpp: reads of memory far larger than any cache, and
register-only int8 products. A token reads the decoder's packed matrices and the cross-attention keys and values.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from engine import bench
from engine.cpu.native import NativeRuntime
from engine.gguf import bundle
from engine.runtime import Dims
from tests.conftest import starter_bundle

PEAK = Path(__file__).parent / "engine" / "cpu" / "peak.cpp"
KEY_VALUE_BYTES = 64 + 64 + 8  # of a position and head: int8 key, int8 value, a scale each


def limits(threads: int) -> dict[str, float]:
    """Bytes read and int8 multiply-adds per second, by kind."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/peak"
        subprocess.run(["g++", "-std=c++17", "-O3", "-march=native", "-pthread", str(PEAK), "-o", program], check=True)
        lines = subprocess.run([program, str(threads)], check=True, capture_output=True, text=True).stdout.split("\n")
    return {name: float(value) for name, value in (line.split() for line in lines if line)}


def encoder_products(dims: Dims) -> float:
    """Multiply-adds of a whole window, cross-attention K and V included."""
    n, d = dims.n_audio_ctx, dims.n_audio_state
    stem = 2 * n * 3 * dims.n_mels * d + n * 3 * d * d
    layer = 12 * n * d * d + 2 * n * n * d
    return float(stem + dims.n_audio_layer * layer + dims.n_text_layer * 2 * n * d * d)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    most = limits(args.threads)
    print(", ".join(f"{name} {value / 1e9:.0f} G/s" for name, value in most.items()))
    for name in args.models:
        checkpoint = bundle.load(starter_bundle(name, "Q8_0"))
        runtime = NativeRuntime(checkpoint, args.threads)
        dims = checkpoint.dims
        mel = np.random.default_rng(0).normal(0, 0.5, (3000, dims.n_mels)).astype(np.float32)
        encode_ms, audio = bench.timed(lambda runtime=runtime, mel=mel: runtime.encode(mel), 9)
        decoder = runtime.decoder(audio)
        decoder.prefill([checkpoint.dims.n_vocab - 1606])
        token_ms = float(np.median(bench.token_times(decoder.generate(bench.endless(checkpoint)), 200, 8)))
        read = bench.bytes_per_token(checkpoint, 0) + dims.n_text_layer * dims.n_text_head * 1500 * KEY_VALUE_BYTES
        products = encoder_products(dims) / (encode_ms / 1e3)
        shares = ", ".join(
            f"{100 * products / value:.0f} % of {kind}" for kind, value in most.items() if kind != "read"
        )
        print(
            f"{name}: token {token_ms:.2f} ms, reads {read / 1e6:.1f} MB, {read / token_ms / 1e6:.1f} GB/s, "
            f"{100 * read / (token_ms / 1e3) / most['read']:.0f} % of memory reads; "
            f"encoder {encode_ms:.0f} ms, {products / 1e9:.0f} G products/s, {shares}"
        )
        runtime.close()


if __name__ == "__main__":
    main()
