"""Hotkeys on X11: combinations are grabbed, so that the window never sees them; modifiers alone are only watched.

A grab tells the press; its releases are doubtful (auto-repeat sends release and press, and our own typing lifts held
keys), so the release comes from XInput 2's raw events, which name the device and know no repeat. They come on a second
connection, because the server keeps them from the client that holds the grab. Where the server has no XInput 2, a
release counts once no repeat follows it.
"""

from __future__ import annotations

import os
import queue
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from Xlib import XK, X, error
from Xlib.ext import xinput
from Xlib.protocol import rq

from dictation.desktop.contract import Binding, HotkeyError, KeyAction, KeyEvent
from dictation.desktop.keys import MODIFIER_ORDER, Chord, parse
from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.keyboard import Keyboard, keysym_of

REPEAT_GAP_S = 0.04
REMAP_SETTLE_S = 0.1
CALL_TIMEOUT_S = 3.0
GRABBABLE = X.ControlMask | X.ShiftMask | X.Mod1Mask | X.Mod2Mask | X.Mod3Mask | X.Mod4Mask | X.Mod5Mask
SIDES = {
    ("Left", "Ctrl"): "Control_L",
    ("Right", "Ctrl"): "Control_R",
    ("Left", "Alt"): "Alt_L",
    ("Right", "Alt"): "Alt_R",
    ("Left", "Shift"): "Shift_L",
    ("Right", "Shift"): "Shift_R",
    ("Left", "Super"): "Super_L",
    ("Right", "Super"): "Super_R",
}
# python-xlib leaves raw events unparsed
RAW_EVENT = rq.Struct(
    rq.Card16("deviceid"), rq.Card32("time"), rq.Card32("detail"), rq.Card16("sourceid"), rq.Card16("valuators_len")
)


@dataclass
class _Physical:
    """What raw events last said about a key: the device that pressed it, and server times of press and release."""

    source: int = 0
    pressed_ms: int = -1
    released_ms: int = -1


@dataclass
class _Bound:
    """A binding with its place on this keyboard and whether it is down."""

    binding: Binding
    chord: Chord
    keycode: int
    mask: int
    down: bool = False
    told_other: bool = False
    release_due_s: float = 0.0

    def matches(self, keycode: int, state: int) -> bool:
        return keycode == self.keycode and (self.binding.any_modifiers or state == self.mask)


