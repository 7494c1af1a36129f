"""Figures over the results of a run: errors as `sayso eval` counts them, latency with its intervals, what was revised.

A clip that was replayed several times counts once: its errors are added up, of its times the median is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dictation.bench.results import Conditions, Measured, Sitting, as_result
from engine.evaluate import BOOTSTRAP_ROUNDS, BOOTSTRAP_SEED, CHARACTER_LANGUAGES, Result, Score, score

F64 = NDArray[np.float64]

PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % bootstrap interval over clips."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class BenchRun:
    """One line of a report: a model in a mode, on clips under one degradation."""

    conditions: Conditions
    sittings: tuple[Sitting, ...]
    variant: str
    measured: tuple[Measured, ...]  # by clip and repeat; without events

    @property
    def label(self) -> str:
        return self.conditions.label + (f", {self.variant}" if self.variant else "")

    @property
    def devices(self) -> str:
        return ", ".join(sorted({sitting.device for sitting in self.sittings}))

    @property
    def metric(self) -> str:
        """ "WER", "CER" or both, as of `engine.report.Evaluation`."""
        kinds = {"CER" if m.language in CHARACTER_LANGUAGES else "WER" for m in self.measured if m.scored}
        return " and ".join(sorted(kinds, reverse=True)) or "WER"

    def by_clip(self) -> dict[str, list[Measured]]:
        found: dict[str, list[Measured]] = {}
        for measured in self.measured:
            found.setdefault(measured.clip, []).append(measured)
        return found


@dataclass(frozen=True)
class Figures:
    """None where there is nothing to make it of: no scored clip, no text."""

    clips: int
    scored: int
    failed: int
    unmet: int  # replays that did not do what their clip expects
    undelivered: int  # typed texts that the window does not hold
    error: Score | None  # words, or characters where those are counted
    characters: Score | None
    release_ms: tuple[Interval, ...] | None  # p50, p95, p99
    first_partial_s: float | None  # median
    look_ms: float | None
    revised_per_100: float | None  # words changed after they were shown, per 100 that were shown
    firm_wrong: int
    cpu_per_s: float  # processor seconds per second of sound
    peak_bytes: int


def figures(run: BenchRun) -> Figures:
    good = [m for m in run.measured if not m.failure]
    release = [values for m in run.by_clip().values() if (values := median(m, "release_to_text_ms")) is not None]
    first = [value for m in run.by_clip().values() if (value := median(m, "first_partial_s")) is not None]
    looks = [value for m in run.by_clip().values() if (value := median(m, "look_ms")) is not None]
    shown = sum(m.shown_words for m in good)
    duration_s = sum(m.duration_s for m in good)
    return Figures(
        clips=len(run.by_clip()),
        scored=len({m.clip for m in good if m.scored}),
        failed=sum(bool(m.failure) for m in run.measured),
        unmet=sum(bool(m.unmet) for m in run.measured),
        undelivered=sum(m.arrived is False for m in run.measured),
        error=_score(good),
        characters=_score(good, characters=True),
        release_ms=percentiles(np.array(release)) if release else None,
        first_partial_s=float(np.median(first)) if first else None,
        look_ms=float(np.median(looks)) if looks else None,
        revised_per_100=100 * sum(m.revised_words for m in good) / shown if shown else None,
        firm_wrong=sum(m.firm_wrong for m in good),
        cpu_per_s=sum(m.cpu_s for m in good) / duration_s if duration_s else 0.0,
        peak_bytes=max((m.peak_bytes for m in good), default=0),
    )


def median(repeats: Iterable[Measured], name: str) -> float | None:
    """Of one clip's times; None where it has none."""
    values = [value for m in repeats if not m.failure and (value := getattr(m, name)) is not None]
    return float(np.median(values)) if values else None


def percentiles(values: F64) -> tuple[Interval, ...]:
    """p50, p95 and p99 with their intervals. values: at least one."""
    picks = np.random.default_rng(BOOTSTRAP_SEED).integers(len(values), size=(BOOTSTRAP_ROUNDS, len(values)))
    drawn = np.percentile(values[picks], PERCENTILES, axis=1)
    found = np.percentile(values, PERCENTILES)
    lows, highs = np.percentile(drawn, [2.5, 97.5], axis=1)
    return tuple(Interval(float(v), float(a), float(b)) for v, a, b in zip(found, lows, highs, strict=True))


def _score(measured: Sequence[Measured], *, characters: bool = False) -> Score | None:
    """Errors of the scored clips, by the counting and the bootstrap of `sayso eval`."""
    sums: dict[str, Result] = {}
    for m in measured:
        if m.scored:
            result = as_result(m, characters=characters)
            sums[m.clip] = _added(sums[m.clip], result) if m.clip in sums else result
    return score(sums.values()) if sums else None


def _added(one: Result, other: Result) -> Result:
    names = ("hits", "substitutions", "deletions", "insertions", "mel_ms", "encode_ms", "prompt_ms", "decode_ms")
    sums = {name: getattr(one, name) + getattr(other, name) for name in names}
    return replace(one, **sums, duration_s=one.duration_s + other.duration_s)


Metric = Callable[[Figures], float | None]

# What a gate can ask of a run: name -> (figure, unit, how people call it)
METRICS: Mapping[str, tuple[Metric, str, str]] = {
    "error": (lambda f: 100 * f.error.error_rate if f.error else None, "%", "error rate"),
    "cer": (lambda f: 100 * f.characters.error_rate if f.characters else None, "%", "character error rate"),
    "p50": (lambda f: f.release_ms[0].value if f.release_ms else None, "ms", "release to text, p50"),
    "p95": (lambda f: f.release_ms[1].value if f.release_ms else None, "ms", "release to text, p95"),
    "p99": (lambda f: f.release_ms[2].value if f.release_ms else None, "ms", "release to text, p99"),
    "first-partial": (lambda f: f.first_partial_s, "s", "first words after speech begins"),
    "revised": (lambda f: f.revised_per_100, "", "words revised, of 100 shown"),
    "cpu": (lambda f: f.cpu_per_s, "s", "processor seconds per second of sound"),
    "memory": (lambda f: f.peak_bytes / 1e6, "MB", "peak memory"),
    "failed": (lambda f: float(f.failed), "", "failed replays"),
    "unmet": (lambda f: float(f.unmet), "", "replays with unmet expectations"),
    "undelivered": (lambda f: float(f.undelivered), "", "texts that did not arrive"),
}
