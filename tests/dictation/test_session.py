"""The session machine, by rows of (time in seconds, what comes in, what must be done)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dictation import events as e
from dictation import session as s
from dictation.events import Cancel, Cue, Start, State, Stop, Toggle
from dictation.session import (
    BeginTake,
    CloseMicrophone,
    Deliver,
    Done,
    Drop,
    EndTake,
    HoldText,
    Hurry,
    OpenMicrophone,
    ReplaceRecogniser,
    Tick,
)

SOUND = s.BlockHeard(zeros=False)
SPEECH = s.BlockHeard(zeros=False, speaking=True, spoke=True)
ZEROS = s.BlockHeard(zeros=True)
HOLD = Start("hotkey")
HANDS_FREE = Start("hotkey", hands_free=True)
TICK = Tick()


def text(take, said="x"):
    return s.Recognised(take, e.FinalText(take, text=said, raw_text=said))


def nothing(take, keep=False):
    return s.Recognised(take, e.NothingHeard(take, "no_speech", "Nothing."), empty=True, keep_audio=keep)


def delivered(take, held=False):
    return s.DeliveryEnded(take, e.TextDelivered(take, text="x"), held)


def brief(effect):
    """An effect as rows name it: a class for plain ones, the state, cue or code for what is published."""
    if not isinstance(effect, s.Publish):
        return effect
    event = effect.event
    match event:
        case e.StateChanged():
            return (event.take, event.state)
        case e.PlaySound():
            return event.cue
        case e.Notice():
            return event.code
        case _:
            return type(event)


def run(rows):
    """Drive the machine; each row's effects must be exactly the expected ones. Returns the last state."""
    session = s.Session()
    for now, given_, expected in rows:
        session, effects = s.step(session, given_, now)
        assert [brief(effect) for effect in effects] == expected, f"at {now} s: {given_}"
    return session


BEGIN = [BeginTake(1, HOLD), OpenMicrophone(), (1, State.OPENING)]
LISTEN = [(1, State.LISTENING), Cue.READY]
RELEASE = [Hurry(1), (1, State.FINISHING)]
END = [EndTake(1), CloseMicrophone(), Cue.STOPPED]
SPOKEN = [(0.0, HOLD, BEGIN), (0.1, SOUND, LISTEN), (2.0, Stop(), RELEASE), (2.25, SOUND, END)]

