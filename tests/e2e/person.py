"""A person's keyboard: keys on the X server's own keyboard device, not on the XTEST one that programs type on.

python-xlib has no XTestFakeDeviceKeyEvent, so the C libraries are called.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager

IS_EXTENSION_KEYBOARD = 3


class _DeviceInfo(ctypes.Structure):
    _fields_ = (
        ("id", ctypes.c_ulong),
        ("type", ctypes.c_ulong),
        ("name", ctypes.c_char_p),
        ("num_classes", ctypes.c_int),
        ("use", ctypes.c_int),
        ("info", ctypes.c_void_p),
    )


def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL, ctypes.CDLL]:
    x11, xtst, xi = (ctypes.CDLL(name) for name in ("libX11.so.6", "libXtst.so.6", "libXi.so.6"))
    pointer = ctypes.c_void_p
    x11.XOpenDisplay.restype = pointer
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XStringToKeysym.restype = ctypes.c_ulong
    x11.XStringToKeysym.argtypes = [ctypes.c_char_p]
    x11.XKeysymToKeycode.restype = ctypes.c_ubyte
    x11.XKeysymToKeycode.argtypes = [pointer, ctypes.c_ulong]
    x11.XSync.argtypes = [pointer, ctypes.c_int]
    x11.XCloseDisplay.argtypes = [pointer]
    xi.XListInputDevices.restype = ctypes.POINTER(_DeviceInfo)
    xi.XListInputDevices.argtypes = [pointer, ctypes.POINTER(ctypes.c_int)]
    xi.XOpenDevice.restype = pointer
    xi.XOpenDevice.argtypes = [pointer, ctypes.c_ulong]
    xtst.XTestFakeDeviceKeyEvent.argtypes = [
        pointer,
        pointer,
        ctypes.c_uint,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_int),
        ctypes.c_int,
        ctypes.c_ulong,
    ]
    return x11, xtst, xi


class Person:
    """Presses and releases keys by name. Whatever is still down when a test ends, `let_go` releases."""

    def __init__(self, display_name: str) -> None:
        self._x11, self._xtst, self._xi = _libraries()
        self._name = display_name.encode()
        self._down: dict[int, None] = {}
        self._display: int | None = None
        self.reload()

    def reload(self) -> None:
        """Connect anew: Xlib reads the layout when it connects."""
        self.close()
        self._display = self._x11.XOpenDisplay(self._name)
        if not self._display:
            raise RuntimeError(f"no display {self._name!r}")
        count = ctypes.c_int()
        devices = self._xi.XListInputDevices(self._display, ctypes.byref(count))
        keyboards = [
            devices[i].id
            for i in range(count.value)
            if devices[i].use == IS_EXTENSION_KEYBOARD and b"XTEST" not in devices[i].name
        ]
        self._device = self._xi.XOpenDevice(self._display, keyboards[0])

    def keycode(self, key: str) -> int:
        code = self._x11.XKeysymToKeycode(self._display, self._x11.XStringToKeysym(key.encode()))
        if not code:
            raise KeyError(key)
        return int(code)

    def press(self, *keys: str) -> None:
        for key in keys:
            self._send(self.keycode(key), True)

    def release(self, *keys: str) -> None:
        for key in keys:
            self._send(self.keycode(key), False)

    def tap(self, *keys: str, held_s: float = 0.0) -> None:
        """A chord: all keys down in order, up in reverse."""
        self.press(*keys)
        if held_s:
            time.sleep(held_s)
        self.release(*reversed(keys))

    @contextmanager
    def holding(self, *keys: str) -> Iterator[None]:
        self.press(*keys)
        try:
            yield
        finally:
            self.release(*reversed(keys))

    def let_go(self) -> None:
        for code in reversed(list(self._down)):
            self._send(code, False)

    def _send(self, code: int, down: bool) -> None:
        if down:
            self._down[code] = None
        else:
            self._down.pop(code, None)
        self._xtst.XTestFakeDeviceKeyEvent(self._display, self._device, code, down, None, 0, 0)
        self._x11.XSync(self._display, 0)

    def close(self) -> None:
        if self._display:
            self._x11.XCloseDisplay(self._display)
            self._display = None
