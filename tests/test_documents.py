"""What the documents say about tests is true: each test that docs/typing.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_map_of_cases_names_tests_that_exist() -> None:
    page = (ROOT / "docs/typing.md").read_text("utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    files = list((ROOT / "tests").rglob("test_*.py"))
    written = {name for path in files for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))}
    assert len(named) > 40
    assert named <= written | {path.stem for path in files}


@pytest.mark.parametrize("name", ["typing.md", "hard-cases.md"])
def test_every_test_that_a_table_of_cases_names_is_there(name: str) -> None:
    named = re.findall(r"\b(test_\w+)(?!\w|\.py)(…?)", (ROOT / "docs" / name).read_text("utf-8"))
    there = {
        word
        for path in (ROOT / "tests").rglob("test_*.py")
        for word in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
    missing = [word for word, cut in named if not (any(t.startswith(word) for t in there) if cut else word in there)]
    assert [word for word in missing if not list((ROOT / "tests").rglob(f"{word}.py"))] == []
