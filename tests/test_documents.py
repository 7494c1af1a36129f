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
