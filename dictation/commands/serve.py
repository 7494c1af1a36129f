"""`sayso serve`: the local API without a window, for editors, scripts and home automation."""

from __future__ import annotations

import argparse
import time

from dictation.cli import DONE, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", metavar="ADDRESS", help="listen here (default: 127.0.0.1, this computer only)")
    parser.add_argument("--port", type=_port, metavar="N", help="default: 7296; 0 takes any that is free")
    parser.add_argument("--model", metavar="MODEL", help="an installed model (base, base:Q8_0) or a model file")
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), help="what computes (default: the fastest here)")
    parser.add_argument("--show-token", action="store_true", help="print the token that clients send, and stop")


def run(arguments: argparse.Namespace) -> int:
    from dictation import paths
    from dictation.app import App, Wiring
    from dictation.server.switch import MissingExtra, open_server

    if arguments.show_token:
        try:
            from dictation.server.access import read_token
        except ImportError as error:
            raise MissingExtra("The local API needs the extra `server`: pip install 'sayso[server]'.") from error
        print(read_token(paths.token_file()))
        return DONE
    wiring = Wiring(desktop=False, control=False, keep_history=False, changes=_changes(arguments))
    with App(wiring) as app:
        for notice in app.notices:
            say(notice.message)
        server = open_server(app.loop, arguments.host, arguments.port)
        try:
            print(f"Sayso listens on {server.url}", flush=True)
            say(f"the token is in {paths.token_file()}; Ctrl-C ends")
            while True:
                time.sleep(0.5)  # until a signal, which is an exception here
        finally:
            server.close()


def _changes(arguments: argparse.Namespace) -> dict[str, object]:
    """Settings for this run only; the switch is for the tray app, and here there is a server anyway."""
    wanted = {"recognition.model": arguments.model, "recognition.device": arguments.device, "server.enabled": False}
    return {key: value for key, value in wanted.items() if value is not None}


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port (0 to 65535)")
    return int(text)
