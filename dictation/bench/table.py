"""The terminal's report: a line per run."""

from __future__ import annotations

from collections.abc import Sequence

from dictation.bench.figures import BenchRun, Figures, figures
from engine.report import columns

HEADS = (
    "run", "clips", "error %", "95 %", "CER %", "sub", "del", "ins", "p50 ms", "p95", "p99", "first s", "revised %",
    "CPU s/s", "MB", "failed",
)  # fmt: skip


def table(runs: Sequence[BenchRun]) -> str:
    return columns([HEADS, *(_row(run, figures(run)) for run in runs)])


def _row(run: BenchRun, f: Figures) -> tuple[str, ...]:
    error = f.error
    release = [f"{part.value:.0f}" for part in f.release_ms] if f.release_ms else ["-"] * 3
    return (
        run.label,
        f"{f.clips}",
        f"{100 * error.error_rate:.2f}" if error else "-",
        f"{100 * error.low:.2f}-{100 * error.high:.2f}" if error else "-",
        f"{100 * f.characters.error_rate:.2f}" if f.characters else "-",
        *((f"{error.substitutions}", f"{error.deletions}", f"{error.insertions}") if error else ("-", "-", "-")),
        *release,
        "-" if f.first_partial_s is None else f"{f.first_partial_s:.2f}",
        "-" if f.revised_per_100 is None else f"{f.revised_per_100:.1f}",
        f"{f.cpu_per_s:.2f}",
        f"{f.peak_bytes / 1e6:.0f}",
        f"{f.failed}",
    )


def warnings(run: BenchRun) -> list[str]:
    """A sentence for what went wrong with a clip: failures, unmet expectations, texts that did not arrive."""
    found = []
    for m in run.measured:
        where = f"{run.label}: {m.clip}" + (f" (repeat {m.repeat + 1})" if m.repeat else "")
        if m.failure:
            found.append(f"{where}: {m.failure}")
        found += [f"{where}: {sentence}" for sentence in m.unmet]
        if m.arrived is False:
            found.append(f"{where}: the window holds another text than was typed. {m.evidence}".strip())
    return found
