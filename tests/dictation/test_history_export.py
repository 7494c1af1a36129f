"""History entries as text, subtitles and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dictation.errors import HistoryError
from dictation.history import Entry
from dictation.history_export import FORMATS, as_text, export

ENTRIES = [
    Entry(200.0, "Second, “quoted”.", audio_s=2.5, model="base:Q8_0"),
    Entry(100.0, "First thing.", audio_s=61.0),
]


def test_text_runs_from_old_to_new(tmp_path: Path) -> None:
    export(ENTRIES, tmp_path / "out.txt")
    text = (tmp_path / "out.txt").read_text("utf-8")
    assert text.index("First thing.") < text.index("Second, “quoted”.")


def test_subtitles_follow_each_other_by_their_audio(tmp_path: Path) -> None:
    export(ENTRIES, tmp_path / "out.SRT")
    text = (tmp_path / "out.SRT").read_text("utf-8")
    assert "00:00:00,000 --> 00:01:01,000" in text and "00:01:01,000 --> 00:01:03,500" in text
    assert as_text(ENTRIES, "vtt").startswith("WEBVTT")


def test_json_has_every_field(tmp_path: Path) -> None:
    export(ENTRIES, tmp_path / "out.json")
    first, second = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert first["text"] == "First thing." and second["model"] == "base:Q8_0"


def test_an_unknown_ending_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match=r"\.txt, \.srt, \.vtt, \.json"):
        export(ENTRIES, tmp_path / "out.docx")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_can_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="can't be written"):
        export(ENTRIES, Path("/dev/null/out.txt"))


@pytest.mark.parametrize("format", FORMATS)
def test_an_entry_without_a_text_exports_too(format: str) -> None:
    assert isinstance(as_text([Entry(1.0)], format), str)
