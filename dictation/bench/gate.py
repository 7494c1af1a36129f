"""Whether a run got worse than an earlier one, or than it may be, in a way that chance does not explain.

A limit is written METRIC>AMOUNT. A plain amount bounds the figure itself: `error>5%`, `p95>400ms`, `failed>0`. With a
plus it allows so much more than the baseline: `error>+0.5` (points), `p95>+20%`, `p50>+50ms`.

Against a baseline, clips are compared in pairs. If the change were chance, the two results of each clip could as well
be the other way round: they are swapped at random, and the gate fails only where hardly any such swap gives as bad a
figure as the run did, the allowance already granted. What repeats of one run differ by is granted too. What is
counted (failed replays, unmet expectations, texts that did not arrive) needs no test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dictation.bench.errors import BenchError
from dictation.bench.figures import METRICS, BenchRun, figures, median
from dictation.bench.results import Measured

F64 = NDArray[np.float64]
Statistic = Callable[[F64, F64], F64]  # (rounds, clips) values and weights -> (rounds,)

# Share of swaps below which a figure is no chance; another program on the computer slows down most clips at once
ERROR_ALPHA, TIME_ALPHA = 0.05, 0.01
ROUNDS, SEED = 20_000, 7
EXACT_CLIPS = 14  # up to so many pairs that differ, every swap is tried
SHOWN_CLIPS = 10
DEFAULT = ("error>+0", "p50>+25%", "failed>+0", "unmet>+0", "undelivered>+0")
LEAST_MS = 30.0  # a latency that grows by less than this is not felt


@dataclass(frozen=True)
class Limit:
    """One rule. relative: compared with a baseline; percent: of its figure."""

    metric: str
    amount: float
    relative: bool = False
    percent: bool = False

    def __str__(self) -> str:
        unit = "%" if self.percent else METRICS[self.metric][1]
        if self.relative and unit == "%" and not self.percent:
            unit = " points"
        return f"{self.metric}>{'+' if self.relative else ''}{self.amount:g}{unit}"


@dataclass(frozen=True)
class Verdict:
    """What a limit says of a run."""

    limit: Limit
    run: BenchRun
    failed: bool
    now: float | None
    before: float | None = None
    p: float | None = None  # share of random swaps that are as bad; None where no chance is asked
    clips: tuple[str, ...] = ()  # the worst first, a line each

    def sentence(self) -> str:
        _, unit, what = METRICS[self.limit.metric]
        now = "none" if self.now is None else f"{self.now:.4g}{unit and ' ' + unit}"
        before = "" if self.before is None else f", was {self.before:.4g}{unit and ' ' + unit}"
        chance = "" if self.p is None else f" (p = {self.p:.2g})"
        verdict = "fails" if self.failed else "passes"
        return f"{self.run.label}: {verdict} {self.limit}: {what} {now}{before}{chance}"


def parse(text: str) -> Limit:
    """A limit from how it is written. Raises BenchError."""
    match = re.fullmatch(r"\s*([a-z0-9-]+)\s*[>:]\s*(\+?)\s*(\d+(?:\.\d+)?)\s*(%|ms|s|MB|points)?\s*", text)
    if match is None:
        raise BenchError(f"{text!r} is no limit. Write one as error>5%, p95>400ms or, with --baseline, error>+0.5.")
    metric, plus, amount, unit = match.groups()
    if metric not in METRICS:
        raise BenchError(f"There is no figure {metric!r} to limit; there are {', '.join(METRICS)}.")
    own = METRICS[metric][1]
    percent = unit == "%" and own != "%"
    if unit and unit not in ("%", own) and not (unit == "points" and own == "%"):
        raise BenchError(f"{metric} is counted in {own or 'whole numbers'}, not in {unit}.")
    if percent and not plus:
        raise BenchError(f"{text!r}: percent of what? With --baseline write {metric}>+{amount}%.")
    return Limit(metric, float(amount), bool(plus), percent)


def judge(runs: Sequence[BenchRun], limits: Sequence[Limit], baseline: Sequence[BenchRun] | None) -> list[Verdict]:
    """Every limit on every run. Raises BenchError where the baseline has no run to compare with."""
    found = []
    for run in runs:
        before = _counterpart(run, runs, baseline) if baseline is not None else None
        for limit in limits:
            if not limit.relative:
                found.append(_bound(limit, run))
            elif before is None:
                raise BenchError(f"{limit} compares with an earlier report: name it with --baseline.")
            else:
                found.append(_compare(limit, run, before))
    return found


def _counterpart(run: BenchRun, runs: Sequence[BenchRun], baseline: Sequence[BenchRun]) -> BenchRun:
    """The baseline's run of the same model, mode and variant; where both reports have one run, that."""
    same = [other for other in baseline if other.label == run.label]
    if same:
        return same[0]
    if len(runs) == len(baseline) == 1:
        return baseline[0]
    there = "; ".join(other.label for other in baseline)
    raise BenchError(f"The baseline has no run of {run.label}; it has {there}.")


