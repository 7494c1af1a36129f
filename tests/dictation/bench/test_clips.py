"""Clip sets: what counts as one, and what damage costs."""

import json
import os

import numpy as np
import pytest
import soundfile

from dictation.bench.clips import clip_of, item_of, read_set
from dictation.bench.errors import ClipError
from dictation.bench.results import BenchFile, Measured
from dictation.errors import SettingError
from engine.evaluate import read_clips
from tests.shell import JFK, SPEECH


def sound(path, seconds=0.2):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.full(int(16_000 * seconds), 0.1, np.float32), 16_000)
    return path


def manifest(folder, *items):
    lines = [item if isinstance(item, bytes) else json.dumps(item).encode() for item in items]
    (folder / "manifest.jsonl").write_bytes(b"\n".join(lines))


def test_the_scored_clips_of_a_table_are_those_of_eval(tmp_path):
    found = read_set(SPEECH, tmp_path)
    assert found.problems == [] and len(found.clips) == 50
    scored = [(clip.id, clip.path, clip.text, clip.language) for clip in found.clips if clip.scored]
    assert scored == [(clip.id, clip.path, clip.text, clip.language) for clip in read_clips(SPEECH)]


def test_each_damaged_line_costs_itself_and_one_sentence(tmp_path):
    sound(tmp_path / "one.wav")
    good = {"id": "one", "audio": "one.wav", "ref_text": "one", "language": "en"}
    manifest(
        tmp_path,
        good,
        b"{not json",
        b'{"id": "latin", "audio": "one.wav", "ref_text": "caf\xe9"}',
        good | {"ref_text": "twice"},
        good | {"id": "lost", "audio": "lost.wav"},
        good | {"id": "tongue", "language": "klingon"},
        good | {"id": "key", "settings": {"insertion.newline_is_enter": True}},
        good | {"id": "value", "settings": {"rewrite.numbers": 7}},
        good | {"id": "event", "expect": ["no_such_event"]},
        good | {"id": "noise", "degrade": "noise:loud"},
        good | {"id": "two\nlines"},
        good | {"id": "\x1b]0;title\x07"},
        good | {"id": "long" * 100},
        b"[1]",
        b'{"id": "two", "audio": "one.wav", "ref_text": "two", "language": "en"}',
    )
    found = read_set(tmp_path, tmp_path)
    assert [(clip.id, clip.text) for clip in found.clips] == [("one", "one"), ("two", "two")]
    assert len(found.problems) == 13 and all("\n" not in sentence for sentence in found.problems)
    for sentence, word in zip(
        found.problems,
        [
            "JSON",
            "UTF-8",
            "two clips",
            "lost.wav",
            "klingon",
            "insertion",
            "numbers",
            "no_such",
            "loud",
            *["its id"] * 3,
            "object",
        ],
        strict=True,
    ):
        assert word in sentence


OPEN_QUOTE = b'file\ttext\na.wav\t"never closed' + b"\nb.wav\tword" * 20_000


@pytest.mark.parametrize("data", [b"", b"\xff\xfe\x00", b"file\tlang\n", b"\xe9\tx", OPEN_QUOTE])
def test_a_table_that_is_none_is_a_sentence(tmp_path, data):
    (tmp_path / "transcripts.tsv").write_bytes(data)
    found = read_set(tmp_path, tmp_path)
    assert found.clips == [] and len(found.problems) == 1


def test_texts_lie_beside_sounds_and_name_the_language(tmp_path):
    for name in ("talk", "rede", "bare", "fr/mot", "odd"):
        sound(tmp_path / f"{name}.wav")
    (tmp_path / "talk.txt").write_text("hello", "utf-8")
    (tmp_path / "rede.de.txt").write_bytes("\ufeffgrüß".encode())
    (tmp_path / "fr" / "mot.txt").write_text("bonjour", "utf-8")
    (tmp_path / "odd.txt").write_bytes(b"caf\xe9")
    found = read_set(tmp_path, tmp_path)
    clips = {clip.id: (clip.text, clip.language, clip.scored) for clip in found.clips}
    assert clips == {
        "talk.wav": ("hello", "", True),
        "rede.wav": ("grüß", "de", True),
        "bare.wav": ("", "", False),
        "fr/mot.wav": ("bonjour", "fr", True),
    }
    assert len(found.problems) == 1 and "odd.txt" in found.problems[0]


def test_names_that_are_no_text_are_kept_and_written(tmp_path):
    odd = os.fsdecode(b"caf\xe9.wav")
    sound(tmp_path / "x.wav").rename(tmp_path / odd)
    (clip,) = read_set(tmp_path, tmp_path).clips
    file = BenchFile(tmp_path / "r.jsonl")
    file.add(Measured(clip.id))
    assert [m.clip for m in file.measured()] == [odd]


def test_one_sound_is_a_set_and_nothing_is_none(tmp_path):
    assert [clip.id for clip in read_set(JFK, tmp_path).clips] == ["jfk.flac"]
    with pytest.raises(ClipError, match="not there"):
        read_set(tmp_path / "none", tmp_path)


def test_a_clip_survives_being_written_and_read(tmp_path):
    sound(tmp_path / "one.wav")
    item = {
        "id": "one",
        "audio": "one.wav",
        "language": "en",
        "ref_text": "one",
        "settings": {"rewrite.numbers": "digits"},
        "expect": ["!failed"],
        "expect_text": "1",
        "degrade": "noise:10+telephone",
    }
    assert item_of(clip_of(item, tmp_path), "one.wav") == item


def test_a_clip_from_a_stranger_cannot_choose_the_model(tmp_path):
    sound(tmp_path / "one.wav")
    with pytest.raises(ClipError, match=r"recognition\.model"):
        clip_of({"audio": "one.wav", "settings": {"recognition.model": "/etc/passwd"}}, tmp_path)
    with pytest.raises((ClipError, SettingError)):
        clip_of({"audio": "one.wav", "settings": {"recognition.nothing": 1}}, tmp_path)
