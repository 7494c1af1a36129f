"""Dictation for other programs: a whole recording, or a session with server-sent events, or one as a WebSocket."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect

from dictation.server import shapes, uploads
from dictation.server.api import Api
from dictation.server.desk import of_report
from dictation.server.faults import Fault
from dictation.server.hearing import SAMPLE_RATE_HZ, Hearing, plan
from dictation.server.sessions import Session
from dictation.server.sound import F32, blocks, too_long
from dictation.server.transcriptions import EVENT_STREAM, Held, as_json
from dictation.worker.reports import AgainReport, FailureReport, FinalReport, Report

BLOCKS_AT_ONCE = 20  # of half a second, between two looks at how far the engine is
BEHIND_POLL_S = 0.1
MOST_EVENTS = 10**15
START_S = 10.0  # for the first message of a WebSocket
POLICY, FAULT, AWAY = 1008, 1011, 1001  # how a WebSocket is closed
GONE = "sayso.gone"  # of a WebSocket's scope: an event for when the client is gone

# ---- a recording ----------------------------------------------------------------------------------------------------


async def dictate(api: Api, request: HttpRequest) -> Response:
    """POST /dictate"""
    with api.desk.place():
        async with uploads.form(request, api.desk, api.folder) as (fields, file):
            form = shapes.from_fields(fields, shapes.DictateForm)
            options = _options(form.options)
            started_s = time.monotonic()
            dictation = await uploads.unless_gone(request, _dictated(api, file, options))
            api.metrics.recognised.labels("dictation", dictation.reason or "text").inc()
            api.metrics.wait_seconds.labels("dictation").observe(time.monotonic() - started_s)
            return as_json(dictation)


def _options(text: str) -> shapes.DictationOptions:
    """The field `options`. Raises Fault."""
    try:
        return shapes.from_json(text.encode(), shapes.DictationOptions)
    except Fault as fault:
        raise Fault(422, "invalid_value", f"options: {fault}", param="options") from fault


async def _dictated(api: Api, file: Path, options: shapes.DictationOptions) -> shapes.Dictation:
    """The text of a recording that is dictated as if into the microphone. Raises Fault."""
    desk, reports = api.desk, asyncio.Queue[Report]()
    number = desk.enter(reports.put_nowait)
    hearing: Hearing | None = None
    try:
        planned = plan(api.core.settings, options, live=False)
        hearing = await desk.make(lambda: Hearing(number, planned, desk.lane, api.sessions.spool), Hearing.drop)
        await _play(api, file, hearing)
        nothing = await desk.work(hearing.end)
        if nothing is not None:
            return nothing
        async with asyncio.timeout(api.limits.answer_s):
            return await _written(api, hearing, reports)
    except TimeoutError as error:
        raise Fault(504, "too_slow", "The recognition took too long and was given up.") from error
    finally:
        desk.leave(number)
        if hearing is not None:
            await desk.work(hearing.drop)


async def _play(api: Api, file: Path, hearing: Hearing) -> None:
    """Let the recording be heard, as fast as it is understood."""
    desk, sound = api.desk, blocks(file)
    while some := await desk.work(lambda: list(islice(sound, BLOCKS_AT_ONCE))):
        await desk.work(lambda: hearing.hear(some))
        api.metrics.audio_seconds.labels("dictation").inc(_seconds(some))
        if hearing.take.audio_s > api.limits.audio_s:
            raise too_long(api.limits.audio_s)
        while desk.lane.waiting(hearing.number) > api.limits.behind_s * SAMPLE_RATE_HZ:
            await asyncio.sleep(BEHIND_POLL_S)


def _seconds(some: list[tuple[F32, int]]) -> float:
    return sum(len(samples) / rate_hz for samples, rate_hz in some)


async def _written(api: Api, hearing: Hearing, reports: asyncio.Queue[Report]) -> shapes.Dictation:
    while True:
        match await reports.get():
            case FinalReport() as final:
                return await api.desk.work(lambda: hearing.written(final))
            case FailureReport() as failure:
                raise of_report(failure)
            case AgainReport():
                await api.desk.work(hearing.again)


# ---- sessions over HTTP ---------------------------------------------------------------------------------------------


async def open_session(api: Api, request: HttpRequest) -> Response:
    """POST /sessions"""
    data = await uploads.body(request, api.desk, api.limits.body_bytes)
    session = await api.sessions.open(shapes.from_json(data or b"{}", shapes.SessionRequest))
    answer = as_json(session.describe(), 201)
    answer.headers["Location"] = f"/sessions/{session.id}"
    return answer


async def show_session(api: Api, request: HttpRequest) -> Response:
    """GET /sessions/{id}"""
    return as_json(_session(api, request).describe())


async def append_audio(api: Api, request: HttpRequest) -> Response:
    """POST /sessions/{id}/audio"""
    session = _session(api, request)
    data = await uploads.body(request, api.desk, api.limits.chunk_bytes)
    await session.append(data)
    return as_json(session.describe())


async def finish_session(api: Api, request: HttpRequest) -> Response:
    """POST /sessions/{id}/finish: the text, once it is there. Again: the same text."""
    session = _session(api, request)
    await uploads.body(request, api.desk, api.limits.body_bytes)
    if session.state == "open":
        await session.finish()
    return as_json(await uploads.unless_gone(request, session.result()))


async def follow_session(api: Api, request: HttpRequest) -> Response:
    """GET /sessions/{id}/events"""
    session = _session(api, request)
    after = request.headers.get("last-event-id", "0")
    if not (after.isascii() and after.isdecimal() and len(after) < 20 and int(after) <= MOST_EVENTS):
        raise Fault(422, "invalid_value", "Last-Event-ID is the number of an event.", param="Last-Event-ID")
    if request.method == "HEAD":  # would wait for the end of the session to send nothing
        return Response(media_type=EVENT_STREAM)
    async with AsyncExitStack() as stack:
        stack.enter_context(session.listening())
        return Held(_as_events(session, int(after)), stack.pop_all())


async def delete_session(api: Api, request: HttpRequest) -> Response:
    """DELETE /sessions/{id}"""
    api.sessions.delete(request.path_params["id"])
    return Response(status_code=204)


def _session(api: Api, request: HttpRequest) -> Session:
    return api.sessions.get(request.path_params["id"])


async def _as_events(session: Session, after: int) -> AsyncIterator[bytes]:
    """Server-sent events; a comment now and then shows whether the reader is still there."""
    yield b": \n\n"
    async for found in session.log.follow(after):
        if found is None:
            yield b": \n\n"
            continue
        n, event = found
        kind = type(event).__struct_config__.tag
        yield f"id: {n}\nevent: {kind}\ndata: ".encode() + msgspec.json.encode(event) + b"\n\n"


# ---- a session as one WebSocket -------------------------------------------------------------------------------------


async def socket(api: Api, websocket: WebSocket) -> None:
    """The first message is a SessionRequest, binary ones are audio, {"type": "finish"} ends it. Answers are events."""
    await websocket.accept()
    session: Session | None = None
    try:
        async with asyncio.timeout(START_S):
            first = await websocket.receive()
        if first["type"] == "websocket.disconnect":
            return
        session = await api.sessions.open(shapes.from_json(_text(first).encode(), shapes.SessionRequest))
        await websocket.send_json({"type": "opened", "id": session.id})
        await _converse(api, websocket, session)
    except TimeoutError:
        await _end(websocket, Fault(408, "too_slow", f"The first message did not come within {START_S:g} s."))
    except Fault as fault:
        await _end(websocket, fault)
    except WebSocketDisconnect:
        pass
    finally:
        if session is not None:
            with suppress(Fault):  # forgotten already
                api.sessions.delete(session.id)


async def _converse(api: Api, websocket: WebSocket, session: Session) -> None:
    """Listen and tell, until the session has ended or the client is gone."""
    tell = asyncio.create_task(_tell(websocket, session))
    hear = asyncio.create_task(_hear(websocket, session))
    gone = asyncio.create_task(websocket.scope[GONE].wait())
    try:
        done, _ = await asyncio.wait({tell, hear, gone}, return_when=asyncio.FIRST_COMPLETED)
        if done == {hear} and hear.exception() is None:  # the end was said: what is left is the text
            done, _ = await asyncio.wait({tell, gone}, return_when=asyncio.FIRST_COMPLETED)
        if gone in done:  # nobody reads the text any more
            raise WebSocketDisconnect(AWAY)
        for task in done:
            task.result()
        await websocket.close()
    finally:
        for task in (tell, hear, gone):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _tell(websocket: WebSocket, session: Session) -> None:
    async for found in session.log.follow():
        if found is not None:
            await websocket.send_text(msgspec.json.encode(found[1]).decode())


async def _hear(websocket: WebSocket, session: Session) -> None:
    """Until the client says that it is finished, or the session has ended."""
    while True:
        message = await websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", AWAY))
        if message.get("bytes") is not None:
            while session.is_behind:  # the client is not read meanwhile, so it has to wait
                await asyncio.sleep(BEHIND_POLL_S)
            with _unless_ended():
                await session.append(message["bytes"])
            continue
        shapes.from_json(_text(message).encode(), shapes.Finish)
        with _unless_ended():
            await session.finish()
        return


@contextmanager
def _unless_ended() -> Iterator[None]:
    """A silence may have ended the session already: then its text is on the way."""
    try:
        yield
    except Fault as fault:
        if fault.code != "session_ended":
            raise


def _text(message: Message) -> str:
    text = message.get("text")
    if not isinstance(text, str):
        raise Fault(422, "invalid_value", "This message has to be text: a JSON object.")
    return text


async def _end(websocket: WebSocket, fault: Fault) -> None:
    """Say why, then close."""
    with suppress(RuntimeError, WebSocketDisconnect):
        await websocket.send_text(msgspec.json.encode(shapes.Failed(fault.code, str(fault))).decode())
        await websocket.close(FAULT if fault.status >= 500 else POLICY)
