"""Programs nobody here wrote, and how to read back the text that reached them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.e2e.devtools import Page
from tests.e2e.processes import until

if TYPE_CHECKING:
    from tests.e2e.desktop import VirtualDesktop

PAGE = """<!doctype html><meta charset="utf-8"><title>Notes</title>
<textarea id="t" autofocus style="width:96%;height:300px"></textarea><input id="i"><div id="c" contenteditable></div>
<script>
window.seen = [];
for (const kind of ["keydown", "keyup", "paste", "blur"])
  addEventListener(kind, e => seen.push(kind + " " + (e.key || "")), true);
</script>
"""


class Program:
    """One running program with one window. `text()` waits until what arrived has stopped changing."""

    kind = ""
    quiet_s = 0.3

    def __init__(self, desktop: VirtualDesktop, name: str) -> None:
        self.desktop = desktop
        self.name = name
        self.folder = desktop.folder / name
        self.folder.mkdir(exist_ok=True)
        self.window = 0
        self.pid = 0

    def command(self) -> list[str]:
        raise NotImplementedError

    def environment(self) -> dict[str, str]:
        return self.desktop.environment

    def start(self) -> None:
        before = set(self.desktop.windows())
        process = self.desktop.processes.start(self.name, self.command(), self.environment())
        self.pid = process.pid

        def window() -> int:
            if process.poll() is not None:
                raise RuntimeError(f"{self.name} ended at once: {self.desktop.processes.log(self.name)}")
            now = self.desktop.windows()  # X gives a closed window's number to the next one: the process decides
            mine = [w for w, pid in now.items() if pid == process.pid]
            return next(iter(mine or [w for w in now if w not in before]), 0)

        self.window = until(f"window of {self.name}", window)
        self.wait_ready()
        self.focus()

    def wait_ready(self) -> None:
        """Until the program can be read."""

    def focus(self) -> None:
        self.desktop.focus(self.window)

    def peek(self) -> str:
        """What has arrived so far."""
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError

    def text(self, expected: str | None = None, timeout_s: float = 10.0) -> str:
        """What arrived: at once when it equals `expected`, else when it has not changed for a while."""
        deadline = time.monotonic() + timeout_s
        last, since = None, time.monotonic()
        while time.monotonic() < deadline:
            now = self.peek()
            if expected is not None and now == expected:
                return now
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since > self.quiet_s:
                break
            time.sleep(0.02)
        return last or ""

    def close(self) -> None:
        """End it and forget it: its window's number may be another's later. A second time does nothing."""
        if self not in self.desktop.programs:
            return
        self.desktop.programs.remove(self)
        self.desktop.processes.end(self.name)
        until(f"{self.name}'s window gone", lambda: self.window not in self.desktop.windows())


class Terminal(Program):
    """A terminal running `cat` into a file with line editing off, so that every byte lands there at once."""

    @property
    def file(self) -> Path:
        return self.folder / "received.txt"

    def inner(self) -> str:
        return f"stty -icanon -ixon -isig -iexten; touch '{self.folder}/ready'; exec cat >> '{self.file}'"

    def command(self) -> list[str]:
        (self.folder / "ready").unlink(missing_ok=True)
        self.file.write_bytes(b"")
        script = self.folder / "run.sh"
        script.write_text(f"#!/bin/sh\n{self.inner()}\n")
        script.chmod(0o755)
        return self.arguments(str(script))

    def arguments(self, script: str) -> list[str]:
        raise NotImplementedError

    def wait_ready(self) -> None:
        until(f"cat in {self.name}", (self.folder / "ready").exists)

    def peek(self) -> str:
        return self.file.read_bytes().decode("utf-8", "backslashreplace")

    def clear(self) -> None:
        with self.file.open("r+b") as file:
            file.truncate(0)  # cat appends, so the next text starts at 0


class Xterm(Terminal):
    kind = "xterm"

    def arguments(self, script: str) -> list[str]:
        return ["xterm", "-u8", "-fa", "DejaVu Sans Mono", "-fs", "11", "-geometry", "80x20+40+60", "-e", script]


class Shell(Xterm):
    """An interactive bash, whose paste is not bracketed: a newline in it runs the line."""

    kind = "shell"
    bracketed = False

    def inner(self) -> str:
        inputrc = self.folder / "inputrc"
        inputrc.write_text(f"set enable-bracketed-paste {'on' if self.bracketed else 'off'}\n")
        ready = f"touch '{self.folder}/ready'; unset PROMPT_COMMAND"
        return f'cd {self.folder}; INPUTRC={inputrc} PROMPT_COMMAND="{ready}" exec bash --norc --noprofile -i'

    def read(self, name: str) -> str:
        """What a command in the shell has written into a file."""
        path = self.folder / name
        return until(f"{name} in {self.name}", lambda: path.exists() and path.read_text())


class BracketedShell(Shell):
    """As people have it since bash 5.1: pasted newlines wait for Return."""

    kind = "bracketed-shell"
    bracketed = True


class Lxterminal(Terminal):
    kind = "lxterminal"

    def arguments(self, script: str) -> list[str]:
        return ["lxterminal", "--no-remote", "--geometry=80x20", "-e", script]


class Editor(Program):
    """An editor with one file open; reading means Ctrl+S on the person's keyboard and reading the file."""

    quiet_s = 0.0

    @property
    def file(self) -> Path:
        return self.folder / "note.txt"

    def command(self) -> list[str]:
        self.file.write_bytes(b"")
        return [*self.arguments(), str(self.file)]

    def arguments(self) -> list[str]:
        raise NotImplementedError

    def peek(self) -> str:
        self._save()
        return self.file.read_bytes().decode("utf-8", "backslashreplace")

    def text(self, expected: str | None = None, timeout_s: float = 3.0) -> str:
        deadline = time.monotonic() + timeout_s
        while True:
            now = self.peek()
            if now.removesuffix("\n") == (expected or "").removesuffix("\n") and expected is not None:
                return expected  # editors end a file with a newline of their own
            if expected is None or time.monotonic() > deadline:
                return now

    def clear(self) -> None:
        def is_empty() -> bool:
            self.focus()
            with self.desktop.latin_layout():
                self.desktop.person.tap("Control_L", "a")
                self.desktop.person.tap("Delete")
            return not self.peek().strip("\n")

        until(f"{self.name} empty", is_empty)

    def _save(self) -> None:
        before = self.file.stat().st_mtime_ns
        self.focus()
        with self.desktop.latin_layout():
            self.desktop.person.tap("Control_L", "s")
            deadline = time.monotonic() + 0.5  # an unchanged text is not always written again
            while time.monotonic() < deadline:
                if self.file.exists() and self.file.stat().st_mtime_ns != before and self.file.stat().st_size:
                    break
                time.sleep(0.01)


