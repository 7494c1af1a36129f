"""Keys through the RemoteDesktop portal: allowed once, over EI or D-Bus, and a text waits while the user is asked."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dictation import paths
from dictation.desktop.wayland.ei import EiFailed, EmulatedKeyboard
from dictation.desktop.wayland.remote import RemoteKeyboard, portal_offers_keys
from dictation.desktop.wayland.tools import PASTE, RETURN, ToolFailed
from tests.e2e.processes import Processes, listens, until
from tests.e2e.remote_desktop import Eis, RemoteDesktopPortal, open_files

PASTED = [(42, 1), (110, 1), (110, 0), (42, 0)]


def test_keys_reach_the_compositor_in_order_and_are_confirmed() -> None:
    eis = Eis()
    keyboard = EmulatedKeyboard(eis.theirs)
    keyboard.press(*PASTE)
    assert eis.keys == PASTED
    keyboard.press(*RETURN)
    assert eis.keys == [*PASTED, (28, 1), (28, 0)]
    assert (eis.client, eis.pinged, eis.trouble) == ("Sayso", True, [])
    keyboard.close()
    assert eis.wait_ended()


def test_a_paused_keyboard_is_told_and_works_again_when_it_is_resumed() -> None:
    eis = Eis()
    keyboard = EmulatedKeyboard(eis.theirs)
    eis.pause()
    with pytest.raises(EiFailed, match="paused"):
        keyboard.press(*RETURN)
    eis.resume()
    until("the keyboard", lambda: pressed(keyboard))
    assert eis.keys[-2:] == [(28, 1), (28, 0)]
    keyboard.close()


def pressed(keyboard: EmulatedKeyboard) -> bool:
    try:
        keyboard.press(*RETURN)
    except EiFailed:
        return False
    return True


def test_a_compositor_without_a_keyboard_or_that_hangs_up_is_told() -> None:
    mute, _silent = socket.socketpair()
    gone, other = socket.socketpair()
    other.close()
    nonsense, speaker = socket.socketpair()
    speaker.sendall(struct.pack("=QII", 0, 3, 0) * 4)
    for sock in (Eis(offers_keyboard=False).theirs, mute, gone, nonsense):
        with pytest.raises(EiFailed):
            EmulatedKeyboard(sock)
        sock.close()
    eis = Eis()
    keyboard = EmulatedKeyboard(eis.theirs)
    eis.disconnect()
    eis.wait_ended()
    with pytest.raises(EiFailed, match="ended"):
        keyboard.press(*RETURN)
    keyboard.close()


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., RemoteDesktopPortal]]:
    """Starts a portal on a bus of its own."""
    processes = Processes(tmp_path)
    address = f"unix:path={tmp_path}/bus"
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={address}"]
    processes.start("bus", command, {"PATH": "/usr/bin:/bin"})
    until("bus", lambda: listens(tmp_path / "bus"))
    portals: list[RemoteDesktopPortal] = []

    def start_portal(**options: object) -> RemoteDesktopPortal:
        portals.append(RemoteDesktopPortal(address, **options))  # type: ignore[arg-type]
        return portals[-1]

    yield start_portal
    for portal in portals:
        portal.close()
    processes.end_all()


def test_the_user_is_asked_once_and_the_token_is_used_the_next_time(start: Callable[..., RemoteDesktopPortal]) -> None:
    portal = start()
    assert portal_offers_keys()
    keyboard = RemoteKeyboard()
    keyboard.press(PASTE)
    assert portal.eis[0].keys == PASTED
    keyboard.press(RETURN)
    assert len(portal.eis) == 1
    keyboard.close()
    again = RemoteKeyboard()
    again.press(PASTE)
    again.close()
    wished = [portal.asked.get(timeout=1) for _ in range(2)]
    assert [w["types"] for w in wished] == [1, 1]
    assert [w.get("restore_token") for w in wished] == [None, "token 2"]
    assert paths.remote_desktop_file().stat().st_mode & 0o777 == 0o600


def test_while_the_user_is_asked_the_text_waits_and_afterwards_keys_work(
    start: Callable[..., RemoteDesktopPortal],
) -> None:
    decided = threading.Event()
    portal = start(answer=lambda: 0 if decided.wait(20) else 1)
    keyboard = RemoteKeyboard()
    with pytest.raises(ToolFailed, match="Allow it, then insert the text again"):
        keyboard.press(PASTE)
    decided.set()
    keyboard.press(PASTE)
    assert portal.eis[0].keys == PASTED
    keyboard.close()


def test_a_refusal_is_told_and_the_user_can_be_asked_again(start: Callable[..., RemoteDesktopPortal]) -> None:
    answers = [1, 0]
    portal = start(answer=lambda: answers.pop(0))
    keyboard = RemoteKeyboard()
    with pytest.raises(ToolFailed, match="Start was refused"):
        keyboard.press(PASTE)
    keyboard.press(PASTE)
    assert portal.eis[0].keys == PASTED
    keyboard.close()


def test_an_older_portal_gets_its_keys_by_d_bus(start: Callable[..., RemoteDesktopPortal]) -> None:
    portal = start(version=1)
    keyboard = RemoteKeyboard()
    keyboard.press(PASTE)
    assert portal.keys == PASTED
    assert portal.eis == []
    keyboard.close()


def test_a_session_that_the_desktop_ends_is_opened_again_and_nothing_leaks(
    start: Callable[..., RemoteDesktopPortal],
) -> None:
    portal = start()
    keyboard = RemoteKeyboard()
    keyboard.press(PASTE)
    files = open_files()
    for n in range(3):
        portal.eis[n].disconnect()
        with pytest.raises(ToolFailed, match="insert the text again"):
            keyboard.press(PASTE)
        keyboard.press(PASTE)
        assert portal.eis[n + 1].keys == PASTED
    assert open_files() <= files + 3  # the fake keeps its end of each
    keyboard.close()


def test_without_a_portal_it_is_told(start: Callable[..., RemoteDesktopPortal]) -> None:
    assert not portal_offers_keys()
    with pytest.raises(ToolFailed, match="offers no RemoteDesktop"):
        RemoteKeyboard().press(PASTE)
