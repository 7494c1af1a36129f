"""The typist: when text is inserted, when it is held, and what is done to it on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation.desktop.contract import Method, Outcome, Role, Target, forbidden_character
from dictation.desktop.keys import parse
from dictation.desktop.wayland.compositor import toggle_line
from dictation.settings import Settings
from dictation.typist import Rule, Typist, prepare
from tests.fakes.desktops import ObedientDesktop

EDITOR, TERMINAL = Target("1", 10, "Editor"), Target("2", 11, "XTerm", Role.TERMINAL)


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def pause(self, seconds: float) -> None:
        self.now_s += seconds


def typist_for(desktop: ObedientDesktop, *rules: Rule) -> tuple[Typist, Clock]:
    clock = Clock()
    return Typist(desktop, rules, clock=lambda: clock.now_s, pause=clock.pause), clock


def test_text_goes_to_the_window_that_had_the_keyboard_when_speech_began() -> None:
    desktop = ObedientDesktop(EDITOR)
    typist, _ = typist_for(desktop)
    assert typist.deliver("words", typist.target()).outcome is Outcome.DELIVERED
    assert desktop.inserted[0][:2] == ("words", EDITOR)


@pytest.mark.parametrize(
    ("before", "now", "reason"),
    [
        (EDITOR, TERMINAL, "Another window"),
        (EDITOR, None, "No window has"),
        (None, EDITOR, "No window had"),
        (EDITOR, Target("1", 10, "Editor", Role.PASSWORD), "password"),
        (EDITOR, Target("1", 99, "Editor"), "Another window"),  # X11 gives a closed window's number to the next
    ],
)
def test_on_doubt_the_text_is_held_on_the_clipboard_with_a_reason(
    before: Target | None, now: Target | None, reason: str
) -> None:
    desktop = ObedientDesktop(now)
    typist, _ = typist_for(desktop)
    delivery = typist.deliver("words", before)
    assert delivery.outcome is Outcome.HELD
    assert reason in delivery.reason
    assert desktop.inserted == []
    assert desktop.clipboard.read_text() == "words"


def test_again_inserts_held_text_where_the_keyboard_is_now() -> None:
    desktop = ObedientDesktop(TERMINAL)
    typist, _ = typist_for(desktop)
    typist.deliver("first\nsecond", EDITOR)
    assert typist.again().outcome is Outcome.DELIVERED
    assert desktop.inserted[0][:2] == ("first second", TERMINAL)


def test_again_and_undo_without_a_text_say_so() -> None:
    typist, _ = typist_for(ObedientDesktop())
    assert (typist.again().outcome, typist.undo().outcome) == (Outcome.HELD, Outcome.HELD)


def test_where_the_desktop_does_not_tell_the_window_text_is_inserted_anyway() -> None:
    desktop = ObedientDesktop(None, tells_target=False)
    typist, _ = typist_for(desktop)
    assert typist.deliver("words", None).outcome is Outcome.DELIVERED


def test_modifiers_get_a_second_to_be_let_go() -> None:
    held = frozenset({"Ctrl"})
    desktop = ObedientDesktop(EDITOR, [held, held, frozenset()])
    typist, clock = typist_for(desktop)
    typist.deliver("words", EDITOR)
    assert clock.now_s == pytest.approx(0.02)
    desktop.modifiers = [held]
    typist.deliver("words", EDITOR)
    assert clock.now_s == pytest.approx(1.02, abs=0.02)
    assert len(desktop.inserted) == 2


def test_undo_takes_back_what_was_inserted_and_only_once() -> None:
    desktop = ObedientDesktop(TERMINAL)
    typist, _ = typist_for(desktop)
    typist.deliver("a\nb", TERMINAL)
    assert typist.undo().outcome is Outcome.DELIVERED
    assert desktop.taken_back == ["a b"]
    assert typist.undo().outcome is Outcome.HELD


def test_undo_needs_the_same_window_and_the_text_in_it() -> None:
    desktop = ObedientDesktop(EDITOR, still_there=False)
    typist, _ = typist_for(desktop)
    typist.deliver("words", EDITOR)
    desktop.focus = TERMINAL
    assert typist.undo().outcome is Outcome.HELD
    assert desktop.taken_back == []
    desktop.focus = EDITOR
    assert typist.undo().outcome is Outcome.HELD
    assert typist.last is not None


@pytest.mark.parametrize(
    ("text", "rule", "role", "prepared"),
    [
        ("a\nb\n", Rule(), Role.UNKNOWN, "a\nb"),
        ("a\r\nb\u2028c", Rule(), Role.TEXT, "a\nb\nc"),
        ("a\nb\n\tc", Rule(), Role.TERMINAL, "a b  c"),
        ("a\nb", Rule(newlines="space"), Role.TEXT, "a b"),
        ("a\nb", Rule(newlines="enter"), Role.TERMINAL, "a\nb"),
        ("word", Rule(trailing_space=True), Role.TEXT, "word "),
        ("word ", Rule(trailing_space=True), Role.TEXT, "word "),
        ("\x1b[31mred\x07", Rule(), Role.TERMINAL, "[31mred"),
        ("\n\n", Rule(), Role.TEXT, ""),
    ],
)
def test_text_is_prepared_for_its_window(text: str, rule: Rule, role: Role, prepared: str) -> None:
    assert prepare(text, rule, role)[0] == prepared


def test_where_a_new_line_presses_enter_each_line_is_inserted_by_itself() -> None:
    desktop = ObedientDesktop(EDITOR)
    typist, _ = typist_for(desktop, Rule(newlines="enter"))
    assert typist.deliver("first\n\nsecond\n", EDITOR).outcome is Outcome.DELIVERED
    assert [(text, how.submit) for text, _, how in desktop.inserted] == [("first", True), ("", True), ("second", False)]
    assert {how.method for _, _, how in desktop.inserted} == {Method.AUTO}


def test_what_could_not_follow_the_first_line_is_held_whole() -> None:
    desktop = ObedientDesktop(EDITOR, takes=1)
    typist, _ = typist_for(desktop, Rule(newlines="enter"))
    assert typist.deliver("first\nsecond\nthird", EDITOR).outcome is Outcome.HELD
    assert desktop.clipboard.read_text() == "second\nthird"


def test_left_out_characters_are_mentioned() -> None:
    typist, _ = typist_for(ObedientDesktop(EDITOR))
    assert typist.deliver("a\x00b\x1b", EDITOR).reason == "2 control characters left out."


@given(st.text(st.characters(), max_size=200), st.sampled_from(Role))
def test_nothing_prepared_can_act_as_a_command(text: str, role: Role) -> None:
    prepared, _ = prepare(text, Rule(), role)
    assert not forbidden_character(prepared)
    if role is Role.TERMINAL:
        assert "\n" not in prepared
        assert "\t" not in prepared
    assert not prepared.endswith("\n")


def test_the_first_matching_rule_decides() -> None:
    rules = (Rule("slack*", newlines="space"), Rule("*term", method=Method.TYPE), Rule("xterm", submit=True))
    typist, _ = typist_for(ObedientDesktop(), *rules)
    assert typist.rule_for(TERMINAL).method is Method.TYPE
    assert typist.rule_for(Target("3", 1, "Slack")).newlines == "space"
    assert typist.rule_for(Target("3", 1, "xfreerdp")).linger_s == 2.0
    assert typist.rule_for(EDITOR) == Rule()


def test_the_users_settings_become_rules() -> None:
    desktop = ObedientDesktop(EDITOR)
    typist, _ = typist_for(desktop)
    rows = [
        {"program": "xterm", "method": "keys", "trailing": "space"},
        {"program": "Slack*", "method": "auto", "trailing": "enter"},
        {"program": " ", "method": "paste"},
    ]
    settings = Settings().changed({"insertion.programs": rows, "insertion.newline_is_enter": True})
    typist.change(settings)
    assert typist.rule_for(TERMINAL) == Rule("xterm", Method.TYPE, trailing_space=True, newlines="enter")
    assert typist.rule_for(Target("3", 1, "slack")).submit
    assert typist.rule_for(EDITOR) == Rule("*", newlines="enter")
    typist.change(settings.changed({"insertion.method": "keys", "insertion.programs": []}))
    assert typist.rule_for(TERMINAL).method is Method.TYPE


def test_who_does_not_want_text_held_gets_it_where_the_keyboard_is_but_never_in_a_password() -> None:
    desktop = ObedientDesktop(TERMINAL)
    typist, _ = typist_for(desktop)
    typist.change(Settings().changed({"insertion.hold_on_doubt": False}))
    assert typist.deliver("words", EDITOR).outcome is Outcome.DELIVERED
    assert desktop.inserted[0][:2] == ("words", TERMINAL)
    desktop.focus = Target("1", 10, "Editor", Role.PASSWORD)
    assert typist.deliver("words", EDITOR).outcome is Outcome.HELD


@pytest.mark.parametrize(
    ("compositor", "keys", "line"),
    [
        ("sway", "Ctrl+Alt+Space", "bindsym --no-repeat Ctrl+Mod1+space exec sayso start"),
        ("sway", "Right Ctrl", "bindsym --release Control_R exec sayso toggle"),
        ("hyprland", "Super+F9", "bind = SUPER, F9, exec, sayso start"),
        ("gnome", "F9", "sayso toggle"),
        ("kde", "F9", "sayso toggle"),
        ("", "F9", "sayso toggle"),
    ],
)
def test_each_compositor_has_its_line(compositor: str, keys: str, line: str) -> None:
    assert line in toggle_line(compositor, parse(keys))
