"""Delivery on X11: it is proved or the text is held; the clipboard and the keyboard are left as they were."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from Xlib import X

from dictation.desktop.contract import How, Method, Outcome, Role
from dictation.desktop.linux_x11 import X11Desktop
from dictation.typist import Rule, Typist
from tests.e2e.clipboard_owner import ClipboardOwner, clipboard_owner
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import until
from tests.e2e.programs import (
    X11_PROGRAMS,
    BracketedShell,
    Chromium,
    Fields,
    Mousepad,
    PasswordFields,
    Program,
    Shell,
    Xterm,
)
from tests.e2e.slow_reader import SlowReader

pytestmark = pytest.mark.desktop
SENTENCE = "Grüße – 你好, 👍"


@pytest.fixture
def owner(desktop: VirtualDesktop) -> Iterator[ClipboardOwner]:
    with clipboard_owner(desktop) as owner:
        yield owner


@pytest.mark.parametrize("kind", X11_PROGRAMS, ids=lambda kind: kind.kind)
def test_every_format_of_the_clipboard_and_the_primary_selection_come_back(
    desktop: VirtualDesktop, x11: X11Desktop, owner: ClipboardOwner, kind: type[Program]
) -> None:
    window = desktop.reuse(kind)
    before = owner.contents()
    assert all(before)
    delivery = x11.insert(SENTENCE, x11.target())
    assert (delivery.outcome, delivery.method) == (Outcome.DELIVERED, Method.PASTE)
    until("the old contents", lambda: owner.contents() == before)
    assert window.text(SENTENCE) == SENTENCE


def test_the_users_clipboard_outlives_sayso(desktop: VirtualDesktop, owner: ClipboardOwner) -> None:
    desktop.reuse(Xterm)
    before = owner.contents()
    x11 = X11Desktop(desktop.environment["DISPLAY"])
    for _ in range(2):  # the second time it is the keeper of the first that is relieved
        assert x11.insert(SENTENCE, x11.target(), How(Method.PASTE)).outcome is Outcome.DELIVERED
    x11.clipboard.write_text("held text")
    x11.close()
    text, _, _, primary = owner.contents()
    assert (text, primary) == (b"held text", before[3])
    x11 = X11Desktop(desktop.environment["DISPLAY"])
    assert x11.clipboard.read_text() == "held text"
    x11.close()


def test_a_reader_that_is_three_seconds_late_gets_the_text_and_the_old_clipboard_comes_back(
    desktop: VirtualDesktop, x11: X11Desktop, owner: ClipboardOwner
) -> None:
    before = owner.contents()
    reader = SlowReader(desktop.environment["DISPLAY"], delay_s=3.0)
    desktop.focus(reader.window)
    delivery = x11.insert(SENTENCE, x11.target())
    assert delivery.outcome is Outcome.DELIVERED
    assert delivery.elapsed_ms > 2900
    assert reader.done.wait(5)
    assert reader.received == SENTENCE
    until("the old contents", lambda: owner.contents() == before)
    reader.close()


def test_clipboard_managers_are_told_to_leave_the_text_out(
    desktop: VirtualDesktop, x11: X11Desktop, owner: ClipboardOwner
) -> None:
    reader = SlowReader(desktop.environment["DISPLAY"], delay_s=0.5)
    desktop.focus(reader.window)
    with ThreadPoolExecutor(1) as typing:
        delivery = typing.submit(x11.insert, SENTENCE, x11.target())
        until("the text on the clipboard", lambda: owner.read("clipboard").decode() == SENTENCE)
        assert b"x-kde-passwordManagerHint" in owner.read("clipboard", "TARGETS")
        assert owner.read("clipboard", "x-kde-passwordManagerHint") == b"secret"
        assert delivery.result().outcome is Outcome.DELIVERED
    reader.close()


def test_a_reader_that_comes_too_late_still_finds_the_text(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    reader = SlowReader(desktop.environment["DISPLAY"], delay_s=5.5)
    desktop.focus(reader.window)
    delivery = x11.insert(SENTENCE, x11.target())
    assert delivery.outcome is Outcome.HELD
    assert "did not take the text in time" in delivery.reason
    assert reader.done.wait(5)
    assert reader.received == SENTENCE
    reader.close()


def test_text_for_a_window_that_lost_the_keyboard_is_held(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    other, first = desktop.reuse(Mousepad), desktop.reuse(Xterm)
    typist = Typist(x11)
    target = typist.target()
    desktop.focus(other.window)
    delivery = typist.deliver("meant for the terminal", target)
    assert delivery.outcome is Outcome.HELD
    assert "Another window has the keyboard" in delivery.reason
    assert x11.clipboard.read_text() == "meant for the terminal"
    assert other.text() == ""
    assert first.text() == ""
    desktop.focus(first.window)
    assert typist.again().outcome is Outcome.DELIVERED
    assert first.text("meant for the terminal") == "meant for the terminal"


def test_text_for_a_window_that_was_closed_is_held(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    other = desktop.reuse(Mousepad)
    closing = desktop.open(Xterm, "closing")
    typist = Typist(x11)
    target = typist.target()
    closing.close()
    desktop.focus(other.window)
    delivery = typist.deliver("too late", target)
    assert delivery.outcome is Outcome.HELD
    assert x11.clipboard.read_text() == "too late"
    assert other.text() == ""


@pytest.mark.parametrize("keys", [("Control_L",), ("Shift_L",), ("Alt_L",), ("Control_R", "Shift_R")], ids="+".join)
@pytest.mark.parametrize("method", [Method.PASTE, Method.TYPE])
def test_modifiers_that_stay_down_neither_change_the_text_nor_get_stuck(
    desktop: VirtualDesktop, x11: X11Desktop, keys: tuple[str, ...], method: Method
) -> None:
    for kind in (Xterm, Chromium):
        window = desktop.reuse(kind)
        with desktop.person.holding(*keys):
            delivery = x11.insert(SENTENCE, x11.target(), How(method))
            assert delivery.outcome is Outcome.DELIVERED
            assert not desktop.keys_down()
        assert window.text(SENTENCE) == SENTENCE
        assert not desktop.keys_down()


@pytest.mark.parametrize("method", [Method.PASTE, Method.TYPE])
@pytest.mark.parametrize("kind", X11_PROGRAMS, ids=lambda kind: kind.kind)
def test_caps_lock_changes_nothing_and_stays_on(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Program], method: Method
) -> None:
    window = desktop.reuse(kind)
    desktop.person.tap("Caps_Lock")
    try:
        assert x11.insert("Ab Äö Жж", x11.target(), How(method)).outcome is Outcome.DELIVERED
        assert desktop.caps_lock_on()
    finally:
        desktop.person.tap("Caps_Lock")
    assert window.text("Ab Äö Жж") == "Ab Äö Жж"


def test_text_is_held_when_a_password_field_has_the_keyboard(
    desktop: VirtualDesktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", desktop.environment["DBUS_SESSION_BUS_ADDRESS"])
    desktop.start_accessibility()
    x11 = X11Desktop(desktop.environment["DISPLAY"])
    desktop.open(PasswordFields)
    assert role_of_focus(x11, Role.PASSWORD) is Role.PASSWORD
    typist = Typist(x11)
    delivery = typist.deliver("not for a password", typist.target())
    assert delivery.outcome is Outcome.HELD
    assert "password" in delivery.reason
    ordinary = desktop.open(Fields)
    assert role_of_focus(x11, Role.UNKNOWN) is Role.UNKNOWN
    assert typist.again().outcome is Outcome.DELIVERED
    caret = x11.target().caret
    assert caret is not None and inside(desktop, ordinary.window, caret), "the text cursor is in its window"
    ordinary.close()
    x11.close()


def inside(desktop: VirtualDesktop, window_id: int, caret: tuple[int, int, int, int]) -> bool:
    window = desktop.x.create_resource_object("window", window_id)
    size, origin = window.get_geometry(), window.translate_coords(desktop.root, 0, 0)
    left, top = -origin.x, -origin.y
    return left <= caret[0] <= left + size.width and top <= caret[1] <= top + size.height and 0 < caret[3] < 60


def role_of_focus(x11: X11Desktop, wanted: Role) -> Role:
    """The role, once the program has joined the accessibility bus."""

    def role() -> Role | None:
        target = x11.target()
        return target.role if target is not None and target.role is wanted else None

    return until("the role", role) or Role.UNKNOWN


def test_a_dictated_line_break_is_no_return_in_a_terminal(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    window = desktop.reuse(Xterm)
    typist = Typist(x11)
    assert typist.deliver("rm -rf x\nsecond\tline\n", typist.target()).outcome is Outcome.DELIVERED
    assert window.text("rm -rf x second line") == "rm -rf x second line"


TWO_COMMANDS = "echo one > first\necho two > second"


@pytest.mark.parametrize("kind", [Shell, BracketedShell], ids=lambda kind: kind.kind)
def test_several_lines_dictated_into_a_shell_run_nothing(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Shell]
) -> None:
    shell = desktop.open(kind)
    typist = Typist(x11)
    assert typist.deliver(TWO_COMMANDS, typist.target()).outcome is Outcome.DELIVERED
    desktop.person.tap("Return")
    assert shell.read("second") == "one echo two\n"  # one line, run by the person
    assert (shell.folder / "first").read_text() == ""
    shell.close()


def test_what_shift_insert_itself_does_with_lines_is_up_to_the_shell(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    """Why the typist makes spaces of them: the back-end alone would leave it to bracketed paste."""
    plain = desktop.open(Shell, "raw-shell")
    assert x11.insert(TWO_COMMANDS, x11.target()).outcome is Outcome.DELIVERED
    assert plain.read("first") == "one\n"
    plain.close()
    bracketed = desktop.open(BracketedShell, "raw-bracketed-shell")
    assert x11.insert(TWO_COMMANDS, x11.target()).outcome is Outcome.DELIVERED
    desktop.person.tap("Control_L", "c")
    assert x11.insert("echo three > third", x11.target()).outcome is Outcome.DELIVERED
    desktop.person.tap("Return")
    assert bracketed.read("third") == "three\n"
    assert not (bracketed.folder / "first").exists()
    bracketed.close()


def test_a_new_line_presses_enter_where_the_user_wants_that(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    window = desktop.reuse(Chromium)
    typist = Typist(x11, [Rule(newlines="enter")])
    assert typist.deliver("first\nsecond", typist.target()).outcome is Outcome.DELIVERED
    assert window.text("first\nsecond") == "first\nsecond"
    assert window.seen().count("keydown Enter") == 1
    assert window.seen().count("paste ") == 2
    window.clear()
    window.focus()
    assert Typist(x11).deliver("first\nsecond", x11.target()).outcome is Outcome.DELIVERED
    assert window.text("first\nsecond") == "first\nsecond"
    assert window.seen().count("keydown Enter") == 0


@pytest.mark.parametrize("how", ["focus on nothing", "the bare desktop"])
def test_where_no_window_has_the_keyboard_the_text_is_held(desktop: VirtualDesktop, x11: X11Desktop, how: str) -> None:
    window = desktop.reuse(Xterm)
    typist = Typist(x11)
    spoken_into = typist.target()
    if how == "focus on nothing":
        desktop.freeze_window_manager(True)  # it would give the focus to some window again
        desktop.x.set_input_focus(X.NONE, X.RevertToNone, X.CurrentTime)
        desktop.x.sync()
    else:
        desktop.show_desktop(True)
    try:
        assert x11.target() is None
        for target in (None, spoken_into):  # at the start of the take as well, or only at its end
            delivery = typist.deliver("nowhere to go", target)
            assert delivery.outcome is Outcome.HELD
            assert "No window has the keyboard" in delivery.reason
            assert delivery.elapsed_ms < 1000
            assert x11.clipboard.read_text() == "nowhere to go"
        assert x11.insert("nor without the typist", None).outcome is Outcome.HELD
    finally:
        desktop.freeze_window_manager(False)
        desktop.show_desktop(False)
        window.focus()
    assert window.text() == ""
    assert typist.again().outcome is Outcome.DELIVERED
    assert window.text("nowhere to go") == "nowhere to go"


def test_enter_is_pressed_only_where_a_rule_says_so(desktop: VirtualDesktop, x11: X11Desktop) -> None:
    window = desktop.reuse(Xterm)
    typist = Typist(x11, [Rule("xterm", submit=True, trailing_space=True)])
    assert typist.deliver("done", typist.target()).outcome is Outcome.DELIVERED
    assert window.text("done \n") == "done \n"


@pytest.mark.parametrize("kind", [Chromium, Mousepad], ids=lambda kind: kind.kind)
def test_undo_takes_back_exactly_the_last_insertion(
    desktop: VirtualDesktop, x11: X11Desktop, owner: ClipboardOwner, kind: type[Program]
) -> None:
    window = desktop.reuse(kind)
    before = owner.contents()
    typist = Typist(x11)
    typist.deliver("kept ", typist.target())
    typist.deliver(SENTENCE, typist.target())
    assert window.text("kept " + SENTENCE) == "kept " + SENTENCE
    window.focus()
    assert typist.undo().outcome is Outcome.DELIVERED
    assert window.text("kept ") == "kept "
    assert until("the old contents", lambda: owner.contents() == before)
    assert typist.undo().outcome is Outcome.HELD


@pytest.mark.parametrize("kind", [Chromium, Mousepad], ids=lambda kind: kind.kind)
def test_undo_changes_nothing_when_the_text_was_edited(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Program]
) -> None:
    window = desktop.reuse(kind)
    typist = Typist(x11)
    typist.deliver(SENTENCE, typist.target())
    desktop.person.tap("x")
    assert window.text(SENTENCE + "x") == SENTENCE + "x"
    window.focus()
    delivery = typist.undo()
    assert delivery.outcome is Outcome.HELD
    assert "not right before the cursor" in delivery.reason
    assert window.text(SENTENCE + "x") == SENTENCE + "x"


def test_a_megabyte_of_random_bytes_comes_back_unchanged_through_the_clipboard(
    desktop: VirtualDesktop, x11: X11Desktop
) -> None:
    """Large contents travel in pieces, both when they are saved and when they are served."""
    from dictation.desktop.x11.clipboard import X11Clipboard
    from dictation.desktop.x11.selections import Item

    data = os.urandom(1_000_000)
    theirs = X11Clipboard(desktop.environment["DISPLAY"])
    atom = theirs._x.atom("application/x-test")
    theirs.restore(theirs.clipboard, {atom: Item(atom, 8, data)})
    saved = x11.clipboard.save(x11.clipboard.clipboard)
    theirs.close()
    assert saved is not None
    assert saved[atom].data == data


def test_a_text_that_is_copied_right_after_an_insertion_does_not_delay_the_next(
    desktop: VirtualDesktop, x11: X11Desktop, owner: ClipboardOwner
) -> None:
    window = desktop.reuse(Mousepad)
    assert x11.insert("one ", x11.target(), How(Method.PASTE)).outcome is Outcome.DELIVERED
    x11.clipboard.write_text("copied")
    delivery = x11.insert("two", x11.target(), How(Method.PASTE))
    assert delivery.outcome is Outcome.DELIVERED
    assert delivery.elapsed_ms < 3000
    assert window.text("one two") == "one two"
    until("the copy", lambda: owner.read("clipboard") == b"copied")


def test_a_clipboard_that_can_not_be_read_is_left_alone_and_the_next_text_is_pasted_again(
    desktop: VirtualDesktop, x11: X11Desktop, owner: ClipboardOwner
) -> None:
    window = desktop.reuse(Mousepad)
    before = owner.contents()
    desktop.processes.signal("clipboard-owner", signal.SIGSTOP)
    typed = x11.insert("one ", x11.target())
    desktop.processes.signal("clipboard-owner", signal.SIGCONT)
    assert (typed.outcome, typed.method) == (Outcome.DELIVERED, Method.TYPE)
    pasted = x11.insert("two", x11.target())
    assert (pasted.outcome, pasted.method) == (Outcome.DELIVERED, Method.PASTE)
    assert window.text("one two") == "one two"
    until("the old contents", lambda: owner.contents() == before)


def test_a_text_that_a_hanging_window_has_not_fetched_outlives_sayso(
    desktop: VirtualDesktop, owner: ClipboardOwner
) -> None:
    """Its keys are on their way; given back, the old contents would be pasted in the text's place."""
    desktop.reuse(Mousepad)
    x11 = X11Desktop(desktop.environment["DISPLAY"])
    clipboard = x11.clipboard
    loan = clipboard.lend(clipboard.clipboard, SENTENCE, 0, 0, 0.2)
    clipboard.expect(loan)
    x11.close()
    assert owner.read("clipboard") == SENTENCE.encode()
