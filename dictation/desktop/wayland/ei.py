"""A keyboard of ours at the compositor, over the EI protocol (emulated input), which GNOME and KDE speak.

The part that presses a few keys by their place is a dozen messages on a Unix socket, so libei is not needed. A message
is object, length, opcode and arguments in the machine's byte order; opcodes follow the order of libei's protocol.xml.
Sender's half of version 1: connection, seat, device, keyboard.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

HEADER = struct.Struct("=QII")  # object, bytes in all, opcode
MOST_BYTES = 1 << 16  # of one message
SENDER = 2
CONNECT_TIMEOUT_S, SYNC_TIMEOUT_S = 2.0, 1.0
INTERFACES = ("ei_connection", "ei_callback", "ei_pingpong", "ei_seat", "ei_device", "ei_keyboard")

# requests
HANDSHAKE_VERSION, FINISH, CONTEXT_TYPE, NAME, INTERFACE_VERSION = range(5)
SYNC, DISCONNECT = range(2)
PONG = 0
BIND = 1
START_EMULATING, STOP_EMULATING, FRAME = 1, 2, 3
KEY = 1


class EiFailed(Exception):
    """The compositor ended the connection, does not answer, or offers no keyboard."""


@dataclass
class _Device:
    keyboard: int = 0  # its object, once told
    done: bool = False
    resumed: bool = False


@dataclass
class _Reader:
    """Arguments of one message."""

    data: bytes
    at: int = 0

    def take(self, kind: str) -> Any:
        layout = struct.Struct("=" + kind)
        (value,) = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return value

    def text(self) -> str:
        length = self.take("I")
        raw = self.data[self.at : self.at + max(0, length - 1)]
        self.at += (length + 3) // 4 * 4
        return raw.decode("utf-8", "replace")


@dataclass
class EmulatedKeyboard:
    """Connects when made. Raises EiFailed, here and from `press`. One thread at a time."""

    sock: socket.socket
    name: str = "Sayso"
    _objects: dict[int, str] = field(default_factory=lambda: {0: "ei_handshake"})
    _devices: dict[int, _Device] = field(default_factory=dict)
    _capabilities: dict[int, int] = field(default_factory=dict)  # seat -> mask of its keyboard
    _connection: int = 0
    _serial: int = 0
    _sequence: int = 0
    _last_id: int = 0
    _synced: int = 0  # the callback that was answered last
    _buffer: bytes = b""

    def __post_init__(self) -> None:
        self._wait(lambda: self._ready() is not None, CONNECT_TIMEOUT_S, "The desktop offers no keyboard.")

    def press(self, *codes: int) -> None:
        """Press keys (evdev codes) in order and release them in reverse; returns when the compositor has them all."""
        self._poll(0.0)  # what happened meanwhile: another device, a pause
        device = self._ready()
        if device is None:
            raise EiFailed("The desktop has paused the keyboard.")
        keyboard = self._devices[device].keyboard
        self._sequence += 1
        self._send(device, START_EMULATING, struct.pack("=II", self._serial, self._sequence))
        for code, down in [*((code, 1) for code in codes), *((code, 0) for code in reversed(codes))]:
            self._send(keyboard, KEY, struct.pack("=II", code, down))
            self._send(device, FRAME, struct.pack("=IQ", self._serial, time.monotonic_ns() // 1000))
        self._send(device, STOP_EMULATING, struct.pack("=I", self._serial))
        self._last_id += 1
        callback = self._last_id
        self._objects[callback] = "ei_callback"
        self._send(self._connection, SYNC, struct.pack("=QI", callback, 1))
        self._wait(lambda: self._synced == callback, SYNC_TIMEOUT_S, "The desktop does not answer.")

    def close(self) -> None:
        try:
            if self._connection:
                self._send(self._connection, DISCONNECT)
        except EiFailed:
            pass
        self.sock.close()

    # the wire

    def _send(self, target: int, opcode: int, arguments: bytes = b"") -> None:
        try:
            self.sock.sendall(HEADER.pack(target, HEADER.size + len(arguments), opcode) + arguments)
        except OSError as failure:
            raise EiFailed("The desktop has ended the connection.") from failure

    def _wait(self, done: Callable[[], bool], timeout_s: float, otherwise: str) -> None:
        deadline_s = time.monotonic() + timeout_s
        while not done():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not self._poll(left_s):
                raise EiFailed(otherwise)

    def _poll(self, timeout_s: float) -> bool:
        """Handle what has come, waiting for something; False when nothing came in time."""
        self.sock.settimeout(timeout_s or None)
        if not timeout_s:
            self.sock.setblocking(False)
        try:
            data, files, _, _ = socket.recv_fds(self.sock, MOST_BYTES, 8)
        except (TimeoutError, BlockingIOError):
            return False
        except OSError as failure:
            raise EiFailed("The desktop has ended the connection.") from failure
        finally:
            if self.sock.fileno() >= 0:
                self.sock.setblocking(True)
        for handle in files:  # the key map: keys are pressed by their place
            os.close(handle)
        if not data:
            raise EiFailed("The desktop has ended the connection.")
        self._buffer += data
        while len(self._buffer) >= HEADER.size:
            target, length, opcode = HEADER.unpack_from(self._buffer)
            if not HEADER.size <= length <= MOST_BYTES:
                raise EiFailed("The desktop sent nonsense.")
            if len(self._buffer) < length:
                break
            message, self._buffer = self._buffer[HEADER.size : length], self._buffer[length:]
            try:
                self._handle(target, opcode, _Reader(message))
            except struct.error as failure:
                raise EiFailed("The desktop sent nonsense.") from failure
        return True

    # events

    def _ready(self) -> int | None:
        """A device whose keys may be pressed now."""
        return next((id for id, d in self._devices.items() if d.keyboard and d.done and d.resumed), None)

    def _handle(self, target: int, opcode: int, read: _Reader) -> None:
        match self._objects.get(target, ""), opcode:
            case "ei_handshake", 0:
                self._shake_hands()
            case "ei_handshake", 2:
                self._serial, self._connection = read.take("I"), read.take("Q")
                self._objects[self._connection] = "ei_connection"
                del self._objects[0]
            case "ei_connection", 0:
                raise EiFailed("The desktop has ended the connection.")
            case "ei_connection", 1:
                self._objects[read.take("Q")] = "ei_seat"
            case "ei_connection", 3:
                self._send(read.take("Q"), PONG, struct.pack("=Q", 0))
            case "ei_callback", 0:
                self._synced = target
                del self._objects[target]
            case "ei_seat", _:
                self._handle_seat(target, opcode, read)
            case "ei_device", _:
                self._handle_device(target, opcode, read)

    def _shake_hands(self) -> None:
        self._send(0, HANDSHAKE_VERSION, struct.pack("=I", 1))
        self._send(0, CONTEXT_TYPE, struct.pack("=I", SENDER))
        self._send(0, NAME, _text(self.name))
        for interface in INTERFACES:
            self._send(0, INTERFACE_VERSION, _text(interface) + struct.pack("=I", 1))
        self._send(0, FINISH)

    def _handle_seat(self, seat: int, opcode: int, read: _Reader) -> None:
        match opcode:
            case 0:  # gone
                del self._objects[seat]
            case 2:  # a capability
                mask = read.take("Q")
                if read.text() == "ei_keyboard":
                    self._capabilities[seat] = mask
            case 3 if seat in self._capabilities:  # all are told
                self._send(seat, BIND, struct.pack("=Q", self._capabilities[seat]))
            case 4:
                device = read.take("Q")
                self._objects[device] = "ei_device"
                self._devices[device] = _Device()

    def _handle_device(self, id: int, opcode: int, read: _Reader) -> None:
        device = self._devices[id]
        match opcode:
            case 0:  # gone
                del self._objects[id], self._devices[id]
            case 5:  # an interface of it
                interface = read.take("Q")
                if read.text() == "ei_keyboard":
                    device.keyboard = interface
            case 6:
                device.done = True
            case 7 | 8:
                device.resumed, self._serial = opcode == 7, read.take("I")


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)
