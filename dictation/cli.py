"""The command `sayso`: finds the sub-command's module, runs it, turns errors into one sentence and an exit code.

A sub-command is one module in `dictation/commands/` and one row in `COMMANDS`. The module has

    def add_arguments(parser: argparse.ArgumentParser) -> None: ...
    def run(arguments: argparse.Namespace) -> int: ...         # the exit code

and is imported only when it is the one to run; it imports what is heavy (NumPy, the engine) inside `run`.
Results go to stdout, everything else to stderr. Raise an error of `engine.errors` or `dictation.errors`: its text is
the sentence that people see.

Exit codes: 0 done; 1 failed, with one sentence on stderr; 2 used wrongly; 130 interrupted; 141 the reader went away;
143 asked to end (SIGTERM, or the terminal closed). Interrupted or asked to end, it still removes its temporary files.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dictation.errors import DictationError
from engine.errors import Cancelled, EngineError, OptionError


class Command(NamedTuple):
    module: str
    help: str


COMMANDS = {
    "transcribe": Command("dictation.commands.transcribe", "write down what is said in recorded clips"),
    "replay": Command("dictation.commands.replay", "dictate recorded clips in the microphone's place, with figures"),
    "clips": Command("dictation.commands.clips", "sets of recorded clips, and dictations to hand to someone else"),
    "listen": Command("dictation.commands.listen", "dictate in this terminal, with the words as they come"),
    "start": Command("dictation.commands.control", "begin a dictation in the running Sayso"),
    "stop": Command("dictation.commands.control", "end it and insert the text"),
    "toggle": Command("dictation.commands.control", "start or stop, for a key of your desktop's own"),
    "cancel": Command("dictation.commands.control", "forget what is being dictated"),
    "again": Command("dictation.commands.control", "insert the last text once more"),
    "undo": Command("dictation.commands.control", "take the last insertion back"),
    "status": Command("dictation.commands.control", "what the running Sayso is doing"),
    "serve": Command("dictation.commands.serve", "let other programs on this computer dictate: the local API"),
    "recover": Command("dictation.commands.recover", "recordings left over from a crash or a failure"),
    "models": Command("dictation.commands.models", "import, list and remove models"),
    "bench": Command("dictation.commands.bench", "measure how fast a model is on this computer"),
    "eval": Command("dictation.commands.eval", "measure errors, speed and memory of models on clips with known texts"),
    "updates": Command("dictation.commands.updates", "ask whether a newer Sayso is out"),
    "doctor": Command("dictation.commands.doctor", "check this computer and say what to do about each problem"),
}

DONE, FAILED, WRONG_USE, INTERRUPTED, READER_GONE, ENDED = 0, 1, 2, 130, 141, 143


class AskedToEnd(KeyboardInterrupt):
    """SIGTERM or SIGHUP, as an exception: whoever cleans up after Ctrl-C does so after these as well."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sayso` with `argv` (without the program's name) and return its exit code."""
    _prepare_streams()
    try:
        with _end_cleanly():
            code = _run(sys.argv[1:] if argv is None else list(argv))
            sys.stdout.flush()
        return code
    except AskedToEnd:
        return ENDED
    except (KeyboardInterrupt, Cancelled):
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return READER_GONE
    except OptionError as error:
        return wrong_use(str(error))
    except (DictationError, EngineError) as error:
        return fail(str(error))
    except OSError as error:
        _drop_output()
        return fail(f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}.")
    except MemoryError:
        return fail("there is not enough memory. Choose a smaller model, or close other programs.")
    except Exception as error:
        if os.environ.get("SAYSO_DEBUG"):
            raise
        return fail(f"a fault in Sayso: {type(error).__name__}: {error} (SAYSO_DEBUG=1 shows where; please report it)")


@contextmanager
def _end_cleanly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind what runs, once; a second one ends the process at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    ours = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]  # nohup stays nohup

    def ask(*_: object) -> None:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        raise AskedToEnd

    for number in ours:
        signal.signal(number, ask)
    try:
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


def _prepare_streams() -> None:
    """Let names that are no valid text be printed, and make good for streams that the caller closed."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115 - for the life of the process
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        # not for writing: whatever is printed fails, as it does for other programs
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # in JSON, "\\udcff" is what it stands for


def _drop_output() -> None:
    """Where stdout can't be written: let the interpreter's own flush at exit succeed."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(sentence: str) -> None:
    """Write `sentence` to stderr as this program's."""
    print(f"sayso: {sentence}", file=sys.stderr)


def fail(sentence: str) -> int:
    """Say what went wrong; the exit code for failure."""
    say(sentence)
    return FAILED


def wrong_use(sentence: str) -> int:
    """Say what argparse can't see; the exit code for wrong use."""
    say(sentence)
    return WRONG_USE


def _run(argv: list[str]) -> int:
    name = next((word for word in argv if not word.startswith("-")), "")
    command = COMMANDS.get(name)
    module = importlib.import_module(command.module) if command else None
    parser = _parser(name, module.add_arguments if module else None)
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:  # argparse has written help, the version or what is wrong
        return int(stop.code or 0)
    if module is None:
        parser.print_help(sys.stderr)
        return WRONG_USE
    return int(module.run(arguments))


def _parser(chosen: str, add_arguments: Callable[[argparse.ArgumentParser], None] | None) -> argparse.ArgumentParser:
    """The parser for this call: all sub-commands by name and help, arguments for the chosen one only."""
    parser = argparse.ArgumentParser(
        prog="sayso",
        allow_abbrev=False,
        description="Dictation on your own computer: hold a key, speak, let go, and the words are typed.",
        epilog="`sayso COMMAND --help` describes a command. Exit codes: 0 done, 1 failed, 2 used wrongly.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, command in COMMANDS.items():
        description = command.help[0].upper() + command.help[1:] + "."
        sub = commands.add_parser(name, help=command.help, description=description, allow_abbrev=False)
        if name == chosen and add_arguments:
            add_arguments(sub)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from dictation.version import version

        print(f"sayso {version()}")
        parser.exit()


if __name__ == "__main__":
    sys.exit(main())
