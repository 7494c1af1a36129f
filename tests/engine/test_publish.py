"""What is published agrees with itself, and arrives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dictation.cli import main
from engine.errors import HubError, PublishError
from engine.publish import Collection, Declared, Measured, ModelFile, model_card, problems, publish, read_folder
from tests.fakes.hub_server import Hub, serve

REPO = "somebody/whisper-base-gguf"


def model(quant: str, size_bytes: int = 80_000_000, **changes: object) -> ModelFile:
    made = ModelFile(f"base-{quant}.gguf", "base", quant, size_bytes, 99, "mit", has_tokenizer=True, reproducible=True)
    return replace(made, **changes)


GOOD = Collection((model("Q8_0"), model("Q4_K_M", 60_000_000)))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            replace(GOOD, declared=(Declared("config.json", quants=("Q8_0", "Q4_K_M", "Q6_K")),)),
            "declares Q6_K",
        ),
        (
            replace(GOOD, declared=(Declared("README.md", files=("base-Q8_0.gguf",)),)),
            "but README.md does not",
        ),
        (
            replace(GOOD, declared=(Declared("README.md", quants=("Q8_0", "Q4_K_M"), files=("x.gguf",)),)),
            "names x.gguf",
        ),
        (replace(GOOD, declared=(Declared("README.md", licence="apache-2.0"),)), "apache-2.0 by README.md"),
        (Collection((model("Q8_0", licence=None),)), "No licence is named"),
        (Collection((model("Q8_0", has_tokenizer=False),)), "base-Q8_0.gguf has no tokenizer"),
        (Collection((model("Q8_0"), model("Q8_0", file="other.gguf"))), "are the same quant"),
        (Collection((model("Q8_0"), model("F16", name="small"))), "different models (base, small)"),
        (Collection((model("Q8_0", name="mine"),)), "Which model was it made from?"),
    ],
)
def test_each_contradiction_is_one_sentence(wrong: Collection, sentence: str) -> None:
    (found,) = problems(wrong)
    assert sentence in found


def test_what_agrees_has_no_problems() -> None:
    assert problems(GOOD) == []
    declared = Declared("config.json", "MIT", ("q8_0", "Q4_K_M"), ("base-Q8_0.gguf", "base-Q4_K_M.gguf"))
    assert problems(replace(GOOD, declared=(declared,))) == []


def test_the_card_has_the_metadata_every_file_its_error_and_its_command() -> None:
    measured = {"base-Q8_0.gguf": Measured("WER", 0.0361, 0.0196, 0.0555, 43)}
    _, front, text = model_card(replace(GOOD, measured=measured), REPO).split("---\n", 2)
    metadata = yaml.safe_load(front)
    assert metadata["library_name"] == "gguf"
    assert metadata["pipeline_tag"] == "automatic-speech-recognition"
    assert metadata["base_model"] == "openai/whisper-base"
    assert metadata["license"] == "mit"
    assert metadata["quants"] == ["Q8_0", "Q4_K_M"]
    assert len(metadata["language"]) == 99
    assert "| Q8_0 | 80.0 MB | WER 3.61 % (1.96 to 5.55), 43 clips |" in text
    assert "| Q4_K_M | 60.0 MB | not measured |" in text
    assert "sayso models export SOURCE --format Q4_K_M -o base-Q4_K_M.gguf" in text


def test_no_command_is_given_for_a_file_with_types_of_its_own() -> None:
    card = model_card(Collection((model("Q8_0"), model("Q5_K", reproducible=False))), REPO)
    assert "--format Q8_0" in card
    assert "--format Q5_K" not in card
    assert "base-Q5_K.gguf" in card.rpartition("types of their own")[2]


@pytest.fixture
def folder(tmp_path: Path, tiny_en_q8: Path) -> Path:
    """A folder with a real model, its licence and a report of `sayso eval`."""
    made = tmp_path / "made"
    (made / "eval").mkdir(parents=True)
    shutil.copy(tiny_en_q8, made)
    (made / "LICENSE").write_text("MIT License\n\nCopyright (c) 2022 OpenAI\n")
    score = {"error_rate": 0.05, "low": 0.03, "high": 0.07, "clips": 43}
    size_bytes = tiny_en_q8.stat().st_size
    item = {"file": tiny_en_q8.name, "size_bytes": size_bytes, "metric": "WER", "score": score}
    (made / "eval" / "report.json").write_text(json.dumps({"models": [item]}))
    return made


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
    monkeypatch.setenv("HF_TOKEN", "hf_of_this_test")
    with serve() as state:
        monkeypatch.setattr(constants, "ENDPOINT", state.url)
        yield state


def test_a_real_model_is_read_with_licence_tokenizer_and_error(folder: Path) -> None:
    collection = read_folder(folder)
    (found,) = collection.models
    assert (found.name, found.quant, found.licence, found.n_languages) == ("tiny.en", "Q8_0", "mit", 1)
    assert found.has_tokenizer and found.reproducible
    assert collection.measured[found.file].error_rate == 0.05
    assert problems(collection) == []


def test_a_card_that_was_built_passes_the_checks_as_the_persons_own(folder: Path, tiny_en_q8: Path) -> None:
    card = model_card(read_folder(folder), REPO)
    (folder / "README.md").write_text(card)
    assert problems(read_folder(folder)) == []
    assert model_card(read_folder(folder), "some/where") == card
    (folder / tiny_en_q8.name).rename(folder / "renamed.gguf")
    assert any("which is not in the folder" in problem for problem in problems(read_folder(folder)))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("README.md", b"---\nlicense: mit\n---\ncaf\xe9", "README.md is not UTF-8"),
        ("README.md", b"---\nquants: 5\n---\n", "quants must be a list"),
        ("README.md", b"---\ndate: 2026-13-40\n---\n", "no YAML"),
        ("config.json", b'{"quants": 5}', "quants must be a list"),
        ("config.json", b'{"files": "a.gguf"}', "files must be a list"),
        ("config.json", b"[" * 100_000, "is no JSON"),
        ("config.json", b"\xff\xfe", "is no JSON"),
    ],
)
def test_documents_that_can_not_be_understood_are_named(folder: Path, name: str, content: bytes, words: str) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(PublishError, match=words):
        read_folder(folder)


def test_folders_and_reports_of_another_make_are_passed_over(folder: Path) -> None:
    (folder / "tokenizer.json").mkdir()
    (folder / "README.md").mkdir()
    (folder / "report.json").write_text('{"models": 5}')
    assert problems(read_folder(folder)) == [] and "tokenizer.json" not in read_folder(folder).beside


def test_a_name_that_the_hub_does_not_take_is_said_before_anything(
    folder: Path, hub: Hub, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "publish", str(folder), "not a/name", "--dry-run"]) == 1
    assert "no name on the Hub" in capsys.readouterr().err and hub.requests == []


def test_a_dry_run_shows_the_card_and_sends_nothing(folder: Path, hub: Hub, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "publish", str(folder), REPO, "--dry-run"]) == 0
    assert "WER 5.00 % (3.00 to 7.00)" in capsys.readouterr().out
    assert hub.requests == []


def test_all_arrives_whole_and_private(folder: Path, hub: Hub, tiny_en_q8: Path) -> None:
    assert main(["models", "publish", str(folder), REPO]) == 0
    assert hub.private == {REPO: True}
    assert {name for _, name in hub.files} == {"README.md", "LICENSE", tiny_en_q8.name}
    assert hub.files[REPO, tiny_en_q8.name] == tiny_en_q8.read_bytes()
    assert hub.files[REPO, "README.md"].decode() == model_card(read_folder(folder), REPO)


def test_progress_is_shown_where_somebody_watches_only(
    folder: Path, hub: Hub, tiny_en_q8: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(folder, REPO, endpoint=hub.url, show_progress=True)
    assert f"{tiny_en_q8.name}: 100%" in capsys.readouterr().err
    assert main(["models", "publish", str(folder), REPO]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line == "sayso: 1 model files (43 MB) agree with their card and are sent to the Hub."


def test_nothing_goes_into_a_public_repository_unless_told_so(folder: Path, hub: Hub) -> None:
    hub.private[REPO] = False
    with pytest.raises(PublishError, match="everybody can see it"):
        publish(folder, REPO, endpoint=hub.url)
    assert not hub.files
    publish(folder, REPO, private=False, endpoint=hub.url)
    assert (REPO, "README.md") in hub.files


def test_an_upload_that_fails_publishes_nothing_and_can_be_repeated(folder: Path, hub: Hub) -> None:
    hub.upload_status = 403
    with pytest.raises(HubError, match="Nothing is published yet"):
        publish(folder, REPO, endpoint=hub.url)
    assert not hub.files
    hub.upload_status = 200
    publish(folder, REPO, endpoint=hub.url)
    assert len(hub.files) == 3


def test_a_fault_of_the_xet_library_is_told_like_any_other(
    folder: Path, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This Hub knows no Xet, and the library raises an error of its own for that."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", False)
    with pytest.raises(HubError, match="Nothing is published yet"):
        publish(folder, REPO, endpoint=hub.url)


def test_a_folder_that_contradicts_itself_is_not_sent(
    folder: Path, hub: Hub, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "config.json").write_text('{"license": "apache-2.0", "quants": ["Q8_0", "Q4_0"]}')
    assert main(["models", "publish", str(folder), REPO]) == 1
    complaints = capsys.readouterr().err.splitlines()
    assert len(complaints) == 3
    assert "declares Q4_0" in complaints[0]
    assert "More than one licence" in complaints[1]
    assert hub.requests == []
