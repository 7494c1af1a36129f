"""`sayso clips`: sets of recorded clips for `sayso replay`, and dictations to hand to someone else."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dictation.cli import DONE, FAILED, say, wrong_use
from dictation.commands.verbs import add_verb
from dictation.scratch import scratch_folder

if TYPE_CHECKING:
    from dictation.history import Entry, History

SHOWN_ENTRIES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    verb = add_verb(verbs, "add", _add, "copy recordings, or what is in a .sayso-clip, into a set")
    verb.add_argument("set", type=Path, metavar="SET", help="a folder; it is made where it is missing")
    verb.add_argument("recordings", type=Path, nargs="+", metavar="RECORDING", help="sound files or .sayso-clip files")
    verb.add_argument("--text", help="what is said (default: the .txt beside the recording, if there is one)")
    verb.add_argument("--language", metavar="CODE", help="the language spoken: en, de, zh...")
    verb.add_argument("--id", metavar="NAME", help="call the clip so, instead of after its file")
    verb.add_argument("--expect", metavar="EVENT", action="append", help="an event that must come; again for others")
    verb.add_argument("--expect-text", metavar="TEXT", help="what must be typed, to the letter")

    verb = add_verb(verbs, "list", _list, "show the clips of a set")
    verb.add_argument("set", type=Path, metavar="SET", help="a folder, a manifest.jsonl, a .sayso-clip")
    verb.add_argument("--json", action="store_true", help="one JSON object per clip, for scripts")

    verb = add_verb(verbs, "check", _check, "read a whole set and say what would spoil a replay")
    verb.add_argument("set", type=Path, metavar="SET", help="a folder, a manifest.jsonl, a .sayso-clip")

    verb = add_verb(verbs, "pack", _pack, "put clips of a set into one file for someone else")
    verb.add_argument("set", type=Path, metavar="SET", help="a folder or a manifest.jsonl")
    verb.add_argument("ids", nargs="*", metavar="ID", help="which clips (default: all)")
    verb.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the .sayso-clip to write")

    verb = add_verb(verbs, "from-history", _from_history, "turn a dictation into a file for someone else")
    verb.add_argument("entry", nargs="?", metavar="ID", help="a dictation, or `last`; none: the latest are listed")
    verb.add_argument("-o", "--output", type=Path, metavar="FILE", help="the file (default: dictation-ID.sayso-clip)")
    verb.add_argument("--said", metavar="TEXT", help="what you really said, where the text is wrong")
    sound = verb.add_mutually_exclusive_group()
    sound.add_argument("--with-audio", action="store_true", help="include the recording of your voice")
    sound.add_argument("--without-audio", action="store_true", help="leave it out; then it can't be replayed")


def run(arguments: argparse.Namespace) -> int:
    verb: Callable[[argparse.Namespace], int] = arguments.verb
    return verb(arguments)


def _add(arguments: argparse.Namespace) -> int:
    from dictation.bench.collect import add

    if len(arguments.recordings) > 1 and (arguments.text or arguments.id):
        return wrong_use("--text and --id are for one recording.")
    given: dict[str, Any] = {}
    if arguments.text is not None:
        given |= {"ref_text": arguments.text, "scored": True}
    for name in ("language", "expect", "expect_text"):
        if getattr(arguments, name) is not None:
            given[name] = getattr(arguments, name)
    for id_ in add(arguments.set, arguments.recordings, id_=arguments.id or "", **given):
        print(id_)
    return DONE


def _list(arguments: argparse.Namespace) -> int:
    from dictation.bench.clips import item_of, read_set
    from engine.audio import open_sound
    from engine.errors import AudioError

    with scratch_folder() as unpacked:
        found = read_set(arguments.set, unpacked)
        width = max((len(clip.id) for clip in found.clips), default=0)
        for clip in found.clips:
            try:
                with open_sound(clip.path) as sound:
                    seconds = sound.frames / sound.samplerate
            except AudioError as error:
                found.problems.append(f"{clip.id}: {error}")
                continue
            if arguments.json:
                print(json.dumps(item_of(clip, str(clip.path)) | {"seconds": round(seconds, 3)}, ensure_ascii=False))
            else:
                text = " ".join(clip.text.split())
                text = text if clip.scored else f"({text or 'nobody wrote down what is said'})"
                print(f"{clip.id:{width}}  {seconds:7.1f} s  {clip.language or '?':4}  {text}")
        for problem in found.problems:
            say(problem)
        if not found.clips and not found.problems:
            say(f"{arguments.set} holds no clips.")
    return FAILED if found.problems else DONE


def _check(arguments: argparse.Namespace) -> int:
    from dictation.bench.clips import read_set
    from dictation.bench.collect import check
    from engine.evaluate import require_extra

    require_extra()
    with scratch_folder() as unpacked:
        found = read_set(arguments.set, unpacked)
        problems = 0
        for sentence in check(found):
            problems += 1
            say(sentence)
    if not problems:
        say(f"nothing to complain about; clips: {len(found.clips)}.")
    return FAILED if problems else DONE


def _pack(arguments: argparse.Namespace) -> int:
    from dictation.bench.clips import read_set
    from dictation.bench.collect import pack

    with scratch_folder() as unpacked:
        found = read_set(arguments.set, unpacked)
        for problem in found.problems:
            say(problem)
        n = pack(found, arguments.ids, arguments.output)
    say(f"{arguments.output} holds {n} clip{'s' if n != 1 else ''}, with sound and text.")
    return DONE


# ---- from the history -----------------------------------------------------------------------------------------------


def _from_history(arguments: argparse.Namespace) -> int:
    from dictation.bench.collect import from_entry
    from dictation.history import History

    history = History()
    try:
        if arguments.entry is None:
            return _list_entries(history)
        entry = history.last() if arguments.entry == "last" else _entry(history, arguments.entry)
        if entry is None:
            say(f"There is no dictation {arguments.entry} in the history; without a number the latest are listed.")
            return FAILED
        audio = history.audio_path(entry)
    finally:
        history.close()
    if audio is None and arguments.with_audio:
        say("The sound of this dictation was not kept. To keep it from now on: Settings, Privacy, Keep the audio.")
        return FAILED
    _tell(entry)
    if audio is not None and not arguments.with_audio and not arguments.without_audio:
        answer = _ask(f"Include the recording of your voice ({entry.audio_s:.0f} s)?")
        if answer is None:
            return wrong_use("nobody is here to be asked: say --with-audio or --without-audio.")
        audio = audio if answer else None
    elif arguments.without_audio:
        audio = None
    file = arguments.output or Path(f"dictation-{entry.id}.sayso-clip")
    from_entry(entry, audio, file, arguments.said)
    sound = "with your voice" if audio is not None else "without sound: it can't be replayed"
    say(f"{file} is written, {sound}. Whoever has it can read your words.")
    return DONE


def _entry(history: History, number: str) -> Entry | None:
    return history.get(int(number)) if number.isdecimal() and len(number) < 19 else None


def _list_entries(history: History) -> int:
    entries = sorted(history.search(limit=SHOWN_ENTRIES), key=lambda entry: -entry.started_unix_s)
    for entry in entries:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.started_unix_s))
        sound = "sound" if history.audio_path(entry) is not None else "-"
        print(f"{entry.id}\t{when}\t{entry.audio_s:.1f} s\t{sound}\t{' '.join(entry.text.split())[:60]}")
    if not entries:
        say("The history is empty.")
    return DONE


def _tell(entry: Entry) -> None:
    """What will be in the file besides the sound."""
    text = " ".join(entry.text.split())
    say(f"This goes into the file: “{text}”, the model, times, and the program it was typed into.")
    if entry.settings:
        say(f"These settings too: {json.dumps(entry.settings, ensure_ascii=False)}")


def _ask(question: str) -> bool | None:
    """None where there is nobody to ask."""
    if not sys.stdin.isatty():
        return None
    print(f"sayso: {question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