ROWS = {
    "hold, speak, let go": [
        *SPOKEN,
        (2.4, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
        (2.5, delivered(1), [e.TextDelivered, Cue.DONE, Done(1), (1, State.IDLE)]),
    ],
    "A1: zeros from a Bluetooth headset are 'opening'; 'listening' comes with the first sound": [
        (0.0, HOLD, BEGIN),
        (0.1, ZEROS, []),
        (1.0, ZEROS, []),
        (2.9, ZEROS, []),
        (3.0, SOUND, LISTEN),
    ],
    "A1: zeros for longer than any headset are said, once, and the take goes on": [
        (0.0, HOLD, BEGIN),
        (0.1, ZEROS, []),
        (0.9, ZEROS, []),
        (1.8, ZEROS, []),
        (2.7, ZEROS, []),
        (3.6, ZEROS, []),
        (4.2, ZEROS, ["microphone_silent"]),
        (4.4, ZEROS, []),
        (5.0, SOUND, LISTEN),
    ],
    "P4: a long clip that came in a moment has the time that its length needs, while there is progress": [
        (0.0, HOLD, BEGIN),
        (0.1, s.BlockHeard(zeros=False, audio_s=200.0), LISTEN),
        (0.2, s.SourceEnded(), [*RELEASE, *END]),
        *((float(now), s.LifeSign(), []) for now in range(10, 520, 10)),
        (521.0, TICK, [ReplaceRecogniser(), Drop(1, "keep", "failed"), e.Failed, Cue.FAILED, (1, State.IDLE)]),
    ],
    "A2: the tail waits for the end of a word, but not for ever": [
        (0.0, HOLD, BEGIN),
        (0.1, SPEECH, LISTEN),
        (1.0, SPEECH, []),
        (1.5, Stop(), RELEASE),
        (1.8, SPEECH, []),
        (1.9, SOUND, END),
    ],
    "A2: half a second of tail at most": [
        (0.0, HOLD, BEGIN),
        (0.1, SPEECH, LISTEN),
        (0.5, Stop(), RELEASE),
        (0.99, SPEECH, []),
        (1.0, SPEECH, END),
    ],
    "A3: no block in two seconds: opened anew once, then it fails with a sentence": [
        (0.0, HOLD, BEGIN),
        (2.0, TICK, [OpenMicrophone(again=True)]),
        (4.0, TICK, [OpenMicrophone(again=True)]),
        (6.0, TICK, [OpenMicrophone(again=True)]),
        (8.0, TICK, [CloseMicrophone(), Drop(1, "remove"), e.Failed, Cue.FAILED, (1, State.IDLE)]),
    ],
    "A4: unplugged while speaking: goes on with what is there, in the same take": [
        (0.0, HOLD, BEGIN),
        (0.1, SPEECH, LISTEN),
        (1.0, s.MicrophoneLost("gone"), ["microphone_lost", OpenMicrophone(again=True)]),
        (1.5, SPEECH, []),
        (2.0, Stop(), RELEASE),
        (2.3, SOUND, END),
    ],
    "A4: it does not come back: what was said is delivered": [
        (0.0, HOLD, BEGIN),
        (0.1, SPEECH, LISTEN),
        (1.0, s.MicrophoneLost("gone"), ["microphone_lost", OpenMicrophone(again=True)]),
        (1.1, s.MicrophoneLost("gone"), []),
        (1.6, TICK, [OpenMicrophone(again=True)]),
        (3.6, TICK, [OpenMicrophone(again=True)]),
        (3.7, s.MicrophoneLost("gone"), []),
        (4.2, TICK, [OpenMicrophone(again=True)]),
        (6.2, TICK, [OpenMicrophone(again=True)]),
        (7.0, TICK, ["microphone_gone", *RELEASE, *END]),
        (7.5, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
    ],
    "A8: a source that was suspended is woken, not failed": [
        (0.0, HOLD, BEGIN),
        (1.7, SOUND, LISTEN),
    ],
    "a source suspended while speaking is noticed within a second": [
        (0.0, HOLD, BEGIN),
        (0.1, SPEECH, LISTEN),
        (1.1, TICK, ["microphone_lost", OpenMicrophone(again=True)]),
        (2.9, SPEECH, []),
    ],
    "no microphone at all: one more try, then the sentence": [
        (0.0, HOLD, BEGIN),
        (0.1, s.MicrophoneLost("none"), [OpenMicrophone(again=True)]),
        (0.2, s.MicrophoneLost("none"), [CloseMicrophone(), Drop(1, "remove"), e.Failed, Cue.FAILED, (1, State.IDLE)]),
    ],
    "a tap released before any sound still gives what comes in the tail": [
        (0.0, HOLD, BEGIN),
        (0.05, Stop(), RELEASE),
        (0.2, SOUND, []),
        (0.3, SOUND, END),
        (0.4, nothing(1), [e.NothingHeard, Done(1), (1, State.IDLE)]),
    ],
    "toggle starts and stops": [
        (0.0, Toggle("control"), [BeginTake(1, Start("control")), OpenMicrophone(), (1, State.OPENING)]),
        (0.1, SOUND, LISTEN),
        (1.0, Toggle("control"), RELEASE),
        (1.3, TICK, END),
    ],
    "starting again in the tail ends it; both are delivered in order": [
        (0.0, HOLD, BEGIN),
        (0.1, SOUND, LISTEN),
        (1.0, Stop(), RELEASE),
        (1.1, HOLD, [EndTake(1), BeginTake(2, HOLD), OpenMicrophone(), (2, State.OPENING)]),
        (1.2, SOUND, [(2, State.LISTENING), Cue.READY]),
        (2.0, Stop(), [Hurry(2), (2, State.FINISHING)]),
        (2.3, TICK, [EndTake(2), CloseMicrophone(), Cue.STOPPED]),
        (2.4, text(2), [e.FinalText]),
        (2.5, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
        (
            2.6,
            delivered(1),
            [e.TextDelivered, Cue.DONE, Done(1), (1, State.IDLE), (2, State.DELIVERING), Deliver(2)],
        ),
        (2.7, delivered(2, held=True), [e.TextDelivered, Cue.HELD, Done(2), (2, State.IDLE)]),
    ],
    "a second start while recording is ignored": [(0.0, HOLD, BEGIN), (0.1, SOUND, LISTEN), (0.2, HOLD, [])],
    "hands-free ends by itself on silence, without a tail": [
        (0.0, HANDS_FREE, [BeginTake(1, HANDS_FREE), OpenMicrophone(), (1, State.OPENING)]),
        (0.1, SOUND, LISTEN),
        (1.0, SPEECH, []),
        (1.9, s.BlockHeard(False, spoke=True, pause_s=1.0), []),
        (2.4, s.BlockHeard(False, spoke=True, pause_s=1.5), [*RELEASE, *END]),
    ],
    "hands-free ends on the exact zeros of a noise gate too, and these are no muted microphone": [
        (0.0, HANDS_FREE, [BeginTake(1, HANDS_FREE), OpenMicrophone(), (1, State.OPENING)]),
        (0.1, ZEROS, []),
        (0.5, SPEECH, LISTEN),
        (1.4, s.BlockHeard(True, spoke=True, pause_s=0.9), []),
        (2.0, s.BlockHeard(True, spoke=True, pause_s=1.5), [*RELEASE, *END]),
    ],
    "cancel while opening": [
        (0.0, HOLD, BEGIN),
        (0.1, Cancel(), [CloseMicrophone(), Drop(1, "remove"), e.Cancelled, (1, State.IDLE)]),
        (0.2, SOUND, []),
    ],
    "cancel while recognising: what comes late is not delivered": [
        *SPOKEN,
        (2.3, Cancel(), [Drop(1, "remove"), e.Cancelled, (1, State.IDLE)]),
        (2.4, text(1), []),
    ],
    "cancel while delivering": [
        *SPOKEN,
        (2.4, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
        (2.5, Cancel(1), [Drop(1, "remove"), e.Cancelled, (1, State.IDLE)]),
        (2.6, delivered(1), []),
    ],
    "H12: the longest dictation ends by itself, and its text is kept": [
        (0.0, HOLD, BEGIN),
        (0.1, SOUND, LISTEN),
        (900.0, SOUND, []),
        (1799.99, SOUND, []),
        (1800.0, SOUND, ["longest_dictation", *RELEASE]),
        (1800.3, SOUND, END),
        (1801.0, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
    ],
    "P1: recognition fails: the audio is kept and a retry offered": [
        *SPOKEN,
        (2.4, s.RecognitionFailed(1, "broken"), [Drop(1, "keep", "failed"), e.Failed, Cue.FAILED, (1, State.IDLE)]),
    ],
    "P4: a recogniser that does not answer is replaced, the audio kept, and the next take goes on": [
        *SPOKEN,
        (3.0, HOLD, [BeginTake(2, HOLD), OpenMicrophone(), (2, State.OPENING)]),
        (3.1, SOUND, [(2, State.LISTENING), Cue.READY]),
        (4.0, Stop(), [Hurry(2), (2, State.FINISHING)]),
        (4.3, TICK, [EndTake(2), CloseMicrophone(), Cue.STOPPED]),
        (
            22.25,
            TICK,
            [ReplaceRecogniser(), Drop(1, "keep", "failed"), e.Failed, Cue.FAILED, (1, State.IDLE)],
        ),
        (25.0, text(2), [e.FinalText, (2, State.DELIVERING), Deliver(2)]),
    ],
    "P4: one that shows life gets its time, up to a limit": [
        *SPOKEN,
        (20.0, s.LifeSign(), []),
        (22.3, TICK, []),
        (39.0, s.LifeSign(), []),
        (41.0, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
    ],
    "a window that does not take the text: held, and the app goes on": [
        *SPOKEN,
        (2.4, text(1), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
        (12.44, TICK, [HoldText(1), Cue.HELD, (1, State.IDLE)]),
        (13.0, delivered(1), []),
    ],
    "a long text that is typed key by key has its time": [
        *SPOKEN,
        (2.4, text(1, "x" * 1000), [e.FinalText, (1, State.DELIVERING), Deliver(1)]),
        (42.3, TICK, []),
        (42.5, TICK, [HoldText(1), Cue.HELD, (1, State.IDLE)]),
    ],
    "something unclear was heard: nothing is typed, the audio is kept": [
        *SPOKEN,
        (2.4, nothing(1, keep=True), [e.NothingHeard, Drop(1, "keep", "unclear"), (1, State.IDLE)]),
    ],
    "quitting keeps the audio of what is not delivered": [
        *SPOKEN,
        (3.0, HOLD, [BeginTake(2, HOLD), OpenMicrophone(), (2, State.OPENING)]),
        (3.1, s.Quit(), [CloseMicrophone(), Drop(2, "keep", "interrupted"), Drop(1, "keep", "interrupted")]),
    ],
    "after sleep, the microphone is opened anew": [
        (0.0, HOLD, BEGIN),
        (0.1, SOUND, LISTEN),
        (0.5, e.SystemWoke(), ["microphone_lost", OpenMicrophone(again=True)]),
        (1.0, SOUND, []),
    ],
    "a clip that ends needs no tail": [(0.0, HOLD, BEGIN), (0.1, SOUND, LISTEN), (1.0, s.SourceEnded(), RELEASE + END)],
}


@pytest.mark.parametrize("name", ROWS)
def test_row(name):
    run(ROWS[name])


inputs = st.one_of(
    st.sampled_from([HOLD, HANDS_FREE, Stop(), Toggle(), Cancel(), SOUND, SPEECH, ZEROS, TICK, s.LifeSign()]),
    st.sampled_from([s.MicrophoneLost("x"), s.SourceEnded(), e.SystemWoke()]),
    st.builds(text, st.integers(1, 4)),
    st.builds(nothing, st.integers(1, 4), st.booleans()),
    st.builds(delivered, st.integers(1, 4), st.booleans()),
    st.builds(s.RecognitionFailed, st.integers(1, 4), st.just("x")),
    st.builds(Cancel, st.integers(1, 4)),
)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.floats(0, 3), inputs), max_size=60))
def test_whatever_happens_every_take_ends_once_and_in_order(script):
    """Random inputs, then nothing but the passing of time: all takes come to an end, each exactly once."""
    session, now, log = s.Session(), 0.0, []

    def feed(given_):
        nonlocal session
        session, effects = s.step(session, given_, now)
        log.extend(effects)
        due = s.wake_s(session)
        assert due is None or due > now, "a deadline that has passed was not acted on"
        assert (due is None) == (session.state is State.IDLE)

    for wait_s, given_ in script:
        now += wait_s
        feed(given_)
    for _ in range(400):
        due = s.wake_s(session)
        if due is None:
            break
        now = due
        feed(TICK)
    assert session.state is State.IDLE, "hangs"

    begun = [x.take for x in log if isinstance(x, BeginTake)]
    ended = [x.take for x in log if isinstance(x, (Done, Drop, HoldText))]
    assert sorted(ended) == begun == list(range(1, len(begun) + 1))
    takes_delivered = [x.take for x in log if isinstance(x, Deliver)]
    assert takes_delivered == sorted(takes_delivered)
    idle = [
        x.event.take for x in log if isinstance(x, s.Publish) and brief(x) == (x.event.__dict__.get("take"), "idle")
    ]
    assert sorted(idle) == begun
    # the microphone is closed at the end, and never opened for nobody
    is_open = False
    for effect in log:
        is_open = {OpenMicrophone: True, CloseMicrophone: False}.get(type(effect), is_open)
    assert not is_open
