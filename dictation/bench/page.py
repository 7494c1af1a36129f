"""A report as one HTML page that needs nothing else: overview, plots, gates, each clip with its timeline and sound.

All of it stands in the page as it is written; a script adds filter, sorting and the player. So it can be printed, and
read aloud.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import numpy as np

import resources
from dictation.bench.clips import Clip
from dictation.bench.errors import BenchError
from dictation.bench.figures import BenchRun, Figures, Interval, figures
from dictation.bench.gate import Verdict
from dictation.bench.measure import Task, degraded
from dictation.bench.plan import gather
from dictation.bench.plots import Row, row_plot, shown, timeline
from dictation.bench.results import BenchFile, Measured, as_result
from engine import html
from engine.audio import SAMPLE_RATE_HZ
from engine.errors import EngineError
from engine.evaluate import marked_difference
from engine.files import write_text

MOST_CLIPS = 200  # with timelines and sound, the worst first; all figures are in the .jsonl files
PERCENTILES = ("p50", "p95", "p99")
HEADS = (
    "Run", "Device", "Clips", "Scored", "Error", "95 % interval", "Characters", "Sub.", "Del.", "Ins.", "p50, ms",
    "p95, ms", "p99, ms", "First words, s", "Look, ms", "Revised, %", "Firm wrong", "CPU, s/s", "Peak, MB", "Failed",
    "Unmet",
)  # fmt: skip


def write(folder: Path, files: Sequence[BenchFile], clips: Sequence[Clip], verdicts: Sequence[Verdict]) -> Path:
    """report.html in `folder`, whole or not at all. clips: where their sound is, as far as it is still there."""
    path = folder / "report.html"
    text = page(gather(files), _entries(files), {clip.id: clip for clip in clips}, verdicts)
    write_text(path, text, fault=BenchError)
    return path


@dataclass
class _Entry:
    """One clip under one variant: what each run heard in it, the first repeat with its events."""

    clip: str
    variant: str
    seed: int = 0
    runs: dict[str, Measured] = field(default_factory=dict)

    @property
    def errors(self) -> int:
        return sum(m.errors for m in self.runs.values())

    @property
    def is_bad(self) -> bool:
        return any(m.failure or m.unmet or m.arrived is False for m in self.runs.values())

    @property
    def slowest_ms(self) -> float:
        return max((m.release_to_text_ms or 0.0 for m in self.runs.values()), default=0.0)


def _entries(files: Sequence[BenchFile]) -> list[_Entry]:
    """The worst MOST_CLIPS clips. Events are read for these only."""
    found: dict[tuple[str, str], _Entry] = {}
    for file in files:
        conditions = file.conditions()
        assert conditions is not None
        for m in file.last().values():
            if m.repeat == 0:
                entry = found.setdefault((m.clip, m.variant), _Entry(m.clip, m.variant, conditions.seed))
                entry.runs[conditions.label] = m
    worst = sorted(found.values(), key=lambda e: (not e.is_bad, -e.errors, -e.slowest_ms, e.clip, e.variant))
    chosen = {(entry.clip, entry.variant): entry for entry in worst[:MOST_CLIPS]}
    for file in files:
        conditions = file.conditions()
        assert conditions is not None
        for m in file.measured(with_events=True):
            if m.repeat == 0 and (m.clip, m.variant) in chosen:
                chosen[m.clip, m.variant].runs[conditions.label] = m
    return list(chosen.values())


def page(
    runs: Sequence[BenchRun], entries: Sequence[_Entry], clips: dict[str, Clip], verdicts: Sequence[Verdict]
) -> str:
    """The whole page. runs: at least one."""
    figured = [(run, figures(run)) for run in runs]
    n_clips = len({m.clip for run in runs for m in run.measured})
    title = f"Replay of {runs[0].conditions.set}"
    labels = list(dict.fromkeys(run.conditions.label for run in runs))
    body = "".join(
        (
            f"<h1>{escape(title)}</h1>\n<p>Clips: {n_clips}. Runs: {len(runs)}. {_sittings(runs)}</p>\n",
            _gates(verdicts),
            f'<h2>Overview</h2>\n<div class="wide">{_overview(figured)}</div>\n{_explained()}\n',
            _plots(figured),
            f"<h2>Clips</h2>\n{_form(labels)}\n<p>{_how_many(len(entries), runs)} {_legend()}</p>\n",
            '<div id="clips">\n',
            *(_article(entry, clips.get(entry.clip)) for entry in entries),
            "</div>",
        )
    )
    style, script = (resources.path(f"replay_report.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return html.document(f"Sayso: {title}", body, style=style, script=script)


# ---- overview -------------------------------------------------------------------------------------------------------


def _sittings(runs: Sequence[BenchRun]) -> str:
    seen = {(s.computer, s.version, s.jobs) for run in runs for s in run.sittings}
    told = (f"{computer}, Sayso {version}, {jobs} at a time" for computer, version, jobs in sorted(seen))
    settings = {run.conditions.settings for run in runs} - {"{}"}
    other = f" Settings that differ from the defaults: <code>{escape('; '.join(sorted(settings)))}</code>"
    return escape("; ".join(told)) + "." + (other if settings else "")


def _gates(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    items = []
    for verdict in verdicts:
        kind = "bad" if verdict.failed else "good"
        lines = "".join(f"<li>{escape(line)}</li>" for line in verdict.clips)
        more = f"<ul>{lines}</ul>" if lines else ""
        items.append(f'<li><span class="{kind}">{escape(verdict.sentence())}</span>{more}</li>')
    failed = sum(verdict.failed for verdict in verdicts)
    return f"<h2>Gates: {f'{failed} failed' if failed else 'all passed'}</h2>\n<ul>{''.join(items)}</ul>\n"


def _overview(figured: Sequence[tuple[BenchRun, Figures]]) -> str:
    plain = html.table(HEADS, [_row(run, f) for run, f in figured], caption="Each run over all of its clips")
    return plain.replace("<table>", '<table class="overview">', 1)


def _row(run: BenchRun, f: Figures) -> tuple[str, ...]:
    error = f.error
    release = [f"{part.value:.0f} ({part.low:.0f}–{part.high:.0f})" for part in f.release_ms or ()]
    return (
        run.label,
        run.devices,
        f"{f.clips} of {run.conditions.clips}",
        f"{f.scored}",
        f"{100 * error.error_rate:.2f} % {run.metric}" if error else "",
        f"{100 * error.low:.2f}–{100 * error.high:.2f}" if error else "",
        f"{100 * f.characters.error_rate:.2f} %" if f.characters else "",
        *((f"{error.substitutions}", f"{error.deletions}", f"{error.insertions}") if error else ("", "", "")),
        *(release or ("", "", "")),
        _number(f.first_partial_s, ".2f"),
        _number(f.look_ms, ".0f"),
        _number(f.revised_per_100, ".1f"),
        f"{f.firm_wrong}",
        f"{f.cpu_per_s:.2f}",
        f"{f.peak_bytes / 1e6:.0f}",
        f"{f.failed}",
        f"{f.unmet}",
    )


def _number(value: float | None, spec: str) -> str:
    return "" if value is None else format(value, spec)


def _explained() -> str:
    return (
        "<p>p50, p95, p99: from the last sample to the text, with 95 % bootstrap intervals over clips. First words: "
        "after speech begins, on the clock of the sound. Look: the engine’s time for one look while it is spoken. "
        "Revised: of 100 words shown, those changed later; firm wrong: words shown as firm that the text has "
        "otherwise.</p>"
    )


def _plots(figured: Sequence[tuple[BenchRun, Figures]]) -> str:
    errors = [Row(run.label, _error_marks(f)) for run, f in figured]
    latencies = [
        Row(
            run.label,
            list(zip(PERCENTILES, f.release_ms or (), strict=False)),
            [m.release_to_text_ms for m in run.measured if m.release_to_text_ms is not None],
        )
        for run, f in figured
    ]
    revised = [
        Row(run.label, [("", Interval(f.revised_per_100, f.revised_per_100, f.revised_per_100))])
        for run, f in figured
        if f.revised_per_100 is not None
    ]
    return "\n".join(
        (
            row_plot("Error rate with its 95 % interval", "%", errors),
            row_plot("Release to text: every clip, and p50, p95, p99 with their intervals", "ms", latencies),
            row_plot("Words revised, of 100 shown", "", revised),
        )
    )


def _error_marks(f: Figures) -> list[tuple[str, Interval]]:
    if f.error is None:
        return []
    return [("", Interval(100 * f.error.error_rate, 100 * f.error.low, 100 * f.error.high))]


# ---- clips ----------------------------------------------------------------------------------------------------------


def _form(labels: Sequence[str]) -> str:
    runs = "".join(f"<option>{escape(label)}</option>" for label in labels)
    return (
        '<form aria-label="Which clips to show">'
        '<label>Words in the text or name<input name="words" type="search"></label>'
        '<label>Show<select name="which"><option value="all">all clips</option><option value="errors">with errors'
        '</option><option value="differ">where runs differ</option><option value="bad">failed or unmet</option>'
        "</select></label>"
        f'<label>Run<select name="run"><option value="">all runs</option>{runs}</select></label>'
        '<label>Order<select name="order"><option value="worst">most errors first</option><option value="slowest">'
        'slowest first</option><option value="longest">longest first</option><option value="id">by name</option>'
        '</select></label><output id="count" aria-live="polite"></output></form>'
    )


def _how_many(n_entries: int, runs: Sequence[BenchRun]) -> str:
    total = len({(m.clip, m.variant) for run in runs for m in run.measured})
    return f"The worst {n_entries} of {total} are here; all are in the .jsonl files." if n_entries < total else ""


def _legend() -> str:
    return (
        '<span class="legend">In a timeline the height is the number of words on screen: '
        '<span class="firm">firm</span> <span class="tentative">may still change</span>. '
        "Click into it to hear that place.</span>"
    )


def _article(entry: _Entry, clip: Clip | None) -> str:
    first = next(iter(entry.runs.values()))
    name = entry.clip + (f" ({entry.variant})" if entry.variant else "")
    about = ", ".join(part for part in (f"{first.duration_s:.1f} s", first.language or first.detected_language) if part)
    rows = "".join(_heard(label, m) for label, m in entry.runs.items())
    found = (f"{name} {first.reference} " + " ".join(m.raw_text for m in entry.runs.values())).lower()
    data = (
        f'data-errors="{entry.errors}" data-release="{entry.slowest_ms:.0f}" data-seconds="{first.duration_s:.2f}" '
        f'data-text="{escape(found, quote=True)}"'
    )
    said = (
        f"<p><b>Said:</b> {escape(first.reference)}</p>" if first.scored else "<p>Nobody wrote down what is said.</p>"
    )
    folds = "".join(_fold(label, m, is_open=len(entry.runs) == 1) for label, m in entry.runs.items())
    return (
        f"<article {data}><h3>{escape(name)} <small>{escape(about)}</small></h3>\n{said}\n{_player(entry, clip)}\n"
        f'<div class="wide"><table class="heard"><thead><tr><th scope="col">Run</th><th scope="col">Errors</th>'
        f'<th scope="col">Release to text</th><th scope="col">Heard</th></tr></thead><tbody>{rows}</tbody></table>'
        f"</div>\n{folds}</article>\n"
    )


def _heard(label: str, m: Measured) -> str:
    if m.failure:
        text = f'<span class="bad">{escape(m.failure)}</span>'
    elif m.scored:
        text = html.marked(marked_difference(as_result(m)))
    else:
        text = escape(m.raw_text)
    notes = [*m.unmet, *m.notices]
    if m.arrived is False:
        notes.insert(0, f"The window holds “{m.window_text}”.")
    if m.text != m.raw_text and m.text:
        notes.append(f"Typed: “{m.text}”")
    bad = bool(m.failure or m.unmet or m.arrived is False)
    more = "".join(f"<br><small>{escape(note)}</small>" for note in notes)
    data = f'data-run="{escape(label, quote=True)}" data-errors="{m.errors}" data-bad="{int(bad)}"'
    release = "" if m.release_to_text_ms is None else f"{m.release_to_text_ms:.0f} ms"
    errors = f"{m.errors} of {m.length}" if m.scored and not m.failure else ""
    return (
        f'<tr {data}><th scope="row">{escape(label)}</th><td>{errors}</td><td>{release}</td><td>{text}{more}</td></tr>'
    )


def _fold(label: str, m: Measured, *, is_open: bool) -> str:
    words = shown(m)
    items = "".join(
        f'<li data-at="{w.t_s:.3f}">{w.t_s:.2f} s: <b>{escape(w.firm)}</b><i>{escape(w.tentative)}</i></li>'
        for w in words
    )
    listed = f"<details><summary>{len(words)} times new words</summary><ol class='words'>{items}</ol></details>"
    stages = {"mel": m.mel_ms, "encoder": m.encode_ms, "prompt": m.prompt_ms, "decoder": m.decode_ms}
    parts = [
        ", ".join(f"{stage} {ms:.0f} ms" for stage, ms in stages.items()),
        f"{m.tokens} tokens, {m.full_window_redos} decoded again",
        f"processor {m.cpu_s:.2f} s, {m.rss_bytes / 1e6:.0f} MB",
        f"{m.revised_words} of {m.shown_words} shown words revised",
    ]
    if m.deliver_ms is not None:
        parts.append(f"{m.outcome} by {m.method} in {m.deliver_ms:.0f} ms: {m.evidence}")
    return (
        f'<details data-run="{escape(label, quote=True)}"{" open" if is_open else ""}>'
        f"<summary>{escape(label)}: timeline</summary>{timeline(m, label)}"
        f"<p>{escape('; '.join(parts))}.</p>{listed if words else ''}</details>\n"
    )


def _player(entry: _Entry, clip: Clip | None) -> str:
    try:
        sound = _mp3(Task(clip, entry.variant, seed=entry.seed)) if clip is not None else None
    except (EngineError, OSError, RuntimeError):
        sound = None
    if sound is None:
        return '<p class="caption">Its sound is not here.</p>'
    kind, data = sound
    source = f"data:{kind};base64,{base64.b64encode(data).decode()}"
    label = escape(f"Sound of {entry.clip}", quote=True)
    return f'<audio controls preload="none" aria-label="{label}" src="{source}"></audio><p class="caption"></p>'


def _mp3(task: Task) -> tuple[str, bytes]:
    """The sound as the app hears it, small: its loudest channel at 16 kHz."""
    import soundfile
    import soxr

    samples, rate_hz = degraded(task)
    mono = samples[:, int(np.argmax(np.square(samples).sum(axis=0)))]
    mono = np.clip(soxr.resample(mono, rate_hz, SAMPLE_RATE_HZ), -1, 1)
    kind, format_ = ("audio/mpeg", "MP3") if "MP3" in soundfile.available_formats() else ("audio/wav", "WAV")
    file = io.BytesIO()
    soundfile.write(file, mono, SAMPLE_RATE_HZ, format=format_)
    return kind, file.getvalue()
