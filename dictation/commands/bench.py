"""`sayso bench`: how fast a model is on this computer, and beside other Whisper runtimes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dictation.cli import DONE, say
from dictation.commands.recognition import add_model_options
from dictation.scratch import scratch_folder

if TYPE_CHECKING:
    from engine.bench import BenchReport

SHORT_S, LONG_S = 3, 28  # of the clips that runtimes are compared on


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument(
        "--compare", action="store_true", help="also run other Whisper runtimes that are installed, on the processor"
    )


def run(arguments: argparse.Namespace) -> int:
    from dictation.models import active_model

    name = arguments.model or active_model()
    compared = _compare(name, arguments) if arguments.compare else None  # refuses before anything takes long
    report = _measure(name, arguments)
    if arguments.json:
        print(json.dumps({**report.as_dict(), **({"compared": compared} if compared else {})}))
        return DONE
    print(report.table())
    if compared:
        from engine import peers

        print(f"\n{peers.table(compared)}")
    return DONE


def _measure(name: str, arguments: argparse.Namespace) -> BenchReport:
    from engine import bench
    from engine.formats.load import load
    from engine.store import find

    return bench.run(load(find(name)), arguments.device, threads=arguments.threads)


def _compare(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Sayso's CPU runtime and the peers on the sample clip, each in processes of its own."""
    from engine import peers, store
    from engine.cpu.cores import physical_cores
    from engine.devices import why_not_native
    from engine.errors import DeviceError, OptionError

    model = name.partition(":")[0]
    known = [starter.name for starter in store.STARTERS]
    if model not in known:
        raise OptionError(f"Other runtimes are compared on {' or '.join(known)}, not on {model}: use --model.")
    if reason := why_not_native():
        raise DeviceError(f"Other runtimes are compared with Sayso's own CPU runtime, which is not there: {reason}")
    say("comparing takes a few minutes; close what else is busy")
    with scratch_folder() as folder:
        short, long = _clips(folder)
        return peers.compare(model, short, long, arguments.threads or physical_cores(), rounds=3, busy=False)


def _clips(folder: Path) -> tuple[Path, Path]:
    """The sample clip cut to SHORT_S, and said again and again for LONG_S."""
    import numpy as np
    import soundfile

    import resources
    from engine.audio import SAMPLE_RATE_HZ, read_clip

    samples = read_clip(resources.path("sample.wav"))
    for seconds in (SHORT_S, LONG_S):
        soundfile.write(folder / f"{seconds}.wav", np.resize(samples, seconds * SAMPLE_RATE_HZ), SAMPLE_RATE_HZ)
    return folder / f"{SHORT_S}.wav", folder / f"{LONG_S}.wav"
