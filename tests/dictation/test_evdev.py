"""Hotkeys from keyboards as the kernel offers them. Pipes stand in for devices: the same file calls and structs."""

from __future__ import annotations

import os
import queue
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation.desktop.contract import Binding, KeyEvent
from dictation.desktop.wayland.evdev import EVENT, EvdevHotkeys, NoKeyboards, is_keyboard, readable

CTRL, ALT, SPACE, F9, RIGHT_CTRL, C = 29, 56, 57, 67, 97, 46
EV_SYN, EV_KEY, EV_REL = 0, 1, 2
KEYBOARD = "1000000000007 ff9f207ac14057ff febeffdfffefffff fffffffffffffffe"  # of a common USB keyboard
MOUSE = "70000 0 0 0 0"
POWER_BUTTON = "10000000000000 0"


class Computer:
    """A folder like /dev/input and one like /sys/class/input, with devices that are pipes."""

    def __init__(self, folder: Path) -> None:
        self.devices, self.about = folder / "dev", folder / "sys"
        self.devices.mkdir()
        self.about.mkdir()
        self._new = folder / "new"
        self._open: dict[str, int] = {}

    def plug(self, name: str, keys: str = KEYBOARD, called: str = "USB Keyboard") -> None:
        about = self.about / name / "device" / "capabilities"
        about.mkdir(parents=True, exist_ok=True)
        (about / "key").write_text(keys + "\n")
        (about.parent / "name").write_text(called + "\n")
        os.mkfifo(self._new)
        self._open[name] = os.open(self._new, os.O_RDWR)
        self._new.rename(self.devices / name)

    def unplug(self, name: str) -> None:
        (self.devices / name).unlink()
        os.close(self._open.pop(name))

    def send(self, name: str, *keys: tuple[int, int], kind: int = EV_KEY) -> None:
        now = time.time()
        stamp = int(now), int(now % 1 * 1e6)
        end = EVENT.pack(*stamp, EV_SYN, 0, 0)
        os.write(self._open[name], b"".join(EVENT.pack(*stamp, kind, code, value) + end for code, value in keys))

    def close(self) -> None:
        for handle in self._open.values():
            os.close(handle)


@pytest.fixture
def computer(tmp_path: Path) -> Iterator[Computer]:
    computer = Computer(tmp_path)
    computer.plug("event3")
    yield computer
    computer.close()


class Watched:
    """Bindings and what came of them. `so_far` ends with a key of its own: all before it has then been told."""

    def __init__(self, computer: Computer, *keys: str) -> None:
        self.computer = computer
        self._events: queue.SimpleQueue[KeyEvent] = queue.SimpleQueue()
        bindings = [*(Binding(key, key) for key in keys), Binding("Pause", "Pause", any_modifiers=True)]
        self.keys = EvdevHotkeys(bindings, self._events.put, computer.devices, computer.about)

    def next(self) -> str:
        event = self._events.get(timeout=5)
        return f"{event.action} {event.kind}"

    def so_far(self, name: str = "event3") -> list[str]:
        self.computer.send(name, (119, 1), (119, 0))
        seen = [self.next()]
        while seen[-1] != "Pause release":
            seen.append(self.next())
        return [event for event in seen if not event.startswith("Pause")]


@pytest.fixture
def watch(computer: Computer) -> Iterator:
    watched: list[Watched] = []

    def start(*keys: str) -> Watched:
        watched.append(Watched(computer, *keys))
        return watched[-1]

    yield start
    for one in watched:
        one.keys.close()


def test_the_kernels_record_has_24_bytes_on_64_bits() -> None:
    assert EVENT.size == {8: 24, 4: 16}[struct.calcsize("l")]


def test_a_hold_is_one_press_and_one_release_whatever_repeats(computer: Computer, watch) -> None:
    watched = watch("F9")
    computer.send("event3", (F9, 1), *[(F9, 2)] * 30, (F9, 0))
    assert watched.so_far() == ["F9 press", "F9 release"]


def test_the_modifiers_may_go_first_and_must_be_the_right_ones(computer: Computer, watch) -> None:
    watched = watch("Ctrl+Alt+Space")
    computer.send("event3", (CTRL, 1), (SPACE, 1), (SPACE, 0), (ALT, 1), (SPACE, 1), (CTRL, 0), (ALT, 0), (SPACE, 2))
    computer.send("event3", (SPACE, 0))
    assert watched.so_far() == ["Ctrl+Alt+Space press", "Ctrl+Alt+Space release"]


