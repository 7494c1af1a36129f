"""Hotkeys through the real xdg-desktop-portal on a private bus."""

from __future__ import annotations

import os
import queue
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation.desktop.contract import Binding, KeyAction, KeyEvent
from dictation.desktop.wayland.portal import PortalHotkeys, PortalMissing, portal_offers_shortcuts
from tests.e2e.processes import Processes, listens, until
from tests.e2e.wayland import ShortcutsBackend, start_portal

DICTATE = Binding("dictate", "Ctrl+Alt+Space")


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Processes]]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-"))
    processes = Processes(folder)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={folder}/bus")
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address=unix:path={folder}/bus"]
    processes.start("bus", command, dict(os.environ))
    until("bus", lambda: listens(folder / "bus"))
    yield folder, processes
    processes.end_all()


def start_backend(bus: tuple[Path, Processes], refused: tuple[str, ...] = ()) -> ShortcutsBackend:
    folder, processes = bus
    backend = ShortcutsBackend(f"unix:path={folder}/bus", refused)
    start_portal(folder, processes, dict(os.environ) | {"XDG_CURRENT_DESKTOP": "sayso"})
    until("the portal's shortcuts", portal_offers_shortcuts)
    return backend


def test_press_and_release_arrive_once_each(bus: tuple[Path, Processes]) -> None:
    backend = start_backend(bus)
    events: queue.SimpleQueue[KeyEvent] = queue.SimpleQueue()
    keys = PortalHotkeys([DICTATE, Binding("again", "Super+F10")], events.put)
    assert keys.refused == {}
    assert list(backend.sessions.values()) == [{"dictate": "CTRL+ALT+space", "again": "LOGO+F10"}]
    for _ in range(3):  # some desktops repeat
        backend.press("dictate")
    backend.release("dictate")
    backend.press("again")
    seen = [events.get(timeout=5) for _ in range(3)]
    assert [(e.action, e.kind) for e in seen] == [
        ("dictate", KeyAction.PRESS),
        ("dictate", KeyAction.RELEASE),
        ("again", KeyAction.PRESS),
    ]
    keys.close()
    until("the session's end", lambda: not backend.sessions)
    backend.close()


def test_what_the_desktop_does_not_grant_is_said(bus: tuple[Path, Processes]) -> None:
    backend = start_backend(bus, refused=("again",))
    keys = PortalHotkeys([DICTATE, Binding("again", "F10"), Binding("hold", "Right Ctrl")], lambda event: None)
    assert sorted(keys.refused) == ["again", "hold"]
    assert "does not take a modifier alone" in keys.refused["hold"]
    keys.close()
    backend.close()


def test_new_bindings_replace_the_old_ones(bus: tuple[Path, Processes]) -> None:
    backend = start_backend(bus)
    keys = PortalHotkeys([DICTATE], lambda event: None)
    keys.bind([Binding("cancel", "F9")])
    until("one session with the new key", lambda: list(backend.sessions.values()) == [{"cancel": "F9"}])
    keys.close()
    backend.close()


def test_a_desktop_without_the_portal_is_told_apart(bus: tuple[Path, Processes]) -> None:
    assert not portal_offers_shortcuts()
    with pytest.raises(PortalMissing):
        PortalHotkeys([DICTATE], lambda event: None)
