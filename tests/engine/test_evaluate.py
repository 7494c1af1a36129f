"""Error rates, intervals, shards and result files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ManifestError
from engine.evaluate import (
    LabelledClip,
    Result,
    count,
    difference,
    edits,
    evaluate,
    marked_difference,
    read_clips,
    score,
    shard,
    with_noise,
)
from engine.report import EvaluationFile, merge
from engine.transcript import Transcript

SPEECH = Path(__file__).parents[1] / "data" / "speech"


def result(id_: str, reference: str = "a b c d", hypothesis: str = "a b c d") -> Result:
    clip = LabelledClip(id_, Path(id_), reference, "en")
    return count(clip, Transcript(hypothesis, "en"), duration_s=1.0)


def test_edits_are_counted_in_normalised_words() -> None:
    assert edits("Don't stop, Mr. Smith!", "do not stop mister smith", "en") == (5, 0, 0, 0)
    assert edits("one red apple fell", "one green apple fell down", "en") == (3, 1, 0, 1)


def test_chinese_is_counted_in_characters() -> None:
    assert edits("广州市房地产。", "广州房地产", "zh") == (5, 0, 1, 0)


def test_words_where_nothing_is_said_are_insertions() -> None:
    assert edits("", "thank you", "en") == (0, 0, 0, 2)


@given(st.permutations(range(8)))
def test_the_score_does_not_depend_on_the_order(order: list[int]) -> None:
    results = [result(f"clip-{i}", hypothesis="a b c d" if i % 2 else "a x c") for i in range(8)]
    assert score([results[i] for i in order]) == score(results)


def test_the_interval_holds_the_rate_and_narrows_with_more_clips() -> None:
    def mixed(n: int) -> list[Result]:
        return [result(f"{i:04}", hypothesis="a b x d" if i % 4 == 0 else "a b c d") for i in range(n)]

    few, many = score(mixed(16)), score(mixed(400))
    for found in (few, many):
        assert found.low <= found.error_rate <= found.high
        assert found.error_rate == pytest.approx(1 / 16)
    assert many.high - many.low < few.high - few.low


def test_shards_put_together_score_as_one_run(tmp_path: Path) -> None:
    clips = [LabelledClip(f"clip-{i}", Path("x"), "a b c d", "en") for i in range(11)]
    parts = []
    for i in (1, 2, 3):
        parts.append(EvaluationFile(tmp_path / f"{i}.jsonl"))
        for clip in shard(clips, i, 3):
            parts[-1].append(result(clip.id, hypothesis="a b" if clip.id.endswith("3") else "a b c d"))
    whole = [result(clip.id, hypothesis="a b" if clip.id.endswith("3") else "a b c d") for clip in clips]
    assert score(merge(parts)) == score(whole)
    with pytest.raises(ManifestError):
        shard(clips, 0, 3)


def test_a_run_goes_on_after_a_line_that_was_cut_short(tmp_path: Path) -> None:
    clips = [LabelledClip(id_, Path(id_), "a b c d", "en") for id_ in ("one", "two", "three")]
    file = EvaluationFile(tmp_path / "run.jsonl")
    file.append(result("one"))
    file.append(result("two"))
    file.path.write_bytes(file.path.read_bytes()[:-20])
    assert [clip.id for clip in file.missing(clips)] == ["two", "three"]
    file.append(result("two", hypothesis="a"))
    assert file.read() == [result("one"), result("two", hypothesis="a")]


def test_clips_are_read_from_the_table_and_from_a_manifest(tmp_path: Path) -> None:
    scored, all_clips = read_clips(SPEECH), read_clips(SPEECH, scored_only=False)
    assert 0 < len(scored) < len(all_clips)
    assert all(clip.path.is_file() and clip.text for clip in all_clips)
    line = {"id": "a", "audio": "a.wav", "ref_text": "hello", "language": "en"}
    (tmp_path / "manifest.jsonl").write_text(json.dumps(line) + "\n")
    assert read_clips(tmp_path / "manifest.jsonl") == [LabelledClip("a", tmp_path / "a.wav", "hello", "en")]


CLIP = b'{"id": 7, "audio": "a.wav", "ref_text": "hello", "language": "English"}\n'
COLUMNS = b"file\tlang\ttext\n"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("manifest.jsonl", CLIP + b"not json", "line 2: this is no JSON object"),
        ("manifest.jsonl", CLIP + b"[" * 100_000, "line 2: this is no JSON object"),
        ("manifest.jsonl", CLIP + b"[1]", "line 2: this is no JSON object"),
        ("manifest.jsonl", CLIP + b"{}", "line 2: id and audio and text and language must be there"),
        ("manifest.jsonl", CLIP.replace(b"hello", b"\\u0000"), "line 1: text must be there, and a text"),
        ("manifest.jsonl", CLIP.replace(b"English", b"Klingon"), "line 1: Whisper knows no language"),
        ("manifest.jsonl", CLIP.replace(b"hello", b"\xe9"), "is not UTF-8"),
        ("transcripts.tsv", b"file\ttext\na\tb\n", "must name the columns lang"),
        ("transcripts.tsv", COLUMNS + b"a.wav\ten\n", "line 2: text must be there"),
        ("transcripts.tsv", COLUMNS + b'a.wav\ten\t"never closed' + b"\nb.wav\ten\tword" * 20_000, "quotation mark"),
    ],
)
def test_what_is_no_list_is_refused_with_its_line(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ManifestError, match=words):
        read_clips(tmp_path)


def test_a_list_that_is_empty_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="There is no list"):
        read_clips(tmp_path)
    (tmp_path / "manifest.jsonl").touch()
    assert read_clips(tmp_path) == []


def test_numbers_names_of_languages_and_byte_order_marks_are_understood(tmp_path: Path) -> None:
    (tmp_path / "manifest.jsonl").write_bytes(b"\xef\xbb\xbf" + CLIP)
    assert read_clips(tmp_path) == [LabelledClip("7", tmp_path / "a.wav", "hello", "en")]


def test_evaluating_hands_the_changed_samples_to_the_model() -> None:
    clip = next(clip for clip in read_clips(SPEECH) if clip.id == "en/gcp-today.flac")
    heard = []

    def transcribe(samples: np.ndarray, _: LabelledClip) -> Transcript:
        heard.append(samples)
        return Transcript("Today!", "en")

    (found,) = evaluate([clip], transcribe, lambda samples, _: samples * 0)
    assert found.errors == 0 and found.hits == 1
    assert not heard[0].any() and found.duration_s == pytest.approx(0.59, abs=0.05)


@pytest.mark.parametrize("snr_db", [10.0, 20.0])
def test_noise_is_seeded_and_as_loud_as_asked(snr_db: float) -> None:
    voice = np.sin(np.arange(16_000) / 5).astype(np.float32)
    noise = with_noise(voice, snr_db, seed=1) - voice
    measured_db = 10 * np.log10(np.square(voice).mean() / np.square(noise).mean())
    assert measured_db == pytest.approx(snr_db, abs=0.1)
    np.testing.assert_array_equal(with_noise(voice, snr_db, seed=1) - voice, noise)
    assert np.abs(with_noise(voice, snr_db, seed=2) - voice - noise).max() > 0


def test_differences_show_both_texts() -> None:
    shown = difference(replace(result("x"), hypothesis="a b x d"))
    assert "REF" in shown and "HYP" in shown and "x" in shown


def test_two_clips_of_one_name_are_refused(tmp_path: Path) -> None:
    line = json.dumps({"id": "a", "audio": "a.wav", "ref_text": "hello", "language": "en"})
    (tmp_path / "manifest.jsonl").write_text(f"{line}\n{line}\n")
    with pytest.raises(ManifestError, match="two clips 'a'"):
        read_clips(tmp_path)


def test_differences_are_marked_stretch_by_stretch() -> None:
    assert marked_difference(result("x", "a b c", "a x c d")) == [
        ("equal", "a", "a"),
        ("substitute", "b", "x"),
        ("equal", "c", "c"),
        ("insert", "", "d"),
    ]
    assert marked_difference(result("x", "", "noise")) == [("insert", "", "noise")]