def test_a_modifier_alone_tells_of_other_keys_and_clicks_once(computer: Computer, watch) -> None:
    computer.plug("event4", MOUSE, "USB Mouse")
    watched = watch("Right Ctrl")
    computer.send("event3", (RIGHT_CTRL, 1), (C, 1), (C, 0), (C, 1), (C, 0), (RIGHT_CTRL, 0))
    assert watched.so_far() == ["Right Ctrl press", "Right Ctrl other", "Right Ctrl release"]
    computer.send("event3", (RIGHT_CTRL, 1))
    assert watched.next() == "Right Ctrl press"
    computer.send("event4", (0x110, 1), (0x110, 0))
    assert watched.next() == "Right Ctrl other"
    computer.send("event3", (RIGHT_CTRL, 0))
    assert watched.so_far() == ["Right Ctrl release"]


def test_right_alt_is_no_ctrl_alt(computer: Computer, watch) -> None:
    watched = watch("Ctrl+Alt+Space", "Right Alt")
    computer.send("event3", (100, 1), (SPACE, 1), (SPACE, 0), (100, 0))
    assert watched.so_far() == ["Right Alt press", "Right Alt other", "Right Alt release"]


def test_modifiers_of_one_keyboard_count_for_another(computer: Computer, watch) -> None:
    computer.plug("event7")
    watched = watch("Ctrl+F9")
    computer.send("event7", (CTRL, 1))
    assert watched.so_far("event7") == []
    computer.send("event3", (F9, 1), (F9, 0))
    assert watched.next() == "Ctrl+F9 press"


def test_a_new_keyboard_and_one_plugged_in_again_are_heard(computer: Computer, watch) -> None:
    watched = watch("F9")
    computer.plug("event9")
    computer.send("event9", (F9, 1), (F9, 0))
    assert [watched.next(), watched.next()] == ["F9 press", "F9 release"]
    computer.send("event3", (F9, 1))
    assert watched.next() == "F9 press"
    computer.unplug("event3")
    assert watched.next() == "F9 release", "a hold ends with its keyboard"
    computer.plug("event3", called="Another Keyboard")
    computer.send("event3", (F9, 1), (F9, 0))
    assert [watched.next(), watched.next()] == ["F9 press", "F9 release"]
    computer.unplug("event3")
    computer.unplug("event9")
    computer.plug("event3")
    assert watched.so_far() == []


def test_a_keyboard_whose_permissions_come_late_is_heard(computer: Computer, watch) -> None:
    watched = watch("F9")
    computer.plug("event5", keys="0")  # nothing to be had from it yet
    assert watched.so_far() == []
    (computer.about / "event5/device/capabilities/key").write_text(KEYBOARD)
    (computer.devices / "event5").chmod(0o660)  # what udev does last
    computer.send("event5", (F9, 1), (F9, 0))
    assert [watched.next(), watched.next()] == ["F9 press", "F9 release"]


def test_what_programs_type_and_what_is_no_keyboard_is_left_alone(computer: Computer) -> None:
    computer.plug("event5", called="ydotoold virtual device")
    computer.plug("event6", POWER_BUTTON, "Power Button")
    assert [is_keyboard(computer.about / f"event{n}" / "device") for n in (3, 5, 6)] == [True, False, False]
    assert readable(computer.devices, computer.about)
    computer.unplug("event3")
    assert not readable(computer.devices, computer.about)
    with pytest.raises(NoKeyboards):
        EvdevHotkeys([], lambda event: None, computer.devices, computer.about)


def test_without_devices_nothing_is_heard_and_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoKeyboards):
        EvdevHotkeys([], lambda event: None, tmp_path / "none", tmp_path)
    assert not readable(tmp_path / "none", tmp_path)


@pytest.mark.parametrize(("keys", "reason"), [("Space", "typed"), ("Shift+Tab", "typed"), ("Super+z", "layout")])
def test_keys_that_would_type_or_lie_elsewhere_are_refused(computer: Computer, watch, keys: str, reason: str) -> None:
    assert reason in watch("F9", keys).keys.refused[keys]


def test_half_a_record_and_other_kinds_do_no_harm(computer: Computer, watch) -> None:
    watched = watch("F9")
    computer.send("event3", (0, 5), (1, -3), kind=EV_REL)
    computer.send("event3", (3, 0), kind=EV_SYN)  # the kernel's buffer ran over
    computer.send("event3", (F9, 1), (F9, 0))
    assert watched.so_far() == ["F9 press", "F9 release"]


def test_bindings_can_be_replaced_while_a_key_is_down(computer: Computer, watch) -> None:
    watched = watch("F9")
    computer.send("event3", (F9, 1))
    assert watched.next() == "F9 press"
    watched.keys.bind([Binding("F9", "F9"), Binding("Escape", "Escape", any_modifiers=True), Binding("Pause", "Pause")])
    computer.send("event3", (1, 1), (1, 0), (F9, 0))
    assert watched.so_far() == ["Escape press", "Escape release", "F9 release"]
