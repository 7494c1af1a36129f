"""`sayso replay SET` on real clips and a real model: the project's own gate, stopped runs, reports, refusals."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

from dictation.bench import crew, gate
from dictation.bench.clips import read_set
from dictation.bench.figures import BenchRun, figures
from dictation.bench.kept import KeptModel
from dictation.bench.measure import Task, measure
from dictation.bench.plan import gather
from dictation.bench.results import BenchFile, files_in
from dictation.cli import main
from engine.report import EvaluationFile
from tests.dictation.bench import broken
from tests.e2e.processes import until
from tests.shell import JFK, ROOT, SAYSO, complaints, environment, sayso

SMALL = ROOT / "tests" / "data" / "replay"
BASELINE = SMALL / "baseline.jsonl"
SHORT = ("gcp-today", "gcp-two-people", "gcp-mountain-view", "lj001-0008", "lj001-0002")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def report(tmp_path_factory, tiny_en_q8):
    """The project's own gate: its small set with tiny.en, against the results that are kept beside it."""
    folder = tmp_path_factory.mktemp("replay")
    gates = ["--baseline", str(BASELINE)]
    for limit in ("error>+0", "error>14%", "failed>0", "unmet>0"):
        gates += ["--fail-if", limit]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAYSO_HOME", str(folder / "home"))
        assert main(["replay", str(SMALL), "--models", str(tiny_en_q8), "--report", str(folder / "r"), *gates]) == 0
    return folder / "r"


@pytest.fixture
def few(tmp_path):
    """Five clips of one to two seconds."""
    lines = [line for line in (SMALL / "manifest.jsonl").read_text().splitlines() if json.loads(line)["id"] in SHORT]
    folder = tmp_path / "few"
    folder.mkdir()
    text = "\n".join(lines).replace("../speech", str(ROOT / "tests/data/speech"))
    (folder / "manifest.jsonl").write_text(text)
    return folder


def the_run(report: Path) -> BenchRun:
    (run,) = gather(files_in(report))
    return run


def with_fault(make, tiny_en_q8, tmp_path) -> BenchRun:
    model = KeptModel(lambda: make(crew.Job(str(tiny_en_q8))))
    measured = [measure(Task(clip, language="en"), model) for clip in read_set(SMALL, tmp_path).clips]
    model.close()
    (baseline,) = gather([BenchFile(BASELINE)])
    return BenchRun(baseline.conditions, (), "", tuple(measured))


def test_the_small_set_is_as_good_as_it_was(report):
    f = figures(the_run(report))
    assert f.clips == f.scored == 12 and f.failed == f.unmet == 0 and f.error.error_rate < 0.15


def test_suppressed_words_and_a_truncated_tail_are_caught(report, tiny_en_q8, tmp_path):
    good = the_run(report)
    limits = [gate.parse("error>+0")]
    for make in (broken.without_common_words, broken.without_tail):
        (verdict,) = gate.judge([with_fault(make, tiny_en_q8, tmp_path)], limits, [good])
        assert verdict.failed and len(verdict.clips) >= 5, verdict.sentence()


def test_a_process_that_dies_costs_its_clip_alone(tiny_en_q8, few, tmp_path):
    clips = [*read_set(few, tmp_path).clips[:3], *read_set(JFK, tmp_path).clips]
    tasks = [Task(clip, language="en") for clip in (clips[3], *clips[:3])]
    job = crew.Job(str(tiny_en_q8), make=broken.mortal)
    measured = {m.clip: m for m in crew.run(job, tasks, 1, lambda device: None)}
    assert measured["jfk.flac"].failure.startswith("The process that replayed it ended early")
    assert len(measured) == 4 and sum(bool(m.failure) for m in measured.values()) == 1


def test_a_finished_run_has_nothing_to_do_again(report, tiny_en_q8):
    file = report / f"{tiny_en_q8.stem}.fast.jsonl"
    before = len(BenchFile(file).last()), file.stat().st_size
    assert main(["replay", str(SMALL), "--models", str(tiny_en_q8), "--report", str(report)]) == 0
    assert (len(BenchFile(file).last()), file.stat().st_size) == before


def test_a_run_that_is_interrupted_goes_on_where_it_was(few, tiny_en_q8, tmp_path):
    command = [*SAYSO, "replay", few, "--models", tiny_en_q8, "--report", tmp_path / "r", "--repeat", "4"]
    file = BenchFile(tmp_path / "r" / f"{tiny_en_q8.stem}.fast.jsonl")
    process = subprocess.Popen(list(map(str, command)), cwd=ROOT, stderr=subprocess.PIPE, text=True)
    until("some results", lambda: len(file.last()) >= 3, 60)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    done = len(file.last())
    assert process.returncode == 130 and 3 <= done < 20
    assert "the same command goes on from there" in said and "Traceback" not in said
    assert subprocess.run(list(map(str, command)), cwd=ROOT, check=False, capture_output=True).returncode == 0
    lines = [item["clip"] for item in file.objects() if "clip" in item]
    assert len(file.last()) == 20 == len(lines)


