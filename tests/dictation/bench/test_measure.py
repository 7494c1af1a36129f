"""One clip through the app, measured: what is counted, and what becomes of clips that can't be replayed."""

import dataclasses
import json

import numpy as np
import pytest
import soundfile

from dictation.bench.clips import Clip, clip_of
from dictation.bench.kept import KeptModel
from dictation.bench.measure import Task, firm_wrong, measure, revisions
from dictation.bench.results import BenchFile, Conditions, Measured, as_result
from dictation.recogniser import Recogniser
from engine import evaluate, load
from engine.errors import EngineError
from tests.fakes.dictation import Words
from tests.shell import JFK, SPEECH

LAMP = SPEECH / "en" / "wyoming-lamp.flac"
GCP = SPEECH / "en" / "gcp-today.flac"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def tiny(tiny_en_q8):
    model = KeptModel(lambda: Recogniser(load(str(tiny_en_q8)), "tiny.en"))
    yield model
    model.close()


def lamp(**more):
    return Clip("lamp", LAMP, "turn on the living room lamp", "en", **more)


def test_every_figure_of_a_real_clip(tiny):
    m = measure(Task(lamp(), language="en"), tiny)
    assert m.failure == "" and m.length == 6 and m.errors <= 1
    assert m.duration_s == pytest.approx(2.99, abs=0.01) and 0.5 < m.speech_s < 3
    assert m.partials >= 3 and m.shown_words >= 5 and m.revised_words <= m.shown_words
    assert 0 <= m.first_partial_s < 1.5 and m.release_to_text_ms > 0
    assert m.encode_ms > 0 and m.tokens > 0 and m.cpu_s > 0 and m.peak_bytes >= m.rss_bytes > 50e6
    kinds = [event["kind"] for event in m.events]
    assert kinds.index("partial_text") < kinds.index("final_text") < kinds.index("text_delivered")
    times = [event["t_s"] for event in m.events]
    assert times == sorted(times) and times[0] == pytest.approx(0, abs=0.01)


def test_fast_gives_the_same_words_at_the_same_moments_again(tiny):
    def told(m):
        return [(e["t_s"], e["firm"], e["tentative"]) for e in m.events if e["kind"] == "partial_text"], m.raw_text

    assert told(measure(Task(lamp(), language="en"), tiny)) == told(measure(Task(lamp(), language="en"), tiny))


def test_offline_counts_what_eval_counts(tiny, tiny_en_q8):
    m = measure(Task(lamp(), mode="offline", language="en"), tiny)
    transcriber = load(str(tiny_en_q8))
    transcript = transcriber.transcribe(evaluate.read_clip(LAMP))
    transcriber.close()
    counted = evaluate.count(lamp(), transcript, m.duration_s)
    own = as_result(m)
    assert own.hypothesis == counted.hypothesis
    assert (own.hits, own.substitutions, own.deletions, own.insertions) == (
        counted.hits,
        counted.substitutions,
        counted.deletions,
        counted.insertions,
    )


def test_settings_of_a_run_go_before_those_of_a_clip(tiny):
    lower = lamp(settings={"rewrite.casing": "lower_case"})
    assert measure(Task(lower, language="en"), tiny).text.islower()
    upper = measure(Task(lower, language="en", settings={"rewrite.casing": "upper_case"}), tiny)
    assert upper.text.isupper() and not upper.raw_text.isupper()


def test_expectations_that_did_not_come_true_are_said(tiny):
    clip = lamp(expect=("final_text", "!failed", "state_changed:delivering", "nothing_heard"), expect_text="lamp")
    unmet = measure(Task(clip, language="en"), tiny).unmet
    assert len(unmet) == 2 and unmet[0] == "nothing_heard did not come." and "“lamp” should be typed" in unmet[1]


def test_silence_is_no_failure(tmp_path, tiny):
    soundfile.write(tmp_path / "hush.wav", np.full(16_000, 1e-4, np.float32), 16_000)
    clip = Clip("hush", tmp_path / "hush.wav", "", "en", expect=("nothing_heard:silence",))
    m = measure(Task(clip, language="en"), tiny)
    assert (m.failure, m.text, m.unmet, m.release_to_text_ms) == ("", "", [], None)


@pytest.mark.parametrize("variant", ["zeros:1.5", "channels:8", "rate:44100", "telephone", "before:1"])
def test_a_degraded_clip_goes_the_same_way(tiny, variant):
    m = measure(Task(lamp(), variant, language="en"), tiny)
    assert m.failure == "" and "living room" in m.raw_text.lower()


def test_a_damaged_clip_and_a_failing_engine_are_failures_in_a_sentence(tmp_path, tiny):
    (tmp_path / "half.flac").write_bytes(JFK.read_bytes()[:40_000])
    m = measure(Task(Clip("half", tmp_path / "half.flac", "x", "en")), tiny)
    assert "damaged" in m.failure and m.events == []
    words = Words()
    words.error = EngineError("The model file is damaged.")
    broken = KeptModel(lambda: words)
    m = measure(Task(lamp(), language="en"), broken)
    assert m.failure == "The model file is damaged." and m.errors == m.length == 0
    broken.close()


def test_revisions_are_words_that_stood_there_and_then_did_not():
    assert revisions(["I", "I scream", "Ice cream", "ice cream, is"], "Ice cream is good") == (5, 2)
    assert revisions(["for all the", "for all the Chinese took"], "For although the Chinese then took") == (5, 1)
    assert revisions([], "anything") == (0, 0)
    assert revisions(["a b c"], "") == (3, 3)
    assert firm_wrong("and so my fellow asked", "And so, my fellow ask not") == 1


def test_a_file_of_results_loses_only_a_line_that_was_cut_short(tmp_path):
    conditions = Conditions("s", "c", 2, "m.gguf", "0", "m", "Q8_0", "fast", False, "given", 0, "{}")
    file = BenchFile(tmp_path / "m.fast.jsonl")
    file.begin(conditions)
    file.add(Measured("one", events=[{"t_s": 0.0, "kind": "stopped"}]))
    with file.path.open("a") as stream:
        stream.write('{"clip": "tw')
    file.begin(conditions)
    file.add(Measured("three", failure="Gone."))
    assert set(file.last()) == {("one", "", 0), ("three", "", 0)}
    assert file.done() == {("one", "", 0)}  # a failure is tried again
    assert next(m.events for m in file.measured(with_events=True)) and not file.last()["one", "", 0].events
    with pytest.raises(Exception, match="different: mode"):
        file.begin(dataclasses.replace(conditions, mode="offline"))
    assert all(json.loads(line) for line in file.path.read_text().splitlines() if not line.endswith('"tw'))


@pytest.mark.parametrize(
    "line", [{"clip": 5}, {"clip": "a", "scored": "yes"}, {"clip": "a", "hits": None}, {"clip": "a", "events": 3}]
)
def test_a_line_of_results_with_other_types_than_ours_is_passed_over(tmp_path, line):
    file = BenchFile(tmp_path / "run.jsonl")
    file.add(Measured("one"))
    with file.path.open("a") as lines:
        lines.write(json.dumps(line) + "\n")
    assert [m.clip for m in file.measured(with_events=True)] == ["one"]


def test_a_degraded_clip_of_a_manifest(tmp_path, tiny):
    soundfile.write(tmp_path / "one.wav", *soundfile.read(GCP))
    clip = clip_of({"audio": "one.wav", "ref_text": "today", "language": "en", "degrade": "before:1"}, tmp_path)
    assert measure(Task(clip, language="en"), tiny).duration_s == pytest.approx(1.59, abs=0.01)
