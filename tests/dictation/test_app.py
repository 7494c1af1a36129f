"""The app without a window: what the settings say reaches the parts that act on it, at the start and when changed."""

import pytest

from dictation import app as app_module
from dictation import events as e
from dictation import paths
from dictation import settings as s
from dictation.app import App, Wiring
from dictation.clip_source import ClipSource
from dictation.desktop.contract import Method, Target
from dictation.spool import Spool
from dictation.vocabulary import Vocabulary
from tests.fakes import sounds
from tests.fakes.desktops import EDITOR, ObedientDesktop
from tests.fakes.dictation import Listener, Words

SPEECH = sounds.clip("en/gcp-today")
CHAT = Target("9", 12, "Slack")


@pytest.fixture
def desktop(tmp_path, monkeypatch):
    """A fake desktop, and the user's folders in a temporary place."""
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    obedient = ObedientDesktop(EDITOR)
    monkeypatch.setattr(app_module, "open_desktop", lambda: obedient)
    return obedient


def start(tmp_path, words, **settings):
    s.save(s.Settings().changed({"recognition.model": "fake"} | settings), paths.settings_file())
    return App(
        Wiring(
            control=False,
            spool=Spool(tmp_path / "spool"),
            make_source=lambda post: ClipSource(post, [(SPEECH, 16_000)]),
            build=lambda name, device: words,
        )
    )


def dictate(app, heard, take):
    app.loop.send(e.Start())
    heard.until(e.StateChanged, take=take, state=e.State.IDLE)
    return heard.until(e.TextDelivered, take=take)


def test_the_insertion_page_decides_how_texts_are_inserted_from_the_start_and_after_each_change(tmp_path, desktop):
    words = Words()
    words.text = "One.\nTwo."
    rows = [{"program": "Slack*", "method": "paste", "trailing": "enter"}]
    app = start(tmp_path, words, **{"insertion.method": "keys", "insertion.programs": rows})
    heard = Listener(app.loop)
    with app:
        dictate(app, heard, 1)
        text, target, how = desktop.inserted[-1]
        assert (text, target) == ("One.\nTwo.", EDITOR)
        assert how.method is Method.TYPE and how.typed_newline == "" and not how.submit

        desktop.focus = CHAT
        dictate(app, heard, 2)
        assert desktop.inserted[-1][2].method is Method.PASTE and desktop.inserted[-1][2].submit

        app.loop.send(e.ChangeSettings({"insertion.programs": [], "insertion.newline_is_enter": True}))
        dictate(app, heard, 3)
        how = desktop.inserted[-1][2]
        assert how.method is Method.TYPE and how.typed_newline == "Return" and not how.submit


def test_hold_on_doubt_holds_a_text_whose_window_has_changed_until_it_is_switched_off(tmp_path, desktop):
    words = Words()
    words.gate.clear()
    app = start(tmp_path, words)
    heard = Listener(app.loop)
    with app:
        for take, hold, outcome in ((1, True, "held"), (2, False, "delivered")):
            app.loop.send(e.ChangeSettings({"insertion.hold_on_doubt": hold}))
            desktop.focus = EDITOR
            app.loop.send(e.Start())
            heard.until(e.StateChanged, take=take, state=e.State.FINISHING)
            desktop.focus = CHAT
            words.gate.set()
            assert heard.until(e.TextDelivered, take=take).outcome == outcome
            words.gate.clear()
    assert [target for _, target, _ in desktop.inserted] == [CHAT]


def test_the_words_that_were_said_last_come_first_in_the_next_prompt_and_are_remembered(tmp_path, desktop):
    words = Words()
    words.text = "We deploy Kubernetes."
    app = start(tmp_path, words, **{"recognition.vocabulary": ["Sayso", "Kubernetes"]})
    heard = Listener(app.loop)
    with app:
        dictate(app, heard, 1)
        dictate(app, heard, 2)
    first, second = ({term.text: term.last_used_s for term in request.terms} for request in words.requests)
    assert first == {"Sayso": 0.0, "Kubernetes": 0.0}
    assert second["Kubernetes"] > 0.0 == second["Sayso"]
    assert Vocabulary(paths.vocabulary_file()).terms(["Kubernetes"])[0].last_used_s > 0


def test_beside_a_sayso_that_has_the_socket_it_starts_without_and_says_so(tmp_path, desktop):
    s.save(s.Settings().changed({"recognition.model": "fake"}), paths.settings_file())
    wiring = Wiring(spool=Spool(tmp_path / "spool"), build=lambda name, device: Words())
    with App(wiring), App(wiring) as second:
        assert [notice.code for notice in second.notices] == ["no_control"]
        assert "runs already" in second.notices[0].message
