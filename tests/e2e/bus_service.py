"""A service on a D-Bus for tests: a name, and a thread that answers what is asked of it."""

from __future__ import annotations

import socket
import threading
from typing import Any

from jeepney import MessageType, message_bus
from jeepney.io.blocking import open_dbus_connection


class BusService:
    """A subclass says its `NAME` and handles calls."""

    NAME: str

    def __init__(self, address: str) -> None:
        self._bus = open_dbus_connection(address, enable_fds=True)
        self._bus.send_and_get_reply(message_bus.RequestName(self.NAME))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                message = self._bus.receive()
            except (OSError, EOFError):
                return
            if message.header.message_type is MessageType.method_call:
                self._handle(message)

    def _handle(self, message: Any) -> None:
        """Send the answer to a call."""
        raise NotImplementedError

    def close(self) -> None:
        self._bus.sock.shutdown(socket.SHUT_RDWR)  # ends the thread
