"""Evaluations as one HTML page that needs nothing else: a table, two plots as inline SVG, the differences per clip."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from engine.evaluate import Result, marked_difference

if TYPE_CHECKING:
    from engine.report import Evaluation

MAX_CLIPS = 200  # with differences, the worst first; all of them are in report.json
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 560, 340, 56, 44, 16, 110
_STYLE = """
:root { color-scheme: light dark; --line: #8886; --ink: #2563a8; --bad: #b3261e; --good: #1b7f4b }
@media (prefers-color-scheme: dark) { :root { --ink: #7db3f0; --bad: #ff8a80; --good: #7fd6a8 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 } .wide { overflow-x: auto }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
svg { max-width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: currentColor }
svg .axis { stroke: var(--line) } svg .mark { stroke: var(--ink); stroke-width: 1.5 } svg circle { fill: var(--ink) }
figure { display: inline-block; margin: 0 1rem 1rem 0; max-width: 100% }
details { margin: .3rem 0 }
dl { margin: .3rem 0 .8rem 1rem } dt { font-size: .85em; opacity: .75 } dd { margin: 0 0 .3rem }
del { color: var(--bad) } ins { color: var(--good) }
"""


def page(evaluations: Sequence[Evaluation]) -> str:
    """The whole page. evaluations: at least one."""
    plots = [
        _plot("Size against error", "MB", evaluations, lambda e: e.run.size_bytes / 1e6),
        _plot("Speed against error", "times faster than speech", evaluations, _speed),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Sayso: models compared</title>\n<style>{_STYLE}</style>\n<h1>Models compared</h1>\n"
        f'<div class="wide">{_table(evaluations)}</div>\n{_languages(evaluations)}\n{"".join(plots)}\n'
        f"<h2>Differences</h2>\n{''.join(_clips(evaluations))}\n</html>\n"
    )


def _speed(evaluation: Evaluation) -> float:
    return 1 / evaluation.score.real_time_factor if evaluation.score.real_time_factor else 0.0


def _table(evaluations: Sequence[Evaluation]) -> str:
    heads = (
        "Model", "Size", "Device", "Audio context", "Clips", "Error", "95 % interval", "Substituted", "Deleted",
        "Inserted", "Real-time factor", "Mel, ms", "Encode, ms", "Decode, ms", "Peak memory", "Language right",
    )  # fmt: skip
    rows = []
    for e in evaluations:
        s = e.score
        rows.append(
            (
                e.run.label,
                f"{e.run.size_bytes / 1e6:.1f} MB",
                e.devices,
                e.run.audio_context,
                f"{s.clips} of {e.run.clips}",
                f"{100 * s.error_rate:.2f} % {e.metric}",
                f"{100 * s.low:.2f} to {100 * s.high:.2f}",
                f"{s.substitutions}",
                f"{s.deletions}",
                f"{s.insertions}",
                f"{s.real_time_factor:.3f}",
                *(f"{ms / s.clips:.1f}" for ms in (s.mel_ms, s.encode_ms, s.prompt_ms + s.decode_ms)),
                f"{e.peak_bytes / 1e6:.0f} MB",
                f"{e.languages_right} of {s.clips}" if e.run.language == "detected" else "was given",
            )
        )
    return _rows(heads, rows) + "<p>Milliseconds are means per clip; the decoder's include its prompt.</p>"


def _languages(evaluations: Sequence[Evaluation]) -> str:
    """Error rate per language, where there are several."""
    scores = [e.by_language() for e in evaluations]
    codes = sorted({code for found in scores for code in found})
    if len(codes) < 2:
        return ""
    rows = [
        (e.run.label, *(f"{100 * found[code].error_rate:.2f} %" if code in found else "" for code in codes))
        for e, found in zip(evaluations, scores, strict=True)
    ]
    return f'<h2>Error by language</h2>\n<div class="wide">{_rows(("Model", *codes), rows)}</div>'


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _plot(title: str, unit: str, evaluations: Sequence[Evaluation], of: Callable[[Evaluation], float]) -> str:
    """Error, with its interval, over a quantity; both axes from zero."""
    top_x = _round_up(max(of(e) for e in evaluations))
    top_y = _round_up(max(100 * e.score.high for e in evaluations))
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM

    def x(value: float) -> float:
        return _LEFT + (right - _LEFT) * value / top_x

    def y(percent: float) -> float:
        return bottom - (bottom - _TOP) * percent / top_y

    parts = [f'<path class="axis" fill="none" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>']
    for i in range(5):
        at_x, at_y = top_x * i / 4, top_y * i / 4
        parts.append(f'<text x="{x(at_x):.1f}" y="{bottom + 16}" text-anchor="middle">{at_x:g}</text>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(at_y) + 4:.1f}" text-anchor="end">{at_y:g} %</text>')
    parts.append(f'<text x="{(_LEFT + right) / 2}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(unit)}</text>')
    for e in evaluations:
        s, at = e.score, x(of(e))
        parts.append(f'<path class="mark" d="M{at:.1f} {y(100 * s.low):.1f}V{y(100 * s.high):.1f}"/>')
        parts.append(f'<circle cx="{at:.1f}" cy="{y(100 * s.error_rate):.1f}" r="4"/>')
        parts.append(f'<text x="{at + 7:.1f}" y="{y(100 * s.error_rate) - 5:.1f}">{escape(e.run.label)}</text>')
    label = escape(f"{title}: error in percent over {unit}", quote=True)
    svg = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="{label}">'
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}{''.join(parts)}</svg></figure>"


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 6, 8, 10 times a power of ten, so that quarters of it are short numbers."""
    if value <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(value))
    return float(next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= value * (1 - 1e-9)))


def _clips(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """A fold per clip that some model got wrong, the worst first."""
    wrong: dict[str, list[tuple[str, Result]]] = {}
    for e in evaluations:
        for result in e.results:
            wrong.setdefault(result.id, []).append((e.run.label, result))
    errors = {id_: sum(result.errors for _, result in heard) for id_, heard in wrong.items()}
    worst = sorted((id_ for id_ in wrong if errors[id_]), key=lambda id_: (-errors[id_], id_))
    yield f"<p>{len(worst)} of {len(wrong)} clips have errors"
    yield f"; the worst {MAX_CLIPS} are here, all are in report.json.</p>" if len(worst) > MAX_CLIPS else ".</p>"
    for id_ in worst[:MAX_CLIPS]:
        heard = wrong[id_]
        yield f"<details><summary>{escape(id_)}: {errors[id_]} errors</summary><dl>"
        yield f"<dt>said</dt><dd>{escape(heard[0][1].reference)}</dd>"
        for label, result in heard:
            marked = "".join(_marked(*part) for part in marked_difference(result))
            yield f"<dt>{escape(label)}: {result.errors}</dt><dd>{marked}</dd>"
        yield "</dl></details>\n"


def _marked(kind: str, said: str, heard: str) -> str:
    if kind == "equal":
        return escape(said) + " "
    deleted = f"<del>{escape(said)}</del> " if said else ""
    return deleted + (f"<ins>{escape(heard)}</ins> " if heard else "")
