"""Stand-ins for desktops that can't run here, as documented, and one that remembers what it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dictation.desktop import macos, windows
from dictation.desktop.contract import Binding, Capability, Delivery, How, KeyEvent, Method, Outcome, Target
from dictation.desktop.dummy import DummyClipboard, DummyHotkeys

EDITOR = Target("1", 10, "Editor")
TEXT_EDIT = macos.FrontApp(7, "com.example.editor", "12")
NOTEPAD = windows.Foreground(0x5001C, 7, "Notepad")


@dataclass
class ObedientDesktop:
    """Inserts into a list. The test says which window has the keyboard and which modifiers are down."""

    focus: Target | None = EDITOR
    modifiers: list[frozenset[str]] = field(default_factory=list)  # one answer per question, the last for ever
    tells_target: bool = True
    name: str = "obedient"
    inserted: list[tuple[str, Target | None, How]] = field(default_factory=list)
    taken_back: list[str] = field(default_factory=list)
    still_there: bool = True
    takes: int = 1000  # so many insertions; what comes after them is held

    def __post_init__(self) -> None:
        self.clipboard = DummyClipboard()

    def capabilities(self) -> list[Capability]:
        return []

    def target(self) -> Target | None:
        return self.focus

    def held_modifiers(self) -> frozenset[str]:
        if len(self.modifiers) > 1:
            return self.modifiers.pop(0)
        return self.modifiers[0] if self.modifiers else frozenset()

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008
        if len(self.inserted) == self.takes:
            self.clipboard.write_text(text)
            return Delivery(Outcome.HELD, how.method, "remembered", 1.0, "Another window has the keyboard now.")
        self.inserted.append((text, target, how))
        return Delivery(Outcome.DELIVERED, how.method, "remembered", 1.0)

    def take_back(self, text: str, target: Target) -> Delivery:
        self.taken_back.append(text)
        outcome = Outcome.DELIVERED if self.still_there else Outcome.HELD
        return Delivery(outcome, Method.AUTO, "remembered", 1.0)

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> DummyHotkeys:
        return DummyHotkeys(bindings)

    def close(self) -> None:
        pass


@dataclass
class FakePromise:
    """A clipboard promise: fetched by the window when the paste keys arrive, if it pastes at all."""

    text: str
    clipboard: FakeSystem
    old: str | None
    kept: bool = False

    def wait_taken(self, timeout_s: float) -> bool:
        return self.clipboard.pasted

    def give_back(self, after_s: float) -> None:
        self.clipboard.contents = self.old

    def keep(self) -> None:
        self.kept = True


@dataclass
class FakeSystem:
    """What a Mac and a Windows have in common here: a window that collects text, a clipboard, keys."""

    window: str = ""  # the text in the focused window
    contents: str | None = "old"
    pastes: bool = True
    pasted: bool = False
    promise: FakePromise | None = None

    def promise_text(self, text: str) -> FakePromise:
        self.pasted = False
        self.promise = FakePromise(text, self, self.contents)
        self.contents = text
        return self.promise

    def read_text(self) -> str | None:
        return self.contents

    def write_text(self, text: str, secret: bool = False) -> None:
        self.contents = text

    def _paste(self) -> None:
        if self.pastes:
            self.pasted = True
            self.window += self.contents or ""


@dataclass
class FakeMac(FakeSystem):
    """macOS: Unicode strings of events are cut after 20 UTF-16 units, Command with the key of v pastes, a tap that is
    disabled gets nothing until it is enabled again."""

    front: macos.FrontApp | None = TEXT_EDIT
    role: str = "AXTextArea"
    secure: str | None = None
    allowed: bool = True
    v_key: int | None = 9
    flags: int = 0
    down: set[int] = field(default_factory=set)
    tap: Callable[[int, int, int, bool], bool] | None = None
    tap_enabled: bool = True
    taps: int = 0

    def frontmost(self) -> macos.FrontApp | None:
        return self.front

    def focused_role(self) -> str:
        return self.role

    def secure_input_owner(self) -> str | None:
        return self.secure

    def may_post_events(self) -> bool:
        return self.allowed

    may_listen = may_record = may_post_events

    def key_for(self, character: str) -> int | None:
        return self.v_key if character == "v" else None

    def post_key(self, keycode: int, flags: int) -> None:
        if flags == 0x100000 and keycode == (9 if self.v_key is None else self.v_key):
            self._paste()
        elif keycode == 36:
            self.window += "\n"

    def post_text(self, chunk: str) -> None:
        self.window += chunk.encode("utf-16-le")[:40].decode("utf-16-le")

    def flags_down(self) -> int:
        return self.flags

    def key_is_down(self, key: int) -> bool:
        return key in self.down

    def start_tap(self, on_event: Callable[[int, int, int, bool], bool]) -> FakeMac:
        self.tap, self.tap_enabled = on_event, True
        self.taps += 1
        return self

    def enable(self) -> None:
        self.tap_enabled = True

    def close(self) -> None:
        self.tap_enabled = False

    def on_wake(self, rearm: Callable[[], None]) -> None:
        self.wake = rearm

    def event(self, kind: int, keycode: int, flags: int = 0, repeat: bool = False) -> bool:
        """The person's key, or the system's word about the tap; whether the program is kept from it."""
        (self.down.discard if kind == macos.KEY_UP else self.down.add)(keycode)
        if self.tap is None or not (self.tap_enabled or kind >= macos.TAP_DISABLED_BY_TIMEOUT):
            return False
        return self.tap(kind, keycode, flags, repeat)


@dataclass
class FakeWindows(FakeSystem):
    """Windows: SendInput takes virtual keys and UTF-16 units, and takes nothing for an elevated window."""

    front: windows.Foreground | None = NOTEPAD
    elevated: bool = False
    down: set[int] = field(default_factory=set)
    units: bytes = b""
    hooked: Callable[[int, bool], bool] | None = None
    hooks: int = 1

    def foreground(self) -> windows.Foreground | None:
        return self.front

    def is_elevated(self) -> bool:
        return self.elevated

    def send_input(self, inputs: list[windows.Input]) -> int:
        if self.front is not None and self.front.is_elevated and not self.elevated:
            return 0
        for entry in inputs:
            if entry.unicode:
                self._unit(entry)
            else:
                self._virtual_key(entry)
        return len(inputs)

    def _unit(self, entry: windows.Input) -> None:
        if not entry.up:
            self.units += entry.code.to_bytes(2, "little")
            if not 0xD800 <= entry.code < 0xDC00:
                self.window += self.units.decode("utf-16-le", "surrogatepass")
                self.units = b""

    def _virtual_key(self, entry: windows.Input) -> None:
        (self.down.discard if entry.up else self.down.add)(entry.code)
        if entry == windows.Input(windows.VK_INSERT) and windows.VK_SHIFT in self.down:
            self._paste()
        elif entry == windows.Input(windows.VK_RETURN):
            self.window += "\n"

    def key_is_down(self, key: int) -> bool:
        return key in self.down

    def key_for(self, character: str) -> int | None:
        return ord(character.upper()) if character.isascii() and character.isalnum() else None

    def hook(self, on_key: Callable[[int, bool], bool]) -> FakeWindows:
        self.hooked = on_key
        return self

    def rearm(self) -> None:
        self.hooks += 1

    def close(self) -> None:
        self.hooked = None

    def on_wake(self, rearm: Callable[[], None]) -> None:
        self.wake = rearm

    def key(self, virtual_key: int, up: bool = False) -> bool:
        assert self.hooked is not None
        return self.hooked(virtual_key, up)
