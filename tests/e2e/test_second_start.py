"""A second start of the app, beside a Sayso that can't show itself."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until

pytestmark = pytest.mark.desktop


def test_beside_a_sayso_that_is_stuck_it_says_so_in_a_window_and_ends(desktop: VirtualDesktop, tmp_path: Path) -> None:
    environment = desktop.environment | {"SAYSO_HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    path = tmp_path / "run" / "control"
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as stuck:
        stuck.bind(str(path))
        stuck.listen(1)
        second = desktop.processes.start("second", [sys.executable, "-m", "ui.main"], environment)
        windows = until("its window", lambda: [w for w, pid in desktop.windows().items() if pid == second.pid])
        desktop.focus(windows[0])
        desktop.person.tap("Return")
        assert second.wait(20) == 1
    assert "Traceback" not in desktop.processes.log("second")
