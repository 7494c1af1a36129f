"""`sayso replay`: a clip goes the way of the microphone, and leaves no trace of it."""

import json
import time

import pytest
import soundfile

from dictation import events as e
from dictation import recogniser
from dictation.replay import ReplayError, replay
from engine.errors import EngineError
from tests.fakes import sounds
from tests.fakes.dictation import Words
from tests.shell import JFK, complaints, environment, sayso

GCP = sounds.SPEECH / "en" / "gcp-today.flac"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    return tmp_path


def files(folder):
    """Everything but the log, which holds no text."""
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".log"]


def test_a_clip_is_dictated_as_into_the_microphone_and_leaves_no_trace(home, tiny_en_q8):
    replayed = replay(JFK, recogniser.build, changes={"recognition.model": str(tiny_en_q8)})
    states = [event.state for event in replayed.events if isinstance(event, e.StateChanged)]
    assert states == ["opening", "listening", "finishing", "delivering", "idle"]
    assert replayed.text.startswith("And so my fellow Americans")
    assert replayed.final.audio_s == pytest.approx(11.0, abs=0.1)
    assert replayed.delivered.outcome == "none" and replayed.notices == ()
    assert files(home) == []


def test_the_users_rules_apply(home):
    words = Words()
    words.text = "heard"
    rule = {"find": "heard", "replace": "listened"}
    replayed = replay(
        GCP, lambda name, device: words, changes={"recognition.model": "fake", "rewrite.replacements": [rule]}
    )
    assert replayed.text.strip().casefold() == "listened"


def test_in_real_time_words_show_while_the_clip_plays(home, tmp_path):
    soundfile.write(tmp_path / "clip.wav", sounds.clip("en/jfk")[: 4 * 16_000], 16_000)
    words, started = Words(), time.monotonic()
    replayed = replay(
        tmp_path / "clip.wav", lambda name, device: words, realtime=True, changes={"recognition.model": "fake"}
    )
    assert time.monotonic() - started >= 4.0
    shown = [event.audio_s for event in replayed.events if isinstance(event, e.PartialText)]
    assert len(shown) >= 3 and replayed.final.release_to_text_ms < 2_000


def test_played_fast_every_run_looks_at_the_same_moments_as_in_real_time(home, tmp_path):
    soundfile.write(tmp_path / "clip.wav", sounds.clip("en/jfk")[: 4 * 16_000], 16_000)

    def looks():
        words = Words()
        changes = {"recognition.model": "fake"}
        replayed = replay(tmp_path / "clip.wav", lambda name, device: words, changes=changes)
        timed = zip(replayed.times_s, replayed.events, strict=True)
        return [(round(at_s, 2), event.tentative) for at_s, event in timed if isinstance(event, e.PartialText)]

    first = looks()
    assert len(first) > 20 and first[-1][0] == pytest.approx(4.0, abs=0.1)  # on the clock of the sound
    assert looks() == first


def test_a_failed_recognition_is_an_error(home):
    words = Words()
    words.error = EngineError("The model file is damaged.")
    with pytest.raises(ReplayError, match="damaged"):
        replay(GCP, lambda name, device: words, changes={"recognition.model": "fake"})


def test_the_command_prints_the_text_or_the_events(tmp_path, tiny_en_q8):
    home = environment(SAYSO_HOME=str(tmp_path))
    plain = sayso("replay", GCP, "--model", tiny_en_q8, env=home)
    assert (plain.returncode, plain.stdout.strip().rstrip(".").casefold()) == (0, "today")
    events = [
        json.loads(line) for line in sayso("replay", GCP, "--json", "--model", tiny_en_q8, env=home).stdout.splitlines()
    ]
    assert [event["text"] for event in events if event["kind"] == "final_text"] == [plain.stdout.strip()]


def test_a_clip_that_cannot_be_read_is_one_sentence(tmp_path):
    done = sayso("replay", tmp_path / "none.wav", env=environment(SAYSO_HOME=str(tmp_path)))
    assert done.returncode == 1 and done.stdout == ""
    assert "none.wav" in complaints(done)[-1]


def test_a_clip_that_is_damaged_in_its_middle_ends_with_a_sentence(tmp_path):
    whole = JFK.read_bytes()
    (tmp_path / "half.flac").write_bytes(whole[: len(whole) // 2])
    done = sayso("replay", tmp_path / "half.flac", env=environment(SAYSO_HOME=str(tmp_path)), timeout=30)
    assert done.returncode == 1
    assert complaints(done) == [f"{tmp_path / 'half.flac'} is damaged: it could be read in part only."]


def test_a_clip_may_come_through_a_pipe_and_a_language_must_exist(tmp_path, tiny_en_q8):
    home = environment(SAYSO_HOME=str(tmp_path))
    piped = sayso(
        "replay", "/dev/stdin", "--model", tiny_en_q8, env=home, before=("sh", "-c", f'cat {GCP} | "$@"', "sh")
    )
    assert (piped.returncode, piped.stdout.strip().rstrip(".").casefold()) == (0, "today")
    wrong = sayso("replay", GCP, "--language", "xx", env=home)
    assert wrong.returncode == 2 and 'no language "xx"' in complaints(wrong)[0]
