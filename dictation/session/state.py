"""What the session machine remembers: the take that is recorded, those that wait, and when each of them is due."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from dictation.events import Start, State


@dataclass(frozen=True)
class Limits:
    """Every wait of the machine, in seconds."""

    first_block_s: float = 2.0  # a suspended source may take 1.7 s to wake; then the microphone is opened anew
    opening_s: float = 8.0  # no block at all by then: the take has failed
    zeros_s: float = 4.0  # a Bluetooth headset sends zeros for up to 3 s; longer means muted, and is said
    gated_s: float = 15.0  # after speech, zeros may be a noise gate's: told later
    only_zeros_s: float = 30.0  # nothing but zeros since the beginning: the take ends
    watchdog_s: float = 1.0  # a source that is suspended stops without a word
    retry_s: float = 0.5  # between two attempts to open a lost microphone
    lost_s: float = 6.0  # how long a lost microphone is looked for
    tail_s: float = 0.25  # recorded after key-up
    tail_most_s: float = 0.5  # and so much while a word still goes on
    max_length_s: float = 1800.0
    hands_free_silence_s: float = 1.5
    hands_free_wait_s: float = 60.0  # nothing said at all
    life_sign_s: float = 20.0  # the recogniser must show progress this often
    finish_most_s: float = 120.0  # and end by then, plus twice the length of the audio
    deliver_s: float = 10.0
    deliver_character_s: float = 0.03  # and so much for each: some windows are typed into, and some of them are slow


@dataclass(frozen=True)
class Recorded:
    """The take that is being recorded."""

    number: int
    start: Start
    state: State
    since_s: float  # of this state
    began_s: float
    block_s: float | None = None  # last block
    zeros_since_s: float | None = None  # exact zeros only, since then
    opened_s: float = 0.0  # last time the microphone was opened
    lost_since_s: float | None = None
    reopen_s: float | None = None  # when to try the microphone again
    spoke: bool = False
    speaking: bool = False
    pause_s: float = 0.0
    heard_s: float = 0.0
    told_silent: bool = False

    @property
    def audio_s(self) -> float:
        return max(self.heard_s, self.since_s - self.began_s)


@dataclass(frozen=True)
class Waiting:
    """A take whose audio has all come."""

    number: int
    start: Start
    state: State  # FINISHING or DELIVERING
    audio_s: float
    since_s: float  # of its turn
    life_s: float  # last sign of life from the recogniser, while it is its turn
    recognised: bool = False
    n_characters: int = 0  # to be delivered


@dataclass(frozen=True)
class Session:
    limits: Limits = field(default_factory=Limits)
    recorded: Recorded | None = None
    pending: tuple[Waiting, ...] = ()
    next_number: int = 1

    @property
    def state(self) -> State:
        """The app's state: of the take that is recorded, else of the oldest that waits."""
        if self.recorded is not None:
            return self.recorded.state
        return self.pending[0].state if self.pending else State.IDLE


def wake_s(session: Session) -> float | None:
    """When the machine must be asked again with a `Tick`, on the same clock; None while nothing can time out."""
    times = []
    if session.recorded is not None:
        times.append(recording_due(session.recorded, session.limits)[0])
    if session.pending:
        times.append(waiting_due(session.pending[0], session.limits))
    return min(times) if times else None


Due = Literal["tail_over", "too_long", "no_sound", "wake", "gone", "retry", "stopped"]


def recording_due(take: Recorded, limits: Limits) -> tuple[float, Due]:
    """The next deadline of the take that is recorded, and which one it is."""
    if take.state is State.FINISHING:
        return _tail_end(take, limits), "tail_over"
    dues: list[tuple[float, Due]] = [(take.began_s + limits.max_length_s, "too_long")]
    if take.block_s is None:
        dues.append((take.began_s + limits.opening_s, "no_sound"))
        dues.append((take.opened_s + limits.first_block_s, "wake"))
    else:
        # soon after the last block, later after an opening
        waking_s = take.opened_s + limits.first_block_s if take.opened_s > take.block_s else 0.0
        dues.append((max(take.block_s + limits.watchdog_s, waking_s), "stopped"))
        if take.lost_since_s is not None:
            dues.append((take.lost_since_s + limits.lost_s, "gone"))
        if take.reopen_s is not None:
            dues.append((take.reopen_s, "retry"))
    return min(dues)


def _tail_end(take: Recorded, limits: Limits) -> float:
    least = take.since_s + limits.tail_s
    most = take.since_s + max(limits.tail_s, limits.tail_most_s)
    return most if take.speaking else least


def waiting_due(head: Waiting, limits: Limits) -> float:
    if head.state is State.DELIVERING:
        return head.since_s + limits.deliver_s + limits.deliver_character_s * head.n_characters
    most = head.since_s + limits.finish_most_s + 2 * head.audio_s
    return min(head.life_s + limits.life_sign_s, most)
