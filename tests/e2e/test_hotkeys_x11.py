"""Hotkeys on X11: one press and one release per hold, whatever the keyboard does, and nothing of it in the window."""

from __future__ import annotations

import queue
from collections.abc import Iterator

import pytest
from Xlib import XK, X, display

from dictation.desktop.contract import Binding, Hotkeys, KeyAction, KeyEvent, Outcome
from dictation.desktop.linux_x11 import X11Desktop
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until
from tests.e2e.programs import Chromium, Program, Xterm

pytestmark = pytest.mark.desktop
REPEATING_S = 1.0  # the server repeats a key after 660 ms, 25 times a second
END = Binding("end", "F7")


class Watched:
    """Bindings and what came of them. `so_far` ends with a key of its own: all before it has then been told."""

    def __init__(self, desktop: VirtualDesktop, x11: X11Desktop) -> None:
        self._desktop = desktop
        self._x11 = x11
        self._events: queue.SimpleQueue[KeyEvent] = queue.SimpleQueue()
        self.keys: Hotkeys | None = None

    def bind(self, *bindings: Binding) -> Hotkeys:
        self.keys = self._x11.hotkeys([*bindings, END], self._events.put)
        return self.keys

    def next(self) -> tuple[str, KeyAction]:
        event = self._events.get(timeout=5)
        return event.action, event.kind

    def so_far(self) -> list[tuple[str, KeyAction]]:
        self._desktop.person.tap("F7", held_s=0.01)  # nobody presses a key twice within one tick of the clock
        events = [self.next()]
        while events[-1] != ("end", KeyAction.RELEASE):
            events.append(self.next())
        assert [event for event in events if event[0] == "end"] == once("end")
        return [event for event in events if event[0] != "end"]


@pytest.fixture
def watched(desktop: VirtualDesktop, x11: X11Desktop) -> Iterator[Watched]:
    watched = Watched(desktop, x11)
    yield watched
    if watched.keys is not None:
        watched.keys.close()


def once(action: str) -> list[tuple[str, KeyAction]]:
    return [(action, KeyAction.PRESS), (action, KeyAction.RELEASE)]


@pytest.mark.parametrize("kind", [Chromium, Xterm], ids=lambda kind: kind.kind)
@pytest.mark.parametrize("locks", [(), ("Caps_Lock",), ("Num_Lock",), ("Caps_Lock", "Num_Lock")], ids="+".join)
def test_a_hold_is_one_press_and_one_release_and_the_window_sees_nothing(
    desktop: VirtualDesktop, watched: Watched, kind: type[Program], locks: tuple[str, ...]
) -> None:
    window = desktop.reuse(kind)
    watched.bind(Binding("dictate", "F9"))
    for lock in locks:
        desktop.person.tap(lock)
    desktop.person.tap("F9", held_s=REPEATING_S)
    assert watched.so_far() == once("dictate")
    for lock in locks:
        desktop.person.tap(lock)
    if isinstance(window, Chromium):
        locks_seen = [line for line in window.seen() if "Lock" not in line]
        assert locks_seen == []
    else:
        assert window.text() == ""


@pytest.mark.parametrize("keys", ["F9", "Pause", "Right Ctrl", "Ctrl+Alt+Space", "Super+z"])
def test_a_tap_of_30_ms_counts(desktop: VirtualDesktop, watched: Watched, keys: str) -> None:
    watched.bind(Binding("dictate", keys))
    desktop.person.tap(*PRESSED_FOR[keys], held_s=0.03)
    assert watched.so_far() == once("dictate")


PRESSED_FOR = {
    "F9": ("F9",),
    "Pause": ("Pause",),
    "Right Ctrl": ("Control_R",),
    "Ctrl+Alt+Space": ("Control_L", "Alt_L", "space"),
    "Super+z": ("Super_L", "z"),
}


def test_letting_go_of_the_modifiers_first_ends_the_hold_at_the_key(desktop: VirtualDesktop, watched: Watched) -> None:
    window = desktop.reuse(Xterm)
    watched.bind(Binding("dictate", "Ctrl+Alt+Space"))
    desktop.person.press("Control_L", "Alt_L", "space")
    assert watched.next() == ("dictate", KeyAction.PRESS)
    desktop.person.release("Control_L", "Alt_L")
    desktop.person.tap("F9", held_s=REPEATING_S)
    assert watched.so_far() == []
    desktop.person.release("space")
    assert watched.next() == ("dictate", KeyAction.RELEASE)
    assert window.text() == ""


def test_two_bindings_are_told_apart_even_at_once(desktop: VirtualDesktop, watched: Watched) -> None:
    watched.bind(Binding("dictate", "F9"), Binding("cancel", "Escape", any_modifiers=True))
    desktop.person.press("F9")
    desktop.person.tap("Escape")
    desktop.person.release("F9")
    seen = watched.so_far()
    assert sorted(seen) == sorted(once("dictate") + once("cancel"))
    assert seen[:2] == [("dictate", KeyAction.PRESS), ("cancel", KeyAction.PRESS)]
    desktop.person.press("Control_R")
    desktop.person.tap("Escape")
    desktop.person.release("Control_R")
    assert watched.so_far() == once("cancel")


