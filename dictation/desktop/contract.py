"""What every desktop back-end offers: where the words go, how they get there, and which keys start them.

The typist (`dictation/typist.py`) decides; a back-end only does what it is told and says honestly what it saw.
Calls block for a short, bounded time. Any thread may call, except on macOS (main thread only).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class Role(StrEnum):
    """What kind of field has the keyboard, as far as the desktop tells."""

    UNKNOWN = "unknown"
    TEXT = "text"
    TERMINAL = "terminal"
    PASSWORD = "password"


class Method(StrEnum):
    """How text is put into a window."""

    AUTO = "auto"
    PASTE = "paste"
    TYPE = "keys"
    COPY = "copy"


class Outcome(StrEnum):
    """What became of the text."""

    DELIVERED = "delivered"  # the window took it; `Delivery.evidence` says how we know
    HELD = "held"  # not inserted, or nobody can know: it waits on the clipboard
    COPIED = "copied"  # the user wanted it on the clipboard only


@dataclass(frozen=True)
class Target:
    """The window that has the keyboard. Two targets are the same place when window, process and class agree."""

    window: str
    pid: int = 0
    window_class: str = ""
    role: Role = Role.UNKNOWN
    # where the text cursor is on screen (left, top, width, height in device pixels); None where nobody tells
    caret: tuple[int, int, int, int] | None = field(default=None, compare=False)

    def same_place(self, other: Target | None) -> bool:
        return other is not None and (self.window, self.pid, self.window_class) == (
            other.window,
            other.pid,
            other.window_class,
        )


@dataclass(frozen=True)
class How:
    """Manner of one insertion.

    `typed_newline` is pressed for a line break when text is typed instead of pasted; "" means a space, because Return
    may send a message or run a command. `typed_tab`: press Tab for a tab (it may move the focus), else a space.
    """

    method: Method = Method.AUTO
    typed_newline: str = ""  # "", "Return" or "Shift+Return"
    typed_tab: bool = False
    submit: bool = False  # press Return afterwards; only when the user asked for it
    linger_s: float = 0.2  # how long the text stays on the clipboard after the window's last look at it


@dataclass(frozen=True)
class Delivery:
    """What one insertion came to. `reason` is a sentence for the user, empty when there is nothing to tell."""

    outcome: Outcome
    method: Method
    evidence: str
    elapsed_ms: float
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome is not Outcome.HELD


@dataclass(frozen=True)
class Capability:
    """One line of `sayso doctor`: what it is, whether it works here, what was seen, the one thing to do about it."""

    name: str
    works: bool
    detail: str
    advice: str = ""


@dataclass(frozen=True)
class Binding:
    """A key combination with a name of ours, for example `Binding("dictate", "Ctrl+Alt+Space")`.

    Modifiers: Ctrl, Alt, Shift, Super. A modifier alone ("Right Ctrl") is a binding too. Key names are those of X11's
    keysyms where they have no common name (F9, Pause, Menu, a, Space). `any_modifiers`: whatever else is held down,
    for a key that has to work while another hotkey is held.
    """

    action: str
    keys: str
    any_modifiers: bool = False


class KeyAction(StrEnum):
    PRESS = "press"
    RELEASE = "release"
    OTHER = "other"  # some other key or button while a bound modifier is down; never says which


@dataclass(frozen=True)
class KeyEvent:
    """One press or release of a binding: exactly one of each per hold. `at_s` is on `time.monotonic`'s clock."""

    action: str
    kind: KeyAction
    at_s: float


class HotkeyError(Exception):
    """A combination that can't be bound; `str()` is the sentence for the user."""


class Hotkeys(Protocol):
    """Bound keys; events arrive on the back-end's own thread until `close()`."""

    @property
    def refused(self) -> dict[str, str]:
        """Action -> why its keys could not be bound (another program has them, no such key)."""
        ...

    def bind(self, bindings: list[Binding]) -> None:
        """Replace the bindings; those that stay are not interrupted."""
        ...

    def close(self) -> None: ...


class Clipboard(Protocol):
    def read_text(self) -> str | None:
        """The clipboard's text; None when it holds none or its owner doesn't answer."""
        ...

    def write_text(self, text: str, secret: bool = False) -> None:
        """Put text on the clipboard; `secret` asks clipboard managers not to record it."""
        ...


class Desktop(Protocol):
    """One desktop back-end."""

    @property
    def name(self) -> str: ...

    @property
    def clipboard(self) -> Clipboard: ...

    @property
    def tells_target(self) -> bool:
        """Whether `target()` knows: without it nobody can notice that the focus has moved."""
        ...

    def capabilities(self) -> list[Capability]: ...

    def target(self) -> Target | None:
        """The window that has the keyboard now; None when there is none or the desktop does not tell."""
        ...

    def held_modifiers(self) -> frozenset[str]:
        """Modifiers (Ctrl, Shift, Alt, Super, AltGr) that are down now; empty where the desktop does not tell."""
        ...

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:
        """Put `text` into `target` (None: whatever has the keyboard, on desktops that don't tell).

        Never raises for a window that misbehaves: the outcome is then HELD and the text is on the clipboard.
        Text with control characters other than tab and newline is refused (HELD, with a reason).
        """
        ...

    def take_back(self, text: str, target: Target) -> Delivery:
        """Remove `text` again if it can be verified to stand right before the caret; else HELD with a reason."""
        ...

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys: ...

    def close(self) -> None: ...


def elapsed_ms(started_s: float) -> float:
    """Since then, on `time.monotonic`'s clock, as deliveries tell it."""
    return round((time.monotonic() - started_s) * 1000, 1)


def forbidden_character(text: str) -> str:
    """The first character that no back-end inserts (controls except tab and newline, lone surrogates), or ""."""
    for character in text:
        code = ord(character)
        if (code < 0x20 and character not in "\t\n") or 0x7F <= code <= 0x9F or 0xD800 <= code <= 0xDFFF:
            return character
    return ""
