"""`sayso start`, `stop`, `toggle`, `cancel`, `again`, `undo` and `status`: control the Sayso that runs."""

from __future__ import annotations

import argparse
import json

from dictation.cli import DONE, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    name = parser.prog.split()[-1]
    parser.set_defaults(do=name)
    if name in ("start", "toggle"):
        parser.add_argument("--hands-free", action="store_true", help="ends by itself when you are silent")
        parser.add_argument("--copy", action="store_true", help="put the text on the clipboard instead of typing it")
    if name == "status":
        parser.add_argument("--follow", action="store_true", help="go on with a line for each event")
        parser.add_argument("--json", action="store_true", help="JSON, with texts")


def run(arguments: argparse.Namespace) -> int:
    from dictation.control import ask, follow

    if arguments.do != "status":
        request = {"do": arguments.do, "hands_free": getattr(arguments, "hands_free", False)}
        request["output"] = "copy" if getattr(arguments, "copy", False) else "type"
        ask(request)
        return DONE
    if not arguments.follow:
        status = ask({"do": "status"})
        print(json.dumps(status) if arguments.json else _sentence(status))
        return DONE
    for event in follow():
        print(json.dumps(event, ensure_ascii=False) if arguments.json else _line(event), flush=True)
    say("Sayso has ended.")
    return DONE


def _sentence(status: dict[str, object]) -> str:
    model = f"{status['model']} ({status['model_status']})" if status["model"] else "no model"
    return ". ".join(filter(None, (f"{status['state']}, {model}", str(status["model_note"]))))


def _line(event: dict[str, object]) -> str:
    """An event in one line: its name and what is short about it. Texts are shown with --json only."""
    if "kind" not in event:
        return _sentence(event)
    shown = ("take", "state", "outcome", "status", "code", "message", "cue", "reason")
    return " ".join([str(event["kind"]), *(f"{key}={event[key]}" for key in shown if event.get(key) not in (None, ""))])
