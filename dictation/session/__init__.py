"""The session machine: pure, `step(session, input, now_s) -> (session, effects)`.

    idle -> opening -> listening -> finishing -> delivering -> idle

At most one take is recorded (opening, listening, and the tail after key-up); those before it wait in `pending`, oldest
first, are recognised one after the other and delivered in order. The machine holds no audio, no text and no device:
it says what is to be done, `dictation/loop.py` does it and reports back.

    facts    what comes in, besides commands
    state    what is remembered, how long anything may take, and what is due when
    machine  the step
    effects  what comes out

Invariant: every take has a deadline in every state, and `wake_s` says when the machine wants to be asked again. So a
stuck device, a recogniser that does not answer, or a window that does not take the text each end in a sentence for the
user, with the audio kept.
"""

from dictation.session.effects import (
    BeginTake,
    CloseMicrophone,
    Deliver,
    Done,
    Drop,
    Effect,
    EndTake,
    HoldText,
    Hurry,
    OpenMicrophone,
    Publish,
    ReplaceRecogniser,
)
from dictation.session.facts import (
    BlockHeard,
    DeliveryEnded,
    Fact,
    Input,
    LifeSign,
    MicrophoneLost,
    Quit,
    Recognised,
    RecognitionFailed,
    SourceEnded,
    Tick,
)
from dictation.session.machine import step
from dictation.session.state import Limits, Session, wake_s

__all__ = [
    "BeginTake",
    "BlockHeard",
    "CloseMicrophone",
    "Deliver",
    "DeliveryEnded",
    "Done",
    "Drop",
    "Effect",
    "EndTake",
    "Fact",
    "HoldText",
    "Hurry",
    "Input",
    "LifeSign",
    "Limits",
    "MicrophoneLost",
    "OpenMicrophone",
    "Publish",
    "Quit",
    "Recognised",
    "RecognitionFailed",
    "ReplaceRecogniser",
    "Session",
    "SourceEnded",
    "Tick",
    "step",
    "wake_s",
]
