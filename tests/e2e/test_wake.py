"""Waking up is noticed: on a bus of the test's own, told as logind tells it."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation.desktop.sleep import WakeWatch
from tests.e2e.processes import Processes, until

SIGNAL = ["--type=signal", "/org/freedesktop/login1", "org.freedesktop.login1.Manager.PrepareForSleep"]


@pytest.fixture
def bus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    address = f"unix:path={tmp_path}/bus"
    processes = Processes(tmp_path)
    processes.start("dbus", ["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={address}"], {})
    until("the bus", (tmp_path / "bus").exists)
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
    yield address
    processes.end_all()


def test_waking_is_told_and_falling_asleep_is_not(bus: str) -> None:
    told = threading.Semaphore(0)
    watch = WakeWatch(told.release)
    assert watch.ready.wait(10)
    for asleep in ("true", "false", "true", "false"):
        subprocess.run(["dbus-send", f"--bus={bus}", *SIGNAL, f"boolean:{asleep}"], check=True, timeout=10)
    assert told.acquire(timeout=10) and told.acquire(timeout=10)
    assert not told.acquire(timeout=0.2)
    watch.close()


def test_without_a_system_bus_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SYSTEM_BUS_ADDRESS", f"unix:path={tmp_path}/absent")
    assert WakeWatch(lambda: None).ready.wait(10)
