"""The session machine: pure, `step(session, input, now_s) -> (session, effects)`.

    idle -> opening -> listening -> finishing -> delivering -> idle

At most one take is recorded (opening, listening, and the tail after key-up); those before it wait in `pending`, oldest
first, are recognised one after the other and delivered in order. The machine holds no audio, no text and no device:
it says what is to be done, `loop.py` does it and reports back.

Invariant: every take has a deadline in every state, and `wake_s` says when the machine wants to be asked again. So a
stuck device, a recogniser that does not answer, or a window that does not take the text each end in a sentence for the
user, with the audio kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from dictation.events import (
    Action,
    Cancel,
    Cancelled,
    Command,
    Cue,
    Event,
    Failed,
    Notice,
    PlaySound,
    Start,
    State,
    StateChanged,
    Stop,
    SystemWoke,
    Toggle,
)


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


# ---- what comes in, besides commands --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fact:
    """Root of what the loop reports."""


@dataclass(frozen=True)
class BlockHeard(Fact):
    """A block arrived from the microphone that is being recorded."""

    zeros: bool  # every sample exactly 0
    speaking: bool = False
    spoke: bool = False  # there has been speech in this take
    pause_s: float = 0.0  # since the last speech
    audio_s: float = 0.0  # of this take so far; a clip comes faster than it was spoken


@dataclass(frozen=True)
class MicrophoneLost(Fact):
    """It could not be opened, or ended by itself."""

    message: str


@dataclass(frozen=True)
class LifeSign(Fact):
    """The recogniser made progress: it decodes, or loads a model."""


@dataclass(frozen=True)
class Recognised(Fact):
    """A take has its text, or none: then `empty`."""

    take: int
    event: Event  # FinalText or NothingHeard
    empty: bool = False
    keep_audio: bool = False  # empty, but not for sure


@dataclass(frozen=True)
class RecognitionFailed(Fact):
    take: int
    message: str


@dataclass(frozen=True)
class DeliveryEnded(Fact):
    take: int
    event: Event  # TextDelivered
    held: bool = False


@dataclass(frozen=True)
class SourceEnded(Fact):
    """A recorded clip has been played to its end."""


@dataclass(frozen=True)
class Tick(Fact):
    """`wake_s` has come."""


@dataclass(frozen=True)
class Quit(Fact):
    """The program ends."""


Input = Command | Fact

# ---- what comes out -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effect:
    """Root of what the loop is to do."""


@dataclass(frozen=True)
class Publish(Effect):
    event: Event


@dataclass(frozen=True)
class OpenMicrophone(Effect):
    """Open it unless it is open; blocks belong to the newest take from now on."""

    again: bool = False  # close it first and look at the devices anew


@dataclass(frozen=True)
class CloseMicrophone(Effect):
    """No more blocks are wanted (it may stay warm)."""


@dataclass(frozen=True)
class BeginTake(Effect):
    """Note the target window, open the spool file, begin to recognise."""

    take: int
    start: Start


@dataclass(frozen=True)
class Hurry(Effect):
    """Key up: recognise what is there, the rest is only the tail."""

    take: int


@dataclass(frozen=True)
class EndTake(Effect):
    """All audio of the take has come: make the final text of it."""

    take: int


@dataclass(frozen=True)
class Deliver(Effect):
    take: int


@dataclass(frozen=True)
class HoldText(Effect):
    """The window does not answer: keep the text for the user, and drop it should its turn still come."""

    take: int


@dataclass(frozen=True)
class Drop(Effect):
    """Forget a take: no more recognition, no delivery, and what happens to its audio."""

    take: int
    audio: Literal["remove", "keep"]
    reason: str = ""  # of keeping: "failed", "unclear", "interrupted"


@dataclass(frozen=True)
class Done(Effect):
    """A take was delivered (or held with its text safe): its audio is not needed any more."""

    take: int


@dataclass(frozen=True)
class ReplaceRecogniser(Effect):
    """The engine thread is stuck: leave it, start another, give it the takes that are left."""


# ---- state ----------------------------------------------------------------------------------------------------------


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
        times.append(_recording_due(session.recorded, session.limits)[0])
    if session.pending:
        times.append(_waiting_due(session.pending[0], session.limits))
    return min(times) if times else None


_Due = Literal["tail_over", "too_long", "no_sound", "wake", "gone", "retry", "stopped"]


def _recording_due(take: Recorded, limits: Limits) -> tuple[float, _Due]:
    """The next deadline of the take that is recorded, and which one it is."""
    if take.state is State.FINISHING:
        return _tail_end(take, limits), "tail_over"
    dues: list[tuple[float, _Due]] = [(take.began_s + limits.max_length_s, "too_long")]
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


def _waiting_due(head: Waiting, limits: Limits) -> float:
    if head.state is State.DELIVERING:
        return head.since_s + limits.deliver_s
    most = head.since_s + limits.finish_most_s + 2 * head.audio_s
    return min(head.life_s + limits.life_sign_s, most)


# ---- the machine ----------------------------------------------------------------------------------------------------


def step(session: Session, given: Input, now_s: float) -> tuple[Session, list[Effect]]:
    """The machine's next state, and what is to be done, in order. `now_s` never goes back."""
    machine = _Machine(session, now_s)
    machine.take(given)
    machine.check_deadlines()
    return machine.session, machine.effects


