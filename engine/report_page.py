"""Evaluations as one HTML page that needs nothing else: a table, two plots as inline SVG, the differences per clip."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path

from engine import html
from engine.errors import ReportError
from engine.evaluate import Result, marked_difference
from engine.files import write_text
from engine.report import Evaluation

MAX_CLIPS = 200  # with differences, the worst first; all of them are in report.json
_LABEL_WIDTH = 80
_STYLE = ".wide :is(th, td) { white-space: normal; padding: .25rem .4rem }\n"  # all columns on a screen
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 560, 340, 56, 44, 16, 110


def write(folder: Path, evaluations: Sequence[Evaluation]) -> list[Path]:
    """report.json and report.html in `folder`, each whole or not at all."""
    content = {"models": [e.as_dict() | {"results": [asdict(r) for r in e.results]} for e in evaluations]}
    texts = {
        folder / "report.json": json.dumps(content, ensure_ascii=False, indent=1),
        folder / "report.html": page(evaluations),
    }
    for path, text in texts.items():
        write_text(path, text, fault=ReportError)
    return list(texts)


def page(evaluations: Sequence[Evaluation]) -> str:
    """The whole page. evaluations: at least one."""
    plots = [
        _plot("Size against error", "MB", evaluations, lambda e: e.run.size_bytes / 1e6),
        _plot("Speed against error", "times faster than speech", evaluations, _speed),
    ]
    body = (
        "<h1>Models compared</h1>\n"
        f'<div class="wide">{_table(evaluations)}</div>\n{_languages(evaluations)}\n{"".join(plots)}\n'
        f"<h2>Differences</h2>\n{''.join(_clips(evaluations))}"
    )
    return html.document("Sayso: models compared", body, style=_STYLE)


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
    return html.table(heads, rows) + "<p>Milliseconds are means per clip; the decoder's include its prompt.</p>"


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
    return f'<h2>Error by language</h2>\n<div class="wide">{html.table(("Model", *codes), rows)}</div>'


def _plot(title: str, unit: str, evaluations: Sequence[Evaluation], of: Callable[[Evaluation], float]) -> str:
    """Error, with its interval, over a quantity; both axes from zero."""
    top_x = html.round_up(max(of(e) for e in evaluations))
    top_y = html.round_up(max(100 * e.score.high for e in evaluations))
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
    labels: list[tuple[float, float]] = []
    for e in evaluations:
        s, at, height = e.score, x(of(e)), y(100 * e.score.error_rate)
        name = escape(e.run.label)
        parts.append(f'<path class="mark" d="M{at:.1f} {y(100 * s.low):.1f}V{y(100 * s.high):.1f}"/>')
        parts.append(f'<circle cx="{at:.1f}" cy="{height:.1f}" r="4"><title>{name}</title></circle>')
        if all(abs(at - other_x) > _LABEL_WIDTH or abs(height - other_y) > 12 for other_x, other_y in labels):
            labels.append((at, height))  # of a crowd only one has its name shown; the others' appear under the pointer
            parts.append(f'<text x="{at + 7:.1f}" y="{height - 5:.1f}">{name}</text>')
    label = escape(f"{title}: error in percent over {unit}", quote=True)
    svg = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" aria-label="{label}">'
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}{''.join(parts)}</svg></figure>"


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
        count = f"{errors[id_]} error{'s' if errors[id_] > 1 else ''}"
        yield f"<details><summary>{escape(id_)}: {count}</summary><dl>"
        yield f"<dt>said</dt><dd>{escape(heard[0][1].reference)}</dd>"
        for label, result in heard:
            marked = html.marked(marked_difference(result))
            yield f"<dt>{escape(label)}: {result.errors}</dt><dd>{marked}</dd>"
        yield "</dl></details>\n"
