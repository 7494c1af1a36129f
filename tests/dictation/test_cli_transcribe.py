"""`sayso transcribe` with a real tiny.en: formats, files, pipes, and everything that people hand it by mistake."""

import json
import os
import signal
import struct
import subprocess
import sys

import numpy as np
import pytest
import soundfile

from tests.shell import JFK, ROOT, SAYSO, SPEECH, complaints, environment, sayso

WORDS = "ask not what your country can do for you"


@pytest.fixture(autouse=True)
def model(tiny_en_q8):
    """The commands below find tiny.en by its name."""


def transcribe(*arguments, **options):
    return sayso("transcribe", "--model", "tiny.en", *arguments, **options)


def test_a_clip_becomes_its_text_and_nothing_else():
    done = transcribe(JFK)
    assert (done.returncode, done.stderr) == (0, "")
    assert WORDS in done.stdout.lower()
    assert done.stdout.count("\n") == 1


def test_a_bad_clip_gets_one_sentence_and_does_not_cost_the_others(tmp_path):
    (tmp_path / "empty.wav").touch()
    (tmp_path / "notes.wav").write_text("not sound")
    (tmp_path / "headless.wav").write_bytes(JFK.read_bytes()[:40])
    bad = [tmp_path / "missing.wav", tmp_path, *sorted(tmp_path.iterdir()), ROOT / "README.md"]
    done = transcribe(*bad, JFK)
    assert done.returncode == 1
    assert WORDS in done.stdout.lower()
    sentences = complaints(done)
    assert len(sentences) == len(bad)
    for path, sentence in zip(bad, sentences, strict=True):
        assert str(path) in sentence, sentence
        assert sentence.endswith(".")


def test_clips_with_no_words_give_an_empty_line_each(tmp_path):
    clips = [tmp_path / f"{duration_s}.wav" for duration_s in (0, 0.05, 3)]
    for clip in clips:
        soundfile.write(clip, np.zeros(int(float(clip.stem) * 16_000)), 16_000)
    done = transcribe(*clips)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n\n\n", "")


def test_samples_that_are_no_numbers_do_no_harm(tmp_path):
    clip = tmp_path / "nan.wav"
    samples = np.repeat(np.float32([np.nan, np.inf, -np.inf, 0.1]), 8000)
    soundfile.write(clip, samples, 16_000, subtype="FLOAT")
    done = transcribe(clip)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_may_not_be_read_says_so(tmp_path):
    clip = tmp_path / "private.wav"
    clip.write_bytes(JFK.read_bytes())
    clip.chmod(0)
    capabilities = "-dac_override,-dac_read_search"
    as_anybody = ("setpriv", "--bounding-set", capabilities, "--inh-caps", capabilities) if os.geteuid() == 0 else ()
    done = transcribe(clip, before=as_anybody)
    assert done.returncode == 1
    assert "may not be read" in complaints(done)[0]


def test_subtitles_of_several_clips_go_into_a_folder(tmp_path):
    folder = tmp_path / "new" / "subtitles"
    done = transcribe(JFK, SPEECH / "en/gcp-today.flac", "--format", "srt", "-o", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(file.name for file in folder.iterdir()) == ["gcp-today.srt", "jfk.srt"]
    cues = (folder / "jfk.srt").read_text()
    assert cues.startswith("1\n00:00:00,000 --> ")
    assert WORDS in cues.lower()


def test_json_has_a_line_per_clip_that_a_script_can_read():
    done = transcribe(JFK, "--json", "--timestamps")
    clip = json.loads(done.stdout)
    assert clip["file"] == str(JFK)
    assert clip["language"] == "en"
    assert clip["segments"][0]["end_s"] <= clip["duration_s"] == pytest.approx(11.0, abs=0.1)


def test_a_clip_may_come_through_a_pipe():
    with JFK.open("rb") as clip:
        done = transcribe("-", stdin=clip)
    assert (done.returncode, done.stderr) == (0, "")
    assert WORDS in done.stdout.lower()


def test_what_is_no_clip_may_not_come_through_a_pipe():
    done = transcribe("-", input="not sound")
    assert done.returncode == 1
    assert complaints(done) == [
        "What came through stdin is not audio that Sayso can read. Use a WAV, FLAC, OGG or MP3 file."
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["clip.wav", "--format", "doc"],
        ["clip.wav", "--threads", "0"],
        ["clip.wav", "--audio-context", "31"],
        ["clip.wav", "--audio-context", "0.001"],
        ["clip.wav", "--device", "abacus"],
        ["a.wav", "b.wav", "--format", "srt"],
        ["a/clip.wav", "b/clip.wav", "-o", "texts"],
        ["clip.wav", "-o", "README.md"],
        [JFK, "--language", "xx"],
    ],
    ids=lambda arguments: " ".join(map(str, arguments[1:])) or "no clip",
)
def test_wrong_use_is_refused_before_any_work(arguments):
    done = transcribe(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "sayso" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["missing", "folder", "cut short", "page", "pointer", "sound", "empty"])
