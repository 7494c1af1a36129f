"""Texts of the shared clips with every model, quant and device, to be compared: the same everywhere.

    python -m tests.gpu.texts run --device cuda -o cuda.json [--models tiny.en base] [--quants F16 Q8_0]
    python -m tests.gpu.texts run --device numpy -o numpy.json
    python -m tests.gpu.texts compare numpy.json cuda.json

Quants other than the bundle's own are made in memory from the Q8_0 bundle, so that every device gets the same weights.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from pathlib import Path

from gguf import GGMLQuantizationType as TensorType

from engine.anatomy import TOKEN_TABLE
from engine.audio import SAMPLE_RATE_HZ, read_clip
from engine.checkpoint import Checkpoint, Tensor
from engine.decode import DecodingOptions
from engine.devices import open_runtime
from engine.export import packed
from engine.gguf.bundle import load
from engine.presets import plan
from engine.store import models_dir
from engine.transcriber import Transcriber

SPEECH = Path(__file__).parents[1] / "data" / "speech"
QUANTS = ("F16", "Q8_0", "Q4_0", "Q5_K", "Q6_K", "Q4_K_M+")


def requantized(checkpoint: Checkpoint, preset: str) -> Checkpoint:
    """The same model under another preset, in memory. "Q4_K_M+" also packs the token table as Q6_K, as others do."""
    types = {item.name: item.type for item in plan(checkpoint, preset.removesuffix("+"))}
    if preset.endswith("+") and checkpoint.dims.n_text_state % 256 == 0:
        types[TOKEN_TABLE] = TensorType.Q6_K
    tensors = {
        name: Tensor(name, tensor.shape, types[name], packed(tensor, types[name]))
        for name, tensor in checkpoint.tensors.items()
    }
    return replace(checkpoint, tensors=tensors, quant=preset)


def part_of(rows: list[dict[str, str]], part: str) -> list[dict[str, str]]:
    """part "1/4": every fourth row from the first on."""
    number, parts = (int(each) for each in part.split("/"))
    return rows[number - 1 :: parts]


def clips(multilingual: bool) -> list[dict[str, str]]:
    rows = csv.DictReader((SPEECH / "transcripts.tsv").open(encoding="utf-8"), delimiter="\t")
    return [row for row in rows if multilingual or row["lang"] == "en"]


def run(
    models: list[str], quants: list[str], device: str, context: str, kernels: bool, part: str
) -> Iterator[dict[str, str]]:
    """All texts so far, after each."""
    texts: dict[str, str] = {}
    for name in models:
        bundle = load(models_dir() / f"{name}-Q8_0.gguf")
        for quant in quants:
            checkpoint = requantized(bundle, quant)
            if kernels or device == "numpy":
                runtime = open_runtime(checkpoint, device)
            else:
                from engine.mlx_runtime import MlxRuntime

                runtime = MlxRuntime(checkpoint, device, kernels=False)
            transcriber = Transcriber(runtime, checkpoint)
            started = time.perf_counter()
            for row in part_of(clips(checkpoint.is_multilingual), part):
                samples = read_clip(SPEECH / row["file"])
                # whole seconds, which no device rounds up
                positions = ceil(len(samples) / SAMPLE_RATE_HZ + 0.5) if context == "clip" else context
                options = DecodingOptions(language=row["lang"], temperatures=(0.0,), audio_context=positions)
                texts[f"{name} {quant} {row['file']}"] = transcriber.transcribe(samples, options).text
                yield texts
            print(f"{name} {quant} {device}: {time.perf_counter() - started:.1f} s", file=sys.stderr, flush=True)
            transcriber.close()


def joined(paths: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in paths.split(","):
        texts |= json.loads(Path(path).read_text("utf-8"))
    return texts


def compare(paths: list[str]) -> int:
    first, *others = (joined(path) for path in paths)
    differ = 0
    for path, other in zip(paths[1:], others, strict=True):
        common = [key for key in first if key in other]
        different = [key for key in common if first[key] != other[key]]
        for key in different:
            print(f"{key}\n  {paths[0]}: {first[key]}\n  {path}: {other[key]}")
        print(f"{path}: {len(common) - len(different)} of {len(common)} texts as in {paths[0]}")
        differ += len(different)
    return min(differ, 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("--device", default="cuda")
    runs.add_argument("--models", nargs="+", default=["tiny.en", "base"])
    runs.add_argument("--quants", nargs="+", default=list(QUANTS))
    runs.add_argument("--context", default="full", help='"clip" encodes the clip alone, which a slow device manages')
    runs.add_argument("--part", default="1/1", help="1/4: every fourth clip from the first on, to split them up")
    runs.add_argument("--plain-mlx", action="store_true", help="MLX's own kernels only")
    runs.add_argument("-o", "--output", required=True)
    compares = commands.add_parser("compare")
    compares.add_argument("files", nargs="+", help="the first with every other; a,b,c: parts put together")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        return compare(arguments.files)
    for texts in run(
        arguments.models,
        arguments.quants,
        arguments.device,
        arguments.context,
        not arguments.plain_mlx,
        arguments.part,
    ):  # a run that is cut short leaves what it has
        Path(arguments.output).write_text(json.dumps(texts, ensure_ascii=False, indent=0), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
