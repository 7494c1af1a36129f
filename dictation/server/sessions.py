"""Sessions: dictations whose audio comes bit by bit, and whose words are told while they are spoken.

    open -> (append)* -> finishing -> ended: a text or a fault, kept for a while

Of the events of a session only what still matters is held: the newest partial text, the newest pause, and how it ended.
So a reader that is slow, or comes late, misses partial texts but never the end, and costs no memory. What a session
listens with (a voice detector takes 3 MB) goes as soon as it has ended; only its last event is kept.

Everything here is of the asyncio loop; what takes time runs on the desk's pool.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from dictation import log
from dictation.server import shapes
from dictation.server.desk import Desk, of_report
from dictation.server.faults import Fault, ending
from dictation.server.hearing import SAMPLE_RATE_HZ, Hearing, Pause, plan
from dictation.server.sound import F32, STEP_S, Stream, open_stream, too_long
from dictation.settings import Settings
from dictation.spool import Spool
from dictation.worker.reports import AgainReport, FailureReport, FinalReport, PartialReport, Report

HEARTBEAT_S = 15.0
SWEEP_S = 1.0
CLOSE_S = 2.0


class EventLog:
    """What a reader of a session has to be told yet; see the module. Read by any number of readers."""

    def __init__(self, overtaken: Callable[[], None]) -> None:
        self._overtaken = overtaken
        self._events: list[tuple[int, shapes.SessionEvent]] = []
        self._n = 0
        self._n_read = 0
        self._news = asyncio.Event()
        self.is_over = False

    def publish(self, event: shapes.SessionEvent) -> None:
        """A partial text or a pause takes the place of the one before; a text or an error ends the log."""
        if self.is_over:
            return
        self.is_over = isinstance(event, (shapes.Dictation, shapes.Failed))
        kept = []
        for n, earlier in self._events:
            if type(earlier) is type(event) or (self.is_over and isinstance(earlier, shapes.Partial)):
                if n > self._n_read and isinstance(earlier, shapes.Partial):
                    self._overtaken()
            else:
                kept.append((n, earlier))
        self._n += 1
        self._events = [*kept, (self._n, event)]
        self._news.set()
        self._news = asyncio.Event()

    @property
    def last(self) -> shapes.SessionEvent | None:
        return self._events[-1][1] if self._events else None

    async def follow(self, after: int = 0) -> AsyncIterator[tuple[int, shapes.SessionEvent] | None]:
        """Events with their numbers, from behind number `after` to the end; None now and then, when nothing happens."""
        while True:
            news = self._news
            found = next(((n, event) for n, event in self._events if n > after), None)
            if found is not None:
                after = found[0]
                self._n_read = max(self._n_read, after)
                yield found
            elif self.is_over:
                return
            else:
                try:
                    async with asyncio.timeout(HEARTBEAT_S):  # Python 3.11's wait_for may swallow a cancellation
                        await news.wait()
                except TimeoutError:
                    yield None


@dataclass(frozen=True)
class _Ears:
    """What a session listens with until it has ended."""

    hearing: Hearing
    stream: Stream

    def pieces(self, data: bytes) -> list[F32]:
        """A chunk's audio, of at most STEP_S each. Takes a while. Raises Fault."""
        samples, step = self.stream.push(data), round(STEP_S * self.stream.rate_hz)
        return [samples[start : start + step] for start in range(0, len(samples), step)]

    def hear(self, piece: F32) -> Pause:
        """Takes a while."""
        return self.hearing.hear([(piece, self.stream.rate_hz)])


