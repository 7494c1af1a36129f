"""Asking an X11 window whether it has read everything that was sent to it so far.

A window that answers has read all keys before the question, since its events stay in order. Toolkits of today answer
`_NET_WM_PING`. Programs made with Xt (xterm, above all) do not; but all of them answer to Editres, the protocol of a
program that shows their widgets: told by a message that a command lies in a selection, they fetch it, and that fetch is
the answer. It is refused then, so that there is no command.

https://specifications.freedesktop.org/wm-spec/latest (_NET_WM_PING); libXmu, EditresP.h and EditresCom.c.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from Xlib import X
from Xlib.protocol import event as xevent

from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.windows import Windows

TIMEOUT_S = 2.0
NO_ANSWER_SETTLE_S = 0.15
EDITRES_FIRST_S = 0.5  # a window that has not answered by then knows nothing of it
EDITRES_VERSION = 5


class Pinger:
    """Asks one window. Use as a context manager."""

    def __init__(self, connection: Connection, window_id: int) -> None:
        self._x = connection
        self._window = connection.display.create_resource_object("window", window_id)
        self._ask: Callable[[float], bool] | None
        self._ask = self._ping if Windows(connection).answers_ping(window_id) else self._editres_first
        self._count = 0

    def __enter__(self) -> Pinger:
        # GTK, VTE and Chromium answer by the substructure mask, Qt by the structure mask
        self._x.root.change_attributes(event_mask=X.SubstructureNotifyMask | X.StructureNotifyMask)
        return self

    def __exit__(self, *_: object) -> None:
        self._x.root.change_attributes(event_mask=X.NoEventMask)
        self._x.display.sync()
        self._x.forget_events()

    @property
    def can_tell(self) -> bool:
        """Whether the window answers at all, as far as is known."""
        return self._ask is not None

    def read_everything(self, timeout_s: float = TIMEOUT_S) -> bool:
        """Wait until the window has read all events so far; False if it can't tell or doesn't answer."""
        self._x.display.sync()
        if self._ask is None:
            time.sleep(min(NO_ANSWER_SETTLE_S, timeout_s))  # nothing can be awaited
            return False
        self._count += 1
        answered = self._ask(timeout_s)
        self._x.kept_events()
        return answered

    # ------------------------------------------------------------------------------------------------- _NET_WM_PING

    def _ping(self, timeout_s: float) -> bool:
        # Qt takes the time of a ping as that of an event, so it must be a true one
        self._send(
            "WM_PROTOCOLS", [self._x.atom("_NET_WM_PING"), self._x.server_time(), self._window.id, self._count, 0]
        )
        return self._x.wait_for(self._is_pong, timeout_s) is not None

    def _is_pong(self, event: Any) -> bool:
        return bool(
            event.type == X.ClientMessage
            and event.client_type == self._x.atom("WM_PROTOCOLS")
            and event.data[0] == 32
            and event.data[1][0] == self._x.atom("_NET_WM_PING")
            and event.data[1][2] == self._window.id
            and event.data[1][3] == self._count
            and event.window == self._x.root
        )

    # ------------------------------------------------------------------------------------------------------ Editres

    def _editres_first(self, timeout_s: float) -> bool:
        """Does it answer at all?"""
        answers = self._editres(min(EDITRES_FIRST_S, timeout_s))
        self._ask = self._editres if answers else None
        return answers

    def _editres(self, timeout_s: float) -> bool:
        command = self._x.atom(f"SAYSO_READ_{self._count % 2}")  # a late fetch of the last one is no answer to this one
        self._x.window.set_selection_owner(command, X.CurrentTime)
        self._send("Editres", [X.CurrentTime, command, self._count, EDITRES_VERSION, 0])
        request = self._x.wait_for(
            lambda event: event.type == X.SelectionRequest and event.selection == command, timeout_s
        )
        if request is None:
            return False
        refusal = xevent.SelectionNotify(
            time=request.time, requestor=request.requestor, selection=command, target=request.target, property=X.NONE
        )
        request.requestor.send_event(refusal)
        self._x.display.flush()
        return True

    def _send(self, client_type: str, data: list[int]) -> None:
        message = xevent.ClientMessage(window=self._window, client_type=self._x.atom(client_type), data=(32, data))
        self._window.send_event(message)
        self._x.display.flush()
