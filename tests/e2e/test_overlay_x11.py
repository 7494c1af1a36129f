"""The overlay on a real desktop: it is there, and the window that people type into keeps the keyboard."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from Xlib import X

from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until
from tests.e2e.programs import Xterm

pytestmark = pytest.mark.desktop


def test_the_window_in_use_keeps_the_keyboard_in_every_state(desktop: VirtualDesktop) -> None:
    terminal = desktop.reuse(Xterm)
    active, focus = desktop.active(), desktop.x.get_input_focus().focus.id
    command = [sys.executable, "-m", "tests.e2e.overlay_states"]
    environment = desktop.environment | {"QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shown:
        assert shown.stdin is not None and shown.stdout is not None
        typed = ""
        for _ in range(3):
            print(file=shown.stdin, flush=True)
            overlay = desktop.x.create_resource_object("window", int(shown.stdout.readline()))

            def is_mapped(window: object = overlay) -> bool:
                return window.get_attributes().map_state == X.IsViewable  # type: ignore[attr-defined]

            until("the overlay", is_mapped)
            assert desktop.active() == active and desktop.x.get_input_focus().focus.id == focus
            desktop.person.tap("a")
            typed += "a"
            assert terminal.text(typed) == typed
        print(file=shown.stdin, flush=True)
        assert shown.stdout.readline().strip() == "0"
        assert desktop.active() == active
        shown.stdin.close()