def _bound(limit: Limit, run: BenchRun) -> Verdict:
    now = METRICS[limit.metric][0](figures(run))
    failed = now is None or now > limit.amount  # what can't be measured has not been shown to be good
    return Verdict(limit, run, failed, now, clips=_worst(limit.metric, run) if failed else ())


def _worst(metric: str, run: BenchRun) -> tuple[str, ...]:
    value = _CLIP_VALUES.get(metric)
    rows = [(v, clip) for clip, repeats in run.by_clip().items() if value and (v := value(repeats)) is not None and v]
    return tuple(f"{clip}: {v:.4g}" for v, clip in sorted(rows, reverse=True)[:SHOWN_CLIPS])


# ---- in pairs -------------------------------------------------------------------------------------------------------


def _compare(limit: Limit, run: BenchRun, before: BenchRun) -> Verdict:
    now, was = _common(run, before)
    figure = METRICS[limit.metric][0]
    value, value_before = figure(figures(now)), figure(figures(was))
    if value is None or value_before is None:
        return Verdict(limit, run, value is None and value_before is not None, value, value_before)
    if limit.metric not in _STATISTICS:  # counted, or one for the whole run: nothing to swap
        allowed = value_before * (1 + limit.amount / 100) if limit.percent else value_before + limit.amount
        failed = value > allowed
        return Verdict(limit, run, failed, value, value_before, clips=_worst(limit.metric, now) if failed else ())
    pairs = _pairs(limit.metric, now, was)
    after, earlier = np.array([pair.now for pair in pairs]), np.array([pair.before for pair in pairs])
    weights = np.array([pair.weight for pair in pairs])
    noise = max(_noise(limit.metric, now), _noise(limit.metric, was))
    granted = _granted(limit, earlier, weights, noise)
    p = swap_test(_STATISTICS[limit.metric], after, granted, weights)
    alpha = TIME_ALPHA if limit.metric in _TIMED else ERROR_ALPHA
    failed = p < alpha and (limit.metric not in _MEDIANS or float(np.median(after)) > float(np.median(granted)))
    return Verdict(limit, run, failed, value, value_before, p, _changed(pairs) if failed else ())


def _common(run: BenchRun, before: BenchRun) -> tuple[BenchRun, BenchRun]:
    """Both on the clips that they share with the same text. Raises BenchError where there is none."""
    texts = {m.clip: (m.reference, m.language) for m in before.measured}
    shared = {m.clip for m in run.measured if texts.get(m.clip) == (m.reference, m.language)}
    if not shared:
        raise BenchError(f"The baseline's run of {before.label} has no clip in common with this one.")

    def only(whole: BenchRun) -> BenchRun:
        return replace(whole, measured=tuple(m for m in whole.measured if m.clip in shared))

    return only(run), only(before)


@dataclass(frozen=True)
class _Pair:
    clip: str
    now: float
    before: float
    weight: float  # what the figure divides by: words, seconds


def _pairs(metric: str, run: BenchRun, before: BenchRun) -> list[_Pair]:
    """Clips that have a value in both runs."""
    value, weight = _CLIP_VALUES[metric], _WEIGHTS.get(metric, _one)
    others = before.by_clip()
    found = []
    for clip, repeats in run.by_clip().items():
        now, was = value(repeats), value(others.get(clip, []))
        if now is not None and was is not None:
            found.append(_Pair(clip, now, was, weight(repeats)))
    return found


def _changed(pairs: Sequence[_Pair]) -> tuple[str, ...]:
    worse = sorted((pair for pair in pairs if pair.now > pair.before), key=lambda pair: pair.before - pair.now)
    return tuple(f"{pair.clip}: {pair.before:.4g} -> {pair.now:.4g}" for pair in worse[:SHOWN_CLIPS])


def _granted(limit: Limit, before: F64, weights: F64, noise: float) -> F64:
    """What each clip may have: its value before, what the limit allows, and what repeats differ by anyway."""
    if METRICS[limit.metric][1] == "%":  # points of a rate
        return before + limit.amount / 100 * weights
    if not limit.percent:
        return before * (1 + noise) + limit.amount * (weights if limit.metric == "cpu" else 1)
    granted = before * (1 + limit.amount / 100 + noise)
    return np.maximum(granted, before + LEAST_MS) if METRICS[limit.metric][1] == "ms" else granted


