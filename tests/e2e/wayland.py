"""A headless sway for tests, with a session bus and, if wanted, the desktop's portal with global shortcuts.

sway refuses to run as root, so a root test starts it, and its bus, as the account nobody; root's programs may connect.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, HeaderFields, new_error, new_method_return, new_signal

from tests.e2e.bus_service import BusService
from tests.e2e.desktop import AnyProgram, _clean_environment
from tests.e2e.processes import Processes, listens, until
from tests.e2e.programs import Chromium, Program, Terminal

SWAY = """output HEADLESS-1 resolution 1280x800 position 0,0
focus_follows_mouse no
"""
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={path}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
<allow own="*"/></policy></busconfig>
"""


class WaylandDesktop:
    """sway, a bus, and programs in it; the same face as `VirtualDesktop` as far as programs need it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes = Processes(folder)
        self.programs: list[Program] = []
        self.environment = _clean_environment(folder)
        for key in ("DISPLAY", "QT_QPA_PLATFORM"):
            self.environment.pop(key, None)
        self.run = folder / "wl"
        self.run.mkdir(mode=0o700)
        self.environment |= {
            "XDG_RUNTIME_DIR": str(self.run),
            "WAYLAND_DISPLAY": "wayland-1",
            "SWAYSOCK": f"{self.run}/sway.sock",
            "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.run}/bus",
            "XDG_SESSION_TYPE": "wayland",
            "XDG_CURRENT_DESKTOP": "sway",
            "WLR_BACKENDS": "headless",
            "WLR_LIBINPUT_NO_DEVICES": "1",
            "WLR_RENDERER": "pixman",
        }

    def __enter__(self) -> WaylandDesktop:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        (self.folder / "sway.conf").write_text(SWAY)
        (self.folder / "bus.conf").write_text(BUS.format(path=self.run / "bus"))
        self.folder.chmod(0o755)
        account: tuple[str, ...] = ()
        if os.geteuid() == 0:
            shutil.chown(self.run, "nobody", "nogroup")
            account = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all")
        homes = {key: str(self.run) for key in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        theirs = self.environment | homes
        bus = ["dbus-daemon", f"--config-file={self.folder}/bus.conf", "--nofork", "--nopidfile"]
        self.processes.start("bus", bus, theirs, account)
        sway = theirs.copy()
        del sway["WAYLAND_DISPLAY"]
        self.processes.start("sway", ["sway", "-c", str(self.folder / "sway.conf")], sway, account)
        until("sway", lambda: self._ask("get_outputs"))
        until("session bus", lambda: listens(self.run / "bus"))
        # a headless seat has no keyboard, and the first key after one appears is lost: this one stays
        self.processes.start("keyboard", ["wtype", "-s", "2000000000", "-k", "Shift_L"], self.environment)

    def close(self) -> None:
        for program in list(self.programs):
            program.close()
        self.processes.end_all()

    def open(self, kind: type[AnyProgram], name: str = "") -> AnyProgram:
        program = kind(self, name or kind.kind)  # type: ignore[arg-type]
        self.programs.append(program)
        program.start()
        return program

    def windows(self) -> dict[int, int]:
        return {node["id"]: node["pid"] for node in self._nodes()}

    def focus(self, window_id: int) -> None:
        subprocess.run(
            ["swaymsg", f"[con_id={window_id}] focus"], env=self.environment, capture_output=True, check=True
        )
        until("focus", lambda: any(n["id"] == window_id and n["focused"] for n in self._nodes()))

    def workspace(self, name: str) -> None:
        """Switch to another workspace."""
        subprocess.run(["swaymsg", "workspace", name], env=self.environment, capture_output=True, check=True)

    def read_clipboard(self) -> str:
        command = ["wl-paste", "--no-newline"]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False).stdout

    def write_clipboard(self, text: str) -> None:
        devnull = subprocess.DEVNULL
        command = ["wl-copy", "--type", "text/plain;charset=utf-8"]
        subprocess.run(command, input=text.encode(), stdout=devnull, stderr=devnull, env=self.environment, check=True)

    def _nodes(self) -> list[dict[str, Any]]:
        found, waiting = [], [self._ask("get_tree")]
        while waiting:
            node = waiting.pop()
            waiting += node.get("nodes", []) + node.get("floating_nodes", [])
            if node.get("pid"):
                found.append(node)
        return found

    def _ask(self, what: str) -> Any:
        command = ["swaymsg", "-r", "-t", what]
        done = subprocess.run(command, env=self.environment, capture_output=True, timeout=10, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None


class Foot(Terminal):
    kind = "foot"

    def arguments(self, script: str) -> list[str]:
        return ["foot", script]


class WaylandChromium(Chromium):
    kind = "wayland-chromium"
    platform = "wayland"


class ShortcutsBackend(BusService):
    """The desktop's side of the portal: grants every shortcut but the refused ones, and presses them when told to."""

    NAME = "org.freedesktop.impl.portal.desktop.sayso_test"
    PATH = "/org/freedesktop/portal/desktop"
    SHORTCUTS = "org.freedesktop.impl.portal.GlobalShortcuts"

    def __init__(self, address: str, refused: tuple[str, ...] = ()) -> None:
        self._refused = refused
        self.sessions: dict[str, dict[str, str]] = {}  # handle -> action -> wanted keys
        super().__init__(address)

    def _handle(self, message: Any) -> None:
        self._bus.send(self._answer(message))

    def _answer(self, message: Any) -> Any:
        fields = message.header.fields
        member = fields[HeaderFields.member]
        if member == "GetAll":
            return new_method_return(message, "a{sv}", ({"version": ("u", 1)},))
        if member == "CreateSession":
            self.sessions[message.body[1]] = {}
            return new_method_return(message, "ua{sv}", (0, {"session_id": ("s", message.body[1])}))
        if member == "BindShortcuts":
            granted = [s for s in message.body[2] if s[0] not in self._refused]
            self.sessions[message.body[1]] = {name: data["preferred_trigger"][1] for name, data in granted}
            shortcuts = [(name, {"description": data["description"]}) for name, data in granted]
            return new_method_return(message, "ua{sv}", (0, {"shortcuts": ("a(sa{sv})", shortcuts)}))
        if member == "Close":
            self.sessions.pop(fields[HeaderFields.path], None)
            return new_method_return(message)
        return new_error(message, "org.freedesktop.DBus.Error.UnknownMethod")

    def press(self, action: str) -> None:
        self._emit("Activated", action)

    def release(self, action: str) -> None:
        self._emit("Deactivated", action)

    def _emit(self, signal: str, action: str) -> None:
        emitter = DBusAddress(self.PATH, interface=self.SHORTCUTS)
        for handle, shortcuts in list(self.sessions.items()):
            if action in shortcuts:
                self._bus.send(new_signal(emitter, signal, "osta{sv}", (handle, action, 0, {})))


def start_portal(folder: Path, processes: Processes, environment: dict[str, str]) -> None:
    """The real xdg-desktop-portal, with `ShortcutsBackend` behind it."""
    (folder / "test.portal").write_text(
        f"[portal]\nDBusName={ShortcutsBackend.NAME}\nInterfaces={ShortcutsBackend.SHORTCUTS};\nUseIn=sway;sayso;\n"
    )
    portal = next(p for p in ("/usr/libexec/xdg-desktop-portal", "/usr/lib/xdg-desktop-portal") if Path(p).exists())
    processes.start("portal", [portal, "--replace"], environment | {"XDG_DESKTOP_PORTAL_DIR": str(folder)})
