"""The Windows back-end: paste by delayed rendering, which tells when it was fetched, or Unicode input; hotkeys.

Never run on a real Windows (docs/platforms.md). What the system does is behind `WindowsCalls`, so that everything here
is tested with a fake that models the documented behaviour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from dictation.desktop.contract import Binding, Capability, HotkeyError, Hotkeys, KeyEvent, Role, Target
from dictation.desktop.keys import Chord
from dictation.desktop.native import NativeCalls, NativeDesktop, NativeHotkeys

VK_SHIFT, VK_CONTROL, VK_MENU, VK_RETURN, VK_INSERT = 0x10, 0x11, 0x12, 0x0D, 0x2D
VK_LCONTROL, VK_RMENU = 0xA2, 0xA5
KEYEVENTF_KEYUP, KEYEVENTF_UNICODE = 2, 4
MODIFIER_KEYS = {"Shift": (0xA0, 0xA1), "Ctrl": (0xA2, 0xA3), "Alt": (0xA4, 0xA5), "Super": (0x5B, 0x5C)}
KEYS = {"Space": 0x20, "Escape": 0x1B, "Return": 0x0D, "Tab": 0x09, "BackSpace": 0x08, "Delete": 0x2E, "Insert": 0x2D}
KEYS |= {"Home": 0x24, "End": 0x23, "Page_Up": 0x21, "Page_Down": 0x22, "Left": 0x25, "Up": 0x26, "Right": 0x27}
KEYS |= {"Down": 0x28, "Pause": 0x13, "Print": 0x2C, "Menu": 0x5D, "Scroll_Lock": 0x91, "Caps_Lock": 0x14}
KEYS |= {f"F{n}": 0x6F + n for n in range(1, 25)}
TERMINALS = frozenset(
    ("cascadia_hosting_window_class", "consolewindowclass", "mintty", "putty", "org.wezfurlong.wezterm")
)


@dataclass(frozen=True)
class Input:
    """One entry of SendInput's array: a virtual key, or a UTF-16 unit when `unicode`."""

    code: int
    up: bool = False
    unicode: bool = False


@dataclass(frozen=True)
class Foreground:
    window: int
    pid: int
    window_class: str
    is_password: bool = False
    is_elevated: bool = False


class WindowsCalls(NativeCalls, Protocol):
    """All that is asked of Windows."""

    def foreground(self) -> Foreground | None: ...
    def is_elevated(self) -> bool:
        """Whether Sayso itself runs as administrator."""
        ...

    def send_input(self, inputs: list[Input]) -> int:
        """How many were taken."""
        ...

    def hook(self, on_key: Callable[[int, bool], bool]) -> Hook:
        """A low-level keyboard hook on its own thread; the callback gets virtual key and up, and says whether to keep
        the key from the program. Injected events are left out. Raises OSError where Windows allows none."""
        ...


class Hook(Protocol):
    def rearm(self) -> None: ...
    def close(self) -> None: ...


