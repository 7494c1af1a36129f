"""What one replay of one clip gave, and the file of a run: its conditions, then a line per replay, as they come.

A run is one model in one mode over one set. Its file is JSON lines, appended, so that a stopped run goes on; a line cut
short by a crash is passed over and its clip done again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dictation.bench.errors import BenchError
from engine.evaluate import Counted, Result
from engine.run_file import RunFile, known

Key = tuple[str, str, int]  # clip, variant, repeat


@dataclass(frozen=True)
class Measured(Counted):
    """One line. Times in `events` count from key-down on the clock of the sound; None is "there was none"."""

    clip: str
    variant: str = ""  # the degradation, as `degrade.written` has it
    repeat: int = 0
    language: str = ""  # given; "" where the model had to find out
    scored: bool = False
    reference: str = ""
    raw_text: str = ""  # as the model gave it: what errors are counted in, as `sayso eval` does
    text: str = ""  # after the rewrite rules: what is typed
    detected_language: str = ""
    duration_s: float = 0.0
    speech_s: float = 0.0
    hits: int = 0  # words, or characters in languages that are counted so
    substitutions: int = 0
    deletions: int = 0
    insertions: int = 0
    char_hits: int = 0
    char_substitutions: int = 0
    char_deletions: int = 0
    char_insertions: int = 0
    release_to_text_ms: float | None = None
    first_partial_s: float | None = None  # after the first speech
    partials: int = 0
    shown_words: int = 0  # that were on screen at some time
    revised_words: int = 0  # of them, taken back or changed later
    firm_wrong: int = 0  # shown as firm, otherwise in the text
    look_ms: float | None = None  # median of the engine's looks while it was spoken
    mel_ms: float = 0.0
    encode_ms: float = 0.0
    prompt_ms: float = 0.0
    decode_ms: float = 0.0
    tokens: int = 0
    full_window_redos: int = 0
    wall_s: float = 0.0
    cpu_s: float = 0.0
    rss_bytes: int = 0  # of the process, after this clip
    peak_bytes: int = 0
    outcome: str = ""
    method: str = ""
    evidence: str = ""
    deliver_ms: float | None = None
    window_text: str | None = None  # read back from the scratch window
    failure: str = ""  # a sentence
    unmet: list[str] = field(default_factory=list)  # expectations of the clip, a sentence each
    notices: list[str] = field(default_factory=list)
    wave: str = ""  # peaks for drawing, base64 of bytes
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.clip, self.variant, self.repeat

    @property
    def char_errors(self) -> int:
        return self.char_substitutions + self.char_deletions + self.char_insertions

    @property
    def char_length(self) -> int:
        return self.char_hits + self.char_substitutions + self.char_deletions

    @property
    def arrived(self) -> bool | None:
        """Whether the window holds what was typed; None where nothing was typed."""
        return None if self.window_text is None else self.window_text == self.text


@dataclass(frozen=True)
class Conditions:
    """What results depend on. A run goes on only under equal ones."""

    set: str
    corpus: str  # digest of ids, texts and languages
    clips: int
    file: str  # name of the model's file
    sha256: str
    name: str
    quant: str
    mode: str
    typed: bool
    language: str  # "given" or "detected"
    seed: int  # of the degradations
    settings: str  # JSON: what differs from the defaults

    @property
    def model(self) -> str:
        return self.file.removesuffix(".gguf")

    @property
    def label(self) -> str:
        return f"{self.model}, {self.mode}" + (", typed" if self.typed else "")


@dataclass(frozen=True)
class Sitting:
    """One stretch of work on a run, on one machine."""

    device: str
    computer: str
    version: str
    jobs: int
    began_unix_s: float


class BenchFile(RunFile[Conditions]):
    """The file of one run."""

    KEY, CONDITIONS, COMMAND, ERROR = "replay", Conditions, "sayso replay", BenchError

    def holds_replays(self) -> bool:
        return any(self.KEY in item for item in self.objects())

    def sit_down(self, sitting: Sitting) -> None:
        self._append({"sitting": asdict(sitting)})

    def sittings(self) -> list[Sitting]:
        return self._all("sitting", Sitting)

    def add(self, measured: Measured) -> None:
        self._append(asdict(measured))

    def measured(self, *, with_events: bool = False) -> Iterator[Measured]:
        """Every whole line, in the order they came; events only where they are asked for, because they are long."""
        for item in self.objects():
            if not with_events:
                item.pop("events", None)
            try:
                yield known(Measured, item)
            except TypeError:
                continue

    def last(self) -> dict[Key, Measured]:
        """The newest line of each replay, without events."""
        return {measured.key: measured for measured in self.measured()}

    def done(self) -> set[Key]:
        """Replays that need not be done again: a failure is tried anew."""
        return {key for key, measured in self.last().items() if not measured.failure}


def as_result(measured: Measured, *, characters: bool = False) -> Result:
    """A line as `engine.evaluate` counts it; characters: by characters, whatever the language."""
    prefix = "char_" if characters else ""
    counts = {name: getattr(measured, prefix + name) for name in ("hits", "substitutions", "deletions", "insertions")}
    return Result(
        id=measured.clip,
        language=measured.language or measured.detected_language,
        reference=measured.reference,
        hypothesis=measured.raw_text,
        detected_language=measured.detected_language,
        duration_s=measured.duration_s,
        mel_ms=measured.mel_ms,
        encode_ms=measured.encode_ms,
        prompt_ms=measured.prompt_ms,
        decode_ms=measured.decode_ms,
        tokens=measured.tokens,
        full_window_redos=measured.full_window_redos,
        **counts,
    )


def files_in(report: Path) -> list[BenchFile]:
    """The runs of a report; other files of a folder are passed over. Raises BenchError where there is none."""
    if report.is_dir():
        files = [file for path in sorted(report.glob("*.jsonl")) if (file := BenchFile(path)).holds_replays()]
    else:
        files = [BenchFile(report)] if report.is_file() else []
    if not files:
        raise BenchError(f"There is no report of `sayso replay` in {report}.")
    return files
