"""History entries as a file: plain text, subtitles, or JSON; the ending of the file's name chooses."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from dictation.errors import HistoryError
from dictation.formats import render
from dictation.history import Entry
from engine.files import write_text
from engine.transcript import Segment, Transcript

FORMATS = ("txt", "srt", "vtt", "json")


def export(entries: Sequence[Entry], path: Path) -> None:
    """Write entries to `path`, oldest first, atomically. Raises HistoryError for an unknown ending or a full disk."""
    text = as_text(sorted(entries, key=lambda entry: entry.started_unix_s), path.suffix.removeprefix(".").lower())
    write_text(path, text, fault=HistoryError, private=True)


def as_text(entries: Sequence[Entry], format: str) -> str:
    """One of FORMATS. Subtitles run one entry after the other, each as long as its audio."""
    if format == "txt":
        return "".join(f"{_when(entry)}\n{entry.text.strip()}\n\n" for entry in entries)
    if format == "json":
        return json.dumps([asdict(entry) for entry in entries], ensure_ascii=False, indent=1) + "\n"
    if format in ("srt", "vtt"):
        return render(_joined(entries), format)
    raise HistoryError(f"A history is exported as .{', .'.join(FORMATS)}; choose one of these endings.")


def _when(entry: Entry) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.started_unix_s))


def _joined(entries: Sequence[Entry]) -> Transcript:
    segments, at_s = [], 0.0
    for entry in entries:
        segments.append(Segment(at_s, at_s + entry.audio_s, entry.text))
        at_s += entry.audio_s
    return Transcript("".join(s.text for s in segments), "", tuple(segments), at_s)
