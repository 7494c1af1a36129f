"""Words arrive on X11: in windows nobody here wrote, whole, and without a trace on clipboard or keyboard."""

from __future__ import annotations

import pytest

from dictation.desktop.contract import How, Method, Outcome
from dictation.desktop.linux_x11 import X11Desktop
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.programs import MORE_PROGRAMS, X11_PROGRAMS, KWrite, Program, Xterm

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
