"""Pieces of the pages that Sayso writes: a document that needs nothing else, tables, texts with their differences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --line: #8886; --ink: #2563a8; --bad: #b3261e; --good: #1b7f4b }
@media (prefers-color-scheme: dark) { :root { --ink: #7db3f0; --bad: #ff8a80; --good: #7fd6a8 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } .wide { overflow-x: auto }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left } tbody th { font-weight: normal }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: currentColor }
svg .axis { stroke: var(--line) } svg .mark { stroke: var(--ink); stroke-width: 1.5 } svg circle { fill: var(--ink) }
figure { display: inline-block; margin: 0 1rem 1rem 0; max-width: 100% }
details { margin: .3rem 0 }
dl { margin: .3rem 0 .8rem 1rem } dt { font-size: .85em; opacity: .75 } dd { margin: 0 0 .3rem }
del { color: var(--bad) } ins { color: var(--good) }
"""


def document(title: str, body: str, *, style: str = "", script: str = "") -> str:
    """A whole page; style and script stand in it."""
    scripted = f"<script>\n{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}{style}</style>\n{body}\n{scripted}</html>\n"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Plain texts as a table; the first cell of a row is its heading."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(f"<td>{escape(cell)}</td>" for cell in rest) + "</tr>"
        for first, *rest in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def marked(parts: Iterable[tuple[str, str, str]]) -> str:
    """Stretches as `evaluate.marked_difference` gives them, in colour."""
    return "".join(_marked(*part) for part in parts)


def _marked(kind: str, said: str, heard: str) -> str:
    if kind == "equal":
        return escape(said) + " "
    deleted = f"<del>{escape(said)}</del> " if said else ""
    return deleted + (f"<ins>{escape(heard)}</ins> " if heard else "")


def round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8, 10 times a power of ten, so that quarters of it are short numbers."""
    if value <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(value))
    return float(next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value * (1 - 1e-9)))
