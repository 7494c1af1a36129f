"""A desktop's RemoteDesktop portal with an EIS behind it, on a private bus: what GNOME and KDE do, as documented.

The client was run against the real libeis 1.3.901 once (docs/platforms.md); Debian 12 has none to test with.
"""

from __future__ import annotations

import os
import queue
import socket
import struct
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from jeepney import DBusAddress, HeaderFields, new_error, new_method_return, new_signal

from tests.e2e.bus_service import BusService

HEADER = struct.Struct("=QII")
SEAT, DEVICE, KEYBOARD, CONNECTION, POINTER = (0xFF00000000000000 + n for n in range(5))


class Eis:
    """One client's connection, from the compositor's side. `keys` holds what was pressed, `trouble` what was wrong."""

    def __init__(
        self, offers_keyboard: bool = True, relay: Callable[[tuple[int, ...]], None] = lambda codes: None
    ) -> None:
        """relay: gets the keys of each chord, for a compositor that is to have them."""
        self._relay = relay
        self.theirs, self._sock = socket.socketpair()
        self.keys: list[tuple[int, int]] = []
        self.trouble: list[str] = []
        self.client = ""
        self._offers = offers_keyboard
        self._serial = 100
        self._emulating = False
        self._chord_at = 0
        self._pending: list[tuple[int, int]] = []
        self._ended = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        self._send(0, 0, "I", 1)
        buffer = b""
        try:
            while data := self._sock.recv(65536):
                buffer += data
                while len(buffer) >= 16:
                    target, length, opcode = HEADER.unpack_from(buffer)
                    if len(buffer) < length:
                        break
                    message, buffer = buffer[16:length], buffer[length:]
                    self._handle(target, opcode, message)
        except OSError:
            pass
        self._ended.set()

    def _send(self, target: int, opcode: int, layout: str = "", *values: Any, files: tuple[int, ...] = ()) -> None:
        data = b""
        for kind, value in zip(layout, values, strict=True):
            data += _text(value) if kind == "s" else struct.pack("=" + kind, value)
        # in two pieces, as sockets may hand anything over
        whole = HEADER.pack(target, 16 + len(data), opcode) + data
        socket.send_fds(self._sock, [whole[:9]], files)
        self._sock.sendall(whole[9:])

    def _handle(self, target: int, opcode: int, message: bytes) -> None:
        match target, opcode:
            case 0, 2:
                self._check("a sender", message == struct.pack("=I", 2))
            case 0, 3:
                self.client = message[4:].rstrip(b"\0").decode()
            case 0, 1:
                self._send(0, 1, "sI", "ei_callback", 1)
                self._send(0, 2, "IQI", self._next(), CONNECTION, 1)
                self._send(CONNECTION, 3, "QI", 0xFF000000000000AA, 1)  # a ping
                self._send(CONNECTION, 1, "QI", SEAT, 1)
                self._send(SEAT, 1, "s", "seat0")
                self._send(SEAT, 2, "Qs", 1, "ei_pointer")
                if self._offers:
                    self._send(SEAT, 2, "Qs", 4, "ei_keyboard")
                self._send(SEAT, 3)
            case 0xFF000000000000AA, 0:
                self.pinged = True
            case n, 1 if n == SEAT:
                self._check("binds the keyboard alone", message == struct.pack("=Q", 4))
                self.add_device()
            case n, 1 if n == CONNECTION:
                self._sock.close()
            case n, 0 if n == CONNECTION:
                (callback,) = struct.unpack("=Q", message[:8])
                self._send(callback, 0, "Q", 0)
            case n, 1 if n == DEVICE:
                self._check("a fresh serial", struct.unpack("=II", message)[0] == self._serial)
                self._emulating = True
            case n, 2 if n == DEVICE:
                self._emulating = False
                self._relay(tuple(code for code, down in self.keys[self._chord_at :] if down))
                self._chord_at = len(self.keys)
            case n, 3 if n == DEVICE:
                self.keys += self._pending
                self._pending = []
            case n, 1 if n == KEYBOARD:
                self._check("emulates", self._emulating)
                code, down = struct.unpack("=II", message)
                self._pending.append((code, down))

    def add_device(self) -> None:
        self._send(SEAT, 4, "QI", DEVICE, 1)
        self._send(DEVICE, 1, "s", "virtual keyboard")
        self._send(DEVICE, 5, "QsI", KEYBOARD, "ei_keyboard", 1)
        with tempfile.TemporaryFile() as keymap:
            keymap.write(b"xkb_keymap { };")
            keymap.flush()
            self._send(KEYBOARD, 1, "II", 1, 15, files=(keymap.fileno(),))
        self._send(DEVICE, 6)
        self.resume()

    def resume(self) -> None:
        self._send(DEVICE, 7, "I", self._next())

    def pause(self) -> None:
        self._send(DEVICE, 8, "I", self._next())

    def disconnect(self) -> None:
        self._send(CONNECTION, 0, "IIs", self._serial, 1, "because")
        self._sock.shutdown(socket.SHUT_RDWR)

    def wait_ended(self) -> bool:
        return self._ended.wait(5)

    def _next(self) -> int:
        self._serial += 1
        return self._serial

    def _check(self, what: str, right: bool) -> None:
        if not right:
            self.trouble.append(what)


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)