def test_modes_models_and_variants_stand_in_one_report_and_agree_with_eval(few, tiny_en_q8, tmp_path, capsys):
    options = ["--models", str(tiny_en_q8), "--report", str(tmp_path / "r"), "--offline", "--jobs", "2"]
    assert main(["replay", str(few), *options, "--degrade", "none", "--degrade", "gain:-6"]) == 0
    assert main(["eval", str(tiny_en_q8), "--clips", str(few), "--report", str(tmp_path / "e")]) == 0
    capsys.readouterr()
    plain, quiet = gather(files_in(tmp_path / "r"))
    assert (plain.variant, quiet.variant) == ("", "gain:-6")
    by_eval = {result.id: result for result in EvaluationFile(tmp_path / "e" / f"{tiny_en_q8.stem}.jsonl").read()}
    for m in plain.measured:
        ours = (m.raw_text, m.hits, m.substitutions, m.deletions, m.insertions)
        theirs = by_eval[m.clip]
        assert ours == (theirs.hypothesis, theirs.hits, theirs.substitutions, theirs.deletions, theirs.insertions)
    page = (tmp_path / "r" / "report.html").read_text("utf-8")
    assert page.count("<article") == 10 and "gain:-6" in page and page.count("data:audio/") == 10
    assert "http" not in page.replace("http://www.w3.org", "")


def test_damage_costs_itself_and_the_command_ends_with_1(few, tiny_en_q8, tmp_path):
    with (few / "manifest.jsonl").open("a") as manifest:
        manifest.write('\n{"id": "lost", "audio": "lost.wav", "ref_text": "x"}\n{"id": "gcp-today", "audio": "x"')
    (few / "half.flac").write_bytes(JFK.read_bytes()[:30_000])
    samples, rate_hz = soundfile.read(JFK, dtype="float32", frames=32_000)
    samples[9000:9500] = np.nan  # some encoders of sound end the process over such
    soundfile.write(few / "nan.wav", samples, rate_hz, subtype="FLOAT")
    with (few / "manifest.jsonl").open("a") as manifest:
        manifest.write('\n{"id": "half", "audio": "half.flac", "ref_text": "x", "language": "en"}\n')
        manifest.write('{"id": "nan", "audio": "nan.wav", "language": "en"}\n')
    report = tmp_path / "r"
    done = sayso("replay", few, "--models", tiny_en_q8, "--report", report, env=environment(SAYSO_HOME=str(tmp_path)))
    said = complaints(done)
    assert done.returncode == 1 and "tiny.en" in done.stdout
    assert [word for word in ("lost.wav", "JSON", "half.flac is damaged") if any(word in line for line in said)] == [
        "lost.wav",
        "JSON",
        "half.flac is damaged",
    ]
    assert len(said) == 4 and said[-1] == f"{report / 'report.html'} is written."


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--fail-if", "nonsense"], "no limit"),
        (["--fail-if", "error>+0"], "--baseline"),
        (["--settings", "rewrite.numbers"], "no setting"),
        (["--settings", "rewrite.nothing=1"], "no setting"),
        (["--baseline", "nowhere"], "no report"),
        (["--degrade", "loud"], "no degradation"),
        (["--models", "no-such-model"], "no-such-model"),
        (["--models", ","], "at least one"),
        (["--settings", "recognition.model=base"], "--models"),
        (["--report", str(JFK)], "is a file"),
        (["--report", str(SMALL), "--baseline", str(BASELINE)], "the same report"),
        (["--jobs", "0"], "number from 1"),
        (["--offline", "--language", "de"], "single clip"),
    ],
)
def test_what_can_not_be_done_is_one_sentence(few, options, word, capsys):
    assert main(["replay", str(few), *options]) in (1, 2)
    assert word in capsys.readouterr().err


def test_a_report_of_something_else_is_not_touched(few, tiny_en_q8, tmp_path, capsys):
    other = tmp_path / f"{tiny_en_q8.stem}.fast.jsonl"
    other.write_text('{"run": {}}\n')
    assert main(["replay", str(few), "--models", str(tiny_en_q8), "--report", str(tmp_path)]) == 1
    assert "no results of `sayso replay`" in capsys.readouterr().err and other.read_text() == '{"run": {}}\n'
