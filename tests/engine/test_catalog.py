"""The catalogue agrees with itself and recommends what fits."""

import subprocess
import sys

import pytest

from engine import catalog, hub
from engine.errors import NotOnHubError


def test_every_file_says_its_quant_in_its_name_and_carries_a_hash() -> None:
    files = [(m, f) for m in catalog.models() for f in m.files if m.repo.startswith("handy-computer/")]
    assert len(files) > 70
    for model, file in files:
        assert hub.quant_in_name(file.filename) == file.quant
        assert file.sha256 is not None and len(file.sha256) == 64
        assert model.memory(file.quant).value > file.size_bytes


def test_finds_by_name_and_by_repository() -> None:
    base = catalog.find("base")
    assert base is not None and base.languages == 99 and base.translate
    assert catalog.find(base.repo) is base
    assert catalog.find("antflydb/whisper-large-v3-turbo") is not None
    assert catalog.find("nonsense") is None


def test_published_error_is_marked_as_published() -> None:
    base = catalog.find("base")
    assert base is not None
    fact = base.word_error_percent("Q8_0")
    assert fact is not None and fact.source == "published" and fact.value == 5.12


@pytest.mark.parametrize("free_gb, quant", [(16, "Q8_0"), (1.9, "Q8_0"), (1.3, "Q6_K"), (0.1, "Q4_K_M")])
def test_recommends_the_best_that_fits(free_gb: float, quant: str) -> None:
    turbo = catalog.find("large-v3-turbo")
    assert turbo is not None
    advice = catalog.recommend(turbo, int(free_gb * 1e9))
    assert advice.quant == quant
    assert advice.reason.startswith(quant)


def test_says_which_quants_there_are() -> None:
    base = catalog.find("base")
    assert base is not None
    with pytest.raises(NotOnHubError, match="comes as Q4_K_M"):
        base.file("Q3_K")


def test_the_catalogue_loads_nothing_heavy() -> None:
    code = "import sys, engine.catalog as c; c.models(); print({'numpy', 'mlx', 'httpx2', 'gguf'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
