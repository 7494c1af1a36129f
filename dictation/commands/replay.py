"""`sayso replay`: a clip in the microphone's place."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dictation.cli import DONE, fail, say
from dictation.commands.recognition import add_decoding_options, add_model_options, decoding_options, load_transcriber

if TYPE_CHECKING:
    from dictation.replay import Replayed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clip", type=Path, metavar="CLIP", help="a WAV, FLAC, OGG or MP3 file")
    parser.add_argument("--type", action="store_true", help="type the words into the window that has the keyboard")
    parser.add_argument("--realtime", action="store_true", help="take as long to hear the clip as it took to say it")
    add_model_options(parser)
    add_decoding_options(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object with text, times and delivery")


def run(arguments: argparse.Namespace) -> int:
    from dictation import paths, settings
    from dictation.desktop import open_desktop
    from dictation.replay import replay
    from dictation.rewrite import RewriteOptions
    from dictation.typist import Typist

    rules, problems = RewriteOptions.of(settings.load(paths.settings_file()).settings.page("rewrite"))
    desktop = open_desktop() if arguments.type else None
    transcriber = load_transcriber(arguments)
    try:
        replayed = replay(
            arguments.clip,
            transcriber,
            decoding_options(arguments),
            rules,
            typist=Typist(desktop) if desktop else None,
            realtime=arguments.realtime,
        )
    finally:
        transcriber.close()
        if desktop:
            desktop.close()
    for sentence in (*problems, *replayed.notices):
        say(sentence)
    print(_json(arguments.clip, replayed) if arguments.json else replayed.text)
    delivery = replayed.delivery
    if delivery is None:
        return DONE
    if not delivery.ok:
        return fail(f"the text was not typed. {delivery.reason}")
    say(f"typed ({delivery.method}: {delivery.evidence}, {delivery.elapsed_ms:.0f} ms)")
    return DONE


def _json(clip: Path, replayed: Replayed) -> str:
    import json
    from dataclasses import asdict

    delivery = replayed.delivery
    return json.dumps(
        {
            "file": str(clip),
            "text": replayed.text,
            "release_to_text_ms": round(replayed.release_to_text_ms, 1),
            "delivery": asdict(delivery) if delivery else None,
            "transcript": asdict(replayed.transcript),
        },
        ensure_ascii=False,
    )
