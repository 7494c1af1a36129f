"""What commands with verbs (`sayso models VERB`) share: a verb's parser, sizes for people, a bar per model."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def add_verb(verbs, name: str, function: Callable[[argparse.Namespace], int], help: str) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    """A verb that runs `function`; its arguments are added to what comes back."""
    verb: argparse.ArgumentParser = verbs.add_parser(
        name, help=help, description=help[0].upper() + help[1:] + ".", allow_abbrev=False
    )
    verb.set_defaults(verb=function)
    return verb


def size_text(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 1e9 else f"{n_bytes / 1e9:.1f} GB"


def progress_bars() -> Callable[[str, int, int], None] | None:
    """A bar per model on stderr, or none where nobody watches."""
    import sys

    if not sys.stderr.isatty():
        return None
    from tqdm import tqdm

    bars: dict[str, tqdm[None]] = {}

    def show(name: str, done: int, total: int) -> None:
        bar = bars.setdefault(name, tqdm(desc=name, total=total, unit="B", unit_scale=True, leave=False))
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show