class Session:
    """One dictation of a client. Made by `Sessions.open`."""

    def __init__(self, desk: Desk, hearing: Hearing, stream: Stream) -> None:
        self.id = secrets.token_urlsafe(16)
        self.state: Literal["open", "finishing", "ended"] = "open"
        self.changed_s = time.monotonic()
        self.log = EventLog(desk.metrics.partials_dropped.inc)
        self._desk = desk
        self._number = hearing.number
        self._ears: _Ears | None = _Ears(hearing, stream)
        self._audio_s = 0.0  # once it has ended
        self._rests = False
        self._appending = asyncio.Lock()
        self._ended_s = 0.0  # when the audio ended
        self._n_listeners = 0
        self._failure: FailureReport | None = None  # that ended it
        self.tasks: set[asyncio.Task[None]] = set()

    def describe(self) -> shapes.SessionState:
        waiting_s = self._desk.lane.waiting(self._number) / SAMPLE_RATE_HZ
        audio_s = self._audio_s if self._ears is None else self._ears.hearing.take.audio_s
        return shapes.SessionState(self.id, self.state, round(audio_s, 3), round(waiting_s, 3))

    # ---------------------------------------------------------------------------------------------------------- audio

    @property
    def is_behind(self) -> bool:
        """Whether more audio should wait until the engine has looked at some."""
        return self._desk.lane.waiting(self._number) > self._desk.limits.behind_s * SAMPLE_RATE_HZ

    async def append(self, data: bytes) -> None:
        """Take audio. Raises Fault; what was refused is not heard."""
        ears = self._listening()
        if self._appending.locked():
            raise Fault(409, "append_in_progress", "Another chunk is being taken. Send one after the other.")
        if self.is_behind:
            text = f"More than {self._desk.limits.behind_s:g} s of audio wait to be understood. Try again in a while."
            raise Fault(429, "audio_behind", text, headers={"Retry-After": "2"})
        async with self._appending:
            self._rests = False
            self.changed_s, before_s = time.monotonic(), ears.hearing.take.audio_s
            pause = Pause()
            for piece in await self._desk.work(lambda: ears.pieces(data)):
                heard = await self._desk.work(partial(ears.hear, piece))
                pause = Pause(pause.pause_s if heard.pause_s is None else heard.pause_s, heard.is_over)
                if pause.is_over:
                    break
            self.changed_s = time.monotonic()
        audio_s = ears.hearing.take.audio_s
        self._desk.metrics.audio_seconds.labels("session").inc(audio_s - before_s)
        if pause.pause_s is not None:
            self.log.publish(shapes.Silence(round(pause.pause_s, 3), round(audio_s, 3)))
        is_too_long = audio_s > self._desk.limits.audio_s
        if is_too_long or pause.is_over:
            with suppress(Fault):  # the client ended it meanwhile
                await self.finish()
        if is_too_long:
            raise too_long(self._desk.limits.audio_s)

    def _listening(self) -> _Ears:
        if self._failure is not None and self._failure.is_refusal:
            raise of_report(self._failure)
        if self.state != "open" or self._ears is None:
            raise Fault(409, "session_ended", "This session takes no more audio. Open another one.")
        return self._ears

    async def finish(self) -> None:
        """Nothing more comes. Raises Fault when it has ended already."""
        ears = self._listening()
        self.state, self._ended_s = "finishing", time.monotonic()
        self.changed_s = self._ended_s
        async with self._appending:
            nothing = await self._desk.work(ears.hearing.end)
        if nothing is not None:
            self._end(nothing)

    async def result(self) -> shapes.Dictation:
        """The text, once it is there. Raises Fault when there is none."""
        async for _ in self.log.follow():
            pass
        last = self.log.last
        if isinstance(last, shapes.Dictation):
            return last
        assert isinstance(last, shapes.Failed)
        if self._failure is not None:
            raise of_report(self._failure)
        raise Fault(410 if last.code == "deleted" else 503, last.code, last.message)

    # --------------------------------------------------------------------------------------------------------- engine

    def take_report(self, report: Report) -> None:
        if self._ears is None:
            return
        hearing = self._ears.hearing
        match report:
            case PartialReport():
                self.log.publish(shapes.Partial(report.firm, report.tentative, round(report.audio_s, 3)))
            case FinalReport():
                self._do(self._write(hearing, report))
            case FailureReport() if hearing.take.heard is None and not report.is_refusal:
                hearing.take.failed = True  # tried again at the end, from the spool
            case FailureReport():
                self._failure, fault = report, of_report(report)
                self._end(shapes.Failed(fault.code, str(fault)))
            case AgainReport():
                self._do(self._desk.work(hearing.again))

    async def _write(self, hearing: Hearing, report: FinalReport) -> None:
        self._end(await self._desk.work(lambda: hearing.written(report)))

    def _do(self, what: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._guarded(what))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _guarded(self, what: Coroutine[Any, Any, None]) -> None:
        try:
            await what
        except Exception as error:  # noqa: BLE001 - top of a task: the client must be told something
            log.get("server").exception("a session failed: %s", type(error).__name__)
            self._end(shapes.Failed("fault", f"Something went wrong in Sayso ({type(error).__name__})."))

    def rest(self) -> None:
        """No audio has come for a while."""
        if not self._rests:
            self._rests = True
            self._desk.lane.rest(self._number)

    def fail(self, code: str, message: str) -> None:
        """End it without a text."""
        self._end(shapes.Failed(code, message))

    def _end(self, event: shapes.Dictation | shapes.Failed) -> None:
        if self._ears is None:
            return
        hearing, self._ears = self._ears.hearing, None
        self._audio_s = hearing.take.audio_s
        if isinstance(event, shapes.Dictation) and self._ended_s:
            self._desk.metrics.wait_seconds.labels("session").observe(time.monotonic() - self._ended_s)
        outcome = event.code if isinstance(event, shapes.Failed) else event.reason or "text"
        self._desk.metrics.recognised.labels("session", outcome).inc()
        self.state, self.changed_s = "ended", time.monotonic()
        self.log.publish(event)
        self._desk.leave(self._number)
        self._do(self._desk.work(hearing.drop))

    # ------------------------------------------------------------------------------------------------------ listeners

    @contextmanager
    def listening(self) -> Any:
        """A place among the readers of this session. Raises Fault when all are taken."""
        if self._n_listeners >= self._desk.limits.listeners:
            raise Fault(429, "too_many_listeners", f"{self._n_listeners} readers follow this session already.")
        self._n_listeners += 1
        try:
            yield
        finally:
            self._n_listeners -= 1