class RemoteDesktopPortal(BusService):
    """org.freedesktop.portal.Desktop with RemoteDesktop. The user allows it when `answer` says so."""

    NAME, PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"

    def __init__(
        self,
        address: str,
        version: int = 2,
        answer: Callable[[], int] = lambda: 0,
        relay: Callable[[tuple[int, ...]], None] = lambda codes: None,
    ) -> None:
        self._relay = relay
        self._version = version
        self._answer_of_user = answer
        self.eis: list[Eis] = []
        self.keys: list[tuple[int, int]] = []  # by D-Bus
        self.asked: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()  # wishes of each session
        super().__init__(address)

    def _handle(self, message: Any) -> None:
        member = message.header.fields[HeaderFields.member]
        body = message.body
        if member == "Get":
            is_ours = body[0] == "org.freedesktop.portal.RemoteDesktop"
            error = new_error(message, "org.freedesktop.DBus.Error.UnknownInterface")
            self._bus.send(new_method_return(message, "v", (("u", self._version),)) if is_ours else error)
        elif member == "CreateSession":
            self._respond(message, body[0], {"session_handle": ("s", f"{self.PATH}/session/x/1")})
        elif member == "SelectDevices":
            self.asked.put({key: value for key, (_, value) in body[1].items()})
            self._respond(message, body[1], {})
        elif member == "Start":
            # the user takes as long as it takes; meanwhile the bus goes on
            threading.Thread(target=self._ask_user, args=[message], daemon=True).start()
        elif member == "ConnectToEIS":
            self.eis.append(Eis(relay=self._relay))
            self._bus.send(new_method_return(message, "h", (self.eis[-1].theirs,)))
            self.eis[-1].theirs.close()
        elif member == "NotifyKeyboardKeycode":
            self.keys.append((body[2], body[3]))
            self._bus.send(new_method_return(message))

    def _ask_user(self, message: Any) -> None:
        answer = self._answer_of_user()
        results = {"devices": ("u", 1), "restore_token": ("s", f"token {self._version}")}
        self._respond(message, message.body[2], results, answer)

    def _respond(self, message: Any, options: dict[str, Any], results: dict[str, Any], response: int = 0) -> None:
        sender = message.header.fields[HeaderFields.sender][1:].replace(".", "_")
        path = f"{self.PATH}/request/{sender}/{options['handle_token'][1]}"
        self._bus.send(new_method_return(message, "o", (path,)))
        emitter = DBusAddress(path, interface="org.freedesktop.portal.Request")
        self._bus.send(new_signal(emitter, "Response", "ua{sv}", (response, results)))


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))
