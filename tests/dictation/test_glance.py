"""One look tells the state: each row is what happens and what is then to be seen."""

from __future__ import annotations

import pytest

from dictation import events
from dictation.events import ModelStatus, State
from dictation.glance import DONE_S, Face, Glance, Phrase, clock, resting, see

STAYS = "base stays in use until big is ready."
READY = Glance(model="base", model_status=ModelStatus.READY)


def after(*happened: events.Event, start: Glance = READY) -> Glance:
    glance = start
    for event in happened:
        glance = see(glance, event, now_s=10.0)
    return glance


def state(what: State, take: int = 1, waiting: int = 0) -> events.StateChanged:
    return events.StateChanged(take, what, 10.0, waiting=waiting)


HEARD = (state(State.OPENING), state(State.LISTENING))
FINAL = events.FinalText(1, "Hello.", "hello")
DELIVERED = events.TextDelivered(1, "Hello.", "delivered", "paste", "the window fetched it")
HELD = events.TextDelivered(1, "Hello.", "held", "", "another window came to the front")


@pytest.mark.parametrize(
    "happened, face, words, overlay",
    [
        ((state(State.OPENING),), Face.OPENING, "Getting the microphone ready", True),
        (HEARD, Face.LISTENING, "Listening", True),
        ((*HEARD, state(State.FINISHING)), Face.WORKING, "Finishing the last words", True),
        ((*HEARD, FINAL, state(State.DELIVERING), DELIVERED), Face.DONE, "Typed", True),
        ((*HEARD, FINAL, HELD), Face.HELD, "Not typed: another window came to the front", True),
        ((*HEARD, FINAL, HELD, state(State.IDLE)), Face.HELD, "Not typed: another window came to the front", True),
        ((*HEARD, events.NothingHeard(1, "silence", "Nothing was heard.")), Face.IDLE, "Nothing was heard.", True),
        ((*HEARD, events.Cancelled(1)), Face.IDLE, "Cancelled", True),
        ((*HEARD, events.Failed(1, "finishing", "It broke {here}.")), Face.ERROR, "It broke {here}.", True),
        ((*HEARD, state(State.IDLE)), Face.IDLE, "Ready", False),
        ((events.ModelChanged("base", ModelStatus.MISSING),), Face.NO_MODEL, "No model yet: choose one", False),
        ((events.ModelChanged("base", ModelStatus.LOADING),), Face.IDLE, "Loading base", False),
        ((events.ModelChanged("big", ModelStatus.LOADING, STAYS),), Face.IDLE, STAYS, False),
        ((events.ModelChanged("big", ModelStatus.WARMING, STAYS), state(State.IDLE)), Face.IDLE, STAYS, False),
        ((events.ModelChanged("big", ModelStatus.READY, "Old news."),), Face.IDLE, "Ready", False),
        ((events.ModelChanged("big", ModelStatus.FAILED, "It is damaged."),), Face.ERROR, "It is damaged.", True),
        ((*HEARD, events.ModelChanged("big", ModelStatus.FAILED, "It is damaged.")), Face.LISTENING, "Listening", True),
        ((events.HotkeysPaused(True),), Face.PAUSED, "Hotkeys are paused", False),
        ((events.Notice("x", "By the way."),), Face.IDLE, "Ready", False),
    ],
)
def test_each_happening_has_its_face(happened: tuple, face: Face, words: str, overlay: bool) -> None:
    glance = after(*happened)
    assert (glance.face, str(glance.words), glance.overlay) == (face, words, overlay)


def test_the_tick_goes_by_itself_and_held_text_stays() -> None:
    done = after(*HEARD, FINAL, DELIVERED)
    assert done.at(10.0 + DONE_S / 2).overlay and not done.at(10.1 + DONE_S).overlay
    assert after(*HEARD, FINAL, HELD).at(1e9).overlay


def test_words_are_shown_as_they_come_and_only_of_this_take() -> None:
    glance = after(*HEARD, events.PartialText(1, "And so", "my fellow"))
    assert (glance.firm, glance.tentative) == ("And so", "my fellow")
    assert after(*HEARD, events.PartialText(7, "other", "")).firm == ""


def test_an_older_take_that_ends_does_not_hide_the_one_being_spoken() -> None:
    glance = after(
        *HEARD, FINAL, state(State.OPENING, 2, 1), state(State.LISTENING, 2, 1), DELIVERED, state(State.IDLE)
    )
    assert glance.face is Face.LISTENING and glance.take == 2


def test_held_text_offers_insertion_and_copy() -> None:
    assert after(*HEARD, FINAL, HELD).actions == ("insert_again", "copy")


def test_a_warning_during_a_take_is_said_in_it() -> None:
    glance = after(*HEARD, events.Notice("microphone_silent", "Is it muted?", "warning", ("choose_microphone",)))
    assert glance.face is Face.LISTENING and str(glance.words) == "Is it muted?"


def test_the_level_is_a_share_of_the_meter() -> None:
    assert after(*HEARD, events.Level(1, -120, -120, False, 0)).level == 0
    assert after(*HEARD, events.Level(1, -15, 0, True, 0)).level == 1


def test_what_was_said_is_not_in_the_repr() -> None:
    assert "Hello" not in repr(after(*HEARD, FINAL, DELIVERED))


def test_a_phrase_keeps_braces_of_its_values() -> None:
    assert str(Phrase("Not typed: {reason}", {"reason": "{odd}"})) == "Not typed: {odd}"


@pytest.mark.parametrize("seconds, text", [(0, "0:00"), (7.9, "0:07"), (75, "1:15"), (-1, "0:00"), (3600, "60:00")])
def test_the_clock(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_warning_just_before_its_take_stays_beside_the_words_too() -> None:
    glance = see(Glance(), events.Notice("spool", "The disk is full.", "warning", take=1), 0.0)
    glance = see(glance, events.StateChanged(1, State.OPENING, 0.1), 0.1)
    glance = see(glance, events.StateChanged(1, State.LISTENING, 0.2), 0.2)
    assert str(glance.note) == "The disk is full."


def test_a_warning_of_a_take_stays_beside_the_words_until_the_take_ends() -> None:
    glance = see(Glance(), events.StateChanged(1, State.OPENING, 0.0), 0.0)
    glance = see(glance, events.Notice("spool", "The disk is {full}.", "warning", take=1), 0.1)
    glance = see(glance, events.StateChanged(1, State.LISTENING, 0.2), 0.2)
    glance = see(glance, events.PartialText(1, "Some", " words"), 0.3)
    assert str(glance.note) == "The disk is {full}." and glance.firm == "Some"
    assert str(see(glance, events.StateChanged(2, State.OPENING, 1.0), 1.0).note) == ""
    assert str(resting(glance).note) == ""
