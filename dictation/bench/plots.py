"""Drawings of a report as inline SVG: figures with their intervals, spread of latencies, a clip's timeline."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from dictation.bench.figures import Interval
from dictation.bench.results import Measured
from engine import html

WIDTH, LABEL, RIGHT, ROW, AXIS = 900, 250, 90, 22, 34
TIME_WIDTH, TIME_LEFT, TIME_RIGHT = 900, 8, 12
WAVE_TOP, WAVE_HEIGHT, WORDS_TOP, WORDS_HEIGHT, TIME_HEIGHT = 16, 44, 66, 60, 152


@dataclass(frozen=True)
class Row:
    """One line of a row plot. points: single values, drawn small; marks: figures with their intervals and names."""

    label: str
    marks: Sequence[tuple[str, Interval]]
    points: Sequence[float] = ()


def row_plot(title: str, unit: str, rows: Sequence[Row]) -> str:
    """Figures under each other, from zero; what lies beyond the largest mark is drawn at the edge."""
    if not any(row.marks for row in rows):
        return ""
    top = html.round_up(max(mark.high for row in rows for _, mark in row.marks))
    bottom = ROW * len(rows) + 8
    right = WIDTH - RIGHT

    def x(value: float) -> float:
        return LABEL + (right - LABEL) * min(value, top) / top

    parts = [f'<path class="axis" fill="none" d="M{LABEL} 4V{bottom}H{right}"/>']
    for i in range(5):
        at = top * i / 4
        parts.append(f'<text x="{x(at):.1f}" y="{bottom + 16}" text-anchor="middle">{at:g}</text>')
        parts.append(f'<path class="grid" d="M{x(at):.1f} 4V{bottom}"/>')
    parts.append(f'<text x="{right + 28}" y="{bottom + 16}">{escape(unit)}</text>')
    spoken = []
    for place, row in enumerate(rows):
        y = ROW * place + 16
        parts.append(f'<text x="{LABEL - 8}" y="{y + 4}" text-anchor="end">{escape(_short(row.label))}</text>')
        parts += [f'<circle class="point" cx="{x(value):.1f}" cy="{y}" r="2.5"/>' for value in row.points]
        named = -math.inf
        for name, mark in row.marks:
            parts.append(f'<path class="mark" d="M{x(mark.low):.1f} {y}H{x(mark.high):.1f}"/>')
            told = f"{name} {mark.value:.3g} {unit} ({mark.low:.3g} to {mark.high:.3g})".strip()
            parts.append(f'<circle cx="{x(mark.value):.1f}" cy="{y}" r="4"><title>{escape(told)}</title></circle>')
            if name and x(mark.value) - named > 24:  # else it would stand on the last one
                named = x(mark.value)
                parts.append(f'<text class="name" x="{x(mark.value) + 4:.1f}" y="{y - 6}">{escape(name)}</text>')
            spoken.append(f"{row.label}: {told}")
        if row.marks:
            parts.append(f'<text x="{right + 12}" y="{y + 4}">{row.marks[0][1].value:.3g}</text>')
    label = escape(f"{title}. " + "; ".join(spoken), quote=True)
    svg = f'<svg viewBox="0 0 {WIDTH} {bottom + AXIS}" width="{WIDTH}" role="img" aria-label="{label}">'
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}{''.join(parts)}</svg></figure>"


def _short(label: str) -> str:
    return label if len(label) <= 40 else label[:39] + "…"


# ---- one clip in time -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """What stood on screen from a moment on."""

    t_s: float
    firm: str
    tentative: str


def shown(measured: Measured) -> list[Shown]:
    """The words as they came."""
    return [
        Shown(event["t_s"], event["firm"], event["tentative"])
        for event in measured.events
        if event["kind"] == "partial_text" and (event["firm"] + event["tentative"]).strip()
    ]


def moments(measured: Measured) -> list[tuple[float, str]]:
    """When the key went up, when the text was there, when it was delivered."""
    names = {"final_text": "text", "text_delivered": "typed", "nothing_heard": "nothing", "failed": "failed"}
    found = []
    for event in measured.events:
        if event["kind"] == "state_changed" and event["state"] == "finishing":
            found.append((event["t_s"], "key up"))
        elif event["kind"] == "text_delivered" and measured.outcome == "none":
            continue
        elif event["kind"] in names:
            found.append((event["t_s"], names[event["kind"]]))
    return found


def timeline(measured: Measured, label: str) -> str:
    """Wave, words on screen (firm dark, tentative light), key-up, text, delivery."""
    words, marks = shown(measured), moments(measured)
    end_s = max([measured.duration_s, *(t for t, _ in marks), 0.1]) * 1.02
    right = TIME_WIDTH - TIME_RIGHT

    def x(seconds: float) -> float:
        return TIME_LEFT + (right - TIME_LEFT) * seconds / end_s

    parts = [_wave(measured.wave, x(0), x(measured.duration_s))]
    bottom = WORDS_TOP + WORDS_HEIGHT
    most = max([len((w.firm + w.tentative).split()) for w in words], default=1)
    ends = [*(w.t_s for w in words[1:]), marks[-1][0] if marks else end_s]
    for now, after in zip(words, ends, strict=False):
        n_firm, n_all = len(now.firm.split()), len((now.firm + now.tentative).split())
        width = max(0.5, x(after) - x(now.t_s))
        for kind, low, high in (("firm", 0, n_firm), ("tentative", n_firm, n_all)):
            if high > low:
                top, height = bottom - WORDS_HEIGHT * high / most, WORDS_HEIGHT * (high - low) / most
                box = f'x="{x(now.t_s):.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
                parts.append(f'<rect class="{kind}" {box}/>')
    parts.append(f'<path class="axis" fill="none" d="M{TIME_LEFT} {bottom}H{right}"/>')
    step = html.round_up(end_s / 12)
    for i in range(int(end_s / step) + 1):
        if all(abs(x(i * step) - x(t)) > 10 for t, _ in marks):  # else a moment's line would go through it
            parts.append(f'<text x="{x(i * step):.1f}" y="{bottom + 14}" text-anchor="middle">{i * step:g}</text>')
    parts += _marks(marks, x, bottom)
    parts.append(f'<path class="head" d="M0 {WAVE_TOP}V{bottom}" hidden/>')
    spoken = ", ".join(f"{name} at {t:.2f} s" for t, name in marks)
    told = escape(f"Timeline of {measured.clip}, {label}: {len(words)} times new words; {spoken}", quote=True)
    data = f'data-left="{TIME_LEFT}" data-right="{right}" data-seconds="{end_s:.3f}"'
    return (
        f'<svg class="timeline" viewBox="0 0 {TIME_WIDTH} {TIME_HEIGHT}" width="{TIME_WIDTH}" role="img" '
        f'aria-label="{told}" {data}>{"".join(parts)}</svg>'
    )


def _marks(marks: Sequence[tuple[float, str]], x: Any, bottom: float) -> list[str]:
    """Lines with names below the axis; names that would overlap stand lower."""
    parts, last, lane = [], -math.inf, 0
    for t, name in marks:
        lane = lane + 1 if x(t) - last < 52 else 0
        last = x(t)
        y = bottom + 14 * (lane % 2)
        anchor = "end" if x(t) > TIME_WIDTH - 60 else "start"
        parts.append(f'<path class="moment" d="M{x(t):.1f} {WAVE_TOP - 6}V{y + 4:.1f}"/>')
        offset = -4 if anchor == "end" else 4
        y_text = 10 if lane == 0 else bottom + 12 + 13 * lane
        parts.append(
            f'<text class="name" x="{x(t) + offset:.1f}" y="{y_text}" text-anchor="{anchor}">{escape(name)}</text>'
        )
    return parts


def _wave(wave: str, left: float, right: float) -> str:
    peaks = base64.b64decode(wave) if wave else b""
    if not peaks:
        return ""
    middle, width = WAVE_TOP + WAVE_HEIGHT / 2, (right - left) / len(peaks)
    loudest = max(*peaks, 1)
    heights = [max(0.5, peak / loudest * WAVE_HEIGHT / 2) for peak in peaks]
    path = "".join(f"M{left + (i + 0.5) * width:.1f} {middle - h:.1f}V{middle + h:.1f}" for i, h in enumerate(heights))
    return f'<path class="wave" d="{path}"/>'
