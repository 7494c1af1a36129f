"""The session loop: one cheap thread that owns the session machine, does what it says, and publishes events.

    commands, blocks, reports -> inbox -> session.step -> effects -> hearing, takes, worker, results -> events

Nothing here waits: devices, the engine and the typist each have a thread of their own and answer into the inbox. So
key-up is handled at once, whatever is being computed.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dictation import events as e
from dictation import log, memory, session, sounds
from dictation.delivery import Courier, Delivered, Deliverer, NoDesktop, OwnThread, Run, TargetNoted
from dictation.errors import SettingError
from dictation.frames import SAMPLE_RATE_HZ
from dictation.hearing import Hearing
from dictation.history import History
from dictation.kept import FileRead, Kept
from dictation.results import Results
from dictation.settings import Settings, SettingsFile
from dictation.source import Block, ClipEnded, MicrophonesSeen, Post, Source, SourceLost, SourceOpened
from dictation.spool import Spool
from dictation.take import Take
from dictation.vad import SpeechDetector
from dictation.vocabulary import Vocabulary
from dictation.worker.front import Worker
from dictation.worker.lane import Lane
from dictation.worker.model import Beside, Build, one_at_a_time
from dictation.worker.reports import BeatReport, FailureReport, FinalReport, ModelReport, PartialReport, Report

Subscriber = Callable[[e.Event], None]

LOADING_MOST_S = 180.0  # a model that loads for longer is stuck
LOOK_UP_S = 0.25  # between two looks at the clock during a take, to see how long the process stood still
STANDSTILL_S = 0.5  # by which the loop wakes too late only where it did
PATIENCE_S = 0.3  # for what should have come meanwhile


class EngineUsed:
    """A take of another lane has ended."""


class Gestures(Protocol):
    """What keys mean: `dictation.keys.Keys`."""

    paused: bool

    @property
    def deadline_s(self) -> float | None: ...

    def feed(self, key: e.KeyPress | e.KeyRelease | e.OtherKey) -> list[e.Command]: ...

    def tick(self, now_s: float) -> list[e.Command]: ...

    def take_ended(self, now_s: float) -> None:
        """The recording ended without the key."""
        ...

    def change(self, settings: Settings) -> None: ...


class NoKeys:
    """No hotkeys."""

    paused = False
    deadline_s: float | None = None

    def feed(self, key: e.KeyPress | e.KeyRelease | e.OtherKey) -> list[e.Command]:
        return []

    def tick(self, now_s: float) -> list[e.Command]:
        return []

    def take_ended(self, now_s: float) -> None: ...

    def change(self, settings: Settings) -> None: ...


def limits_of(settings: Settings) -> session.Limits:
    """The machine's waits that are settings."""
    return session.Limits(
        tail_s=settings["microphone.tail_ms"] / 1000,
        max_length_s=60.0 * settings["recognition.max_length_min"],
        hands_free_silence_s=settings["recognition.hands_free_silence_s"],
    )


@dataclass
class Parts:
    """What the loop is made of; everything that touches the world can be another."""

    make_source: Callable[[Post], Source]
    build: Build
    beside: Beside = one_at_a_time  # whether `build` can go on while another model is in use
    deliverer: Deliverer = field(default_factory=NoDesktop)
    run: Run = field(default_factory=OwnThread)  # runs work on the thread that may type
    keys: Gestures = field(default_factory=NoKeys)
    spool: Spool | None = None
    history: History | None = None
    vocabulary: Vocabulary | None = None  # None: the times of use are forgotten
    settings: Settings = field(default_factory=Settings)
    settings_file: SettingsFile | None = None  # None: changes are not saved
    active_model: Callable[[Settings], str] = lambda settings: str(settings["recognition.model"])
    detector: Callable[[], SpeechDetector] = SpeechDetector
    limits: Callable[[Settings], session.Limits] = limits_of
    memory_is_short: Callable[[], bool] = memory.is_short
    play: Callable[[NDArray[np.float32], int], None] = sounds.play_samples
    clock: Callable[[], float] = time.monotonic


