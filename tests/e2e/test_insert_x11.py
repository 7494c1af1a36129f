"""Words arrive on X11: in windows nobody here wrote, whole, and without a trace on clipboard or keyboard."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dictation.desktop.contract import How, Method, Outcome
from dictation.desktop.linux_x11 import X11Desktop
from dictation.desktop.x11 import typing
from dictation.desktop.x11.ping import Pinger
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.programs import MORE_PROGRAMS, X11_PROGRAMS, KWrite, Lxterminal, Program, Xterm

pytestmark = pytest.mark.desktop
SENTENCE = 'Zażółć gęślą jaźń – ß, 你好, 👍, "quotes", a{b}[c]|d\\e~'


@pytest.mark.parametrize("kind", X11_PROGRAMS + MORE_PROGRAMS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("method", [Method.PASTE, Method.TYPE])
def test_a_sentence_arrives_whole(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Program], method: Method
) -> None:
    sentence = SENTENCE.replace("👍", "") if (kind, method) == (KWrite, Method.TYPE) else SENTENCE  # KWrite drops it
    window = desktop.open(kind, f"{kind.kind}-{method}") if kind in MORE_PROGRAMS else desktop.reuse(kind)
    delivery = x11.insert(sentence, x11.target(), How(method))
    assert (delivery.outcome, delivery.method) == (Outcome.DELIVERED, method)
    assert window.text(sentence) == sentence
    if kind in MORE_PROGRAMS:
        window.close()


def test_what_the_server_tells_about_the_keyboard_does_not_pile_up(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    window = desktop.reuse(Xterm)
    for method in (Method.PASTE, Method.TYPE):
        window.clear()
        desktop.layout("de")
        desktop.layout("us")
        x11.insert(SENTENCE, x11.target(), How(method))
        assert window.text(SENTENCE) == SENTENCE
        assert x11._x.events(0) == x11._x.kept_events() == []


@contextmanager
def stumbling(pid: int) -> Iterator[None]:
    """A program that stands still for 0.3 s again and again, as on a computer with far too much to do."""
    over = threading.Event()

    def stumble() -> None:
        while not over.wait(0.1):
            os.kill(pid, signal.SIGSTOP)
            over.wait(0.3)
            os.kill(pid, signal.SIGCONT)

    thread = threading.Thread(target=stumble)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("kind", [Xterm, Lxterminal], ids=lambda kind: kind.kind)
def test_a_slow_window_gets_every_character_that_its_keys_lack(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Program]
) -> None:
    """Spare keys are filled again for every few dozen of these; xterm is asked by Editres whether it has read them."""
    text = "".join(map(chr, [*range(0x391, 0x3CA), *range(0x410, 0x450), *range(0x3041, 0x3091)])).replace("\u03a2", "")
    window = desktop.reuse(kind)
    with stumbling(window.pid):
        delivery = x11.insert(text, x11.target(), How(Method.TYPE))
    assert (delivery.outcome, delivery.evidence) == (Outcome.DELIVERED, "the window has read every key")
    assert window.text(text) == text


def test_a_window_that_hangs_gets_no_garbled_rest(desktop: VirtualDesktop, x11: X11Desktop, monkeypatch) -> None:
    monkeypatch.setattr(typing, "PATIENCE_S", 0.5)
    text = "".join(map(chr, range(0x3041, 0x3091)))
    window = desktop.reuse(Lxterminal)
    os.kill(window.pid, signal.SIGSTOP)
    try:
        delivery = x11.insert(text, x11.target(), How(Method.TYPE))
    finally:
        os.kill(window.pid, signal.SIGCONT)
    assert delivery.outcome is Outcome.HELD and "Stopped after 0 of 80 characters." in delivery.reason
    assert window.text("") == ""


def test_a_window_that_answers_nothing_is_waited_for_a_moment_only(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    with Pinger(x11._x, x11._x.window.id) as pinger:  # of this very program, which does not answer itself
        assert [pinger.read_everything() for _ in range(3)] == [False] * 3