class _Machine:
    """One step: the state while it is being changed, and the effects so far."""

    def __init__(self, session: Session, now_s: float) -> None:
        self.session = session
        self.now_s = now_s
        self.effects: list[Effect] = []

    def take(self, given: Input) -> None:
        match given:
            case Start():
                self._start(given)
            case Stop():
                self._stop()
            case Toggle():
                if self._is_recording:
                    self._stop()
                else:
                    self._start(Start(given.trigger, given.hands_free, given.output))
            case Cancel():
                self._cancel(given.take)
            case BlockHeard():
                self._block(given)
            case MicrophoneLost():
                self._lost(given.message)
            case SourceEnded():
                self._source_ended()
            case LifeSign():
                self._life_sign()
            case Recognised():
                self._recognised(given)
            case RecognitionFailed():
                self._recognition_failed(given.take, given.message)
            case DeliveryEnded():
                self._delivery_ended(given)
            case SystemWoke():
                if self._is_recording:
                    self._lost("The computer slept.")
            case Quit():
                self._quit()
            case _:
                pass

    # -- recording

    @property
    def _is_recording(self) -> bool:
        return self.session.recorded is not None and self.session.recorded.state is not State.FINISHING

    def _start(self, start: Start) -> None:
        if self._is_recording:
            return
        if self.session.recorded is not None:
            self._end_tail(microphone_stays=True)
        number = self.session.next_number
        take = Recorded(number, start, State.OPENING, self.now_s, self.now_s, opened_s=self.now_s)
        self._change(recorded=take, next_number=number + 1)
        self._do(BeginTake(number, start), OpenMicrophone())
        self._say_state(number, State.OPENING, start)

    def _stop(self) -> None:
        """Key up: the tail begins. Hands-free takes ended by silence have had theirs."""
        take = self.session.recorded
        if take is None or take.state is State.FINISHING:
            return
        self._record(state=State.FINISHING, since_s=self.now_s)
        self._do(Hurry(take.number))
        self._say_state(take.number, State.FINISHING, take.start)

    def _end_tail(self, microphone_stays: bool = False) -> None:
        take = self.session.recorded
        assert take is not None
        self._do(EndTake(take.number))
        if not microphone_stays:
            self._do(CloseMicrophone())
            self._sound(Cue.STOPPED)
        waiting = Waiting(take.number, take.start, State.FINISHING, take.audio_s, self.now_s, self.now_s)
        self._change(recorded=None, pending=(*self.session.pending, waiting))

    def _block(self, block: BlockHeard) -> None:
        take = self.session.recorded
        if take is None:
            return
        zeros_since = (take.zeros_since_s or self.now_s) if block.zeros else None
        self._record(
            block_s=self.now_s,
            zeros_since_s=zeros_since,
            lost_since_s=None,
            reopen_s=None,
            spoke=take.spoke or block.spoke,
            speaking=block.speaking,
            pause_s=block.pause_s,
            heard_s=block.audio_s,
        )
        if take.state is State.OPENING and not block.zeros:
            self._record(state=State.LISTENING, since_s=self.now_s)
            self._say_state(take.number, State.LISTENING, take.start)
            self._sound(Cue.READY)
        if zeros_since is not None:
            self._only_zeros(self.now_s - zeros_since)
        if take.start.hands_free and self._is_recording:
            limits = self.session.limits
            over = block.spoke and block.pause_s >= limits.hands_free_silence_s
            if over or (not block.spoke and self.now_s - take.began_s >= limits.hands_free_wait_s):
                self._stop()
                self._end_tail()

    def _only_zeros(self, zeros_s: float) -> None:
        """A headset that switches sends zeros for a while; then the microphone is muted, and the user is told."""
        take, limits = self.session.recorded, self.session.limits
        assert take is not None
        mute_s = limits.gated_s if take.spoke else limits.zeros_s
        if zeros_s >= mute_s and not take.told_silent:
            self._record(told_silent=True)
            text = "The microphone sends only silence. Is it muted?"
            self._notice("microphone_silent", text, "warning", ("choose_microphone", "test_microphone"))
        if take.state is State.OPENING and zeros_s >= limits.only_zeros_s:
            self._stop()
            self._end_tail()

    def _lost(self, message: str) -> None:
        """Look for another microphone, or the same one again, for a while."""
        take = self.session.recorded
        if take is None:
            return
        if take.state is State.FINISHING:
            self._end_tail()
            return
        if take.lost_since_s is None:
            if take.block_s is not None:
                text = "The microphone went away. Sayso goes on with the one that is there."
                self._notice("microphone_lost", text, "warning", ("choose_microphone",))
            self._record(lost_since_s=self.now_s)
            self._reopen()
        elif take.block_s is None:
            self._fail_recording(message)
        elif self.now_s >= take.lost_since_s + self.session.limits.lost_s:
            self._give_up_microphone()
        else:
            self._record(reopen_s=self.now_s + self.session.limits.retry_s)

    def _reopen(self) -> None:
        self._record(opened_s=self.now_s, reopen_s=None)
        self._do(OpenMicrophone(again=True))

    def _give_up_microphone(self) -> None:
        """It does not come back: deliver what was said until then."""
        text = "The microphone is gone. What you said until then is kept."
        self._notice("microphone_gone", text, "error", ("choose_microphone",))
        self._stop()
        self._end_tail()

    def _fail_recording(self, message: str) -> None:
        take = self.session.recorded
        assert take is not None
        self._change(recorded=None)
        self._do(CloseMicrophone(), Drop(take.number, "remove"))
        actions: tuple[Action, ...] = ("choose_microphone", "test_microphone")
        self._publish(Failed(take.number, "opening", message, actions=actions, at_s=self.now_s))
        self._sound(Cue.FAILED)
        self._say_state(take.number, State.IDLE, take.start)

    def _source_ended(self) -> None:
        """A clip is over: nothing more can come, so there is no tail to wait for."""
        if self.session.recorded is not None:
            self._stop()
            self._end_tail()

    # -- recognising and delivering

    def _life_sign(self) -> None:
        if self.session.pending and self.session.pending[0].state is State.FINISHING:
            head = replace(self.session.pending[0], life_s=self.now_s)
            self._change(pending=(head, *self.session.pending[1:]))

    def _recognised(self, given: Recognised) -> None:
        take = self._find(given.take)
        if take is None or take.recognised:
            return  # cancelled, or given up before
        self._publish(given.event)
        if given.empty:
            if given.keep_audio:
                self._do(Drop(take.number, "keep", "unclear"))
            else:
                self._do(Done(take.number))
            self._leave(take)
            return
        self._update(replace(take, recognised=True))
        self._deliver_next()

    def _recognition_failed(self, number: int, message: str) -> None:
        take = self._find(number)
        if take is None:
            return
        self._do(Drop(number, "keep", "failed"))
        self._publish(Failed(number, "finishing", message, actions=("retry", "choose_model"), at_s=self.now_s))
        self._sound(Cue.FAILED)
        self._leave(take)

    def _delivery_ended(self, given: DeliveryEnded) -> None:
        take = self._find(given.take)
        if take is None or take.state is not State.DELIVERING:
            return
        self._publish(given.event)
        self._sound(Cue.HELD if given.held else Cue.DONE)
        self._do(Done(take.number))
        self._leave(take)

    def _leave(self, take: Waiting) -> None:
        """A take is over; if it was the oldest, the next one has its turn, and its time begins."""
        was_head = self.session.pending[0].number == take.number
        rest = tuple(t for t in self.session.pending if t.number != take.number)
        if was_head and rest:
            rest = (replace(rest[0], since_s=self.now_s, life_s=self.now_s), *rest[1:])
        self._change(pending=rest)
        self._say_state(take.number, State.IDLE, take.start)
        self._deliver_next()

    def _deliver_next(self) -> None:
        """Deliver the oldest take if its text is there."""
        head = self.session.pending[0] if self.session.pending else None
        if head is not None and head.recognised and head.state is State.FINISHING:
            self._update(replace(head, state=State.DELIVERING, since_s=self.now_s))
            self._say_state(head.number, State.DELIVERING, head.start)
            self._do(Deliver(head.number))

    # -- cancel and quit

    def _cancel(self, number: int | None) -> None:
        """The take that is named; without a name the one that is recorded, else all that wait."""
        recorded = self.session.recorded
        if recorded is not None and number in (None, recorded.number):
            self._change(recorded=None)
            self._do(CloseMicrophone(), Drop(recorded.number, "remove"))
            self._publish(Cancelled(recorded.number, self.now_s))
            self._say_state(recorded.number, State.IDLE, recorded.start)
            return
        for take in self.session.pending:
            if number in (None, take.number):
                # not `_leave` for each: a younger one that is cancelled too must not be delivered in between
                self._change(pending=tuple(t for t in self.session.pending if t.number != take.number))
                self._do(Drop(take.number, "remove"))
                self._publish(Cancelled(take.number, self.now_s))
                self._say_state(take.number, State.IDLE, take.start)
        if self.session.pending:
            head = replace(self.session.pending[0], life_s=self.now_s)
            self._change(pending=(head, *self.session.pending[1:]))
        self._deliver_next()

    def _quit(self) -> None:
        recorded, pending = self.session.recorded, self.session.pending
        self._change(recorded=None, pending=())
        if recorded is not None:
            self._do(CloseMicrophone(), Drop(recorded.number, "keep", "interrupted"))
        self._do(*(Drop(take.number, "keep", "interrupted") for take in pending))

    # -- deadlines

    def check_deadlines(self) -> None:
        while self.session.recorded is not None:
            due_s, due = _recording_due(self.session.recorded, self.session.limits)
            if self.now_s < due_s:
                break
            self._recording_is_due(self.session.recorded, due)
        if self.session.pending and self.now_s >= _waiting_due(self.session.pending[0], self.session.limits):
            self._give_up_waiting(self.session.pending[0])

    def _recording_is_due(self, take: Recorded, due: _Due) -> None:
        match due:
            case "tail_over":
                self._end_tail()
            case "too_long":
                minutes = f"{self.session.limits.max_length_s / 60:g}"
                self._notice("longest_dictation", f"{minutes} minutes are the longest dictation; the text is kept.")
                self._stop()
            case "no_sound":
                self._fail_recording("The microphone gives no sound. Choose another one, or plug it in again.")
            case "gone":
                self._give_up_microphone()
            case "stopped" if take.lost_since_s is None:
                self._lost("The microphone stopped.")
            case "wake" | "retry" | "stopped":
                self._reopen()

    def _give_up_waiting(self, take: Waiting) -> None:
        if take.state is State.DELIVERING:
            self._do(HoldText(take.number))
            self._sound(Cue.HELD)
            self._leave(take)
            return
        self._do(ReplaceRecogniser())
        self._recognition_failed(take.number, "Recognition did not come to an end. The audio is kept: try it again.")

    # -- small words

    def _do(self, *effects: Effect) -> None:
        self.effects += effects

    def _publish(self, event: Event) -> None:
        self._do(Publish(event))

    def _sound(self, cue: Cue) -> None:
        self._publish(PlaySound(cue))

    def _notice(
        self,
        code: str,
        message: str,
        severity: Literal["info", "warning", "error"] = "info",
        actions: tuple[Action, ...] = (),
    ) -> None:
        take = self.session.recorded
        self._publish(Notice(code, message, severity, actions, take.number if take else None))

    def _say_state(self, number: int, state: State, start: Start) -> None:
        earlier = sum(take.number < number for take in self.session.pending)
        self._publish(StateChanged(number, state, self.now_s, start.trigger, earlier))

    def _change(self, **changes: object) -> None:
        self.session = replace(self.session, **changes)  # type: ignore[arg-type]

    def _record(self, **changes: object) -> None:
        assert self.session.recorded is not None
        self._change(recorded=replace(self.session.recorded, **changes))  # type: ignore[arg-type]

    def _find(self, number: int) -> Waiting | None:
        return next((take for take in self.session.pending if take.number == number), None)

    def _update(self, take: Waiting) -> None:
        self._change(pending=tuple(take if t.number == take.number else t for t in self.session.pending))
