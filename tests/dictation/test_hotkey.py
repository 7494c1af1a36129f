"""What a hotkey means, as rows of (milliseconds, input, expected gestures)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation.hotkey import IDLE, Gesture, Hotkey, Input, Mode, Options, Phase, deadline, step

PRESS, RELEASE, OTHER, TICK, ENDED = Input
START, STOP, CANCEL = Gesture
HOLD = Options(Mode.HOLD, double_tap_lock=False)
HOLD_LOCK = Options(Mode.HOLD, double_tap_lock=True)
TOGGLE = Options(Mode.TOGGLE)
BOTH = Options(Mode.TAP_OR_HOLD, double_tap_lock=False)
BOTH_LOCK = Options(Mode.TAP_OR_HOLD, double_tap_lock=True)


def bare(options: Options) -> Options:
    return Options(options.mode, options.double_tap_lock, bare_modifier=True)


ROWS = {
    "a hold records while the key is down": (HOLD, [(0, PRESS, START), (2000, RELEASE, STOP)]),
    "a hold of two hours is not cut": (HOLD, [(0, PRESS, START), (7_200_000, RELEASE, STOP)]),
    "a short hold records too": (HOLD, [(0, PRESS, START), (30, RELEASE, STOP)]),
    "other keys do not disturb a hold of a function key": (
        HOLD,
        [(0, PRESS, START), (500, OTHER, None), (900, RELEASE, STOP)],
    ),
    "after a lost release the next press stops": (
        HOLD,
        [(0, PRESS, START), (60_000, PRESS, STOP), (60_100, RELEASE, None), (61_000, PRESS, START)],
    ),
    "a release out of nowhere means nothing": (HOLD, [(0, RELEASE, None), (10, PRESS, START)]),
    "a take that ended by itself ignores the release": (
        HOLD,
        [(0, PRESS, START), (500, ENDED, None), (900, RELEASE, None), (1000, PRESS, START), (1500, RELEASE, STOP)],
    ),
    "toggle starts with one press and stops with the next": (
        TOGGLE,
        [(0, PRESS, START), (100, RELEASE, None), (5000, PRESS, STOP), (5100, RELEASE, None), (6000, PRESS, START)],
    ),
    "toggle does not mind a long press": (TOGGLE, [(0, PRESS, START), (3000, RELEASE, None), (4000, PRESS, STOP)]),
    "toggle after a take that ended by itself starts again": (
        TOGGLE,
        [(0, PRESS, START), (100, RELEASE, None), (900, ENDED, None), (1000, PRESS, START)],
    ),
    "tap or hold: a long press records while it lasts": (BOTH, [(0, PRESS, START), (1500, RELEASE, STOP)]),
    "tap or hold: a tap records until the next press": (
        BOTH,
        [(0, PRESS, START), (120, RELEASE, None), (4000, PRESS, STOP), (4100, RELEASE, None)],
    ),
    "tap or hold: 299 ms is a tap, 301 ms a hold": (
        BOTH,
        [
            (0, PRESS, START),
            (299, RELEASE, None),
            (999, PRESS, STOP),
            (1000, RELEASE, None),
            (2000, PRESS, START),
            (2301, RELEASE, STOP),
        ],
    ),
    "tap or hold: a double tap locks instead of stopping at once": (
        BOTH_LOCK,
        [(0, PRESS, START), (100, RELEASE, None), (250, PRESS, None), (350, RELEASE, None), (5000, PRESS, STOP)],
    ),
    "tap or hold: a tap after the double tap's time stops": (
        BOTH_LOCK,
        [(0, PRESS, START), (100, RELEASE, None), (450, TICK, None), (700, PRESS, STOP)],
    ),
    "the double tap's time is kept without a tick": (
        BOTH_LOCK,
        [(0, PRESS, START), (100, RELEASE, None), (700, PRESS, STOP)],
    ),
    "hold with lock: a double tap goes on without the key": (
        HOLD_LOCK,
        [(0, PRESS, START), (100, RELEASE, None), (250, PRESS, None), (350, RELEASE, None), (9000, PRESS, STOP)],
    ),
    "hold with lock: a single tap stops when no second comes": (
        HOLD_LOCK,
        [(0, PRESS, START), (100, RELEASE, None), (449, TICK, None), (450, TICK, STOP)],
    ),
    "hold with lock: a late tick still stops before the next press starts": (
        HOLD_LOCK,
        [(0, PRESS, START), (100, RELEASE, None), (5000, PRESS, (STOP, START)), (7000, RELEASE, STOP)],
    ),
    "hold with lock: a long hold stops at once": (HOLD_LOCK, [(0, PRESS, START), (1000, RELEASE, STOP)]),
    "a modifier held alone starts after 200 ms": (
        bare(HOLD),
        [(0, PRESS, None), (199, TICK, None), (200, TICK, START), (2000, RELEASE, STOP)],
    ),
    "a shortcut with the modifier starts nothing": (
        bare(HOLD),
        [(0, PRESS, None), (80, OTHER, None), (200, TICK, None), (400, RELEASE, None), (900, PRESS, None)],
    ),
    "a key that joins the held modifier later cancels without a word": (
        bare(HOLD),
        [(0, PRESS, None), (200, TICK, START), (700, OTHER, CANCEL), (900, RELEASE, None)],
    ),
    "a tapped modifier starts and stops by taps": (
        bare(BOTH_LOCK),
        [(0, PRESS, None), (90, RELEASE, START), (440, TICK, None), (3000, PRESS, None), (3090, RELEASE, STOP)],
    ),
    "a shortcut while recording by tap goes on recording": (
        bare(BOTH_LOCK),
        [
            (0, PRESS, None),
            (90, RELEASE, START),
            (440, TICK, None),
            (3000, PRESS, None),
            (3050, OTHER, None),
            (3100, RELEASE, None),
            (4000, PRESS, None),
            (4090, RELEASE, STOP),
        ],
    ),
    "a toggling modifier counts at its release": (
        bare(TOGGLE),
        [(0, PRESS, None), (900, RELEASE, START), (3000, PRESS, None), (3090, RELEASE, STOP)],
    ),
    "a toggling modifier in a shortcut starts nothing": (
        bare(TOGGLE),
        [(0, PRESS, None), (300, OTHER, None), (900, RELEASE, None)],
    ),
    "hold: a modifier tapped alone starts nothing, tapped twice it locks": (
        bare(HOLD_LOCK),
        [
            (0, PRESS, None),
            (90, RELEASE, None),
            (900, PRESS, None),
            (990, RELEASE, None),
            (1100, PRESS, START),
            (1200, RELEASE, None),
            (5000, PRESS, None),
            (5090, RELEASE, STOP),
        ],
    ),
}


@pytest.mark.parametrize(("options", "rows"), ROWS.values(), ids=ROWS)
def test_row(options: Options, rows: list) -> None:
    hotkey = Hotkey(options)
    for at_ms, what, expected in rows:
        wanted = () if expected is None else expected if isinstance(expected, tuple) else (expected,)
        assert hotkey.feed(what, at_ms / 1000) == wanted, f"{what} at {at_ms} ms"


every_option = st.builds(Options, st.sampled_from(Mode), st.booleans(), st.booleans())
inputs = st.lists(st.tuples(st.floats(0, 2), st.sampled_from(Input)), max_size=40)


@given(every_option, inputs)
def test_starts_and_ends_alternate_and_what_runs_can_be_stopped(options: Options, story: list) -> None:
    """Whatever is pressed, lost or late: no take starts inside another, and at most two taps end the one that runs."""
    state, now, running = IDLE, 0.0, False
    for pause_s, what in story:
        now += pause_s
        state, gestures = step(options, state, what, now)
        for gesture in gestures:
            assert (gesture is Gesture.START) is not running
            running = gesture is Gesture.START
        if what is Input.ENDED:
            running = False
    for _ in range(3):
        for what in (Input.PRESS, Input.RELEASE):
            if not running:
                break
            now += 1.0
            state, gestures = step(options, state, what, now)
            for gesture in gestures:
                running = gesture is Gesture.START
    due = deadline(options, state)
    if due is not None:
        state, gestures = step(options, state, Input.TICK, due)
        running = running and Gesture.STOP not in gestures
    assert not running
    assert state.phase is not Phase.LOCKED