class Loop:
    """`start` it, `send` commands from any thread, `subscribe` to events, `stop` it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._clock = parts.clock
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._subscribers: tuple[Subscriber, ...] = ()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._running = True
        self.settings = parts.settings
        self.model_status = e.ModelStatus.UNLOADED
        self.model_note = ""  # while it loads: what is in use until then
        self._session = session.Session(parts.limits(parts.settings))
        self._takes: dict[int, Take] = {}
        self._kept_as: dict[int, str] = {}  # recordings of takes that have just failed
        self._feed_again = False
        self._idle_since_s: float | None = self._clock()
        self._memory_seen_s = 0.0  # when it was looked at whether memory is short
        self._patient_until_s = 0.0  # until then nothing is due
        put = self._inbox.put
        self._worker = Worker(parts.build, put, parts.clock, parts.beside)
        self._hearing = Hearing(parts.make_source(put), parts.settings, self._publish, parts.clock)
        self._courier = Courier(parts.deliverer, parts.run, put)
        self._results = Results(
            self._courier, parts.history, parts.settings, self._publish, parts.clock, parts.vocabulary
        )
        self._kept = Kept(parts.spool, self._worker.microphone, self._results, self._publish, put)

    # -- from any thread

    def send(self, command: e.Command) -> None:
        self._inbox.put(command)

    def publish(self, event: e.Event) -> None:
        """Publish an event of another part of the app, in order with the loop's own."""
        self._inbox.put(event)

    def settle(self, timeout_s: float) -> bool:
        """Wait, on a source's thread, until all that came in is handled and the engine has looked at it.

        False when it was not in time. A clip that is heard faster than it was spoken waits so after every block.
        """
        deadline_s = time.monotonic() + timeout_s
        return (
            self._wait_handled(deadline_s)
            and self._worker.settle(deadline_s - time.monotonic())
            and self._wait_handled(deadline_s)  # what the engine said of it
        )

    def _wait_handled(self, deadline_s: float) -> bool:
        handled = threading.Event()
        self._inbox.put(handled)
        return handled.wait(deadline_s - time.monotonic())

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Call `subscriber` with every event, on the loop's thread: it must return at once. Returns how to end it."""
        with self._lock:
            self._subscribers = (*self._subscribers, subscriber)

        def leave() -> None:
            with self._lock:
                self._subscribers = tuple(s for s in self._subscribers if s is not subscriber)

        return leave

    def start(self) -> None:
        self._thread = threading.Thread(target=self.run, name="session", daemon=True)
        self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> bool:
        """End the loop; what is being recorded is kept. False when it did not end in time."""
        self.send(e.Shutdown())
        if self._thread is not None:
            self._thread.join(timeout_s)
        return self._thread is None or not self._thread.is_alive()

    def lane(self, report: Callable[[Report], None]) -> Lane:
        """Another user of the model beside the microphone; its takes keep the model in memory too."""

        def note(said: Report) -> None:
            report(said)
            if isinstance(said, (FinalReport, FailureReport)):
                self._inbox.put(EngineUsed())

        return self._worker.lane(note)

    @property
    def model(self) -> str:
        """The active model's name; "" for none."""
        return self._worker.active

    @property
    def state(self) -> e.State:
        return self._session.state

    # -- the loop

    def run(self) -> None:
        """Until `Shutdown`."""
        self._use_model()
        if self.settings["microphone.keep_warm"]:
            self._hearing.open()
        self._results.tell_problems()
        self._kept.offer()
        while self._running:
            try:
                self._take_in(self._next())
            except Exception as error:  # noqa: BLE001 - top of the thread
                log.get("loop").exception("a fault: %s", type(error).__name__)
                text = f"Something went wrong in Sayso ({type(error).__name__}). Your recordings are kept."
                self._publish(e.Notice("fault", text, "error"))
        self._end()

    def _end(self) -> None:
        self._step(session.Quit())
        self._hearing.quit()
        self._worker.close()
        if isinstance(self._parts.run, OwnThread):
            self._parts.run.close()
        self._publish(e.Stopped())

    def _publish(self, event: e.Event) -> None:
        for subscriber in self._subscribers:
            try:
                subscriber(event)
            except Exception as error:  # noqa: BLE001 - one that fails costs neither the others nor the take
                log.get("loop").exception("a subscriber failed: %s", type(error).__name__)

    def _next(self) -> Any:
        """What comes in next; a Tick when something is due and nothing has come.

        Where the whole process stood still (a computer short of memory, a debugger), the source and the engine have had
        no time either: what they have to say is waited for a moment, or a microphone would be taken for dead.
        """
        while True:
            wait_s = self._wait_s()
            step_s = wait_s if wait_s is None or self.state is e.State.IDLE else min(wait_s, LOOK_UP_S)
            due_s = self._clock() + (step_s or 0.0)
            try:
                item = self._inbox.get(timeout=step_s)
            except queue.Empty:
                item = None
            now_s = self._clock()
            stood_still = step_s is not None and now_s - due_s > STANDSTILL_S
            if stood_still:
                self._patient_until_s = now_s + PATIENCE_S
            if item is not None:
                return item
            if step_s == wait_s and not stood_still:
                return session.Tick()

    def _wait_s(self) -> float | None:
        """How long nothing has to be done, if nothing comes in."""
        now_s = self._clock()
        waits = (session.wake_s(self._session), self._parts.keys.deadline_s, self._unload_at_s, self._see_memory_at_s)
        times = [t for t in waits if t]
        if self._session.pending and self._worker.loading_since_s is not None:
            times.append(now_s + 1.0)
        return max(0.0, min(times) - now_s, self._patient_until_s - now_s) if times else None

    @property
    def _unload_at_s(self) -> float | None:
        """When the model's memory is to be freed."""
        minutes = self.settings["recognition.unload_after_min"]
        return self._idle_since_s + 60.0 * minutes if minutes and self._idle_since_s is not None else None

    @property
    def _see_memory_at_s(self) -> float | None:
        """When to look whether memory is short: at a slow pace, while a model lies in it unused."""
        if self._idle_since_s is None or self.model_status is not e.ModelStatus.READY:
            return None
        return max(self._idle_since_s + memory.REST_S, self._memory_seen_s + memory.LOOK_EVERY_S)

    def _take_in(self, item: Any) -> None:
        match item:
            case Block():
                self._hear(item)
            case session.Tick():
                self._tick()
            case session.Fact():
                self._step(item)
            case SourceOpened() | SourceLost() | ClipEnded() | MicrophonesSeen():
                self._source_said(item)
            case PartialReport() | FinalReport() | FailureReport() | BeatReport() | ModelReport():
                self._engine_said(item)
            case EngineUsed():
                if self._session.state is e.State.IDLE:
                    self._idle_since_s = self._clock()
            case TargetNoted():
                if item.take in self._takes:
                    self._takes[item.take].target = item.target
                    if item.target is not None and item.target.caret is not None:
                        self._publish(e.CaretSeen(item.take, *item.target.caret))
            case Delivered():
                self._was_delivered(item)
            case FileRead():
                self._kept.file_read(item)
            case threading.Event():
                item.set()
            case e.Command():
                self._command(item)
            case e.Event():
                self._publish(item)

    def _tick(self) -> None:
        now_s = self._clock()
        for command in self._parts.keys.tick(now_s):
            self._command(command)
        loading_s = self._worker.loading_since_s
        if loading_s is not None and now_s - loading_s < LOADING_MOST_S:
            self._step(session.LifeSign())
        self._step(session.Tick())
        unload_at_s = self._unload_at_s
        if unload_at_s is not None and now_s >= unload_at_s:
            self._idle_since_s = None
            self._worker.unload()
        see_memory_at_s = self._see_memory_at_s
        if see_memory_at_s is not None and now_s >= see_memory_at_s:
            self._memory_seen_s = now_s
            if self._worker.is_idle and self._parts.memory_is_short():
                self._worker.unload("Memory is short on this computer.")

    # -- commands

    def _command(self, command: e.Command) -> None:
        match command:
            case e.KeyPress() | e.KeyRelease() | e.OtherKey():
                for meant in self._parts.keys.feed(command):
                    self._command(meant)
            case e.Start() | e.Stop() | e.Toggle() | e.Cancel() | e.SystemWoke():
                self._step(command)
            case e.InsertAgain() | e.CopyText():
                self._results.repeat(command)
            case e.Undo():
                self._courier.undo()
            case e.Retry() | e.Discard() | e.TranscribeFile():
                self._kept.handle(command)
            case e.UseModel():
                self._change_settings({"recognition.model": command.name})
            case e.UnloadModel():
                self._worker.unload()
            case e.ChangeSettings():
                self._change_settings(command.changes)
            case e.PauseHotkeys():
                self._parts.keys.paused = command.paused
                self._publish(e.HotkeysPaused(command.paused))
            case e.ListMicrophones():
                self._hearing.list_microphones()
            case e.TestMicrophone():
                self._hearing.test(command.on)
                if command.on:
                    self._hearing.open()
                elif self._session.recorded is None:
                    self._hearing.rest()
            case e.PlayTest():
                self._parts.play(self._hearing.tested(), SAMPLE_RATE_HZ)
            case e.Shutdown():
                self._running = False

    def _change_settings(self, changes: Mapping[str, Any]) -> None:
        changed = []
        for key, value in changes.items():
            before = self.settings
            try:
                self.settings = before.changed({key: value})
            except SettingError as error:
                self._publish(e.Notice("setting_refused", str(error), "warning"))
                continue
            if self.settings[key] != before[key]:
                changed.append(key)
        if not changed:
            return
        if self._parts.settings_file is not None:
            changed += self._save_settings(self._parts.settings_file)
        self._session = replace(self._session, limits=self._parts.limits(self.settings))
        self._parts.keys.change(self.settings)
        self._hearing.change(self.settings, recording=self._session.recorded is not None)
        self._results.change(self.settings)
        if {"recognition.model", "recognition.device"} & set(changed):
            self._use_model()
        self._publish(e.SettingsChanged(tuple(changed)))

    def _save_settings(self, file: SettingsFile) -> list[str]:
        """Keys that people have changed in the file meanwhile: they hold from now on."""
        try:
            saved = file.save(self.settings)
        except OSError as error:
            text = f"The settings can't be saved ({error.strerror}); they hold until Sayso ends."
            self._publish(e.Notice("settings_not_saved", text, "warning"))
            return []
        for problem in saved.problems:
            self._publish(e.Notice("settings_field_reset", problem, "warning"))
        before, self.settings = self.settings, saved.settings
        return [key for key in before if before[key] != self.settings[key]]

    def _use_model(self) -> None:
        name = self._parts.active_model(self.settings)
        self._worker.use(name, str(self.settings["recognition.device"]))
        if not name:
            self._publish(e.ModelChanged("", e.ModelStatus.MISSING, "No model is chosen yet."))

    # -- what comes in

    def _hear(self, block: Block) -> None:
        frames = self._hearing.frames(block)
        if frames is None:
            return
        recorded = self._session.recorded
        take = self._takes.get(recorded.number) if recorded is not None else None
        if take is None:
            self._hearing.keep_warm(frames)
            self._hearing.level(0, frames, False)
            return
        take.last_sample_s = self._clock()
        take.hear(frames.samples)
        self._tell_problem(take)
        self._hearing.level(take.number, frames, take.speaking)
        self._step(session.BlockHeard(frames.zeros, take.speaking, take.spoke, take.pause_s, take.audio_s))

    def _tell_problem(self, take: Take) -> None:
        if take.problem:
            self._publish(e.Notice("spool", take.problem, "warning", take=take.number))
            take.problem = ""

    def _source_said(self, said: SourceOpened | SourceLost | ClipEnded | MicrophonesSeen) -> None:
        if not self._hearing.said(said):
            return
        if isinstance(said, ClipEnded):
            self._step(session.SourceEnded())
            self._hearing.is_lost()
        elif isinstance(said, SourceLost):
            if self._session.recorded is None:
                self._hearing.is_lost()
            self._step(session.MicrophoneLost(said.message))

    def _engine_said(self, said: PartialReport | FinalReport | FailureReport | BeatReport | ModelReport) -> None:
        match said:
            case BeatReport():
                self._step(session.LifeSign())
            case ModelReport():
                self.model_status, self.model_note = said.event.status, said.event.note
                self._publish(said.event)
                if said.event.status is e.ModelStatus.READY and said.event.message:  # another could not be loaded
                    self._publish(e.Notice("model_stays", said.event.message, "warning", ("choose_model",)))
                    self._change_settings(
                        {"recognition.model": self._worker.active, "recognition.device": self._worker.device}
                    )
            case PartialReport() if said.take in self._takes:
                event = e.PartialText(said.take, said.firm, said.tentative, said.audio_s, self._clock())
                self._publish(event)
            case FinalReport() | FailureReport() if said.take < 0:
                self._kept.recognised(said)
            case FinalReport() if said.take in self._takes:
                take = self._takes[said.take]
                event_ = self._results.recognised(take, said.transcript, said.model)
                if isinstance(event_, e.FinalText):
                    take.final = event_
                    self._step(session.Recognised(said.take, event_))
                else:
                    unclear = take.heard is not None and self._results.is_unclear(take.heard)
                    self._step(session.Recognised(said.take, event_, empty=True, keep_audio=unclear))
            case FailureReport() if said.take in self._takes and self._takes[said.take].heard is None:
                self._takes[said.take].failed = True  # it is still being spoken: try again at its end, from the spool
                self._publish(e.Notice("live_failed", said.message, "warning", ("choose_model",), said.take))
            case FailureReport():
                self._step(session.RecognitionFailed(said.take, said.message))

    def _was_delivered(self, said: Delivered) -> None:
        if said.take is None:
            self._results.repeated(said)
        elif said.take in self._takes:
            event = self._results.delivered(self._takes[said.take], said)
            self._step(session.DeliveryEnded(said.take, event, held=event.outcome == "held"))

    # -- the machine's effects

    def _step(self, given: session.Input) -> None:
        was_idle = self._session.state is e.State.IDLE
        was_recording = self._session.recorded is not None
        self._session, effects = session.step(self._session, given, self._clock())
        for effect in effects:
            self._perform(effect)
        if self._feed_again:  # the takes that are left, to the new recogniser
            self._feed_again = False
            for take in self._takes.values():
                if take.final is None:
                    take.feed_again()
        now_s = self._clock()
        if was_recording and self._session.recorded is None:
            self._parts.keys.take_ended(now_s)
        if self._session.state is e.State.IDLE and not was_idle:
            self._idle_since_s = now_s

    def _perform(self, effect: session.Effect) -> None:
        match effect:
            case session.Publish(e.Failed() as failed):
                self._publish(replace(failed, recording=self._kept_as.pop(failed.take, None)))
            case session.Publish():
                self._publish(effect.event)
            case session.OpenMicrophone():
                self._hearing.open(effect.again)
            case session.CloseMicrophone():
                self._hearing.rest()
            case session.BeginTake():
                self._begin_take(effect)
            case session.Hurry():
                self._takes[effect.take].hurry()
            case session.EndTake():
                self._end_take(self._takes[effect.take])
            case session.Deliver():
                event = self._results.deliver(self._takes[effect.take])
                if event is not None:  # nothing to wait for; its turn comes after these effects
                    self._inbox.put(session.DeliveryEnded(effect.take, event))
            case session.HoldText():
                take = self._takes.pop(effect.take)
                self._publish(self._results.hold(take))
                take.drop()
            case session.Drop():
                self._drop(effect)
            case session.Done():
                take = self._takes.pop(effect.take)
                if take.has_gaps:
                    take.keep("unclear")
                    self._kept.offer()
                else:
                    take.drop()
            case session.ReplaceRecogniser():
                self._worker.replace()
                self._use_model()
                self._kept.worker_was_replaced()
                self._feed_again = True

    def _begin_take(self, effect: session.BeginTake) -> None:
        self._idle_since_s = None
        request = self._results.request(effect.start.task)
        detector = self._parts.detector()
        take = Take(effect.take, effect.start, request, self._worker.microphone, self._parts.spool, detector)
        self._takes[effect.take] = take
        self._tell_problem(take)
        if effect.start.output == "type":
            self._courier.note_target(effect.take)
        take.hear(self._hearing.take_warm())

    def _end_take(self, take: Take) -> None:
        take.hear(self._hearing.flush())
        heard = take.end()
        nothing = self._results.nothing(take.number, heard)
        if nothing is not None:
            self._inbox.put(session.Recognised(take.number, nothing, empty=True))

    def _drop(self, effect: session.Drop) -> None:
        """Forget a take; where its audio is kept, the event of its failure names it."""
        take = self._takes.pop(effect.take)
        self._courier.forget(effect.take)
        if effect.audio == "remove":
            take.drop()
            return
        name = take.keep(effect.reason)
        if name is not None:
            self._kept_as[effect.take] = name
            self._kept.offer()
