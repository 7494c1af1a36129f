"""The options that every command which recognises speech has, and what they come to."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dictation.scratch import scratch_folder

if TYPE_CHECKING:
    from engine.decode import DecodingOptions
    from engine.transcriber import Transcriber

# A pipe's sound must be known for one by then; a picture may come before it
HEADER_BYTES, COPY_BYTES = 16 << 20, 1 << 20
PIPE_LIMIT_H, WIDEST_SAMPLE_BYTES = 3, 4
DEVICES = ("auto", "cpu", "numpy", "metal", "cuda", "mlx-cpu")


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """--model, --device, --threads: which Transcriber."""
    parser.add_argument("--model", metavar="MODEL", help="an installed model (base, base:Q8_0) or a model file")
    add_device_option(parser)
    parser.add_argument("--threads", type=_count, metavar="N", help="how many threads of the processor to use")


def add_device_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--device", choices=DEVICES, default="auto", help="what computes (default: the fastest here)")


def add_decoding_options(parser: argparse.ArgumentParser) -> None:
    """--language, --translate, --audio-context: how it listens."""
    parser.add_argument("--language", metavar="CODE", help="the language spoken: en, de, zh... (default: it listens)")
    parser.add_argument("--translate", action="store_true", help="write English, whatever is spoken")
    add_audio_context_option(parser)


def add_audio_context_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--audio-context",
        type=_audio_context,
        default="auto",
        metavar="CONTEXT",
        help="how much of a 30 s window to work out: auto (what holds speech), full, or seconds (at least the clip)",
    )


def load_transcriber(arguments: argparse.Namespace) -> Transcriber:
    """Read the model and make it ready. Raises EngineError."""
    import engine
    from dictation.models import active_model

    return engine.load(arguments.model or active_model(), device=arguments.device, threads=arguments.threads)


def decoding_options(
    arguments: argparse.Namespace, *, timestamps: bool = False, word_times: bool = False
) -> DecodingOptions:
    from engine.decode import DecodingOptions

    return DecodingOptions(
        language=arguments.language,
        task="translate" if arguments.translate else "transcribe",
        timestamps=timestamps,
        word_times=word_times,
        audio_context=arguments.audio_context,
    )


@contextmanager
def as_file(path: Path) -> Iterator[Path]:
    """The clip as a file that can be read twice: stdin and pipes are copied into one first."""
    if str(path) != "-" and not path.is_fifo():
        yield path
        return
    from engine.errors import AudioError

    with scratch_folder() as folder:
        copy = folder / "clip"
        try:
            with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as pipe:
                _copy_sound(pipe, copy)
            yield copy
        except AudioError as error:
            name = "What came through stdin" if str(path) == "-" else str(path)
            raise AudioError(str(error).replace(str(copy), name)) from error


def _copy_sound(pipe: BinaryIO, copy: Path) -> None:
    """Copy what comes through a pipe while it is sound, and no more of it than PIPE_LIMIT_H: a pipe need not end."""
    from engine.audio import open_sound
    from engine.errors import AudioError

    with copy.open("wb", buffering=0) as file:
        file.write(pipe.read(HEADER_BYTES))
        with open_sound(copy) as sound:
            left = PIPE_LIMIT_H * 3600 * sound.samplerate * sound.channels * WIDEST_SAMPLE_BYTES
        while block := pipe.read(COPY_BYTES):
            file.write(block)
            left -= len(block)
            if left < 0:
                raise AudioError(f"{copy} is longer than {PIPE_LIMIT_H} hours. Save it as a file and name that.")


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 256:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of threads")
    return int(text)


def _audio_context(text: str) -> str | float:
    if text in ("auto", "full"):
        return text
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 30:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto, full, nor a number of seconds from 1 to 30")
    return seconds
