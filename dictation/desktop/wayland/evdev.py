"""Hotkeys straight from the keyboards (evdev), for desktops that let no program listen. Needs the group input.

Only listens: no device is ever grabbed, so a fault here can't make a keyboard dead, but the window gets the keys too;
combinations that would type are refused. Keyboards may come and go. Events are the kernel's `struct input_event`
(linux/input.h).
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import os
import select
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dictation.desktop.contract import Binding, HotkeyError, KeyEvent
from dictation.desktop.key_stream import WATCH_S, StreamHotkeys
from dictation.desktop.keys import Chord

DEVICES, ABOUT = Path("/dev/input"), Path("/sys/class/input")
EVENT = struct.Struct("llHHi")  # seconds, microseconds, type, code, value
EV_SYN, EV_KEY, EV_REL, EV_ABS, EV_MSC = 0, 1, 2, 3, 4
SYN_DROPPED = 3
UP, DOWN, REPEAT = 0, 1, 2
FIRST_BUTTON, LAST_BUTTON = 0x110, 0x117  # of mice
KEY_BYTES = 96  # a bit per key code
READ_BYTES = 64 * EVENT.size
# virtual keyboards of programs that type, ours among them
NOT_A_PERSON = ("ydotool", "wtype", "sayso")

MODIFIERS = {29: "Ctrl", 97: "Ctrl", 42: "Shift", 54: "Shift", 56: "Alt", 100: "Alt", 125: "Super", 126: "Super"}
SIDES = {("Left", "Ctrl"): 29, ("Right", "Ctrl"): 97, ("Left", "Shift"): 42, ("Right", "Shift"): 54}
SIDES |= {("Left", "Alt"): 56, ("Right", "Alt"): 100, ("Left", "Super"): 125, ("Right", "Super"): 126}
KEYS = {"Escape": 1, "BackSpace": 14, "Tab": 15, "Return": 28, "Space": 57, "Caps_Lock": 58, "Scroll_Lock": 70}
KEYS |= {"Print": 99, "Home": 102, "Up": 103, "Page_Up": 104, "Left": 105, "Right": 106, "End": 107, "Down": 108}
KEYS |= {"Page_Down": 109, "Insert": 110, "Delete": 111, "Pause": 119, "Menu": 127, "AltGr": 100, "Fn": 464}
KEYS |= {f"F{n}": 58 + n for n in range(1, 11)} | {"F11": 87, "F12": 88} | {f"F{n}": 170 + n for n in range(13, 25)}
TYPING = ("BackSpace", "Tab", "Return", "Space", "Delete")

IN_ATTRIB, IN_MOVED_TO, IN_CREATE = 0x4, 0x80, 0x100


class NoKeyboards(Exception):
    """No keyboard may be read."""


def key_of(chord: Chord, keys: str) -> frozenset[int]:
    """The key of a combination. Raises HotkeyError for one that would type, or that lies elsewhere on other layouts."""
    if chord.side:
        return frozenset({SIDES[chord.side, next(iter(chord.modifiers))]})
    advice = "Choose a function key, Right Ctrl, or a combination like Ctrl+Alt+Space."
    code = KEYS.get(chord.key)
    if code is None:
        raise HotkeyError(f"Where {keys} lies is up to the layout, which can't be seen here. {advice}")
    if chord.key in TYPING and not chord.modifiers & {"Ctrl", "Alt", "Super"}:
        raise HotkeyError(f"Sayso can only listen here, so {keys} would be typed as well. {advice}")
    return frozenset({code})


@dataclass
class _Device:
    handle: int
    down: set[int] = field(default_factory=set)

    def is_down(self, key: int) -> bool:
        """By the kernel's word, else by what the events said."""
        bits = bytearray(KEY_BYTES)
        try:
            fcntl.ioctl(self.handle, _ioctl(2, 0x18, KEY_BYTES), bits)  # EVIOCGKEY
        except OSError:
            return key in self.down
        return bool(bits[key // 8] >> key % 8 & 1)


class EvdevHotkeys(StreamHotkeys):
    """Bindings over all keyboards that may be read; events arrive on a thread of its own."""

    def __init__(
        self,
        bindings: list[Binding],
        on_event: Callable[[KeyEvent], None],
        devices: Path = DEVICES,
        about: Path = ABOUT,
    ) -> None:
        """devices, about: where the kernel has the devices and what it says about them. Raises NoKeyboards."""
        self._folder, self._about = devices, about
        self._devices: dict[str, _Device] = {}
        self._watch = _Inotify(devices)
        self._find()
        if not self._devices:
            self._watch.close()
            raise NoKeyboards
        super().__init__(bindings, on_event)
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="evdev-hotkeys", daemon=True)
        self._thread.start()

    def _place(self, chord: Chord, keys: str) -> frozenset[int]:
        return key_of(chord, keys)

    def _stop_listening(self) -> None:
        os.write(self._wake_write, b"x")
        self._thread.join(WATCH_S)

    def _run(self) -> None:
        while not self._closed:
            handles = {device.handle: name for name, device in self._devices.items()}
            waiting = [*handles, self._watch.handle, self._wake_read]
            ready, _, _ = select.select(waiting, [], [], WATCH_S if self._stream.any_down else None)
            for handle in ready:
                if handle in handles:
                    self._read(handles[handle])
            if self._watch.handle in ready:
                self._watch.drain()
                self._find()
            if not ready:
                self._stream.release_lost(self._is_down)
        for device in self._devices.values():
            os.close(device.handle)
        self._watch.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _find(self) -> None:
        """Open the keyboards and mice that are new."""
        for path in sorted(self._folder.glob("event*")):
            if path.name in self._devices or not is_keyboard(self._about / path.name / "device"):
                continue
            try:
                handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:  # not ours to read, or gone again
                continue
            for kind in (EV_REL, EV_ABS, EV_MSC):  # movements would wake us a thousand times a second
                _mute(handle, kind)
            self._devices[path.name] = _Device(handle)

    def _read(self, name: str) -> None:
        device = self._devices[name]
        try:
            data = os.read(device.handle, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:  # ENODEV: unplugged
            data = b""
        if not data:
            os.close(device.handle)
            del self._devices[name]
            self._stream.release_lost(self._is_down)
            return
        for _, _, kind, code, value in EVENT.iter_unpack(data[: len(data) // EVENT.size * EVENT.size]):
            if kind == EV_KEY:
                self._key(device, code, value)
            elif (kind, code) == (EV_SYN, SYN_DROPPED):  # the kernel's buffer ran over
                device.down = {key for key in device.down if device.is_down(key)}
                self._stream.release_lost(self._is_down)

    def _key(self, device: _Device, code: int, value: int) -> None:
        (device.down.discard if value == UP else device.down.add)(code)
        if FIRST_BUTTON <= code <= LAST_BUTTON:
            if value == DOWN:
                self._stream.button()
            return
        held = {key for one in self._devices.values() for key in one.down}
        modifiers = frozenset(MODIFIERS[key] for key in held if key in MODIFIERS and key != code)
        self._stream.feed(code, value != UP, modifiers, value == REPEAT)

    def _is_down(self, key: int) -> bool:
        return any(device.is_down(key) for device in self._devices.values())


def is_keyboard(about: Path) -> bool:
    """Whether a device has keys or mouse buttons, and a person at it. about: its folder in /sys/class/input."""
    try:
        name = (about / "name").read_text("utf-8", "replace").lower()
        words = (about / "capabilities" / "key").read_text("ascii").split()
        bits = 0
        for word in words:  # the kernel's longs in hexadecimal, the highest first
            bits = bits << 8 * struct.calcsize("l") | int(word, 16)
    except (OSError, ValueError):
        return False
    keys = sum(1 << code for code in (*MODIFIERS, *KEYS.values(), FIRST_BUTTON))
    return bool(bits & keys) and not any(program in name for program in NOT_A_PERSON)


def readable(devices: Path = DEVICES, about: Path = ABOUT) -> bool:
    """Whether some keyboard may be read."""
    found = devices.glob("event*")
    return any(os.access(path, os.R_OK) and is_keyboard(about / path.name / "device") for path in found)


def _ioctl(direction: int, number: int, size: int) -> int:
    return direction << 30 | size << 16 | ord("E") << 8 | number


def _mute(handle: int, kind: int) -> None:
    """Ask the kernel for no events of a kind (EVIOCSMASK); older ones send them all the same."""
    none = array.array("B", bytes(KEY_BYTES))
    mask = struct.pack("IIQ", kind, len(none), none.buffer_info()[0])
    with contextlib.suppress(OSError):
        fcntl.ioctl(handle, _ioctl(1, 0x93, len(mask)), mask)


class _Inotify:
    """Tells when something appears in a folder, or when who may read it changes. Without a folder: NoKeyboards."""

    def __init__(self, folder: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.handle < 0:
            raise NoKeyboards
        if libc.inotify_add_watch(self.handle, os.fsencode(folder), IN_CREATE | IN_MOVED_TO | IN_ATTRIB) < 0:
            self.close()
            raise NoKeyboards

    def drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while os.read(self.handle, 4096):
                pass

    def close(self) -> None:
        os.close(self.handle)
