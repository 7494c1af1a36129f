"""With an input method active (IBus with Pinyin, in a GTK program and by XIM) words arrive as they were said."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from dictation.desktop.contract import How, Method, Outcome
from dictation.desktop.linux_x11 import X11Desktop
from dictation.desktop.x11.input_method import InputMethod, input_method
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until
from tests.e2e.programs import Mousepad, Xterm

pytestmark = pytest.mark.desktop
SENTENCE = "ni hao – Grüße, 你好"


class ImeMousepad(Mousepad):
    kind = "ime-mousepad"

    def environment(self) -> dict[str, str]:
        return self.desktop.environment | {"GTK_IM_MODULE": "ibus"}


class ImeXterm(Xterm):
    kind = "ime-xterm"

    def environment(self) -> dict[str, str]:
        return self.desktop.environment | {"XMODIFIERS": "@im=ibus"}


class Ibus:
    def __init__(self, desktop: VirtualDesktop) -> None:
        self._desktop = desktop

    def __call__(self, *arguments: str) -> str:
        command = ["ibus", *arguments]
        done = subprocess.run(
            command, env=self._desktop.environment, capture_output=True, text=True, timeout=20, check=False
        )
        return done.stdout.strip()

    def choose(self, engine: str) -> None:
        def is_chosen() -> bool:
            self("engine", engine)
            return self("engine") == engine

        until(f"the engine {engine}", is_chosen)


@pytest.fixture
def ibus(desktop: VirtualDesktop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ibus]:
    for name in ("XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"):
        monkeypatch.setenv(name, desktop.environment[name])
    desktop.processes.start("ibus", ["ibus-daemon", "--xim", "--panel", "disable"], desktop.environment)
    ibus = Ibus(desktop)
    until("ibus", lambda: "libpinyin" in ibus("list-engine"))
    yield ibus
    desktop.processes.end("ibus")


@pytest.mark.parametrize("kind", [ImeMousepad, ImeXterm], ids=lambda kind: kind.kind)
def test_nothing_is_composed_from_dictated_letters(
    desktop: VirtualDesktop, x11: X11Desktop, ibus: Ibus, kind: type[Mousepad | Xterm]
) -> None:
    window = desktop.open(kind)
    ibus.choose("libpinyin")
    desktop.person.tap("n")
    desktop.person.tap("i")
    desktop.person.tap("space")
    assert until("the composed word", window.peek).strip() == "你", "the input method is at work"
    assert input_method(desktop.environment["DISPLAY"]) is InputMethod.COMPOSES
    for method in (Method.AUTO, Method.TYPE):
        window.clear()
        window.focus()
        delivery = x11.insert(SENTENCE, x11.target(), How(method))
        assert (delivery.outcome, delivery.method) == (Outcome.DELIVERED, Method.PASTE)
        assert window.text(SENTENCE) == SENTENCE
    ibus.choose("xkb:us::eng")
    assert input_method(desktop.environment["DISPLAY"]) is InputMethod.PASSES
    for text, method in (("On every key.", Method.TYPE), (SENTENCE, Method.PASTE)):
        window.clear()
        window.focus()
        assert x11.insert(text, x11.target(), How(Method.TYPE)).method is method
        assert window.text(text) == text
    window.close()


def test_without_an_input_method_there_is_none(desktop: VirtualDesktop) -> None:
    for display in (desktop.environment["DISPLAY"], ":987654"):
        assert input_method(display) is InputMethod.NONE
