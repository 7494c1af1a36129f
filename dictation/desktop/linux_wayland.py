"""The Wayland back-end: the clipboard and Shift+Insert through small programs, hotkeys through the desktop's portal.

Wayland has no receipt: a compositor does not say who read the clipboard, so a paste counts as delivered when the keys
were accepted, and its evidence says so. The focused window is known only where the compositor tells (sway, Hyprland).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from functools import cached_property

from dictation.desktop.contract import (
    Binding,
    Capability,
    Delivery,
    Hotkeys,
    How,
    KeyEvent,
    Method,
    Outcome,
    Role,
    Target,
    elapsed_ms,
    forbidden_character,
)
from dictation.desktop.keys import parse
from dictation.desktop.wayland import compositor
from dictation.desktop.wayland.evdev import EvdevHotkeys, NoKeyboards, readable
from dictation.desktop.wayland.portal import PortalHotkeys, PortalMissing, portal_offers_shortcuts
from dictation.desktop.wayland.remote import RemoteKeyboard, portal_offers_keys
from dictation.desktop.wayland.tools import (
    PASTE,
    RETURN,
    ToolFailed,
    Tools,
    WaylandClipboard,
    press_by_wtype,
    press_by_ydotool,
    type_text,
)

# wl-copy must own the selection before the keys arrive, and the window must have read it before it is given back
OWN_TIMEOUT_S = 1.0
OWN_POLL_S = 0.01
GIVE_BACK_AFTER_S = 0.6
DEFAULT_KEYS = "Ctrl+Alt+Space"
ADVICE = "Install wl-clipboard and, where the desktop's portal offers no RemoteDesktop, wtype or ydotool."


class WaylandDesktop:
    """One Wayland session. Calls come from any thread and are taken one at a time."""

    name = "wayland"

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._compositor = compositor.name_of(os.environ)
        self._tools = Tools.installed()
        self.clipboard = WaylandClipboard()
        self._giving_back: threading.Timer | None = None
        self._remote = RemoteKeyboard()

    @cached_property  # the portal may be slow to start: not at the program's own start
    def _ways(self) -> dict[str, Callable[[tuple[int, ...]], None]]:
        """How keys can be pressed here, the best first. Where wtype works it asks nobody; not on GNOME and KDE."""
        ways: dict[str, Callable[[tuple[int, ...]], None]] = {}
        if self._tools.wtype and self._compositor not in ("gnome", "kde"):
            ways["wtype"] = press_by_wtype
        is_sure = "wtype" in ways and self._compositor in ("sway", "hyprland")  # then the portal need not be waited for
        if not is_sure and portal_offers_keys():
            ways["the RemoteDesktop portal"] = self._remote.press
        if self._tools.ydotool:
            ways["ydotool"] = press_by_ydotool
        return ways

    def _press(self, codes: tuple[int, ...]) -> None:
        """Press keys by the first way that works. Raises ToolFailed with what the first one said."""
        failures = []
        for press in self._ways.values():
            try:
                press(codes)
                return
            except ToolFailed as failure:
                failures.append(failure)
        raise failures[0] if failures else ToolFailed(f"No program can press keys here. {ADVICE}")

    @property
    def tells_target(self) -> bool:
        return compositor.tells_focus(self._compositor)

    def capabilities(self) -> list[Capability]:
        hotkeys = "the desktop's GlobalShortcuts portal" if portal_offers_shortcuts() else ""
        if not hotkeys and readable():
            hotkeys = "straight from the keyboard (group input); the window gets the keys too"
        line = compositor.toggle_line(self._compositor, parse(DEFAULT_KEYS))
        return [
            Capability(
                "paste",
                self._tools.wl_copy and bool(self._ways),
                f"wl-clipboard, keys by {next(iter(self._ways), 'nobody')}",
                "" if self._tools.wl_copy and self._ways else ADVICE,
            ),
            Capability("focus", self.tells_target, "whether the window changed while you spoke", ""),
            Capability(
                "hotkeys",
                bool(hotkeys),
                hotkeys or "this desktop offers no GlobalShortcuts portal, and the keyboard may not be read",
                "" if hotkeys else f"Bind a key yourself: {line}",
            ),
        ]

    def target(self) -> Target | None:
        return compositor.focused(self._compositor)

    def held_modifiers(self) -> frozenset[str]:
        return frozenset()  # no client is told which keys are down

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008 - frozen
        started_s = time.monotonic()
        if forbidden_character(text):
            return self._held(text, how.method, started_s, "The text holds a control character.")
        with self._lock:
            now = self.target()
            if self.tells_target and now is None:
                return self._held(text, how.method, started_s, "No window has the keyboard.")
            if target is not None and now is not None and not target.same_place(now):
                return self._held(text, how.method, started_s, "Another window has the keyboard now.")
            try:
                return self._put(text, now, how, started_s)
            except ToolFailed as failure:
                return self._held(text, how.method, started_s, str(failure))

    def _put(self, text: str, target: Target | None, how: How, started_s: float) -> Delivery:
        if how.method is Method.COPY:
            self.clipboard.write_text(text)
            return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", elapsed_ms(started_s))
        method = how.method if how.method is Method.TYPE and self._can_type(text) else Method.PASTE
        if method is Method.TYPE:
            type_text(self._tools, text.replace("\n", " ").replace("\t", " "))
            evidence = "every key was sent"
        else:
            if text:
                self._paste(text, target)
            evidence = "the keys were sent; Wayland does not tell whether the window read the text"
        if how.submit:
            self._press(RETURN)
        return Delivery(Outcome.DELIVERED, method, evidence, elapsed_ms(started_s))

    def _can_type(self, text: str) -> bool:
        """Key by key goes by wtype, and plain English by ydotool; the portal only presses keys by their place."""
        return "wtype" in self._ways or ("ydotool" in self._ways and text.isascii())

    def _paste(self, text: str, target: Target | None) -> None:
        """Both selections get the text where the window is unknown: terminals paste the primary one."""
        if self._giving_back is not None:
            self._giving_back.join()
        selections = [True] if target and target.role is Role.TERMINAL else [False] if target else [False, True]
        saved = {primary: self.clipboard.save(primary) for primary in selections}
        for primary in selections:
            self.clipboard.write_text(text, secret=True, primary=primary)
            self._wait_until_owned(text, primary)
        self._press(PASTE)
        self._giving_back = threading.Timer(GIVE_BACK_AFTER_S, self._give_back, [saved])
        self._giving_back.daemon = True
        self._giving_back.start()

    def _wait_until_owned(self, text: str, primary: bool) -> None:
        deadline = time.monotonic() + OWN_TIMEOUT_S
        while self.clipboard.read_text(primary) != text:
            if time.monotonic() > deadline:
                raise ToolFailed("The clipboard did not take the text.")
            time.sleep(OWN_POLL_S)

    def _give_back(self, saved: dict[bool, tuple[str, bytes] | None]) -> None:
        for primary, contents in saved.items():
            try:
                self.clipboard.restore(contents, primary)
            except ToolFailed:
                return  # the text stays on the clipboard, which harms nobody

    def _held(self, text: str, method: Method, started_s: float, reason: str) -> Delivery:
        try:
            self.clipboard.write_text(text)
        except ToolFailed as failure:
            return Delivery(Outcome.HELD, method, "in the history only", elapsed_ms(started_s), f"{reason} {failure}")
        return Delivery(Outcome.HELD, method, "on the clipboard", elapsed_ms(started_s), reason)

    def take_back(self, text: str, target: Target) -> Delivery:
        reason = "On Wayland nobody can see whether the text is still there; use the program's own undo."
        return Delivery(Outcome.HELD, Method.AUTO, "nothing was changed", 0.0, reason)

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        try:
            return PortalHotkeys(bindings, on_event)
        except PortalMissing:
            pass
        try:
            return EvdevHotkeys(bindings, on_event)
        except NoKeyboards:
            lines = {
                binding.action: "This desktop lets no program listen for keys. Bind one yourself: "
                + compositor.toggle_line(self._compositor, parse(binding.keys))
                for binding in bindings
            }
            return NoHotkeys(lines)

    def close(self) -> None:
        if self._giving_back is not None:
            self._giving_back.join()
        self._remote.close()


class NoHotkeys:
    """Where no way to listen for keys exists; `refused` says what to do instead."""

    def __init__(self, refused: dict[str, str]) -> None:
        self.refused = refused

    def bind(self, bindings: list[Binding]) -> None:
        pass

    def close(self) -> None:
        pass
