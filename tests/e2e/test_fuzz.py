"""Whatever is dictated is typed literally or refused with a reason; nothing of it is carried out."""

from __future__ import annotations

import pytest

from dictation.desktop.contract import How, Method, Outcome, forbidden_character
from dictation.desktop.linux_x11 import X11Desktop
from dictation.typist import Rule, Typist, prepare
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.fuzz_texts import fuzz_texts
from tests.e2e.programs import Lxterminal, Xterm

pytestmark = pytest.mark.desktop


AMOUNTS = (40, pytest.param(1000, marks=pytest.mark.slow))


@pytest.mark.parametrize("count", AMOUNTS)
@pytest.mark.parametrize("method", [Method.PASTE, Method.TYPE])
def test_x11_inserts_literally_or_refuses(desktop: VirtualDesktop, x11: X11Desktop, method: Method, count: int) -> None:
    window = desktop.reuse(Xterm)
    for text in fuzz_texts(count, seed=count):
        window.clear()
        delivery = x11.insert(text, x11.target(), How(method, typed_newline="Return", typed_tab=True))
        if forbidden_character(text):
            assert delivery.outcome is Outcome.HELD
            assert "control character" in delivery.reason
            assert window.peek() == ""
        else:
            assert delivery.outcome is Outcome.DELIVERED
            assert window.text(text) == text, ascii(text)


@pytest.mark.parametrize("count", AMOUNTS)
def test_the_typist_leaves_out_what_could_act_and_delivers_the_rest(
    desktop: VirtualDesktop, x11: X11Desktop, count: int
) -> None:
    window = desktop.reuse(Lxterminal)
    typist = Typist(x11)
    target = typist.target()
    assert target is not None
    for text in fuzz_texts(count, seed=count + 1):
        window.clear()
        expected, _ = prepare(text, Rule(), target.role)
        assert typist.deliver(text, target).outcome is Outcome.DELIVERED
        assert window.text(expected) == expected, ascii(expected)