def _noise(metric: str, run: BenchRun) -> float:
    """By what part the figure differs between the repeats of one run; 0 for errors, and where there is one repeat."""
    if metric not in _TIMED:
        return 0.0
    per_repeat = []
    for repeat in {m.repeat for m in run.measured}:
        part = replace(run, measured=tuple(m for m in run.measured if m.repeat == repeat))
        value = METRICS[metric][0](figures(part))
        if value:
            per_repeat.append(value)
    return max(per_repeat) / min(per_repeat) - 1 if len(per_repeat) > 1 else 0.0


def swap_test(statistic: Statistic, now: F64, before: F64, weights: F64) -> float:
    """How many random swaps of pairs give a difference of the statistic as large as there is; 1 for no increase.

    now, before, weights: (clips,).
    """

    def difference(swapped: NDArray[np.bool_]) -> F64:
        one, other = np.where(swapped, before, now), np.where(swapped, now, before)
        return np.asarray(statistic(one, weights) - statistic(other, weights), np.float64)

    seen = float(difference(np.zeros((1, len(now)), bool))[0]) if len(now) else 0.0
    if seen <= 1e-12:
        return 1.0
    differing = np.flatnonzero(now != before)
    if len(differing) <= EXACT_CLIPS:
        swapped = np.zeros((1 << len(differing), len(now)), bool)
        swapped[:, differing] = np.arange(1 << len(differing))[:, None] >> np.arange(len(differing)) & 1
        return float(np.mean(difference(swapped) >= seen - 1e-12))
    random = np.random.default_rng(SEED)
    rounds = max(1000, min(ROUNDS, 20_000_000 // len(now)))  # bounds memory
    as_bad = difference(random.random((rounds, len(now))) < 0.5) >= seen - 1e-12
    return float((1 + as_bad.sum()) / (1 + rounds))


def _per_repeat(name: str) -> Callable[[Sequence[Measured]], float | None]:
    def mean(repeats: Sequence[Measured]) -> float | None:
        values = [float(getattr(m, name)) for m in repeats if not m.failure]
        return float(np.mean(values)) if values else None

    return mean


def _of_scored(name: str) -> Callable[[Sequence[Measured]], float | None]:
    mean = _per_repeat(name)
    return lambda repeats: mean([m for m in repeats if m.scored])


def _revised(repeats: Sequence[Measured]) -> float | None:
    shown = sum(m.shown_words for m in repeats if not m.failure)
    return 100 * sum(m.revised_words for m in repeats if not m.failure) / shown if shown else None


def _one(repeats: Sequence[Measured]) -> float:
    return 1.0


def _rate(values: F64, weights: F64) -> F64:
    return np.asarray(values.sum(axis=1) / max(1e-9, float(weights.sum())))


def _mean(values: F64, weights: F64) -> F64:
    return np.asarray(values.mean(axis=1))


def _mean_log(values: F64, weights: F64) -> F64:
    """Of ratios: a slow clip counts no more than a fast one."""
    return np.asarray(np.log(np.maximum(values, 1e-3)).mean(axis=1))


def _percentile(percent: float) -> Statistic:
    return lambda values, weights: np.asarray(np.percentile(values, percent, axis=1))


# A median hardly moves when half of the pairs are swapped, so it can't be tested itself: the mean is, and the median
# has to be beyond its limit as well
_MEDIANS = frozenset({"p50", "first-partial"})
_TIMED = frozenset({"p50", "p95", "p99", "first-partial", "cpu"})
_CLIP_VALUES: dict[str, Callable[[Sequence[Measured]], float | None]] = {
    "error": _of_scored("errors"),
    "cer": _of_scored("char_errors"),
    **{p: lambda repeats: median(repeats, "release_to_text_ms") for p in ("p50", "p95", "p99")},
    "first-partial": lambda repeats: median(repeats, "first_partial_s"),
    "revised": _revised,
    "cpu": _per_repeat("cpu_s"),
    "memory": lambda repeats: max((m.peak_bytes / 1e6 for m in repeats), default=None),
    "failed": lambda repeats: float(sum(bool(m.failure) for m in repeats)),
    "unmet": lambda repeats: float(sum(bool(m.unmet) for m in repeats)),
    "undelivered": lambda repeats: float(sum(m.arrived is False for m in repeats)),
}
_WEIGHTS: dict[str, Callable[[Sequence[Measured]], float]] = {
    "error": lambda repeats: float(max(m.length for m in repeats)),
    "cer": lambda repeats: float(max(m.char_length for m in repeats)),
    "cpu": lambda repeats: repeats[0].duration_s,
}
_STATISTICS: dict[str, Statistic] = {
    "error": _rate,
    "cer": _rate,
    "p50": _mean_log,
    "p95": _percentile(95),
    "p99": _percentile(99),
    "first-partial": _mean,
    "revised": _mean,
    "cpu": _rate,
}
