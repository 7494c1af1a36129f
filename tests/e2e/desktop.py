"""A virtual desktop for tests: an X server of its own, a window manager, a session bus; nothing of the user's is seen.

with VirtualDesktop(folder) as desktop:
    window = desktop.open(Xterm)
    ...                       # the program under test, run with desktop.environment
    assert window.text() == "hello"
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from Xlib import X, display, error
from Xlib.protocol import event

from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.ping import Pinger
from tests.e2e.person import Person
from tests.e2e.processes import Processes, listens, until
from tests.e2e.programs import Program

OPENBOX = """<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
  <focus><focusNew>yes</focusNew><followMouse>no</followMouse><focusLast>yes</focusLast></focus>
  <desktops><number>1</number><popupTime>0</popupTime></desktops>
  <keyboard><keybind key="A-F4"><action name="Close"/></keybind></keyboard>
  <mouse><context name="Client">
    <mousebind button="Left" action="Press"><action name="Focus"/><action name="Raise"/></mousebind>
  </context></mouse>
</openbox_config>
"""
AnyProgram = TypeVar("AnyProgram", bound=Program)


class VirtualDesktop:
    """Xvfb, openbox and a session bus. `environment` is what programs under test run with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes = Processes(folder)
        self.environment: dict[str, str] = {}
        self.programs: list[Program] = []

    def __enter__(self) -> VirtualDesktop:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        read_end, write_end = os.pipe()
        command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
        self.processes.start("xvfb", command, dict(os.environ), pass_fds=(write_end,))
        os.close(write_end)
        with os.fdopen(read_end) as answer:
            number = answer.readline().strip()
        if not number:
            raise RuntimeError(f"Xvfb did not start: {self.processes.log('xvfb')}")
        self.environment = _clean_environment(self.folder) | {"DISPLAY": f":{number}", "XDG_SESSION_TYPE": "x11"}
        bus = f"unix:path={self.folder}/bus"
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = bus
        self.processes.start(
            "dbus",
            ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={bus}"],
            self.environment,
        )
        self.x = display.Display(self.environment["DISPLAY"])
        self.x.set_error_handler(lambda *_: None)
        self.root = self.x.screen().root
        self.person = Person(self.environment["DISPLAY"])
        self.layout("us")
        config = self.folder / "openbox.xml"
        config.write_text(OPENBOX)
        # in a UTF-8 locale openbox reads its whole Compose file again at every change of the keyboard map
        self.processes.start(
            "openbox",
            ["openbox", "--sm-disable", "--config-file", str(config)],
            self.environment | {"LC_ALL": "C"},
        )
        until("openbox", lambda: self._property(self.root, "_NET_SUPPORTING_WM_CHECK"))
        until("session bus", lambda: listens(self.folder / "bus"))

    def start_accessibility(self) -> None:
        """The accessibility bus, which desktops run and this one does only when asked."""
        if "accessibility" not in self.processes:
            launcher = ["/usr/libexec/at-spi-bus-launcher", "--launch-immediately"]
            self.processes.start("accessibility", launcher, self.environment)
            ask = ["dbus-send", "--session", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus"]
            ask += ["org.freedesktop.DBus.NameHasOwner", "string:org.a11y.Bus"]

            def is_there() -> bool:
                return (
                    "true"
                    in subprocess.run(
                        ask, env=self.environment, capture_output=True, text=True, timeout=10, check=False
                    ).stdout
                )

            until("accessibility bus", is_there)

    def close(self) -> None:
        for program in list(self.programs):
            program.close()
        if hasattr(self, "person"):
            self.person.close()
        if hasattr(self, "x"):
            self.x.close()
        self.processes.end_all()

    # windows

    def open(self, kind: type[AnyProgram], name: str = "") -> AnyProgram:
        """Start a program and wait until its window has the keyboard and can be read."""
        program = kind(self, name or kind.kind)
        self.programs.append(program)
        program.start()
        return program

    def reuse(self, kind: type[AnyProgram]) -> AnyProgram:
        """The program of this kind, emptied, opened if it is not there yet; it has the keyboard."""
        for program in self.programs:
            if type(program) is kind and program.window in self.windows():
                program.clear()
                program.focus()
                return program
        return self.open(kind)

    def windows(self) -> dict[int, int]:
        """Managed windows and the processes they belong to."""
        found = {}
        for window_id in self._property(self.root, "_NET_CLIENT_LIST"):
            window = self.x.create_resource_object("window", window_id)
            found[window_id] = next(iter(self._property(window, "_NET_WM_PID")), 0)
        return found

    def active(self) -> int:
        return next(iter(self._property(self.root, "_NET_ACTIVE_WINDOW")), 0)

    def focus(self, window_id: int) -> None:
        def has_focus() -> bool:
            focus = self.x.get_input_focus().focus
            return self.active() == window_id and not isinstance(focus, int)

        def ask() -> bool:
            if has_focus():
                return True
            window = self.x.create_resource_object("window", window_id)
            message = event.ClientMessage(
                window=window,
                client_type=self.x.intern_atom("_NET_ACTIVE_WINDOW"),
                data=(32, [2, X.CurrentTime, 0, 0, 0]),
            )
            self.root.send_event(message, X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            self.x.sync()
            return has_focus()

        until(f"focus on {window_id:#x}", ask, 8)

    def freeze_window_manager(self, frozen: bool) -> None:
        self.processes.signal("openbox", signal.SIGSTOP if frozen else signal.SIGCONT)

    def show_desktop(self, shown: bool) -> None:
        """Hide all windows, as the button for that does, or bring them back."""
        message = event.ClientMessage(
            window=self.root,
            client_type=self.x.intern_atom("_NET_SHOWING_DESKTOP"),
            data=(32, [int(shown), 0, 0, 0, 0]),
        )
        self.root.send_event(message, X.SubstructureRedirectMask | X.SubstructureNotifyMask)
        self.x.sync()
        until("the bare desktop", lambda: self._property(self.root, "_NET_SHOWING_DESKTOP") == [int(shown)])
        until("no window", lambda: not shown or not self.active())

    def _property(self, window: object, name: str) -> list[int]:
        try:
            found = window.get_full_property(self.x.intern_atom(name), X.AnyPropertyType)  # type: ignore[attr-defined]
        except error.XError:
            return []
        return list(found.value) if found is not None else []

    # keyboard

    def layout(self, name: str, options: str = "") -> None:
        """Switch the keyboard layout, as a user's settings panel would."""
        command = ["setxkbmap", "-layout", name, "-option", ""]
        if options:
            command += ["-option", options]
        subprocess.run(command, check=True, env=self.environment, timeout=20)
        self.layout_name = name
        self.person.reload()
        self._let_window_catch_up()

    def _let_window_catch_up(self) -> None:
        """Until the active window has read the new key map; before that it takes keys by the old one."""
        if not self.active():
            return
        connection = Connection(self.environment["DISPLAY"])
        with Pinger(connection, self.active()) as pinger:
            pinger.read_everything()
        connection.close()

    @contextmanager
    def latin_layout(self) -> Iterator[None]:
        """A layout with Latin letters for the harness's own Ctrl+S and Ctrl+A."""
        before = self.layout_name
        if before == "us":
            yield
            return
        self.layout("us")
        try:
            yield
        finally:
            self.layout(before)

    def caps_lock_on(self) -> bool:
        return bool(self.root.query_pointer().mask & X.LockMask)

    def keys_down(self) -> list[int]:
        return [8 * i + bit for i, byte in enumerate(self.x.query_keymap()) for bit in range(8) if byte >> bit & 1]


def _clean_environment(folder: Path) -> dict[str, str]:
    """The caller's environment without its desktop, with homes inside `folder`."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("XDG_", "GTK_", "QT_", "DBUS_", "PULSE_", "WAYLAND_", "LC_", "SWAY"))
    }
    run = folder / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return kept | {
        "HOME": str(home),
        "XDG_RUNTIME_DIR": str(run),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "NO_AT_BRIDGE": "1",
        "GTK_A11Y": "none",
        "GSETTINGS_BACKEND": "memory",
        "QT_QPA_PLATFORM": "xcb",
    }
