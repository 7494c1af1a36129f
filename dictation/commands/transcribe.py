"""`sayso transcribe`: recorded clips become text, subtitles or JSON."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from dictation.cli import DONE, fail, wrong_use
from dictation.commands.recognition import (
    add_decoding_options,
    add_model_options,
    as_file,
    decoding_options,
    load_transcriber,
)
from dictation.errors import DictationError
from dictation.formats import FORMATS, TIMED, render
from engine.errors import AudioError
from engine.files import write_text

if TYPE_CHECKING:
    from engine.decode import DecodingOptions
    from engine.transcriber import Transcriber
    from engine.transcript import Transcript

EXTENSIONS = {"text": "txt"}  # of the others: their name


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clips", nargs="+", type=Path, metavar="CLIP", help="a WAV, FLAC, OGG or MP3 file; - is stdin")
    add_model_options(parser)
    add_decoding_options(parser)
    parser.add_argument("--timestamps", action="store_true", help="find out when each piece is said")
    parser.add_argument("--word-times", action="store_true", help="find out when each word is said")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="of the output (default: text)")
    parser.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="write a file per clip into this folder")


def run(arguments: argparse.Namespace) -> int:
    if wrong := _clash(arguments):
        return wrong_use(wrong)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
    timestamps = arguments.timestamps or arguments.format in TIMED
    options = decoding_options(arguments, timestamps=timestamps, word_times=arguments.word_times)
    transcriber = load_transcriber(arguments)
    code = DONE
    try:
        for clip in arguments.clips:
            try:
                transcript = _transcribe(transcriber, clip, options)
            except AudioError as error:  # one bad clip does not cost the others
                code = fail(str(error))
                continue
            timed = arguments.timestamps or arguments.word_times
            text = render(transcript, arguments.format, timestamps=timed, file=str(clip))
            if arguments.output:
                write_text(_target(clip, arguments), text, fault=DictationError)
            else:
                sys.stdout.write(text)
                sys.stdout.flush()
    finally:
        transcriber.close()
    return code


def _clash(arguments: argparse.Namespace) -> str | None:
    """What in the command line does not go together."""
    if not arguments.output:
        if arguments.format in ("srt", "vtt", "tsv") and len(arguments.clips) > 1:
            return f"several clips as {arguments.format} need a folder to write to: -o DIR"
        return None
    if arguments.output.exists() and not arguments.output.is_dir():
        return f"{arguments.output} is not a folder"
    target, clips = Counter(_target(clip, arguments) for clip in arguments.clips).most_common(1)[0]
    return f"{clips} clips would be written to {target}" if clips > 1 else None


def _target(clip: Path, arguments: argparse.Namespace) -> Path:
    extension = EXTENSIONS.get(arguments.format, arguments.format)
    stem = "stdin" if str(clip) == "-" else clip.stem
    return Path(arguments.output) / f"{stem}.{extension}"


def _transcribe(transcriber: Transcriber, path: Path, options: DecodingOptions) -> Transcript:
    from tqdm import tqdm

    from engine.audio import Clip

    with (
        as_file(path) as file,
        Clip(file) as clip,
        tqdm(
            desc=path.name,
            total=round(clip.duration_s, 1),
            unit="s",
            bar_format="{desc}: {percentage:3.0f}% {bar} {n:.0f} of {total:.0f} s, {remaining} left",
            delay=1.0,  # a short clip is done before a bar would help
            leave=False,
            disable=not sys.stderr.isatty(),
        ) as bar,
    ):
        return transcriber.transcribe(clip, options, progress=lambda done_s, _: bar.update(done_s - bar.n))