def test_a_combination_of_another_program_is_refused_with_a_reason(desktop: VirtualDesktop, watched: Watched) -> None:
    keys = watched.bind(Binding("dictate", "Alt+F4"), Binding("again", "F10"))
    assert keys.refused == {"dictate": "Alt+F4 is taken by another program; choose another key in the settings."}
    desktop.person.tap("F10")
    assert watched.so_far() == once("again")


def test_a_key_that_the_layout_lacks_is_refused_with_a_reason(desktop: VirtualDesktop, watched: Watched) -> None:
    desktop.layout("ru")
    assert "no key for Ctrl+v" in watched.bind(Binding("dictate", "Ctrl+v")).refused["dictate"]


def test_a_modifier_alone_leaves_its_shortcuts_alone(desktop: VirtualDesktop, watched: Watched) -> None:
    window = desktop.reuse(Xterm)
    watched.bind(Binding("dictate", "Right Ctrl"))
    desktop.person.tap("Control_R", "c")
    pressed, released = once("dictate")
    assert watched.so_far() == [pressed, ("dictate", KeyAction.OTHER), released]
    assert window.text("\x03") == "\x03"


def test_bindings_follow_the_layout(desktop: VirtualDesktop, watched: Watched) -> None:
    watched.bind(Binding("dictate", "Ctrl+Alt+a"))
    desktop.person.tap("Control_L", "Alt_L", "a")
    assert watched.so_far() == once("dictate")
    desktop.layout("fr")

    def pressed_on_fr() -> list[tuple[str, KeyAction]]:
        desktop.person.tap("Control_L", "Alt_L", "a", held_s=0.01)
        return watched.so_far()

    assert until("the new layout's key", pressed_on_fr) == once("dictate")


def test_bindings_can_be_replaced_while_a_key_is_down(desktop: VirtualDesktop, watched: Watched) -> None:
    dictate = Binding("dictate", "F9")
    keys = watched.bind(dictate)
    desktop.person.press("F9")
    assert watched.next() == ("dictate", KeyAction.PRESS)
    keys.bind([dictate, Binding("cancel", "F8"), END])
    desktop.person.tap("F8")
    assert [watched.next(), watched.next()] == once("cancel")
    keys.bind([dictate, END])
    desktop.person.release("F9")
    desktop.person.tap("F8")
    assert watched.so_far() == [("dictate", KeyAction.RELEASE)]


@pytest.mark.parametrize("kind", [Chromium, Xterm], ids=lambda kind: kind.kind)
def test_text_arrives_while_the_hotkey_is_held_for_the_next_take(
    desktop: VirtualDesktop, x11: X11Desktop, watched: Watched, kind: type[Program]
) -> None:
    window = desktop.reuse(kind)
    watched.bind(Binding("dictate", "F9"))
    with desktop.person.holding("F9"):
        assert watched.next() == ("dictate", KeyAction.PRESS)
        assert x11.insert("the take before", x11.target()).outcome is Outcome.DELIVERED
        assert window.text("the take before") == "the take before"
    assert watched.next() == ("dictate", KeyAction.RELEASE)
    assert watched.so_far() == []
    assert window.text() == "the take before"


def test_our_own_typing_is_not_taken_for_the_persons(
    desktop: VirtualDesktop, x11: X11Desktop, watched: Watched
) -> None:
    desktop.reuse(Xterm)
    watched.bind(Binding("dictate", "Left Shift"))
    assert x11.insert("Pasted With Shift", x11.target()).outcome is Outcome.DELIVERED
    assert watched.so_far() == []
    desktop.person.tap("Shift_L")
    assert watched.so_far() == once("dictate")


@pytest.mark.parametrize("taken", ["Alt", "Control"])
def test_escape_cancels_though_the_desktop_has_a_combination_with_it(
    desktop: VirtualDesktop, watched: Watched, taken: str
) -> None:
    """GNOME has Alt+Escape, KDE and Xfce have Ctrl+Escape: a grab of Escape with any modifiers fails there."""
    other = display.Display(desktop.environment["DISPLAY"])
    escape = other.keysym_to_keycode(XK.XK_Escape)
    other.screen().root.grab_key(
        escape, X.Mod1Mask if taken == "Alt" else X.ControlMask, False, X.GrabModeAsync, X.GrabModeAsync
    )
    other.sync()
    keys = watched.bind(Binding("cancel", "Escape", any_modifiers=True))
    assert keys.refused == {}
    for held in ((), ("Shift_L",), ("Caps_Lock",), ("Shift_L", "Control_L" if taken == "Alt" else "Alt_L")):
        with desktop.person.holding(*held):
            desktop.person.tap("Escape", held_s=0.01)
        assert watched.so_far() == once("cancel"), held
    desktop.person.tap("Caps_Lock")
    with desktop.person.holding("Alt_L" if taken == "Alt" else "Control_L"):
        desktop.person.tap("Escape", held_s=0.01)
    assert watched.so_far() == []
    other.close()


def test_escape_of_another_program_is_refused(desktop: VirtualDesktop, watched: Watched) -> None:
    other = display.Display(desktop.environment["DISPLAY"])
    escape = other.keysym_to_keycode(XK.XK_Escape)
    other.screen().root.grab_key(escape, 0, False, X.GrabModeAsync, X.GrabModeAsync)
    other.sync()
    refused = watched.bind(Binding("cancel", "Escape", any_modifiers=True)).refused
    assert "taken by another program" in refused["cancel"]
    other.close()
