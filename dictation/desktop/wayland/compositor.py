"""What compositors tell about the focused window, and the line that binds a key to `sayso toggle` in each of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from typing import Any

from dictation.desktop.contract import Role, Target
from dictation.desktop.keys import MODIFIER_ORDER, Chord
from dictation.desktop.x11.windows import TERMINAL_CLASSES

ASK_TIMEOUT_S = 1.0


def name_of(environment: Mapping[str, str]) -> str:
    """The compositor of this session: sway, hyprland, gnome, kde, or what the session calls itself."""
    if environment.get("SWAYSOCK"):
        return "sway"
    if environment.get("HYPRLAND_INSTANCE_SIGNATURE"):
        return "hyprland"
    names = environment.get("XDG_CURRENT_DESKTOP", "").lower().split(":")
    for known in ("gnome", "kde", "sway", "hyprland"):
        if known in names:
            return known
    return names[0] if names else ""


def focused(compositor: str) -> Target | None:
    """The focused window where the compositor tells (sway, Hyprland); None otherwise."""
    if compositor == "sway" and shutil.which("swaymsg"):
        return _sway_focus(_ask("swaymsg", "-r", "-t", "get_tree"))
    if compositor == "hyprland" and shutil.which("hyprctl"):
        return _hyprland_focus(_ask("hyprctl", "-j", "activewindow"))
    return None


def tells_focus(compositor: str) -> bool:
    return (compositor == "sway" and shutil.which("swaymsg") is not None) or (
        compositor == "hyprland" and shutil.which("hyprctl") is not None
    )


def _ask(*command: str) -> Any:
    try:
        done = subprocess.run(command, capture_output=True, timeout=ASK_TIMEOUT_S, check=True)
        return json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def _sway_focus(tree: Any) -> Target | None:
    nodes = [tree] if isinstance(tree, dict) else []
    while nodes:
        node = nodes.pop()
        if node.get("focused") and node.get("pid"):
            window_class = node.get("app_id") or (node.get("window_properties") or {}).get("class") or ""
            return _target(str(node["id"]), int(node["pid"]), window_class)
        nodes += node.get("nodes", []) + node.get("floating_nodes", [])
    return None


def _hyprland_focus(window: Any) -> Target | None:
    if not isinstance(window, dict) or not window.get("address"):
        return None
    return _target(str(window["address"]), int(window.get("pid", 0)), str(window.get("class", "")))


def _target(window: str, pid: int, window_class: str) -> Target:
    is_terminal = window_class.lower() in TERMINAL_CLASSES
    return Target(window, pid, window_class, Role.TERMINAL if is_terminal else Role.UNKNOWN)


def toggle_line(compositor: str, chord: Chord) -> str:
    """How to bind a key to `sayso toggle` in this compositor: a line for its file, or where its settings have it."""
    names = {"Ctrl": "Ctrl", "Alt": "Mod1", "Shift": "Shift", "Super": "Mod4"}
    key, modifiers = {"Space": "space"}.get(chord.key, chord.key), [m for m in MODIFIER_ORDER if m in chord.modifiers]
    if chord.side:
        name = modifiers.pop()
        key = {"Ctrl": "Control"}.get(name, name) + ("_R" if chord.side == "Right" else "_L")
    if compositor == "sway":
        combination = "+".join([*(names[m] for m in modifiers), key])
        return (
            f"bindsym --no-repeat {combination} exec sayso start\nbindsym --release {combination} exec sayso stop"
            if not chord.is_bare_modifier
            else f"bindsym --release {combination} exec sayso toggle"
        )
    if compositor == "hyprland":
        combination = f"{' '.join(m.upper() for m in modifiers)}, {key}"
        return f"bind = {combination}, exec, sayso start\nbindr = {combination}, exec, sayso stop"
    if compositor == "gnome":
        return "Settings, Keyboard, Custom Shortcuts, +: command `sayso toggle`"
    if compositor == "kde":
        return "System Settings, Shortcuts, Add New, Command: `sayso toggle`"
    return "In your compositor's settings, bind a key to the command `sayso toggle`."
