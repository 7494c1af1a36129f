"""`sayso recover`: what earlier dictations left behind, after a crash, a failure or a full stop."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from dictation.cli import DONE, FAILED, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="recordings to act on (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--text", action="store_true", help="recognise them and print the text; they are kept")
    what.add_argument("--save", metavar="FOLDER", type=Path, help="copy them into a folder")
    what.add_argument("--discard", action="store_true", help="delete them")
    parser.add_argument("--model", metavar="MODEL", help="an installed model (base, base:Q8_0) or a model file")


def run(arguments: argparse.Namespace) -> int:
    from dictation.spool import Spool

    spool = Spool()
    found = {recording.name: recording for recording in spool.recordings()}
    names = arguments.names or list(found)
    for name in names:
        spool.path(name)  # raises for a name that is not there
    if not names:
        say("Nothing is left over.")
        return DONE
    if arguments.discard:
        for name in names:
            spool.remove(name)
        say(f"{len(names)} recording(s) deleted.")
    elif arguments.save:
        import shutil

        arguments.save.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copyfile(spool.path(name), arguments.save / name)
            print(arguments.save / name)
    elif arguments.text:
        return _recognise([spool.path(name) for name in names], arguments.model)
    else:
        for name in names:
            recording = found[name]
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(recording.started_unix_s))
            print(f"{name}\t{when}\t{recording.duration_s:.1f} s\t{recording.reason}")
        say("`sayso recover --text` recognises them, --save FOLDER copies them, --discard deletes them.")
    return DONE


def _recognise(recordings: list[Path], model: str | None) -> int:
    import engine
    from dictation.models import active_model
    from dictation.spool import read
    from engine.errors import EngineError

    transcriber = engine.load(model or active_model())
    code = DONE
    try:
        for path in recordings:
            try:
                print(transcriber.transcribe(read(path)).text, flush=True)
            except EngineError as error:
                say(f"{path.name}: {error}")
                code = FAILED
    finally:
        transcriber.close()
    return code
