"""`.sayso-clip` files, of friends and of strangers."""

import io
import json
import zipfile

import pytest

from dictation.bench import archive
from dictation.bench.clips import read_set
from dictation.bench.collect import pack
from dictation.bench.errors import ClipError
from tests.shell import JFK, SPEECH


def made(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in members.items():
            zipped.writestr(name, data)
    return path


def test_a_packed_clip_is_the_same_clip_elsewhere(tmp_path):
    found = read_set(SPEECH, tmp_path)
    file = tmp_path / "two.sayso-clip"
    assert pack(found, ["en/jfk.flac", "de/leopard-de.flac"], file) == 2
    again = read_set(file, tmp_path)
    assert again.problems == []
    assert [(c.id, c.text, c.language, c.scored) for c in again.clips] == [
        (c.id, c.text, c.language, c.scored) for c in found.clips if c.id in ("en/jfk.flac", "de/leopard-de.flac")
    ]
    jfk = next(clip for clip in again.clips if "jfk" in clip.id)
    assert jfk.path.read_bytes() == JFK.read_bytes()


@pytest.mark.parametrize(
    ("members", "word"),
    [
        ({"audio.wav": b""}, "no manifest"),
        ({"manifest.jsonl": b"", "../evil.wav": b"x"}, "leads out"),
        ({"manifest.jsonl": b"", "/evil.wav": b"x"}, "leads out"),
        ({"manifest.jsonl": b"", "a/../../evil.wav": b"x"}, "leads out"),
    ],
)
def test_names_that_lead_out_are_refused_before_anything_is_written(tmp_path, members, word):
    file = made(tmp_path / "x.sayso-clip", **members)
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(ClipError, match=word):
        archive.unpack(file, into)
    assert not [path for path in into.rglob("*") if path.is_file()]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["into", "x.sayso-clip"]


def test_audio_outside_of_the_archive_is_not_used(tmp_path):
    item = {"id": "x", "audio": str(JFK), "ref_text": "x", "language": "en"}
    found = read_set(made(tmp_path / "x.sayso-clip", **{"manifest.jsonl": json.dumps(item)}), tmp_path)
    assert found.clips == [] and "outside" in found.problems[0]


def test_a_file_that_holds_more_than_it_says_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_BYTES", 1000)
    file = made(tmp_path / "x.sayso-clip", **{"manifest.jsonl": b"", "big.wav": bytes(2000)})
    with pytest.raises(ClipError, match="more than"):
        archive.unpack(file, tmp_path)


@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
def test_a_damaged_file_is_one_sentence_and_the_rest_of_its_folder_is_used(tmp_path, damage):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        zipped.writestr("manifest.jsonl", "{}" * 500)
    data = buffer.getvalue()
    broken = {"cut": data[: len(data) // 2], "noise": data[:40] + b"\x99" * 40 + data[80:], "empty": b""}[damage]
    (tmp_path / "x.sayso-clip").write_bytes(broken)
    (tmp_path / "jfk.flac").write_bytes(JFK.read_bytes())
    found = read_set(tmp_path, tmp_path)
    assert [clip.id for clip in found.clips] == ["jfk.flac"]
    assert len(found.problems) == 1
