"""Evaluated models side by side: result files with their conditions, gathered into figures for people and scripts.

A run of one model over one list of clips, or over a shard of it, is one JSON-lines file: first its conditions
(`{"run": ...}`), then a result per clip, and a line per session (`{"session": ...}`: a run may be stopped and go on).
Runs with the same conditions are one evaluation, on however many machines they were done.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import ReportError
from engine.evaluate import CHARACTER_LANGUAGES, LabelledClip, Result, Score, score
from engine.run_file import RunFile, known


@dataclass(frozen=True)
class Run:
    """What results depend on. Two runs that are equal here may be put together."""

    file: str  # name of the model's file
    sha256: str
    size_bytes: int
    name: str  # "base"
    quant: str  # "Q8_0"
    audio_context: str  # "auto", "full" or seconds
    language: str  # "given" or "detected"
    clips: int  # in the whole list
    corpus: str  # digest of the list

    @property
    def label(self) -> str:
        return self.file.removesuffix(".gguf")


@dataclass(frozen=True)
class Session:
    device: str
    load_ms: float
    peak_bytes: int  # largest resident size of the process, which did nothing else


@dataclass(frozen=True)
class Evaluation:
    """All that is known of one model under one set of conditions. At least one result."""

    run: Run
    sessions: tuple[Session, ...]
    results: tuple[Result, ...]  # by id
    score: Score

    @property
    def devices(self) -> str:
        return ", ".join(sorted({session.device for session in self.sessions}))

    @property
    def peak_bytes(self) -> int:
        return max((session.peak_bytes for session in self.sessions), default=0)

    @property
    def metric(self) -> str:
        """ "WER", "CER" or, where languages of both kinds are together, both."""
        kinds = {"CER" if result.language in CHARACTER_LANGUAGES else "WER" for result in self.results}
        return " and ".join(sorted(kinds, reverse=True))

    @property
    def languages_right(self) -> int:
        return sum(result.detected_language == result.language for result in self.results)

    def by_language(self) -> dict[str, Score]:
        languages = sorted({result.language for result in self.results})
        return {code: score(r for r in self.results if r.language == code) for code in languages}

    def as_dict(self) -> dict[str, Any]:
        """Figures without the clips."""
        return {
            **asdict(self.run),
            "devices": self.devices,
            "peak_bytes": self.peak_bytes,
            "load_ms": min((session.load_ms for session in self.sessions), default=0.0),
            "metric": self.metric,
            "languages_right": self.languages_right if self.run.language == "detected" else None,
            "score": asdict(self.score),
            "by_language": {code: asdict(found) for code, found in self.by_language().items()},
        }


def corpus_digest(clips: Iterable[LabelledClip]) -> str:
    """The same for the same clips with the same texts, wherever they lie."""
    digest = hashlib.sha256()
    for clip in sorted(clips, key=lambda clip: clip.id):
        digest.update(json.dumps([clip.id, clip.text, clip.language]).encode())
    return digest.hexdigest()[:16]


class EvaluationFile(RunFile[Run]):
    """The results of one run, a line per clip."""

    KEY, CONDITIONS, COMMAND, ERROR = "run", Run, "sayso eval", ReportError

    def read(self) -> list[Result]:
        """One result per clip, the last one written; lines of other kinds are passed over."""
        found: dict[str, Result] = {}
        for item in self.objects():
            with contextlib.suppress(TypeError):
                result = known(Result, item)
                found[result.id] = result
        return list(found.values())

    def append(self, result: Result) -> None:
        self._append(asdict(result))

    def missing(self, clips: Sequence[LabelledClip]) -> list[LabelledClip]:
        """Clips without a result yet."""
        done = {result.id for result in self.read()}
        return [clip for clip in clips if clip.id not in done]

    def end(self, session: Session) -> None:
        self._append({"session": asdict(session)})

    def sessions(self) -> list[Session]:
        return self._all("session", Session)


def merge(parts: Iterable[EvaluationFile]) -> list[Result]:
    """Results of several runs, one per clip, by id."""
    found = {result.id: result for part in parts for result in part.read()}
    return [found[id_] for id_ in sorted(found)]


def gather(files: Sequence[EvaluationFile]) -> list[Evaluation]:
    """Evaluations in the order of `files`, those with equal conditions together. Raises ReportError."""
    runs: dict[Run, list[EvaluationFile]] = {}
    for file in files:
        run = file.conditions()
        if run is None:
            raise ReportError(f"{file.path} holds no results of `sayso eval`.")
        runs.setdefault(run, []).append(file)
    found = []
    for run, parts in runs.items():
        if results := tuple(merge(parts)):
            sessions = tuple(session for part in parts for session in part.sessions())
            found.append(Evaluation(run, sessions, results, score(results)))
    return found


def files_in(paths: Iterable[Path]) -> list[EvaluationFile]:
    """Result files, and those in folders. Raises ReportError where there is none."""
    found = []
    for path in paths:
        files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
        if not files or not all(file.is_file() for file in files):
            raise ReportError(f"There are no results in {path}.")
        found += [EvaluationFile(file) for file in files]
    return found


def table(evaluations: Sequence[Evaluation]) -> str:
    """A line per model, for people."""
    heads = ("model", "MB", "device", "clips", "error %", "95 %", "sub", "del", "ins", "RTF", "mel", "encode", "decode")
    rows: list[tuple[str, ...]] = [(*heads, "peak MB")]
    for e in evaluations:
        s = e.score
        counts = (str(n) for n in (s.substitutions, s.deletions, s.insertions))
        per_clip = (f"{ms / s.clips:.0f}" for ms in (s.mel_ms, s.encode_ms, s.prompt_ms + s.decode_ms))
        rows.append(
            (
                e.run.label,
                f"{e.run.size_bytes / 1e6:.0f}",
                e.devices,
                f"{s.clips}/{e.run.clips}",
                f"{100 * s.error_rate:.2f}",
                f"{100 * s.low:.2f}-{100 * s.high:.2f}",
                *counts,
                f"{s.real_time_factor:.3f}",
                *per_clip,
                f"{e.peak_bytes / 1e6:.0f}",
            )
        )
    return columns(rows)


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Rows of as many cells each as lines of text: labels to the left, figures to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for label, *cells in rows:
        right = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join((f"{label:{widths[0]}}", *right)))
    return "\n".join(lines)