class Mousepad(Editor):
    kind = "mousepad"

    def arguments(self) -> list[str]:
        return ["mousepad", "--disable-server"]


class Featherpad(Editor):
    kind = "featherpad"

    def arguments(self) -> list[str]:
        return ["featherpad", "--standalone"]


class GnomeTextEditor(Editor):
    """GTK 4."""

    kind = "gnome-text-editor"

    def environment(self) -> dict[str, str]:
        return self.desktop.environment | {"GSK_RENDERER": "cairo", "GDK_BACKEND": "x11"}  # there is no GPU

    def arguments(self) -> list[str]:
        return ["gnome-text-editor", "--standalone", "--ignore-session"]


class KWrite(Editor):
    """KDE's text component."""

    kind = "kwrite"

    def arguments(self) -> list[str]:
        return ["kwrite"]


class Chromium(Program):
    """Chromium with a page that has a text area (t), an input (i) and an editable block (c)."""

    kind = "chromium"
    field = "t"
    platform = "x11"

    def command(self) -> list[str]:
        page = self.folder / "notes.html"
        page.write_text(PAGE, "utf-8")
        self.address = page.as_uri()
        self.profile = self.folder / "profile"
        return [
            "chromium",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-extensions",
            "--password-store=basic",
            "--disable-features=Translate,MediaRouter,OptimizationHints",
            f"--ozone-platform={self.platform}",
            "--test-type",
            "--window-position=20,20",
            "--window-size=900,620",
            f"--user-data-dir={self.profile}",
            "--remote-debugging-port=0",
            self.address,
        ]

    def wait_ready(self) -> None:
        file = self.profile / "DevToolsActivePort"
        port = until("DevTools port", lambda: file.exists() and file.read_text().split()[:1], 30)
        self.page = Page(int(port[0]), self.address)
        until("page", lambda: self.page.evaluate("document.readyState === 'complete' && !!window.seen"), 30)
        # until a page has been drawn once, Chromium throws keys away
        until("first paint", lambda: self.page.evaluate("performance.getEntriesByType('paint').length > 0"), 30)

    def focus(self) -> None:
        super().focus()
        self.page.evaluate(f"document.getElementById('{self.field}').focus(); seen = []")
        until(
            "page focus",
            lambda: self.page.evaluate(f"document.hasFocus() && document.activeElement.id === '{self.field}'"),
        )

    def peek(self) -> str:
        element = f"document.getElementById('{self.field}')"
        return str(self.page.evaluate(f"(e => e.value === undefined ? e.innerText : e.value)({element})"))

    def clear(self) -> None:
        element = f"document.getElementById('{self.field}')"
        self.page.evaluate(
            f"(e => {{ e.value === undefined ? e.innerText = '' : e.value = ''; seen = [] }})({element})"
        )

    def seen(self) -> list[str]:
        """Key, paste and blur events of the page since it was emptied."""
        return list(self.page.evaluate("seen"))

    def close(self) -> None:
        if hasattr(self, "page"):
            self.page.close()
        super().close()


class Fields(Program):
    """Our own window with two fields, as a program that tells about itself by accessibility."""

    kind = "fields"
    focused = "ordinary"

    def environment(self) -> dict[str, str]:
        return self.desktop.environment | {"QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"}

    def command(self) -> list[str]:
        return [sys.executable, "-m", "tests.e2e.password_dialog", self.focused]


class PasswordFields(Fields):
    kind = "password-fields"
    focused = "password"


X11_PROGRAMS: tuple[type[Program], ...] = (Chromium, Xterm, Lxterminal, Mousepad, Featherpad)
# opened for one text each: KWrite asks about a file that is saved twice in quick succession
MORE_PROGRAMS: tuple[type[Program], ...] = (GnomeTextEditor, KWrite)
