"""The typist: decides how words get into a window, and holds them when it can't be sure that they would arrive.

The target is recorded when the key goes down and compared when the words are ready. Whatever stands in the way, the
text is never lost: it is held on the clipboard, with a sentence that says why. One thread calls.
"""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dictation.desktop.contract import Delivery, Desktop, How, Method, Outcome, Role, Target, forbidden_character

MODIFIER_WAIT_S = 1.0
POLL_S = 0.01
LINE_BREAKS = ("\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029")


@dataclass(frozen=True)
class Rule:
    """How to treat windows whose class matches a pattern (as in file names; case does not matter).

    `newlines`: "keep" (pasted as they are, in terminals as spaces), "space", or "enter" (Return is pressed for each).
    """

    window_class: str = "*"
    method: Method = Method.AUTO
    trailing_space: bool = False
    submit: bool = False
    newlines: str = "keep"
    linger_s: float = 0.2

    def matches(self, window_class: str) -> bool:
        return fnmatch.fnmatchcase(window_class.lower(), self.window_class.lower())


# A remote desktop passes the clipboard on at its own pace.
REMOTE = (
    "*freerdp*",
    "*remmina*",
    "*rdesktop*",
    "*vncviewer*",
    "virt-viewer",
    "virt-manager",
    "virtualbox*",
    "vmware*",
)
REMOTE_RULES = tuple(Rule(pattern, linger_s=2.0) for pattern in REMOTE)
DEFAULT_RULES = (*REMOTE_RULES, Rule())


def rules_from(settings: Mapping[str, Any]) -> tuple[Rule, ...]:
    """The user's rules: one per program (a row of `insertion.programs`: program, method, trailing), then the general
    one for all others."""
    newlines = "enter" if settings["insertion.newline_is_enter"] else "keep"
    general = Rule("*", Method(settings["insertion.method"]), newlines=newlines)
    rules = []
    for row in settings["insertion.programs"]:
        program = str(row.get("program", "")).strip()
        if not program:
            continue
        try:
            method = Method(row.get("method") or general.method)
        except ValueError:
            method = general.method
        trailing = row.get("trailing")
        rules.append(Rule(program, method, trailing == "space", trailing == "enter", newlines))
    return (*rules, *REMOTE_RULES, general) if general.method is Method.AUTO else (*rules, general)


@dataclass(frozen=True)
class Insertion:
    """The last text that was meant to go somewhere: what `again` repeats and `undo` takes back."""

    spoken: str
    inserted: str
    target: Target | None
    delivery: Delivery