class Sessions:
    """All sessions of the server."""

    def __init__(self, desk: Desk, spool: Spool, settings: Callable[[], Settings]) -> None:
        self._desk = desk
        self.spool = spool
        self._settings = settings
        self._sessions: dict[str, Session] = {}
        self._n_opening = 0
        self._sweeper = asyncio.get_running_loop().create_task(self._sweep())

    async def open(self, request: shapes.SessionRequest) -> Session:
        """Raises Fault when there are too many, or for options that can't be followed."""
        limits = self._desk.limits
        if self._n_open + self._n_opening >= limits.sessions:
            text = f"{limits.sessions} sessions are open already. End one, or try again in a while."
            raise Fault(429, "too_many_sessions", text, headers={"Retry-After": "10"})
        self._n_opening += 1
        session: Session | None = None
        early: list[Report] = []

        def listen(report: Report) -> None:
            early.append(report) if session is None else session.take_report(report)

        number = self._desk.enter(listen)
        try:
            stream = open_stream(request.format.encoding, request.format.rate_hz, request.format.channels)
            planned = plan(self._settings(), request.options, live=True)
            hearing = await self._desk.make(
                lambda: Hearing(number, planned, self._desk.lane, self.spool, request.end_after_silence_s),
                Hearing.drop,
            )
            session = Session(self._desk, hearing, stream)
        except BaseException:
            self._desk.leave(number)
            raise
        finally:
            self._n_opening -= 1
        for report in early:
            session.take_report(report)
        self._sessions[session.id] = session
        self._count()
        return session

    def get(self, id: str) -> Session:
        """Raises Fault for one that is not there (any more)."""
        session = self._sessions.get(id)
        if session is None:
            raise Fault(404, "no_such_session", "There is no such session, or its result was not fetched in time.")
        return session

    def delete(self, id: str) -> None:
        """Forget a session, and what was said. Raises Fault."""
        session = self.get(id)
        del self._sessions[id]
        session.fail("deleted", "The session was deleted.")
        self._count()

    @property
    def _n_open(self) -> int:
        return sum(session.state != "ended" for session in self._sessions.values())

    def _count(self) -> None:
        self._desk.metrics.sessions.set(self._n_open)

    async def _sweep(self) -> None:
        """End sessions that nobody feeds, and forget those that ended long ago."""
        while True:
            await asyncio.sleep(SWEEP_S)
            now_s, limits = time.monotonic(), self._desk.limits
            for session in list(self._sessions.values()):
                rested_s = now_s - session.changed_s
                if session.state == "open" and rested_s > limits.idle_s:
                    with suppress(Fault):  # the client ended it just now
                        await session.finish()
                elif session.state == "open" and rested_s > limits.rest_s:
                    session.rest()
                elif session.state == "finishing" and rested_s > limits.answer_s:
                    session.fail("too_slow", "The recognition took too long and was given up.")
                elif session.state == "ended" and rested_s > limits.kept_s:
                    del self._sessions[session.id]
            ended = [session.id for session in self._sessions.values() if session.state == "ended"]
            for id in ended[: max(0, len(ended) - limits.ended_sessions)]:
                del self._sessions[id]
            self._count()

    async def close(self) -> None:
        """Sayso ends: say so to whoever follows, and leave no audio."""
        self._sweeper.cancel()
        for session in self._sessions.values():
            fault = ending()
            session.fail(fault.code, str(fault))
        tasks = [task for session in self._sessions.values() for task in session.tasks]
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_S)
