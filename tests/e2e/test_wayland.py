"""Words arrive on Wayland: a headless sway with foot and Chromium."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation.desktop import linux_wayland
from dictation.desktop.contract import How, Method, Outcome, Role, forbidden_character
from dictation.desktop.wayland.tools import press_by_wtype
from dictation.typist import Typist
from tests.e2e.fuzz_texts import fuzz_texts
from tests.e2e.hard_strings import HARD_STRINGS
from tests.e2e.processes import until
from tests.e2e.remote_desktop import RemoteDesktopPortal
from tests.e2e.wayland import Foot, WaylandChromium, WaylandDesktop

pytestmark = pytest.mark.desktop
LONG = " | ".join(string[:70] for string in HARD_STRINGS.values())


@pytest.fixture(scope="module")
def sway() -> Iterator[WaylandDesktop]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-"))
    with WaylandDesktop(folder) as desktop:
        yield desktop
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def wayland(sway: WaylandDesktop, monkeypatch: pytest.MonkeyPatch) -> Iterator[linux_wayland.WaylandDesktop]:
    for key in ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "SWAYSOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_CURRENT_DESKTOP"):
        monkeypatch.setenv(key, sway.environment[key])
    back_end = linux_wayland.WaylandDesktop()
    yield back_end
    back_end.close()


def test_chromium_and_foot_get_every_character_and_the_clipboard_comes_back(
    sway: WaylandDesktop, wayland: linux_wayland.WaylandDesktop
) -> None:
    browser = sway.open(WaylandChromium)  # first: started after other virtual keyboards it has crashed
    sway.write_clipboard("what the user had copied")
    for kind, role in ((None, Role.UNKNOWN), (Foot, Role.TERMINAL)):
        window = sway.open(kind) if kind else browser
        target = wayland.target()
        assert target is not None
        assert target.role is role
        delivery = wayland.insert(LONG, target)
        assert (delivery.outcome, delivery.method) == (Outcome.DELIVERED, Method.PASTE)
        assert window.text(LONG) == LONG
        until("the old clipboard", lambda: sway.read_clipboard() == "what the user had copied")

    window.clear()
    delivery = wayland.insert("Grüße – 你好, 👍", wayland.target(), How(Method.TYPE))
    assert delivery.outcome is Outcome.DELIVERED
    assert window.text("Grüße – 你好, 👍") == "Grüße – 你好, 👍"

    typist = Typist(wayland)
    window.clear()
    target = typist.target()
    sway.workspace("empty")
    assert wayland.target() is None
    delivery = typist.deliver("nowhere to go", target)
    assert (delivery.outcome, delivery.reason) == (Outcome.HELD, "No window has the keyboard.")
    assert sway.read_clipboard() == "nowhere to go"
    sway.focus(browser.window)
    assert typist.deliver("meant for the terminal", target).outcome is Outcome.HELD
    assert sway.read_clipboard() == "meant for the terminal"
    assert browser.text() == LONG
    assert window.text() == ""


def test_where_only_the_portal_presses_keys_words_arrive_in_a_window_that_nobody_names(
    sway: WaylandDesktop, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """GNOME's way: no window told, no virtual keyboard, keys by RemoteDesktop and EI, here handed on to sway."""
    for key in ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.setenv(key, sway.environment[key])
    monkeypatch.delenv("SWAYSOCK", raising=False)
    monkeypatch.setenv("XDG_CURRENT_DESKTOP", "ubuntu:GNOME")
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    portal = RemoteDesktopPortal(sway.environment["DBUS_SESSION_BUS_ADDRESS"], relay=press_by_wtype)
    window = sway.open(Foot, "foot-portal")
    back_end = linux_wayland.WaylandDesktop()
    assert not back_end.tells_target
    assert "RemoteDesktop" in next(c.detail for c in back_end.capabilities() if c.name == "paste")
    for how in (How(), How(Method.TYPE)):
        window.clear()
        delivery = back_end.insert(LONG, None, how)
        assert (delivery.outcome, delivery.method) == (Outcome.DELIVERED, Method.PASTE)
        assert window.text(LONG) == LONG
    assert portal.eis[0].trouble == []
    back_end.close()
    portal.close()


def test_any_text_is_typed_literally_or_refused_with_a_reason(
    sway: WaylandDesktop, wayland: linux_wayland.WaylandDesktop
) -> None:
    window = sway.open(Foot, "foot-fuzz")
    for text in fuzz_texts(30, seed=3):
        window.clear()
        delivery = wayland.insert(text, wayland.target(), How(Method.TYPE))
        if forbidden_character(text):
            assert delivery.outcome is Outcome.HELD
            assert window.peek() == ""
        else:
            assert delivery.outcome is Outcome.DELIVERED
            expected = text.replace("\n", " ").replace("\t", " ")
            assert window.text(expected) == expected, ascii(expected)


def test_doctor_says_how_to_bind_a_key_where_nobody_may_listen(
    wayland: linux_wayland.WaylandDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(linux_wayland, "readable", lambda: False)  # of the keyboards of whoever runs the tests
    hotkeys = next(c for c in wayland.capabilities() if c.name == "hotkeys")
    assert not hotkeys.works
    assert "bindsym --no-repeat Ctrl+Mod1+space exec sayso start" in hotkeys.advice
