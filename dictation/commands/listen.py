"""`sayso listen`: dictate in a terminal, with the words as they come."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dictation.cli import DONE, FAILED, INTERRUPTED, fail, say

if TYPE_CHECKING:
    from dictation import events as e
    from dictation.app import App

ERASE, PALE, PLAIN = "\r\x1b[K", "\x1b[2m", "\x1b[0m"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--print", dest="output", action="store_const", const="print", help="print the text (default)")
    where.add_argument("--type", dest="output", action="store_const", const="type", help="type it into the window")
    where.add_argument("--copy", dest="output", action="store_const", const="copy", help="put it on the clipboard")
    parser.set_defaults(output="print")
    parser.add_argument("--once", action="store_true", help="stop after one dictation")
    parser.add_argument("--vad", action="store_true", help="hands-free: begins with your voice, ends with silence")
    parser.add_argument("--json", action="store_true", help="one JSON object per event on stdout")
    parser.add_argument("--model", metavar="MODEL", help="an installed model (base, base:Q8_0) or a model file")
    parser.add_argument("--language", metavar="CODE", help="the language spoken: en, de, zh... or auto")
    parser.add_argument("--translate", action="store_true", help="write English, whatever is spoken")
    parser.add_argument("--microphone", metavar="NAME", help="as `sayso listen --microphones` names it")
    parser.add_argument("--channel", metavar="N", type=int, help="input of the device, from 1; 0: the loudest")
    parser.add_argument("--microphones", action="store_true", help="list the microphones and stop")
    parser.add_argument("--clip", metavar="FILE", type=Path, help="hear a recorded clip instead, in real time")


def run(arguments: argparse.Namespace) -> int:
    from dictation import events as e
    from dictation.app import App, Wiring
    from dictation.control import is_running
    from dictation.microphone import microphones

    if arguments.microphones:
        found = microphones()
        if not found:
            return fail("There is no microphone. Plug one in, or look into the sound settings.")
        for microphone in found:
            mark = "*" if microphone.default else " "
            print(f"{mark} {microphone.name}\t{microphone.label}")
        return DONE
    wiring = Wiring(
        desktop=arguments.output != "print",
        control=not is_running(),
        changes=_changes(arguments),
        make_source=_clip_source(arguments.clip) if arguments.clip else None,
    )
    app = App(wiring)
    for notice in app.notices:
        say(notice.message)
    terminal = _Terminal(app, arguments)
    app.loop.subscribe(terminal.note)
    with app:
        start = e.Start("listen", arguments.vad, arguments.output)
        return terminal.dictate(start)


def _changes(arguments: argparse.Namespace) -> dict[str, object]:
    """Settings for this run only. What can't be right is said before anybody speaks."""
    from engine.languages import language_code
    from engine.store import find

    if arguments.model:
        find(arguments.model)
    if arguments.language not in (None, "auto"):
        arguments.language = language_code(arguments.language)
    wanted = {
        "recognition.model": arguments.model,
        "recognition.language": arguments.language,
        "recognition.task": "translate" if arguments.translate else None,
        "microphone.device": arguments.microphone,
        "microphone.channel": arguments.channel,
    }
    return {key: value for key, value in wanted.items() if value is not None}


def _clip_source(clip: Path) -> Any:
    from dictation.clip_source import ClipSource

    return lambda post: ClipSource(post, [clip], realtime=True)


class _Terminal:
    """Shows events and turns Enter, Ctrl-C and the end of input into commands."""

    def __init__(self, app: App, arguments: argparse.Namespace) -> None:
        self._app = app
        self._arguments = arguments
        self._ended = threading.Event()
        self._output_fault: OSError | None = None  # nobody reads any more, or the disk is full
        self._said = ""
        self._is_live = sys.stderr.isatty() and not arguments.json
        self.code = DONE

    def dictate(self, start: e.Start) -> int:
        from dictation import events as e

        def interrupt(*_: object) -> None:
            """The first Ctrl-C ends the dictation, the second one the program."""
            if self._is_recording:
                self._app.loop.send(e.Stop())
            else:
                self.code = INTERRUPTED
                self._ended.set()

        before = signal.signal(signal.SIGINT, interrupt)
        try:
            self._start = start
            self._app.loop.send(start)
            if sys.stdin is not None and sys.stdin.isatty():
                threading.Thread(target=self._read_keys, name="keys", daemon=True).start()
            while not self._ended.wait(0.5):
                pass
        finally:
            signal.signal(signal.SIGINT, before)
        if self._output_fault is not None:
            raise self._output_fault  # what is being said is kept
        return self.code

    def _read_keys(self) -> None:
        from dictation import events as e

        for _ in sys.stdin:  # Enter
            self._app.loop.send(e.Stop() if self._is_recording else self._start)
        self._arguments.once = True  # Ctrl-D: nobody can begin another one
        if self._app.loop.state is e.State.IDLE:
            self._ended.set()
        elif self._is_recording:
            self._app.loop.send(e.Stop())

    @property
    def _is_recording(self) -> bool:
        from dictation import events as e

        return self._app.loop.state in (e.State.OPENING, e.State.LISTENING)

    def note(self, event: e.Event) -> None:
        """Called on the loop's thread with every event."""
        if self._output_fault is not None:
            return
        try:
            self._note(event)
        except OSError as fault:
            self._output_fault = fault
            self._ended.set()

    def _note(self, event: e.Event) -> None:
        from dictation import events as e

        if self._arguments.json and not isinstance(event, e.Level):
            print(json.dumps(e.as_dict(event), ensure_ascii=False), flush=True)
        if isinstance(event, e.StateChanged) and event.state is e.State.IDLE:
            if self._arguments.once:
                self._ended.set()
            elif self._arguments.vad:
                self._app.loop.send(self._start)
        if not self._arguments.json:
            self._show(event)
        if isinstance(event, (e.Failed, e.NothingHeard)):
            self.code = FAILED
        elif isinstance(event, e.TextDelivered):
            self.code = FAILED if event.outcome == "held" else DONE

    def _show(self, event: e.Event) -> None:
        from dictation import events as e

        match event:
            case e.StateChanged(state=e.State.OPENING):
                self._line("Opening the microphone…")
            case e.StateChanged(state=e.State.LISTENING):
                keys = "ends when you are silent" if self._arguments.vad else "Enter or Ctrl-C to end"
                self._line(f"Listening ({keys})")
            case e.PartialText():
                self._line(f"{event.firm} {PALE}{event.tentative}{PLAIN}".strip(), from_end=True)
            case e.FinalText():
                self._line("")
                print(event.text, flush=True)
            case e.NothingHeard() | e.Failed() | e.Notice():
                self._line("")
                if event.message != self._said:  # a model that is missing is told while one speaks, and at the end
                    say(event.message)
                self._said = event.message
            case e.TextDelivered(outcome="held"):
                done = "copied" if self._arguments.output == "copy" else "typed"
                say(f"The text was not {done}. {event.evidence}")
            case e.ModelChanged(status=e.ModelStatus.LOADING):
                self._line(f"Loading {event.name}…")

    def _line(self, text: str, from_end: bool = False) -> None:
        """Show one line that the next one overwrites."""
        if self._is_live:
            room = shutil.get_terminal_size().columns - 1
            text = text if len(text) <= room else "…" + text[-(room - 1) :] if from_end else text[:room]
            print(ERASE + text, end=PLAIN, file=sys.stderr, flush=True)
