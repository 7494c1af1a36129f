"""The log never says what was said."""

import logging

import pytest

from dictation import log


@pytest.fixture
def written(tmp_path):
    root = logging.getLogger(log.ROOT)
    before = root.level, root.propagate, root.handlers[:]
    root.handlers.clear()
    assert log.start(file=tmp_path / "sayso.log") == ""
    yield tmp_path / "sayso.log"
    for handler in root.handlers:
        handler.close()
    root.level, root.propagate, root.handlers[:] = before


def test_a_fault_is_logged_with_its_places_and_types_but_without_its_message(written):
    def rewrite(said):
        try:
            return int(said)
        except ValueError as error:
            raise RuntimeError(f"no number: {said}") from error

    said = " ".join(["fellow", "Americans"])
    try:
        rewrite(said)
    except RuntimeError as error:
        log.get("worker").exception("a take failed: %s", type(error).__name__)
    text = written.read_text("utf-8")
    assert said not in text
    assert "a take failed: RuntimeError" in text and "ValueError" in text and "in rewrite" in text
