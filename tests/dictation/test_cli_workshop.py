"""`sayso models export` and `quantize-all` on real weights."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import get_args

import pytest

from dictation.cli import main
from dictation.commands import workshop
from engine import store
from engine.checkpoint import Checkpoint
from engine.export import Dialect, export
from engine.formats.load import load
from engine.presets import PRESETS


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_en_f16: Path) -> Path:
    """A models folder of this test's own, in which tiny.en:F16 is known where it lies."""
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    store.register(tiny_en_f16, "tiny.en", "F16")
    return tmp_path / "models"


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_every_format_and_dialect_can_be_asked_for() -> None:
    assert set(workshop.FORMATS) == set(PRESETS)
    assert set(workshop.DIALECTS) == set(get_args(Dialect))


def test_a_dry_run_gives_every_tensor_with_its_reason_and_writes_nothing(
    models: Path, capsys: pytest.CaptureFixture[str], tiny_en_f16: Path
) -> None:
    before = sorted(models.parent.rglob("*"))
    assert main(["models", "export", "tiny.en", "--format", "q4_0", "--exclude", "decoder.layers.0", "--dry-run"]) == 0
    *rows, total = capsys.readouterr().out.splitlines()
    tensors = load(tiny_en_f16).tensors
    assert [row.split()[0] for row in rows] == list(tensors)
    reasons = {row.split()[0]: row for row in rows}
    assert "at least Q8_0: token table" in reasons["decoder.embed_tokens.weight"]
    assert "F16 -> F16" in reasons["decoder.layers.0.fc1.weight"]
    assert "excluded" in reasons["decoder.layers.0.fc1.weight"]
    assert "F16 -> Q4_0" in reasons["decoder.layers.1.fc1.weight"]
    assert int(total.split()[-1].replace(",", "")) == sum(int(row.split()[5].replace(",", "")) for row in rows)
    assert sorted(models.parent.rglob("*")) == before


def test_an_export_is_heard_with_and_installed(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "export", "tiny.en:F16", "--format", "Q5_1"]) == 0
    assert "hears the sample" in complaint(capsys)
    assert store.find("tiny.en:Q5_1") == models / "tiny.en-Q5_1.gguf"


@pytest.mark.parametrize(("dialect", "file"), [("transcribe.cpp", "a.gguf"), ("whisper.cpp", "a.bin")])
def test_other_dialects_go_where_they_are_asked_to(dialect: str, file: str, models: Path) -> None:
    command = ["models", "export", "tiny.en", "--format", "Q8_0", "--dialect", dialect, "-o", file, "--no-smoke"]
    assert main(command) == 0
    assert load(Path(file)).quant == "Q8_0"
    assert main([*command[:4], "Q4_0", *command[5:]]) == (2 if dialect == "whisper.cpp" else 0)


def test_the_source_is_never_written_over(tiny_en_f16: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size_bytes = tiny_en_f16.stat().st_size
    assert main(["models", "export", "tiny.en", "--format", "Q8_0", "-o", str(tiny_en_f16)]) == 2
    assert "is the source itself" in complaint(capsys)
    assert tiny_en_f16.stat().st_size == size_bytes


def test_what_hears_nothing_takes_no_other_file_s_place(
    mute_checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export(mute_checkpoint, "F32", tmp_path / "mute.gguf")
    good = tmp_path / "good.gguf"
    good.write_text("what an earlier export left")
    assert main(["models", "export", str(tmp_path / "mute.gguf"), "--format", "Q8_0", "-o", str(good)]) == 1
    assert "nothing is written" in complaint(capsys)
    assert good.read_text() == "what an earlier export left"
    folder = tmp_path / "all"
    assert main(["models", "quantize-all", str(tmp_path / "mute.gguf"), "-o", str(folder)]) == 1
    assert list(folder.iterdir()) == []


def test_quantizing_all_never_writes_over_the_source(
    tiny_en_f16: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name says Q8_0, its header F16."""
    source = tmp_path / "tiny.en-Q8_0.gguf"
    shutil.copy(tiny_en_f16, source)
    assert main(["models", "quantize-all", str(source), "-o", str(tmp_path), "--no-smoke"]) == 2
    assert "is the source itself" in complaint(capsys)
    assert source.stat().st_size == tiny_en_f16.stat().st_size
    assert not list(tmp_path.glob("*Q6_K*"))


def test_a_folder_to_quantize_into_that_is_a_file_is_wrong_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["models", "quantize-all", "tiny.en", "-o", str(tmp_path / "file")]) == 2
    assert "is a file" in complaint(capsys)


def test_a_prefix_that_fits_nothing_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "export", "tiny.en", "--format", "Q8_0", "--include", "encode.", "--dry-run"]) == 2
    assert "'encode.'" in complaint(capsys)
    assert main(["models", "export", "tiny.en", "--format", "Q8_0", "--include", " , ", "--dry-run"]) == 2
    assert "at least one" in capsys.readouterr().err


def test_quantizing_all_leaves_out_what_only_copies_the_source(tmp_path: Path) -> None:
    assert main(["models", "quantize-all", "tiny.en", "-o", str(tmp_path / "all"), "--no-smoke"]) == 0
    made = {path.name for path in (tmp_path / "all").iterdir()}
    assert "tiny.en-Q8_0.gguf" in made
    assert "tiny.en-F16.gguf" not in made
