"""`sayso clips`: sets are made, checked and handed on; a dictation leaves with sound only when somebody says so."""

import json
import shutil
import zipfile

import pytest

from dictation.bench.clips import read_set
from dictation.cli import main
from dictation.history import Entry, History
from tests.shell import JFK, SPEECH, complaints, environment, sayso

TODAY = SPEECH / "en" / "gcp-today.flac"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))


@pytest.fixture
def entry(tmp_path):
    """A dictation in the history, with its sound."""
    history = History()
    settings = {"rewrite.numbers": "digits"}
    id = history.add(Entry(1.8e9, "Today.", "today", "delivered", "en", "/secret/place/base", 0.6, settings=settings))
    history.audio_dir.mkdir(parents=True)
    shutil.copyfile(TODAY, history.audio_dir / f"{id}.wav")
    history.change(id, audio=f"{id}.wav")
    history.close()
    return id


def test_a_set_grows_clip_by_clip_and_is_listed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(TODAY.parent)
    folder = tmp_path / "set"
    assert main(["clips", "add", str(folder), TODAY.name, "--text", "today", "--language", "en"]) == 0
    assert main(["clips", "add", str(folder), str(JFK), "--id", "moon", "--expect", "!failed"]) == 0
    assert capsys.readouterr().out == "gcp-today\nmoon\n"
    assert main(["clips", "list", str(folder), "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["id"], first["ref_text"], first["seconds"]) == ("gcp-today", "today", 0.591)
    assert second["id"] == "moon" and second["expect"] == ["!failed"] and "ref_text" not in second
    assert main(["clips", "check", str(folder)]) == 0


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["nowhere.wav"], "not there"),
        ([str(TODAY), "--language", "klingon"], "klingon"),
        ([str(TODAY), "--expect", "nothing"], "no event"),
        ([str(TODAY), str(JFK), "--text", "x"], "one recording"),
    ],
)
def test_what_can_not_be_added_leaves_the_set_as_it_was(tmp_path, options, word, capsys):
    folder = tmp_path / "set"
    assert main(["clips", "add", str(folder), str(TODAY), "--id", "first"]) == 0
    before = (folder / "manifest.jsonl").read_bytes()
    assert main(["clips", "add", str(folder), *options]) in (1, 2)
    assert word in capsys.readouterr().err
    assert (folder / "manifest.jsonl").read_bytes() == before
    assert main(["clips", "add", str(folder), str(TODAY), "--id", "first"]) == 1
    (tmp_path / "empty").mkdir()
    assert main(["clips", "add", str(folder), str(tmp_path / "empty")]) == 1


def test_check_finds_what_would_spoil_a_replay(tmp_path, capsys):
    folder = tmp_path / "set"
    assert main(["clips", "add", str(folder), str(TODAY), "--id", "one", "--text", "today"]) == 0
    assert main(["clips", "add", str(folder), str(TODAY), "--id", "two", "--text", "!?"]) == 0
    (folder / "half.flac").write_bytes(JFK.read_bytes()[:30_000])
    with (folder / "manifest.jsonl").open("a") as manifest:
        manifest.write('{"id": "half", "audio": "half.flac", "ref_text": "x"}\n{"id": "one", "audio": "half.flac"}\n')
    capsys.readouterr()
    assert main(["clips", "check", str(folder)]) == 1
    said = capsys.readouterr().err
    for word in ("two clips are called one", "same sound as one", "no words", "damaged"):
        assert word in said


def test_a_dictation_leaves_with_sound_only_when_somebody_says_so(entry, tmp_path, capsys):
    file = tmp_path / "x.sayso-clip"
    env = environment()
    asked = sayso("clips", "from-history", entry, "-o", file, env=env)  # nobody is there to be asked
    assert asked.returncode == 2 and not file.exists() and "--with-audio" in complaints(asked)[-1]
    assert main(["clips", "from-history", "last", "-o", str(file), "--without-audio"]) == 0
    with zipfile.ZipFile(file) as zipped:
        assert zipped.namelist() == ["manifest.jsonl"]
    assert read_set(file, tmp_path).problems == [
        f"{file}, line 1: it was made without its sound; ask whoever made it for one with it."
    ]
    assert main(["clips", "from-history", str(entry), "-o", str(file), "--with-audio", "--said", "to day"]) == 0
    (clip,) = read_set(file, tmp_path).clips
    assert (clip.text, clip.scored, clip.language) == ("to day", True, "en")
    assert clip.settings == {"recognition.language": "auto", "rewrite.numbers": "digits"}
    with zipfile.ZipFile(file) as zipped:
        item = json.loads(zipped.read("manifest.jsonl"))
    assert item["then"]["raw_text"] == "today" and "secret" not in json.dumps(item)


def test_a_dictation_in_a_file_is_dictated_again_elsewhere(entry, tmp_path, tiny_en_q8, capsys):
    file = tmp_path / "x.sayso-clip"
    assert main(["clips", "from-history", str(entry), "-o", str(file), "--with-audio"]) == 0
    options = ["--models", str(tiny_en_q8), "--report", str(tmp_path / "r")]
    assert main(["replay", str(file), *options]) == 0
    result = json.loads((tmp_path / "r" / f"{tiny_en_q8.stem}.fast.jsonl").read_text().splitlines()[-1])
    assert result["text"] == "Today." and not result["scored"]


def test_entries_that_are_not_there_and_lists(entry, capsys):
    assert main(["clips", "from-history"]) == 0
    assert capsys.readouterr().out.split("\t")[0] == str(entry)
    for wrong in ("99", "-1", "x", "9" * 40):
        assert main(["clips", "from-history", "--without-audio", "--", wrong]) == 1
