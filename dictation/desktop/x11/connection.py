"""One X11 connection as all parts of the back-end use it: errors collected, atoms cached, server time.

A connection belongs to one thread at a time; every part of the back-end opens its own.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import Any

from Xlib import X, Xatom, display, error
from Xlib.ext import res

TICK_S = 0.05


class NoDisplay(Exception):
    """There is no X server to talk to; the message says which was tried."""


class Connection:
    """A python-xlib display with the few things that it lacks."""

    def __init__(self, display_name: str | None = None) -> None:
        try:
            self.display = display.Display(display_name)
        except (error.DisplayError, OSError) as failure:
            raise NoDisplay(f"No X11 display answers ({failure}).") from failure
        # windows vanish while they are being asked: such errors are no news
        self.display.set_error_handler(lambda *_: None)
        self.root = self.display.screen().root
        self._atoms: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self.window = self.root.create_window(-10, -10, 1, 1, 0, X.CopyFromParent, event_mask=X.PropertyChangeMask)
        self._client_mask = ~self.display.display.info.resource_id_mask
        self._waiting: list[Any] = []

    def atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self.display.intern_atom(name)
        return self._atoms[name]

    def atom_name(self, atom: int) -> str:
        if atom not in self._names:
            try:
                self._names[atom] = self.display.get_atom_name(atom)
            except error.XError:
                return ""
        return self._names[atom]

    def client_of(self, window_id: int) -> int:
        """The client that made a window: its resource base. Two windows of one client share it."""
        return int(window_id & self._client_mask & 0xFFFFFFFF)

    def pid_of(self, window_id: int) -> int:
        """Process of the client that owns a window, by the X-Resource extension; 0 if the server can't tell."""
        try:
            reply = self.display.res_query_client_ids([{"client": window_id, "mask": res.LocalClientPIDMask}])
        except (error.XError, AttributeError):
            return 0
        for entry in reply.ids:
            if entry.spec.mask & res.LocalClientPIDMask and entry.value:
                return int(entry.value[0])
        return 0

    def events(self, timeout_s: float) -> list[Any]:
        """Events that have come, waiting at most `timeout_s` for the first."""
        if not self.display.pending_events() and timeout_s > 0:
            select.select([self.display.fileno()], [], [], timeout_s)
        return [self.display.next_event() for _ in range(self.display.pending_events())]

    def wait_for(self, wanted: Callable[[Any], bool], timeout_s: float) -> Any:
        """The first event that is `wanted`, or None in time. Others are kept for `kept_events`."""
        deadline = time.monotonic() + timeout_s
        while True:
            left = deadline - time.monotonic()
            found = None
            for event in self.events(min(max(left, 0), TICK_S)):
                if found is None and wanted(event):
                    found = event
                else:
                    self._waiting.append(event)
            if found is not None or left <= 0:
                return found

    def kept_events(self) -> list[Any]:
        kept, self._waiting = self._waiting, []
        return kept

    def forget_events(self) -> None:
        """Drop what has come and nobody waits for: the server tells every client of each change of the keyboard."""
        self.events(0)
        self._waiting.clear()

    def server_time(self) -> int:
        """The server's clock in ms, by an empty append to a property of ours. 0 if it doesn't answer."""
        self.window.change_property(self.atom("SAYSO_TIME"), Xatom.STRING, 8, b"", X.PropModeAppend)
        stamp = self.wait_for(
            lambda e: e.type == X.PropertyNotify and e.window == self.window and e.atom == self.atom("SAYSO_TIME"), 1.0
        )
        return int(stamp.time) if stamp is not None else 0

    def close(self) -> None:
        self.display.close()