def test_a_model_file_that_is_none_gets_one_sentence(tmp_path, tiny_en_q8, kind):
    model = tmp_path / "model.gguf"
    content = {
        "cut short": tiny_en_q8.read_bytes()[:1_000_000],
        "page": b"<!DOCTYPE html><html><body>Sign in</body></html>",
        "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 43274720\n",
        "sound": JFK.read_bytes(),
        "empty": b"",
    }
    if kind == "folder":
        model.mkdir()
    elif kind in content:
        model.write_bytes(content[kind])
    done = sayso("transcribe", JFK, "--model", model)
    assert (done.returncode, done.stdout) == (1, "")
    assert len(complaints(done)) == 1


def test_a_model_that_is_not_installed_is_named_with_those_that_are():
    done = sayso("transcribe", JFK, "--model", "giant")
    assert done.returncode == 1
    assert "'giant'" in complaints(done)[0]
    assert "tiny.en:Q8_0" in complaints(done)[0]


def test_sound_without_end_is_cut_off_at_three_hours():
    header = struct.pack(
        *("<4sI4s4sIHHIIHH4sI", b"RIFF", 0xFFFFFFFF, b"WAVE", b"fmt ", 16, 1, 1, 100, 200, 2, 16, b"data", 0xFFFFFFFF)
    )
    with subprocess.Popen(["cat", "-", "/dev/zero"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as endless:
        endless.stdin.write(header)
        endless.stdin.close()
        done = transcribe("-", stdin=endless.stdout)
        endless.stdout.close()
    assert done.returncode == 1
    assert complaints(done) == ["What came through stdin is longer than 3 hours. Save it as a file and name that."]


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="a device of Unix")
def test_what_never_becomes_sound_is_refused_soon():
    with open("/dev/zero", "rb") as zeros:
        done = transcribe("-", stdin=zeros)
    assert done.returncode == 1
    assert "is not audio" in complaints(done)[0]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143), (signal.SIGKILL, -9)]
)
def test_ended_by_a_signal_it_leaves_no_traceback_and_no_file(tmp_path, number, code):
    pipe = tmp_path / "clip.wav"
    os.mkfifo(pipe)
    work = tmp_path / "tmp"
    work.mkdir()
    own_place = environment(TMPDIR=str(work))
    running = subprocess.Popen(
        [*SAYSO, "transcribe", "--model", "tiny.en", str(pipe)],
        cwd=ROOT,
        env=own_place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # a shell that runs the tests in its background makes them ignore interrupts, which Python would honour
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - no threads here
    )
    with pipe.open("wb"):  # opens when the command has begun to read
        assert len(list(work.iterdir())) == 1
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (code, b"", b"")
    if number == signal.SIGKILL:  # the next one cleans up, but touches nothing that may just have begun
        (left,) = work.iterdir()
        os.utime(left, (0, 0))
        with JFK.open("rb") as clip:
            assert transcribe("-", stdin=clip, env=own_place).returncode == 0
    assert list(work.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the file system refuses such names")
def test_a_name_that_is_no_text_is_read_and_told_to_scripts(tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff.flac"
    with open(JFK, "rb") as source, open(name, "wb") as copy:
        copy.write(source.read())
    done = transcribe(os.fsdecode(name), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert os.fsencode(json.loads(done.stdout)["file"]) == name


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("redirect", [">&-", ">/dev/full"])
def test_output_that_nobody_takes_is_one_sentence(redirect):
    shell = ("sh", "-c", f'"$@" {redirect}', "sh")
    done = transcribe(JFK, before=shell)
    assert done.returncode == 1 and len(complaints(done)) == 1 and "fault" not in done.stderr


def test_closed_input_and_errors_do_no_harm():
    shell = ("sh", "-c", '"$@" <&- 2>&-', "sh")
    done = transcribe(JFK, before=shell)
    assert done.returncode == 0 and "fellow Americans" in done.stdout


def test_word_times_say_when_each_word_is_heard():
    done = transcribe("--word-times", "--json", JFK)
    assert done.returncode == 0, done.stderr
    words = [word for segment in json.loads(done.stdout)["segments"] for word in segment["words"]]
    assert " ".join(word["text"].strip(" ,.").lower() for word in words[-5:]) == "can do for your country"
    assert 9 < words[-1]["start_s"] < words[-1]["end_s"] <= 11.1
    assert transcribe("--word-times", "--format", "srt", JFK).stdout.count(" --> ") == len(words)
