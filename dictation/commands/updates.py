"""`sayso updates`: asks now whether a newer Sayso is out. Nothing is downloaded."""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = "Asking is the only thing this does; the setting general.check_for_updates asks once a day."


def run(arguments: argparse.Namespace) -> int:
    from dictation.cli import DONE
    from dictation.updates import newer, sentence

    print(sentence(newer()))
    return DONE
