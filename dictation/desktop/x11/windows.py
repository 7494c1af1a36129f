"""Which X11 window has the keyboard, whose it is and what kind of program it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from Xlib import X, error

from dictation.desktop.contract import Role, Target
from dictation.desktop.x11.connection import Connection

# They paste the primary selection on Shift+Insert, and a newline runs a command there.
_TERMINALS = """
    alacritty aterm blackbox-terminal com.mitchellh.ghostty cool-retro-term deepin-terminal eterm foot gnome-terminal
    gnome-terminal-server guake hyper io.elementary.terminal kgx kitty koi8rxterm konsole lilyterm lxterminal
    mate-terminal mlterm mrxvt org.gnome.console org.gnome.ptyxis org.gnome.terminal org.kde.konsole
    org.wezfurlong.wezterm ptyxis qterminal rio roxterm rxvt sakura st st-256color stterm tabby terminator terminology
    termit terminix tilda tilix urxvt uxterm wezterm x-terminal-emulator xfce4-terminal xiterm xterm xvt yakuake
"""
TERMINAL_CLASSES = frozenset(_TERMINALS.split())


@dataclass(frozen=True)
class WindowInfo:
    window_id: int
    pid: int
    names: tuple[str, ...]  # WM_CLASS instance and class

    @property
    def is_terminal(self) -> bool:
        return any(name.lower() in TERMINAL_CLASSES for name in self.names)


class Windows:
    """Looks at windows through a connection that the caller owns."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection

    def focused(self) -> WindowInfo | None:
        """The managed window that holds the input focus: keys go there, whatever the window manager calls active.

        None when nobody would get them: with the focus on nothing, on the bare desktop, or on the window manager's own
        window, where it is parked while no program has it.
        """
        focus = self._x.display.get_input_focus().focus
        if isinstance(focus, int):
            return None if focus == X.NONE else self._active()  # PointerRoot: before any window had it
        window = focus
        try:
            for _ in range(32):
                if window.get_full_property(self._x.atom("WM_STATE"), X.AnyPropertyType) is not None:
                    return self.describe(window.id)
                parent = window.query_tree().parent
                if not parent or parent == self._x.root:
                    break
                window = parent
        except error.XError:
            return None
        if focus == self._x.root:
            return self._active()
        if self._x.client_of(focus.id) == self._manager():
            return None
        return self.describe(window.id)  # unmanaged: a menu, a launcher, or no window manager at all

    def _manager(self) -> int:
        """The window manager's client; 0 without one."""
        found = self._x.root.get_full_property(self._x.atom("_NET_SUPPORTING_WM_CHECK"), X.AnyPropertyType)
        return self._x.client_of(int(found.value[0])) if found is not None and found.value else 0

    def _active(self) -> WindowInfo | None:
        found = self._x.root.get_full_property(self._x.atom("_NET_ACTIVE_WINDOW"), X.AnyPropertyType)
        if found is None or not found.value or not found.value[0]:
            return None
        return self.describe(int(found.value[0]))

    def describe(self, window_id: int) -> WindowInfo | None:
        """Class and process of a window; None if it is gone."""
        window = self._x.display.create_resource_object("window", window_id)
        try:
            window.get_geometry()
            names = window.get_wm_class() or ()
            pid_property = window.get_full_property(self._x.atom("_NET_WM_PID"), X.AnyPropertyType)
        except error.XError:
            return None
        # the server knows better than the property, which a program sets itself and which may be of another machine
        pid = self._x.pid_of(window_id) or (int(pid_property.value[0]) if pid_property and pid_property.value else 0)
        return WindowInfo(window_id, pid, tuple(names))

    def answers_ping(self, window_id: int) -> bool:
        window = self._x.display.create_resource_object("window", window_id)
        try:
            protocols = window.get_full_property(self._x.atom("WM_PROTOCOLS"), X.AnyPropertyType)
        except error.XError:
            return False
        return protocols is not None and self._x.atom("_NET_WM_PING") in protocols.value


def as_target(info: WindowInfo, role: Role = Role.UNKNOWN) -> Target:
    window_class = info.names[-1] if info.names else ""
    return Target(f"0x{info.window_id:x}", info.pid, window_class, Role.TERMINAL if info.is_terminal else role)
