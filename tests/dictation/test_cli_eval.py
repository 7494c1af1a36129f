"""`sayso eval` on real clips and a real model: shards, stopped runs, reports, refusals."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dictation.cli import main
from engine import evaluate
from engine.evaluate import read_clips
from engine.report import EvaluationFile
from tests.e2e.processes import until
from tests.shell import ROOT, SAYSO, SPEECH

TIMES = ("mel_ms", "encode_ms", "prompt_ms", "decode_ms", "real_time_factor")


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest of four short English clips, one of which is given a wrong text, and a German one."""
    scored = [clip for clip in read_clips(SPEECH) if clip.language == "en"]
    short = sorted(scored, key=lambda clip: clip.path.stat().st_size)[:4]
    german = next(clip for clip in read_clips(SPEECH, scored_only=False) if clip.language == "de")
    path = tmp_path_factory.mktemp("clips") / "manifest.jsonl"
    items = [
        {"id": clip.id, "audio": str(clip.path), "ref_text": clip.text, "language": clip.language}
        for clip in (*short, german)
    ]
    items[0]["ref_text"] += " zebra & lion"
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


@pytest.fixture(scope="module")
def whole(clips: Path, tiny_en_q8: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of one run over all clips."""
    report = tmp_path_factory.mktemp("whole")
    assert main(["eval", str(tiny_en_q8), "--clips", str(clips), "--report", str(report)]) == 0
    return report


def figures(capsys: pytest.CaptureFixture[str]) -> dict:
    (line,) = capsys.readouterr().out.splitlines()
    return json.loads(line)


def test_shards_put_together_give_the_figures_of_one_run(
    whole: Path, clips: Path, tiny_en_q8: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for shard in ("2/2", "1/2"):
        command = ["eval", str(tiny_en_q8), "--clips", str(clips), "--report", str(tmp_path), "--shard", shard]
        assert main(command) == 0
    capsys.readouterr()
    assert main(["eval", "merge", str(tmp_path), "--json"]) == 0
    merged = figures(capsys)
    assert main(["eval", "merge", str(whole), "--json"]) == 0
    one = figures(capsys)
    for score in (merged["score"], one["score"]):
        assert score["clips"] == 4
        assert all(score.pop(name) > 0 for name in TIMES)
    assert merged["score"] == one["score"]
    assert one["score"]["deletions"] >= 1
    assert one["peak_bytes"] > tiny_en_q8.stat().st_size


def test_a_stopped_run_goes_on_and_decodes_only_what_is_missing(
    whole: Path, clips: Path, tiny_en_q8: Path, tmp_path: Path
) -> None:
    done = (whole / f"{tiny_en_q8.stem}.jsonl").read_text().splitlines()
    stopped = tmp_path / f"{tiny_en_q8.stem}.jsonl"
    kept = done[2].replace('"hypothesis": "', '"hypothesis": "kept ')
    stopped.write_text(f"{done[0]}\n{kept}\n{done[1][:40]}")
    assert main(["eval", str(tiny_en_q8), "--clips", str(clips), "--report", str(tmp_path)]) == 0
    results = EvaluationFile(stopped).read()
    assert len(results) == 4
    assert sum(result.hypothesis.startswith("kept ") for result in results) == 1


def test_a_clip_that_can_not_be_read_costs_itself_until_it_can(
    clips: Path, tiny_en_q8: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [json.loads(line) for line in clips.read_text().splitlines()[:2]]
    audio, items[0]["audio"] = items[0]["audio"], str(tmp_path / "empty.wav")
    (tmp_path / "empty.wav").touch()
    (tmp_path / "manifest.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    command = ["eval", str(tiny_en_q8), "--clips", str(tmp_path), "--report", str(tmp_path / "r"), "--json"]
    assert main(command) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["score"]["clips"] == 1 and "empty.wav is empty" in told.err
    shutil.copy(audio, tmp_path / "empty.wav")
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["score"]["clips"] == 2


def test_ctrl_c_keeps_what_is_done_and_leaves_nothing_else(tiny_en_q8: Path, tmp_path: Path) -> None:
    command = [*SAYSO, "eval", str(tiny_en_q8), "--clips", str(SPEECH), "--report", str(tmp_path / "r")]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    results = EvaluationFile(tmp_path / "r" / f"{tiny_en_q8.stem}.jsonl")
    until("a result", lambda: len(results.read()) >= 1, 60)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = said.splitlines()
    assert "goes on from there" in line
    assert [path.name for path in (tmp_path / "r").iterdir()] == [results.path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="has no process groups")
def test_processes_that_ctrl_c_does_not_reach(tmp_path: Path) -> None:
    """From their first moment on, when they would write a traceback."""
    code = (
        "import subprocess, sys, signal, os, time\n"
        "from dictation.children import out_of_reach_of_ctrl_c\n"
        "try:\n"
        "    with out_of_reach_of_ctrl_c():\n"
        "        child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=-1)\n"
        "        os.killpg(0, signal.SIGINT)\n"
        "    time.sleep(20)\n"
        "except KeyboardInterrupt: child.communicate(b'\\n', 20); sys.exit(child.returncode)\n"
        "sys.exit(5)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, start_new_session=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_one_report_is_written_by_one_process(
    whole: Path, clips: Path, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EvaluationFile(whole / f"{tiny_en_q8.stem}.jsonl").alone():
        assert main(["eval", str(tiny_en_q8), "--clips", str(clips), "--report", str(whole)]) == 1
    assert "Another `sayso eval` is writing" in capsys.readouterr().err
    assert main(["eval", str(tiny_en_q8), "--clips", str(clips), "--report", str(whole)]) == 0
    assert not list(whole.glob(".*"))


def test_results_of_other_conditions_are_not_mixed(
    whole: Path, clips: Path, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["eval", str(tiny_en_q8), "--clips", str(clips), "--report", str(whole), "--audio-context", "full"]
    assert main(command) == 1
    assert "different: audio_context" in capsys.readouterr().err


def test_the_page_stands_alone_and_shows_what_was_heard(whole: Path) -> None:
    page = (whole / "report.html").read_text()
    assert not re.search(r"https?:|src=|<script|@import|url\(", page)
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 2
    for drawing in drawings:
        ElementTree.fromstring(drawing)
    assert "<del>zebra lion</del>" in page
    assert "zebra &amp; lion" in page
    assert json.loads((whole / "report.json").read_text())["models"][0]["score"]["clips"] == 4


def test_without_the_extra_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(evaluate.importlib.util, "find_spec", lambda name: None)
    assert main(["eval", "tiny.en", "--clips", str(SPEECH)]) == 1
    assert "pip install 'sayso[eval]'" in capsys.readouterr().err


def test_what_cannot_be_evaluated_is_one_sentence(
    tmp_path: Path, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.jsonl").write_text('{"id": 1}\n')
    for command, code in (
        (["eval", str(tiny_en_q8)], 2),
        (["eval", "merge"], 2),
        (["eval", "merge", str(tmp_path)], 1),
        (["eval", "merge", str(tmp_path / "nowhere")], 1),
        (["eval", "no-such-model", "--clips", str(SPEECH)], 1),
        (["eval", str(tiny_en_q8), "--clips", str(tmp_path)], 1),
    ):
        assert main(command) == code, command
        assert len(capsys.readouterr().err.splitlines()) == 1, command
    assert main(["eval", str(tiny_en_q8), "--clips", str(SPEECH), "--shard", "3/2"]) == 2
    capsys.readouterr()
    assert main(["eval", str(tiny_en_q8), "--clips", str(SPEECH), "--report", str(tmp_path / "other.jsonl")]) == 2
    assert "is a file" in capsys.readouterr().err
    twin = tmp_path / "elsewhere" / tiny_en_q8.name
    twin.parent.mkdir()
    twin.symlink_to(tiny_en_q8)
    assert main(["eval", str(tiny_en_q8), str(twin), "--clips", str(SPEECH)]) == 1
    assert "one name in the report" in capsys.readouterr().err
    (tmp_path / "half.gguf").write_bytes(tiny_en_q8.read_bytes()[:5000])
    assert main(["eval", str(tmp_path / "half.gguf"), "--clips", str(SPEECH)]) == 1
    assert "half.gguf: This GGUF file" in capsys.readouterr().err
