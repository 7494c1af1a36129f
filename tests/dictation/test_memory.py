"""When memory is short, from what the system says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from dictation import memory

PRESSED = "some avg10=12.50 avg60=3.10 avg300=0.90 total=1234\nfull avg10=4.00 avg60=1.00 avg300=0.30 total=99\n"


def test_stalls_are_read_as_linux_writes_them_and_are_none_where_it_does_not(tmp_path: Path) -> None:
    file = tmp_path / "memory"
    assert memory.stalled_percent(file) == 0.0
    file.write_text(PRESSED)
    assert memory.stalled_percent(file) == 12.5
    file.write_text("nonsense")
    assert memory.stalled_percent(file) == 0.0


@pytest.mark.parametrize(
    "available_percent, stalled, short",
    [(50, 90.0, False), (15, 0.0, False), (15, 12.5, True), (3, 0.0, True)],
)
def test_memory_is_short_when_little_is_left_or_others_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, available_percent: int, stalled: float, short: bool
) -> None:
    system = SimpleNamespace(total=100, available=available_percent)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: system)
    monkeypatch.setattr(memory, "stalled_percent", lambda: stalled)
    assert memory.is_short() is short


def test_of_what_is_free_a_reserve_stays_for_everything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    system = SimpleNamespace(available=memory.RESERVE_BYTES + 5)
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: system)
    assert memory.free_bytes() == 5
    system.available = 7
    assert memory.free_bytes() == 0
