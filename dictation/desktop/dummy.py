"""The back-end of a computer without a desktop: nothing can be inserted, so everything is held, here in memory."""

from __future__ import annotations

from collections.abc import Callable

from dictation.desktop.contract import (
    Binding,
    Capability,
    Delivery,
    Hotkeys,
    How,
    KeyEvent,
    Method,
    Outcome,
    Target,
)

ADVICE = "Start Sayso from a terminal of your desktop, not over SSH."


class DummyClipboard:
    """A clipboard that nobody else sees."""

    def __init__(self) -> None:
        self._text: str | None = None

    def read_text(self) -> str | None:
        return self._text

    def write_text(self, text: str, secret: bool = False) -> None:
        self._text = text


class DummyHotkeys:
    def __init__(self, bindings: list[Binding]) -> None:
        self.bind(bindings)

    @property
    def refused(self) -> dict[str, str]:
        return self._refused

    def bind(self, bindings: list[Binding]) -> None:
        self._refused = {binding.action: f"There is no desktop here. {ADVICE}" for binding in bindings}

    def close(self) -> None:
        pass


class DummyDesktop:
    """No desktop at all."""

    name = "dummy"
    tells_target = False

    def __init__(self) -> None:
        self.clipboard = DummyClipboard()

    def capabilities(self) -> list[Capability]:
        return [Capability("desktop", False, "there is none here", ADVICE)]

    def target(self) -> Target | None:
        return None

    def held_modifiers(self) -> frozenset[str]:
        return frozenset()

    def insert(self, text: str, target: Target | None, how: How = How()) -> Delivery:  # noqa: B008 - frozen
        self.clipboard.write_text(text)
        return Delivery(Outcome.HELD, how.method, "kept in memory", 0.0, f"There is no desktop to type into. {ADVICE}")

    def take_back(self, text: str, target: Target) -> Delivery:
        return Delivery(Outcome.HELD, Method.AUTO, "nothing was changed", 0.0, "There is no desktop here.")

    def hotkeys(self, bindings: list[Binding], on_event: Callable[[KeyEvent], None]) -> Hotkeys:
        return DummyHotkeys(bindings)

    def close(self) -> None:
        pass
