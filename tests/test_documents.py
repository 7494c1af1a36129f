"""What the documents say about tests is true: each test that the tables of cases name exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(("page", "at_least"), [("docs/typing.md", 40), ("docs/hard-cases.md", 30)])
def test_a_table_of_cases_names_tests_that_exist(page: str, at_least: int) -> None:
    """A name may be cut short by “…”; the name of a file stands for all in it."""
    named = set(re.findall(r"(?:`|::|…)(test_\w+)(…?)", (ROOT / page).read_text("utf-8")))
    files = list((ROOT / "tests").rglob("test_*.py"))
    written = {name for path in files for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))}
    written |= {path.stem for path in files}
    missing = [name for name, cut in named if not any(w.startswith(name) if cut else w == name for w in written)]
    assert len(named) > at_least
    assert missing == []
