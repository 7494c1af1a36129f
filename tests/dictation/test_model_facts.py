"""The quant picker's facts, with a real measurement of tiny.en on this computer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dictation import calibrate, model_facts
from engine import catalog, store
from engine.errors import ModelNotFoundError
from tests.shell import ROOT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    return tmp_path


def model(name: str) -> catalog.CatalogModel:
    found = catalog.find(name)
    assert found is not None
    return found


def test_without_a_measurement_nothing_is_called_measured(home: Path) -> None:
    rows = model_facts.rows(model("base"))
    assert rows[0].verdict == "recommended" and rows[0].reason.startswith(rows[0].quant)
    for row in rows:
        assert row.memory_bytes.source == "estimated" and row.speed is None and not row.installed
        assert row.error_percent is not None and row.error_percent.source == "published"


def test_a_measurement_is_kept_with_the_file_and_used(home: Path, tiny_en_q8: Path) -> None:
    store.register(tiny_en_q8, "tiny.en", "Q8_0")
    measured = calibrate.measure("tiny.en")
    assert measured.speed > 0.5 and measured.words == 22 and measured.words_wrong <= 1
    assert calibrate.kept(tiny_en_q8) == measured

    (row,) = [r for r in model_facts.rows(model("tiny.en")) if r.quant == "Q8_0"]
    assert row.installed and row.speed is not None and row.speed.source == "measured"
    assert row.memory_bytes.value == measured.memory_bytes

    larger = model_facts.estimated_speed(model("small"))
    assert larger is not None and larger.source == "estimated" and larger.value < measured.speed / 3


def test_a_measurement_of_another_file_does_not_count(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF")
    assert calibrate.kept(other) is None


def test_what_is_not_installed_can_not_be_measured(home: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="installed"):
        calibrate.measure("base")


def test_a_model_that_does_not_load_says_why(home: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(calibrate.CalibrationError, match="could not be measured"):
        calibrate.measure(str(broken))


def test_quants_that_do_not_fit_are_dimmed_with_the_reason(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_facts, "free_memory_bytes", lambda: 1_250_000_000)
    rows = model_facts.rows(model("large-v3-turbo"))
    short = [r for r in rows if r.verdict == "memory is short"]
    assert {r.quant for r in short} == {"F16", "Q8_0", "Q6_K"}
    assert all("GB are free" in r.reason for r in short)
    assert rows[0].quant == "Q5_K_M"


def test_the_recommendation_starts_small_and_grows_with_what_was_measured(
    home: Path, tiny_en_q8: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert model_facts.recommendation()[0].name == "base"
    assert model_facts.recommendation("en")[0].name == "base.en"
    quick = calibrate.Measured(500.0, 1 << 28, 100.0, 0, 22, "cuda", 0.0)
    monkeypatch.setattr(calibrate, "kept", lambda path: quick)
    store.register(tiny_en_q8, "tiny.en", "Q8_0")
    assert model_facts.recommendation()[0].name.startswith("large-v")


@pytest.mark.parametrize(
    "text, wrong", [(calibrate.SAMPLE_TEXT.replace(" ask", ", ask").upper() + ".", 0), ("", 22), ("and so my", 19)]
)
def test_counts_wrong_words_on_the_sample(text: str, wrong: int) -> None:
    assert calibrate.words_wrong(text) == (wrong, 22)


def test_the_facts_load_nothing_heavy() -> None:
    script = (
        "import sys; from dictation import model_facts; from engine import catalog;"
        "model_facts.rows(catalog.find('base')); model_facts.recommendation();"
        "sys.exit(' '.join({'numpy', 'mlx', 'gguf', 'huggingface_hub', 'PySide6'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_memory_that_a_model_needs_is_at_least_what_it_takes_and_not_much_more(
    home: Path, base_q8: Path, tiny_en_f16: Path
) -> None:
    code = (
        "import sys, psutil, engine, resources\n"
        "from engine import audio\n"
        "samples = audio.read_clip(resources.path('sample.wav'))\n"
        "before = psutil.Process().memory_info().rss\n"
        "model = engine.load(sys.argv[1], 'cpu')\n"
        "model.transcribe(samples)\n"
        "while model.prepare(): pass\n"
        "print(psutil.Process().memory_info().rss - before)\n"
    )
    for file in (base_q8, tiny_en_f16):
        ran = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=True, cwd=ROOT)
        took = int(ran.stdout)
        needed = model_facts.memory_needed(str(file))
        assert needed.source == "estimated" and took < needed.value < 3 * took, f"{file.name} took {took / 1e6:.0f} MB"


def test_a_measured_model_needs_what_was_measured_and_one_that_is_not_installed_is_named(home: Path) -> None:
    file = home / "models" / "base-Q8_0.gguf"
    file.parent.mkdir()
    file.write_bytes(b"x" * 1000)
    before = model_facts.memory_needed("base:Q8_0")
    assert before.value == model("base").memory("Q8_0").value
    calibrate._keep(file, calibrate.Measured(9.0, 321_000_000, 1.0, 0, 22, "cpu", 0.0))
    assert model_facts.memory_needed("base") == catalog.Fact(321_000_000, "measured")
    with pytest.raises(ModelNotFoundError):
        model_facts.memory_needed("small")


def test_quants_that_the_processor_holds_as_q8_0_need_more_than_their_file_says(home: Path) -> None:
    folder = home / "models"
    folder.mkdir()
    (folder / "my-own-Q4_K_M.gguf").write_bytes(b"x" * 1_000_000)
    (folder / "my-own-Q8_0.gguf").write_bytes(b"x" * 1_000_000)
    packed, whole = (model_facts.memory_needed(f"my-own:{quant}").value for quant in ("Q4_K_M", "Q8_0"))
    assert packed - catalog.PROCESS_BYTES == pytest.approx(2 * (whole - catalog.PROCESS_BYTES))
