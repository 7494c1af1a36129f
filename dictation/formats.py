"""A transcript as text, JSON, subtitles (SRT, WebVTT) or a table (TSV). Pure: Transcript -> str.

The shapes are those of openai-whisper's writers, so that scripts made for them keep working: subtitle times are
rounded to milliseconds, TSV has start and end in milliseconds and the text. Where the words have times, SRT, TSV and
timed text have a cue or line for each; WebVTT has its own marks for them, inside the cue of the whole segment.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict

from engine.transcript import Segment, Transcript, Word

TIMED = frozenset({"srt", "vtt", "tsv"})  # mean nothing without timestamps


def render(transcript: Transcript, format: str, *, timestamps: bool = False, file: str | None = None) -> str:
    """`transcript` in one of `FORMATS`, as whole lines.

    timestamps: put times before the lines of "text".
    file: the clip's name, for "json".
    """
    if format == "text" and timestamps:
        return _timed_text(transcript)
    if format == "json":
        return _json(transcript, file)
    return FORMATS[format](transcript)


def _text(transcript: Transcript) -> str:
    return transcript.text.strip() + "\n"


def _timed_text(transcript: Transcript) -> str:
    return "".join(
        f"[{_clock(s.start_s, '.')} --> {_clock(s.end_s, '.')}] {s.text.strip()}\n" for s in _timed(transcript)
    )


def _json(transcript: Transcript, file: str | None = None) -> str:
    fields = asdict(transcript)
    return json.dumps({"file": file, **fields} if file is not None else fields, ensure_ascii=False) + "\n"


def _srt(transcript: Transcript) -> str:
    return "\n".join(
        f"{number}\n{_clock(s.start_s, ',')} --> {_clock(s.end_s, ',')}\n{_cue(s)}\n"
        for number, s in enumerate(_timed(transcript), start=1)
    )


def _vtt(transcript: Transcript) -> str:
    cues = (f"{_clock(s.start_s, '.')} --> {_clock(s.end_s, '.')}\n{_vtt_cue(s)}\n" for s in _spoken(transcript))
    return "\n".join(["WEBVTT\n", *cues])


def _tsv(transcript: Transcript) -> str:
    rows = (f"{_ms(s.start_s)}\t{_ms(s.end_s)}\t{' '.join(s.text.split())}" for s in _timed(transcript))
    return "\n".join(["start\tend\ttext", *rows]) + "\n"


FORMATS: dict[str, Callable[[Transcript], str]] = {"text": _text, "json": _json, "srt": _srt, "vtt": _vtt, "tsv": _tsv}


def _spoken(transcript: Transcript) -> list[Segment]:
    return [segment for segment in transcript.segments if segment.text.strip()]


def _timed(transcript: Transcript) -> list[Segment | Word]:
    """What has times of its own: the words of a segment where they are known, else the segment."""
    parts = (part for segment in _spoken(transcript) for part in (segment.words or [segment]))
    return [part for part in parts if part.text.strip()]


def _vtt_cue(segment: Segment) -> str:
    """The cue's text; words with times behind a time mark each, which has to lie within the cue."""
    if not segment.words:
        return _escaped(_cue(segment))
    text = ""
    for word in segment.words:
        inside = segment.start_s < word.start_s < segment.end_s
        text += (f"<{_clock(word.start_s, '.')}>" if inside else "") + _escaped(word.text)
    return " ".join(text.split()).replace("-->", "->")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _cue(segment: Segment | Word) -> str:
    """One line: a blank line would end the cue, and an arrow would start another."""
    return " ".join(segment.text.split()).replace("-->", "->")


def _ms(seconds: float) -> int:
    return max(0, round(seconds * 1000))


def _clock(seconds: float, point: str) -> str:
    """HH:MM:SS and milliseconds after `point`."""
    total_s, ms = divmod(_ms(seconds), 1000)
    minutes, s = divmod(total_s, 60)
    hours, m = divmod(minutes, 60)
    return f"{hours:02}:{m:02}:{s:02}{point}{ms:03}"
