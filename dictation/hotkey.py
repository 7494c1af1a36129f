"""What a hotkey means: presses and releases in, start and stop out. Pure: the clock comes with every input.

A machine never ends a take by itself; only the person's keys do. Inputs may come late or be missing (a lost release, a
tick that comes after its time) without leaving a take running that nobody can stop.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class Mode(StrEnum):
    HOLD = "hold"  # record while the key is down
    TOGGLE = "toggle"  # one press starts, the next stops
    TAP_OR_HOLD = "tap_or_hold"  # a short press starts until the next press; a long one records while it lasts


class Input(StrEnum):
    PRESS = "press"
    RELEASE = "release"
    OTHER = "other"  # another key or a mouse button while the key is down
    TICK = "tick"  # time has passed; due at `deadline`
    ENDED = "ended"  # the take being recorded ended without the key: cancelled, too long, failed


class Gesture(StrEnum):
    START = "start"
    STOP = "stop"
    CANCEL = "cancel"  # what looked like the hotkey was a shortcut: forget it without a word


@dataclass(frozen=True)
class Options:
    mode: Mode = Mode.TAP_OR_HOLD
    double_tap_lock: bool = True
    bare_modifier: bool = False  # counts only when held alone, since it is part of shortcuts too
    tap_s: float = 0.3
    double_tap_s: float = 0.35
    alone_s: float = 0.2


class Phase(StrEnum):
    IDLE = "idle"
    ALONE = "alone"  # a bare modifier is down and may yet become a shortcut; nothing started
    TAPPED_ONCE = "tapped once"  # a bare modifier was tapped; nothing started, a second tap would
    HELD = "held"  # recording, key down
    TAPPED = "tapped"  # recording, key up again at once; a second tap may follow
    LOCKED = "locked"  # recording without the key
    LOCKING = "locking"  # recording, key down for the tap that locks
    STOPPING = "stopping"  # not recording, key down for the tap that stopped
    PENDING = "pending"  # recording without the key; a bare modifier is down that may be a shortcut or the stopping tap
    SPOILT = "spoilt"  # the modifier turned out to be part of a shortcut; wait for its release


@dataclass(frozen=True)
class State:
    phase: Phase = Phase.IDLE
    since_s: float = 0.0


IDLE = State()
Step = tuple[State, tuple[Gesture, ...]]


def deadline(options: Options, state: State) -> float | None:
    """When a TICK is due, on the inputs' clock; None when nothing waits for time to pass."""
    if state.phase is Phase.ALONE and options.mode is not Mode.TOGGLE:
        return state.since_s + options.alone_s
    if state.phase in (Phase.TAPPED, Phase.TAPPED_ONCE):
        return state.since_s + options.double_tap_s
    return None


def step(options: Options, state: State, what: Input, at_s: float) -> Step:
    """The next state and what it means, in order."""
    due = deadline(options, state)
    if due is not None and at_s >= due:
        state, before = _time_is_up(options, state, due)
    else:
        before = ()
    state, after = _HANDLERS[what](options, state, at_s)
    return state, before + after


def _time_is_up(options: Options, state: State, due: float) -> Step:
    if state.phase is Phase.ALONE:
        return State(Phase.HELD, state.since_s), (Gesture.START,)
    if state.phase is Phase.TAPPED_ONCE:
        return State(Phase.IDLE, due), ()
    # one short tap and no second: in hold mode that was all, otherwise it goes on until the next tap
    if options.mode is Mode.HOLD:
        return State(Phase.IDLE, due), (Gesture.STOP,)
    return State(Phase.LOCKED, due), ()


def _press(options: Options, state: State, at_s: float) -> Step:
    match state.phase:
        case Phase.IDLE:
            if options.bare_modifier:
                return State(Phase.ALONE, at_s), ()
            return State(Phase.HELD, at_s), (Gesture.START,)
        case Phase.TAPPED_ONCE:
            return State(Phase.LOCKING, at_s), (Gesture.START,)
        case Phase.TAPPED if options.double_tap_lock:
            return State(Phase.LOCKING, at_s), ()
        case Phase.TAPPED | Phase.LOCKED:
            if options.bare_modifier:
                return State(Phase.PENDING, at_s), ()
            return State(Phase.STOPPING, at_s), (Gesture.STOP,)
        case Phase.HELD | Phase.LOCKING:  # its release was lost: the person wants it to end
            return State(Phase.STOPPING, at_s), (Gesture.STOP,)
        case Phase.ALONE | Phase.SPOILT | Phase.STOPPING:  # a lost release again, but nothing runs: begin anew
            return _press(options, State(Phase.IDLE, at_s), at_s)
        case Phase.PENDING:
            return state, ()


def _release(options: Options, state: State, at_s: float) -> Step:
    match state.phase:
        case Phase.HELD:
            return _release_held(options, state, at_s)
        case Phase.ALONE:  # a bare modifier tapped alone
            if options.mode is Mode.HOLD:  # too short to have meant speech
                return State(Phase.TAPPED_ONCE if options.double_tap_lock else Phase.IDLE, at_s), ()
            if options.mode is Mode.TOGGLE:
                return State(Phase.LOCKED, at_s), (Gesture.START,)
            return State(Phase.TAPPED, at_s), (Gesture.START,)
        case Phase.LOCKING:
            return State(Phase.LOCKED, at_s), ()
        case Phase.PENDING:
            return State(Phase.IDLE, at_s), (Gesture.STOP,)
        case Phase.STOPPING | Phase.SPOILT:
            return State(Phase.IDLE, at_s), ()
        case _:
            return state, ()


def _release_held(options: Options, state: State, at_s: float) -> Step:
    if options.mode is Mode.TOGGLE:
        return State(Phase.LOCKED, at_s), ()
    short = at_s - state.since_s < options.tap_s
    if short and options.double_tap_lock:
        return State(Phase.TAPPED, at_s), ()
    if short and options.mode is Mode.TAP_OR_HOLD:
        return State(Phase.LOCKED, at_s), ()
    return State(Phase.IDLE, at_s), (Gesture.STOP,)


def _other(options: Options, state: State, at_s: float) -> Step:
    if not options.bare_modifier:
        return state, ()
    match state.phase:
        case Phase.ALONE:
            return State(Phase.SPOILT, at_s), ()
        case Phase.HELD:
            return State(Phase.SPOILT, at_s), (Gesture.CANCEL,)
        case Phase.LOCKING | Phase.PENDING:  # a shortcut typed while recording hands-free
            return State(Phase.LOCKED, at_s), ()
        case _:
            return state, ()


def _ended(options: Options, state: State, at_s: float) -> Step:
    if state.phase in (Phase.HELD, Phase.LOCKING, Phase.PENDING):
        return State(Phase.STOPPING, at_s), ()
    if state.phase in (Phase.TAPPED, Phase.LOCKED):
        return State(Phase.IDLE, at_s), ()
    return state, ()


def _tick(options: Options, state: State, at_s: float) -> Step:
    return state, ()


_HANDLERS = {
    Input.PRESS: _press,
    Input.RELEASE: _release,
    Input.OTHER: _other,
    Input.TICK: _tick,
    Input.ENDED: _ended,
}


class Hotkey:
    """One hotkey with its state, for those who would rather keep an object."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._state = IDLE

    def feed(self, what: Input, at_s: float) -> tuple[Gesture, ...]:
        self._state, gestures = step(self.options, self._state, what, at_s)
        return gestures

    @property
    def deadline_s(self) -> float | None:
        return deadline(self.options, self._state)

    def change(self, options: Options) -> None:
        """New options apply from the next press; a take that runs stays stoppable."""
        self.options = replace(options)
