"""The session machine itself: one step from what came in to what is to be done."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dictation.events import (
    Action,
    Cancel,
    Cancelled,
    Cue,
    Event,
    Failed,
    FinalText,
    Notice,
    PlaySound,
    Start,
    State,
    StateChanged,
    Stop,
    SystemWoke,
    Toggle,
)
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
    Input,
    LifeSign,
    MicrophoneLost,
    Quit,
    Recognised,
    RecognitionFailed,
    SourceEnded,
)
from dictation.session.state import Due, Recorded, Session, Waiting, recording_due, waiting_due


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
        n_characters = len(given.event.text) if isinstance(given.event, FinalText) else 0
        self._update(replace(take, recognised=True, n_characters=n_characters))
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
            due_s, due = recording_due(self.session.recorded, self.session.limits)
            if self.now_s < due_s:
                break
            self._recording_is_due(self.session.recorded, due)
        if self.session.pending and self.now_s >= waiting_due(self.session.pending[0], self.session.limits):
            self._give_up_waiting(self.session.pending[0])

    def _recording_is_due(self, take: Recorded, due: Due) -> None:
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
