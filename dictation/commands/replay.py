"""`sayso replay`: a clip in the microphone's place; a set of clips goes to `replay_set`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from dictation.cli import DONE, fail, say
from dictation.commands import replay_set
from dictation.commands.recognition import add_model_options, as_file, load_transcriber

if TYPE_CHECKING:
    from collections.abc import Callable

    from dictation.recogniser import Recogniser
    from dictation.replay import Replayed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "clip",
        type=Path,
        metavar="CLIP",
        help="a WAV, FLAC, OGG or MP3 file; - is stdin; or a set: a folder, a manifest.jsonl, a .sayso-clip",
    )
    parser.add_argument(
        "--type",
        action="store_true",
        help="type the words into the window that has the keyboard; those of a set into a window of its own",
    )
    parser.add_argument("--realtime", action="store_true", help="take as long to hear the clip as it took to say it")
    add_model_options(parser)
    parser.add_argument("--language", metavar="CODE", help="the language spoken: en, de, zh... or auto")
    parser.add_argument("--translate", action="store_true", help="write English, whatever is spoken")
    parser.add_argument("--json", action="store_true", help="one JSON object per event, as they came")
    replay_set.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if replay_set.is_wanted(arguments):
        return replay_set.run(arguments)
    from dictation.replay import replay
    from engine.languages import language_code

    if arguments.language not in (None, "auto"):
        arguments.language = language_code(arguments.language)
    changes = {
        "recognition.model": arguments.model,
        "recognition.language": arguments.language,
        "recognition.task": "translate" if arguments.translate else None,
    }
    with as_file(arguments.clip) as clip:
        replayed = replay(
            clip,
            lambda name, _: _recogniser(arguments, name),
            type_it=arguments.type,
            realtime=arguments.realtime,
            changes={key: value for key, value in changes.items() if value is not None},
        )
    for sentence in replayed.notices:
        say(sentence)
    if arguments.json:
        _print_events(replayed)
    else:
        print(replayed.text)
    delivered = replayed.delivered
    if not arguments.type or not replayed.text:
        return DONE
    if delivered is None or delivered.outcome != "delivered":
        return fail(f"the text was not typed. {delivered.evidence if delivered else ''}".strip())
    say(f"typed ({delivered.method}: {delivered.evidence}, {delivered.deliver_ms:.0f} ms)")
    return DONE


def _recogniser(arguments: argparse.Namespace, name: str) -> Recogniser:
    from dictation.recogniser import Recogniser

    class Cold(Recogniser):
        def warm_up(self) -> None:
            """Pays off from the second dictation on, and there is one."""

        def prepare(self, cancelled: Callable[[], bool]) -> bool:
            return False

    return (Recogniser if arguments.realtime else Cold)(load_transcriber(arguments), name)


def _print_events(replayed: Replayed) -> None:
    from dictation import events as e

    for event in replayed.events:
        if not isinstance(event, e.Level):
            print(json.dumps(e.as_dict(event), ensure_ascii=False))