class X11Hotkeys:
    """Bound keys on one X server; events arrive on a thread of their own."""

    def __init__(self, display_name: str | None, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._x = Connection(display_name)
        self._keyboard = Keyboard(self._x)
        self._on_event = on_event
        self._bound: list[_Bound] = []
        self._grabs: set[tuple[int, int]] = set()
        self._watch = Connection(display_name)
        self._physical: dict[int, _Physical] = {}
        self._xtest: set[int] = set()
        self._remapped_s = 0.0
        self._typing_until_s = 0.0
        self.refused: dict[str, str] = {}
        self._raw = self._select_raw()
        self._calls: queue.SimpleQueue[tuple[Callable[[], None], threading.Event]] = queue.SimpleQueue()
        self._wake_read, self._wake_write = os.pipe()
        self._closing = False
        self._rebind(bindings)
        self._thread = threading.Thread(target=self._run, name="x11-hotkeys", daemon=True)
        self._thread.start()

    # any thread

    def bind(self, bindings: list[Binding]) -> None:
        self._call(lambda: self._rebind(bindings))

    def keys_down(self) -> list[int]:
        """Keycodes of bindings that are down now: typing has to lift them, or the grab would swallow it."""
        return [bound.keycode for bound in self._bound if bound.down]

    @property
    def closed(self) -> bool:
        return self._closing

    def ignore_own_typing(self, until_s: float) -> None:
        """Take XTEST keys until then (monotonic) for our own."""
        self._typing_until_s = until_s

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        os.write(self._wake_write, b"x")
        self._thread.join(CALL_TIMEOUT_S)

    def _call(self, function: Callable[[], None]) -> None:
        done = threading.Event()
        self._calls.put((function, done))
        os.write(self._wake_write, b"x")
        done.wait(CALL_TIMEOUT_S)

    # the hotkeys' thread

    def _run(self) -> None:
        while not self._closing:
            timeout_s = self._handle_due()
            if not self._x.display.pending_events() and not self._watch.display.pending_events():
                sources = [self._x.display.fileno(), self._watch.display.fileno(), self._wake_read]
                readable, _, _ = select.select(sources, [], [], timeout_s)
                if self._wake_read in readable:
                    os.read(self._wake_read, 4096)
            for handle in self._arrived():
                handle()
            while not self._calls.empty():
                function, done = self._calls.get()
                function()
                done.set()
        self._x.close()  # the server drops our grabs with the connection
        self._watch.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _arrived(self) -> list[Callable[[], None]]:
        """What both connections hold, in an order that could have happened.

        Each connection keeps its own order. A grabbed press comes right behind the raw press that it is, so that the
        release of another key, seen on the raw connection alone, does not overtake it.
        """
        raw = [event for event in self._watch.events(0) if hasattr(event, "evtype") and hasattr(event.data, "sourceid")]
        grabbed = list(self._x.events(0))
        found: list[Callable[[], None]] = []
        for event in raw:
            found.append(partial(self._handle_raw, event.evtype, event.data))
            if event.evtype == xinput.RawKeyPress:
                key = (X.KeyPress, event.data.detail, event.data.time)
                same = [g for g in grabbed if g.type == X.KeyPress and (g.type, g.detail, g.time) == key]
                found += [partial(self._handle, g) for g in same]
                grabbed = [g for g in grabbed if g not in same]
        return found + [partial(self._handle, g) for g in grabbed]

    def _handle(self, event: Any) -> None:
        if event.type == X.KeyPress:
            self._pressed(event.detail, event.state, event.time)
        elif event.type == X.KeyRelease:
            self._released_in_grab(event.detail)
        elif event.type == X.MappingNotify and event.request != X.MappingPointer:
            self._remapped_s = time.monotonic()

    def _handle_raw(self, kind: int, data: Any) -> None:
        if time.monotonic() < self._typing_until_s and data.sourceid in self._xtest:
            return
        if kind == xinput.RawKeyPress:
            self._physical[data.detail] = _Physical(data.sourceid, data.time)
            for bound in self._bound:
                if bound.chord.is_bare_modifier and bound.keycode == data.detail:
                    self._press(bound)
                elif bound.chord.is_bare_modifier and bound.down:
                    self._other(bound)
        elif kind == xinput.RawButtonPress:
            for bound in self._bound:
                if bound.chord.is_bare_modifier and bound.down:
                    self._other(bound)
        elif kind == xinput.RawKeyRelease:
            physical = self._physical.get(data.detail)
            if physical is None or physical.source != data.sourceid:
                return  # typing lifted the key, the person still holds it
            physical.released_ms = data.time
            for bound in self._bound:
                if bound.down and bound.keycode == data.detail:
                    self._release(bound)

    def _pressed(self, keycode: int, state: int, at_ms: int) -> None:
        """A grabbed key, or any key while one of ours is down and its grab takes them all.

        The two connections may be read in either order, so the raw release may have been seen already.
        """
        locks = self._keyboard.lock_masks()[-1]
        physical = self._physical.get(keycode, _Physical())
        is_over = physical.released_ms >= at_ms
        if is_over and physical.pressed_ms != at_ms:
            return  # the last repeat of a hold that has ended
        for bound in self._bound:
            if not bound.chord.is_bare_modifier and bound.matches(keycode, state & GRABBABLE & ~locks):
                bound.release_due_s = 0.0  # a repeat: the release before it was none
                self._press(bound)
                if is_over:
                    self._release(bound)

    def _released_in_grab(self, keycode: int) -> None:
        if self._raw:
            return
        for bound in self._bound:
            if bound.down and bound.keycode == keycode:
                bound.release_due_s = time.monotonic() + REPEAT_GAP_S

    def _handle_due(self) -> float | None:
        """Do what is due; seconds until the next such moment."""
        now = time.monotonic()
        waits = []
        for bound in self._bound:
            if bound.down and bound.release_due_s:
                if now >= bound.release_due_s:
                    self._release(bound)
                else:
                    waits.append(bound.release_due_s - now)
        if self._remapped_s:
            if now >= self._remapped_s + REMAP_SETTLE_S:
                self._remapped_s = 0.0
                self._rebind(self._bindings)
            else:
                waits.append(self._remapped_s + REMAP_SETTLE_S - now)
        return min(waits) if waits else None

    def _press(self, bound: _Bound) -> None:
        if not bound.down:
            bound.down, bound.told_other = True, False
            self._tell(bound, KeyAction.PRESS)

    def _release(self, bound: _Bound) -> None:
        bound.down, bound.release_due_s = False, 0.0
        self._tell(bound, KeyAction.RELEASE)

    def _other(self, bound: _Bound) -> None:
        if not bound.told_other:
            bound.told_other = True
            self._tell(bound, KeyAction.OTHER)

    def _tell(self, bound: _Bound, kind: KeyAction) -> None:
        self._on_event(KeyEvent(bound.binding.action, kind, time.monotonic()))

    # setting up

    def _select_raw(self) -> bool:
        """Ask for raw key events; False where the server has no XInput 2.1."""
        display = self._watch.display
        info = display.query_extension(xinput.extname)
        if not info:
            return False
        try:
            # by hand: python-xlib announces 2.0, whose clients get no raw events while another program has a grab
            version = xinput.XIQueryVersion(
                display=display.display, opcode=info.major_opcode, major_version=2, minor_version=2
            )
            if (version.major_version, version.minor_version) < (2, 1):
                return False
            devices = display.xinput_query_device(xinput.AllDevices).devices
        except error.XError:
            return False
        self._xtest = {d.deviceid for d in devices if "XTEST" in str(d.name)}
        for kind in (xinput.RawKeyPress, xinput.RawKeyRelease, xinput.RawButtonPress):
            display.ge_add_event_data(info.major_opcode, kind, RAW_EVENT)
        mask = xinput.RawKeyPressMask | xinput.RawKeyReleaseMask | xinput.RawButtonPressMask
        self._watch.root.xinput_select_events([(xinput.AllMasterDevices, mask)])
        display.sync()
        return True

    def _rebind(self, bindings: list[Binding]) -> None:
        self._bindings = bindings
        self._keyboard.reload()
        before = {bound.binding: bound for bound in self._bound}
        self.refused = {}
        bound, wanted = [], {}
        for binding in bindings:
            try:
                place = self._place(binding)
            except HotkeyError as failure:
                self.refused[binding.action] = str(failure)
                continue
            held = before.get(binding)
            if held is not None and held.down:
                place.down, place.keycode = True, held.keycode
            bound.append(place)
            if not place.chord.is_bare_modifier:
                wanted[place.binding.action] = self._grabs_for(place)
        all_wanted = {grab for grabs in wanted.values() for grab in grabs}
        for keycode, mask in self._grabs - all_wanted:
            self._x.root.ungrab_key(keycode, mask)
        kept = self._grabs & all_wanted
        for place in [b for b in bound if b.binding.action in wanted]:
            granted = self._granted(place, wanted[place.binding.action], kept)
            if not granted:
                keys = place.binding.keys
                self.refused[place.binding.action] = (
                    f"{keys} is taken by another program; choose another key in the settings."
                )
                bound.remove(place)
            kept |= granted
        self._grabs = kept
        self._bound = bound
        self._x.display.sync()

    def _place(self, binding: Binding) -> _Bound:
        chord = parse(binding.keys)
        keyboard = self._keyboard
        if chord.side:
            name = next(iter(chord.modifiers))
            keycode = keyboard.keycode(XK.string_to_keysym(SIDES[chord.side, name]))
            mask = 0
        else:
            name = "ISO_Level3_Shift" if chord.key == "AltGr" else chord.key
            keysym = keysym_of(name) if len(name) == 1 else XK.string_to_keysym(name.replace("Space", "space"))
            keycode = keyboard.keycode(keysym) if keysym else 0
            mask = self._mask(chord)
        if not keycode:
            raise HotkeyError(f"This keyboard layout has no key for {binding.keys}; choose another in the settings.")
        return _Bound(binding, chord, keycode, mask)

    def _mask(self, chord: Chord) -> int:
        masks = {
            "Ctrl": X.ControlMask,
            "Shift": X.ShiftMask,
            "Alt": self._keyboard.mask_of(XK.XK_Alt_L) or X.Mod1Mask,
            "Super": self._keyboard.mask_of(XK.XK_Super_L) or X.Mod4Mask,
        }
        return sum(masks[name] for name in chord.modifiers)

    def _grabs_for(self, place: _Bound) -> set[tuple[int, int]]:
        if place.binding.any_modifiers:
            return {(place.keycode, X.AnyModifier)}
        return {(place.keycode, place.mask | lock) for lock in self._keyboard.lock_masks()}

    def _granted(self, place: _Bound, wanted: set[tuple[int, int]], kept: set[tuple[int, int]]) -> set[tuple[int, int]]:
        """What could be grabbed of what is wanted; nothing when the key itself is another program's.

        A grab with any modifiers fails as a whole where somebody has one of them, and every desktop has Alt+Escape or
        Ctrl+Escape; then each combination that is free is grabbed by itself.
        """
        if self._grab(wanted - kept):
            return wanted
        if not place.binding.any_modifiers:
            return set()
        locks = self._keyboard.lock_masks()
        granted: set[tuple[int, int]] = set()
        for combination in self._combinations():
            grabs = {(place.keycode, combination | lock) for lock in locks}
            if self._grab(grabs):
                granted |= grabs
            elif not combination:
                return set()
        return granted

    def _combinations(self) -> list[int]:
        """Every set of modifiers as a mask, none first."""
        masks = [0]
        for name in MODIFIER_ORDER:
            mask = self._mask(Chord(frozenset({name}), "Space"))
            masks += [before | mask for before in masks]
        return masks

    def _grab(self, grabs: set[tuple[int, int]]) -> bool:
        """All of them or none."""
        taken = error.CatchError(error.BadAccess)
        for keycode, mask in grabs:
            self._x.root.grab_key(keycode, mask, False, X.GrabModeAsync, X.GrabModeAsync, onerror=taken)
        self._x.display.sync()
        if taken.get_error() is None:
            return True
        for keycode, mask in grabs:
            self._x.root.ungrab_key(keycode, mask)
        return False