class Typist:
    """Delivers text through one desktop back-end."""

    def __init__(
        self,
        desktop: Desktop,
        rules: Sequence[Rule] = (),
        *,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._desktop = desktop
        self._rules = (*rules, *DEFAULT_RULES)
        self._hold_on_doubt = True
        self._clock = clock
        self._pause = pause
        self.last: Insertion | None = None

    def change(self, settings: Mapping[str, Any]) -> None:
        """Follow the settings from the next text on."""
        self._rules = (*rules_from(settings), *DEFAULT_RULES)
        self._hold_on_doubt = bool(settings["insertion.hold_on_doubt"])

    def target(self) -> Target | None:
        """The window that has the keyboard now; ask when the key goes down and hand it to `deliver`."""
        return self._desktop.target()

    def deliver(self, text: str, target: Target | None) -> Delivery:
        """Insert `text` if `target` still has the keyboard; otherwise hold it. `target` is what `target()` gave."""
        started_s = self._clock()
        now = self._desktop.target()
        if not self._hold_on_doubt:
            target = now  # the user wants the text wherever the keyboard is by then; a password field still holds it
        reason = self._objection(target, now)
        rule = self.rule_for(target or now)
        prepared, note = prepare(text, rule, (target or now or Target("")).role)
        if not prepared:
            delivery = Delivery(Outcome.DELIVERED, rule.method, "nothing to insert", 0.0, note)
        elif reason:
            secret = now is not None and now.role is Role.PASSWORD
            delivery = self._hold(prepared, rule.method, reason, started_s, secret)
        else:
            self._wait_for_modifiers()
            delivery = self._insert(prepared, target, rule)
            delivery = replace(delivery, elapsed_ms=self._since_ms(started_s), reason=delivery.reason or note)
        self.last = Insertion(text, prepared, target, delivery)
        return delivery

    def _insert(self, text: str, target: Target | None, rule: Rule) -> Delivery:
        """In one go; where a new line is to press Return, line by line, whatever way the lines take."""
        how = how_by(rule)
        if rule.newlines != "enter" or rule.method is Method.COPY:
            return self._desktop.insert(text, target, how)
        lines = text.split("\n")
        for i, line in enumerate(lines[:-1]):
            delivery = self._desktop.insert(line, target, replace(how, submit=True))
            if delivery.outcome is not Outcome.DELIVERED:
                if i:
                    self._desktop.clipboard.write_text("\n".join(lines[i:]))
                return delivery
        return self._desktop.insert(lines[-1], target, how) if lines[-1] or how.submit else delivery

    def again(self) -> Delivery:
        """Insert the last text once more, into the window that has the keyboard now."""
        if self.last is None:
            return Delivery(
                Outcome.HELD, Method.AUTO, "nothing was inserted yet", 0.0, "There is no text to repeat yet."
            )
        return self.deliver(self.last.spoken, self._desktop.target())

    def undo(self) -> Delivery:
        """Remove the last insertion, only if it can be seen to stand where it was put."""
        last = self.last
        if last is None or last.delivery.outcome is not Outcome.DELIVERED or not last.inserted:
            return _nothing_done("There is no insertion to take back.")
        now = self._desktop.target()
        target = last.target or now
        if target is None or not target.same_place(now):
            return _nothing_done("The window that got the text does not have the keyboard.")
        self._wait_for_modifiers()
        delivery = self._desktop.take_back(last.inserted, target)
        if delivery.outcome is Outcome.DELIVERED:
            self.last = None
        return delivery

    def rule_for(self, target: Target | None) -> Rule:
        window_class = target.window_class if target else ""
        return next(rule for rule in self._rules if rule.matches(window_class))

    def _objection(self, target: Target | None, now: Target | None) -> str:
        """Why the text may not be inserted now; "" when it may."""
        if not self._desktop.tells_target:
            return ""
        if now is None:
            return "No window has the keyboard."
        if now.role is Role.PASSWORD:
            return "A password field has the keyboard."
        if target is None:
            return "No window had the keyboard when you began to speak."
        if not target.same_place(now):
            return "Another window has the keyboard than when you began to speak."
        return ""

    def _hold(self, text: str, method: Method, reason: str, started_s: float, secret: bool) -> Delivery:
        self._desktop.clipboard.write_text(text, secret)
        return Delivery(Outcome.HELD, method, "on the clipboard", self._since_ms(started_s), reason)

    def _wait_for_modifiers(self) -> None:
        """Give the person time to let go; the back-end lifts what is still down after that."""
        deadline = self._clock() + MODIFIER_WAIT_S
        while self._desktop.held_modifiers() and self._clock() < deadline:
            self._pause(POLL_S)

    def _since_ms(self, started_s: float) -> float:
        return round((self._clock() - started_s) * 1000, 1)


def _nothing_done(reason: str) -> Delivery:
    return Delivery(Outcome.HELD, Method.AUTO, "nothing was changed", 0.0, reason)


def how_by(rule: Rule) -> How:
    """The back-end's instructions that follow from a rule."""
    newline = "Return" if rule.newlines == "enter" else ""
    return How(rule.method, typed_newline=newline, submit=rule.submit, linger_s=rule.linger_s)


def prepare(text: str, rule: Rule, role: Role) -> tuple[str, str]:
    """Text as it may be inserted, and a note for the user when something had to be left out.

    Line breaks of every kind become newlines and trailing ones go. In a terminal newlines and tabs become spaces,
    because there a newline runs a command and a tab completes one. Other control characters are left out.
    """
    for line_break in LINE_BREAKS:
        text = text.replace(line_break, "\n")
    kept = "".join(character for character in text if not forbidden_character(character))
    left_out = len(text) - len(kept)
    kept = kept.rstrip("\n")
    if rule.newlines == "space" or (role is Role.TERMINAL and rule.newlines != "enter"):
        kept = " ".join(part for part in kept.split("\n") if part)
    if role is Role.TERMINAL:
        kept = kept.replace("\t", " ")
    if rule.trailing_space and kept and not kept[-1].isspace():
        kept += " "
    note = f"{left_out} control character{'s' if left_out != 1 else ''} left out." if left_out else ""
    return kept, note