class WindowsDesktop(NativeDesktop):
    """Windows' desktop through `WindowsCalls`."""

    name = "windows"
    system = "Windows"

    def __init__(self, calls: WindowsCalls) -> None:
        super().__init__(calls)
        self._calls = calls

    def capabilities(self) -> list[Capability]:
        elevated = self._calls.is_elevated()
        return [
            Capability("paste", True, "delayed rendering tells when the text was fetched"),
            Capability("typing", True, "SendInput with Unicode"),
            Capability(
                "programs run as administrator",
                elevated,
                "can be typed into" if elevated else "Windows keeps other programs' keys from them",
                "" if elevated else "Text for them is held on the clipboard; paste it yourself.",
            ),
        ]

    def target(self) -> Target | None:
        window = self._calls.foreground()
        if window is None:
            return None
        role = Role.TERMINAL if window.window_class.lower() in TERMINALS else Role.UNKNOWN
        role = Role.PASSWORD if window.is_password else role
        return Target(f"0x{window.window:x}", window.pid, window.window_class, role)

    def held_modifiers(self) -> frozenset[str]:
        down = {n for n, keys in MODIFIER_KEYS.items() if any(self._calls.key_is_down(key) for key in keys)}
        return frozenset(down)

    def _refusal(self) -> str:
        window = self._calls.foreground()
        if window is not None and window.is_elevated and not self._calls.is_elevated():
            return "The window belongs to a program that runs as administrator, which Windows lets nobody type into."
        return ""

    def _clear_keyboard(self) -> None:
        """Release what is held, and never press it again. Alt alone would open a menu, so Ctrl goes in between."""
        down = [key for keys in MODIFIER_KEYS.values() for key in keys if self._calls.key_is_down(key)]
        inputs = [Input(key, up=True) for key in down]
        if any(key in (*MODIFIER_KEYS["Alt"], *MODIFIER_KEYS["Super"]) for key in down):
            inputs = tap(VK_LCONTROL) + inputs
        if inputs:
            self._calls.send_input(inputs)

    def _press_paste(self) -> bool:
        chord = [Input(VK_SHIFT), Input(VK_INSERT), Input(VK_INSERT, up=True), Input(VK_SHIFT, up=True)]
        return self._calls.send_input(chord) == len(chord)

    def _press_return(self, shift: bool = False) -> None:
        self._calls.send_input([Input(VK_SHIFT)] * shift + tap(VK_RETURN) + [Input(VK_SHIFT, up=True)] * shift)

    def _type_line(self, line: str) -> str:
        inputs = [entry for character in line for entry in unicode_inputs(character)]
        taken = self._calls.send_input(inputs) if inputs else 0
        return f"Windows took only {taken} of {len(inputs)} key events." if taken < len(inputs) else ""

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        return WindowsHotkeys(self._calls, bindings, on_event)


def tap(virtual_key: int) -> list[Input]:
    return [Input(virtual_key), Input(virtual_key, up=True)]


def unicode_inputs(character: str) -> list[Input]:
    """Down and up of each UTF-16 unit; both halves of a surrogate pair go down before they go up."""
    data = character.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    return [Input(unit, unicode=True) for unit in units] + [Input(unit, up=True, unicode=True) for unit in units]


class WindowsHotkeys(NativeHotkeys):
    """Bindings on a low-level hook. AltGr is a Ctrl and an Alt to Windows; it is never taken for Ctrl+Alt here."""

    def __init__(self, calls: WindowsCalls, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> None:
        self._calls = calls
        self._held: set[int] = set()  # keys that are down, by the hook
        super().__init__(calls, bindings, on_event)

    def _listen(self) -> None:
        try:
            self._hook: Hook = self._calls.hook(self._key)
        except OSError as error:
            raise HotkeyError(f"Windows does not let Sayso listen for keys ({error}).") from error

    def _listen_again(self) -> None:
        """Windows drops a hook that was slow once, and after unlock: set it again and forget what was down."""
        self._held.clear()
        self._stream.release_lost(lambda key: False)
        self._hook.rearm()

    def _stop_listening(self) -> None:
        self._hook.close()

    def _own_key(self, chord: Chord) -> int | None:
        if chord.side:
            left, right = MODIFIER_KEYS[next(iter(chord.modifiers))]
            return left if chord.side == "Left" else right
        if chord.key == "AltGr":
            return VK_RMENU
        return KEYS.get(chord.key)

    def _key(self, virtual_key: int, up: bool) -> bool:
        """One key of the hook, on its thread; True keeps it from the program."""
        repeat = not up and virtual_key in self._held
        (self._held.discard if up else self._held.add)(virtual_key)
        return self._feed(virtual_key, not up, self._modifiers(), repeat)

    def _modifiers(self) -> frozenset[str]:
        """Modifiers that are down. Windows presses a left Ctrl along with AltGr; both together are AltGr."""
        held = set(self._held)
        if VK_RMENU in held and VK_LCONTROL in held:
            held -= {VK_RMENU, VK_LCONTROL}
            return frozenset({"AltGr", *(n for n, keys in MODIFIER_KEYS.items() if held.intersection(keys))})
        return frozenset(n for n, keys in MODIFIER_KEYS.items() if held.intersection(keys))
