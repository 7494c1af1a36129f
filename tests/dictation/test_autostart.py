"""The entry that starts Sayso with the computer, on Linux as its specification reads it back."""

from __future__ import annotations

import plistlib
import subprocess
import sys
from pathlib import Path

import pytest

from dictation import autostart


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("APPIMAGE", "APPDIR", "SAYSO_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def exec_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("Exec=")).removeprefix("Exec=")


def test_on_makes_one_entry_off_removes_it_and_neither_touches_others(config: Path) -> None:
    autostart.change(False)
    autostart.change(True)
    other = config / "autostart" / "other.desktop"
    other.write_text("[Desktop Entry]\n")
    written = autostart.entry().stat().st_mtime_ns
    autostart.change(True)
    assert autostart.entry().stat().st_mtime_ns == written, "what is right already is left alone"
    assert sorted(p.name for p in other.parent.iterdir()) == ["other.desktop", "sayso.desktop"]
    autostart.change(False)
    assert [p.name for p in other.parent.iterdir()] == ["other.desktop"]


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment with the tray program in it."""
    program = tmp_path / "environment" / "bin" / "sayso-app"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    return program


def test_the_entry_starts_the_program_that_wrote_it(config: Path, installed: Path) -> None:
    autostart.change(True)
    assert exec_line(autostart.entry().read_text()) == str(installed)


def test_a_program_that_a_package_put_on_the_path_is_started_by_that_name(
    config: Path, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = config / "sayso-app"
    link.symlink_to(installed)
    monkeypatch.setenv("PATH", str(config))
    autostart.change(True)
    assert exec_line(autostart.entry().read_text()) == str(link)


@pytest.mark.parametrize("name", ["My Apps", 'a"b', "a$HOME`x`", "50%", "back\\slash", "ünï", "a\nb"])
def test_any_path_comes_back_from_the_entry_as_it_was(config: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    image = f"/opt/{name}/Sayso.AppImage"
    monkeypatch.setenv("APPIMAGE", image)
    autostart.change(True)
    assert read_exec(exec_line(autostart.entry().read_text("utf-8"))) == [image]


def read_exec(line: str) -> list[str]:
    """An Exec line as a desktop reads it: string escapes, then quoting (as a shell's double quotes), then %%."""
    for code, character in (("\\\\", "\0"), ("\\n", "\n"), ("\0", "\\")):
        line = line.replace(code, character)
    shell = subprocess.run(["sh", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout
    return [word.decode().replace("%%", "%") for word in shell.split(b"\0")[:-1]]


def test_a_profile_of_its_own_starts_again(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAYSO_HOME", "/some where")
    autostart.change(True)
    assert read_exec(exec_line(autostart.entry().read_text()))[:2] == ["env", "SAYSO_HOME=/some where"]


def test_a_mac_gets_a_launch_agent(config: Path, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(Path, "home", lambda: config)
    autostart.change(True)
    agent = plistlib.loads((config / "Library/LaunchAgents" / "org.sayso.Sayso.plist").read_bytes())
    assert agent["RunAtLoad"] is True and agent["ProgramArguments"] == [str(installed)]
    autostart.change(False)
    assert not autostart.entry().exists()
