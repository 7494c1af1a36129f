"""What OpenAI's clients call: transcriptions, translations, models. Answers have the shapes that those clients read."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from dictation.formats import render
from dictation.languages import LanguageRequest
from dictation.server import shapes, uploads
from dictation.server.api import Api
from dictation.server.faults import Fault
from dictation.server.sound import flatten
from dictation.worker.model import Request
from dictation.worker.reports import FinalReport, WindowReport
from engine.languages import LANGUAGES
from engine.transcript import Segment, Transcript

TIMED = frozenset({"srt", "vtt", "verbose_json"})
CONTENT_TYPES = {"text": "text/plain", "srt": "application/x-subrip", "vtt": "text/vtt"}
EVENT_STREAM = "text/event-stream"
Task = Literal["transcribe", "translate"]
Form = shapes.TranscriptionForm | shapes.TranslationForm


async def transcribe(api: Api, request: HttpRequest) -> Response:
    """POST /v1/audio/transcriptions"""
    async with AsyncExitStack() as stack:
        stack.enter_context(api.desk.place())
        fields, file = await stack.enter_async_context(uploads.form(request, api.desk, api.folder))
        form = shapes.from_fields(fields, shapes.TranscriptionForm)
        _check(form)
        wanted = _request(form, form.language, "transcribe")
        if form.stream:
            flat, seconds = await _flattened(api, request, file, form)
            return await _streamed(api, request, stack, flat, wanted, seconds)
        return await _whole(api, request, file, wanted, form)


async def translate(api: Api, request: HttpRequest) -> Response:
    """POST /v1/audio/translations"""
    with api.desk.place():
        async with uploads.form(request, api.desk, api.folder) as (fields, file):
            form = shapes.from_fields(fields, shapes.TranslationForm)
            return await _whole(api, request, file, _request(form, None, "translate"), form)


def _check(form: shapes.TranscriptionForm) -> None:
    """What does not go together. Raises Fault."""
    if form.stream and form.response_format not in ("json", "text"):
        raise Fault(422, "invalid_value", "stream is for the response formats json and text.", param="stream")
    if form.timestamp_granularities and form.response_format != "verbose_json":
        text = "timestamp_granularities is for the response format verbose_json."
        raise Fault(422, "invalid_value", text, param="timestamp_granularities")


def _request(form: Form, language: str | None, task: Task) -> Request:
    return Request(
        LanguageRequest(language, (), None, task),
        exactly=True,
        timestamps=form.response_format in TIMED,
        word_times="word" in getattr(form, "timestamp_granularities", ()),
        prompt=form.prompt,
        temperature=form.temperature or None,  # 0: higher where a text can't be trusted, as at OpenAI
    )


async def _flattened(api: Api, request: HttpRequest, upload: Path, form: Form) -> tuple[Path, float]:
    """The audio as the engine reads it, and its length. Raises Fault."""
    api.check_model(form.model)
    flat = upload.with_name("flat.wav")
    seconds = await uploads.unless_gone(request, _last_step(api, flatten(upload, flat, api.limits.audio_s)))
    api.metrics.audio_seconds.labels("recording").inc(seconds)
    return flat, seconds


async def _last_step(api: Api, steps: Iterator[float]) -> float:
    """Step by step: sessions must not wait until hours of a recording have been read."""
    seconds = 0.0
    while (so_far := await api.desk.work(lambda: next(steps, None))) is not None:
        seconds = so_far
    return seconds


async def _whole(api: Api, request: HttpRequest, upload: Path, wanted: Request, form: Form) -> Response:
    flat, seconds = await _flattened(api, request, upload, form)
    with _measured(api):
        final = await uploads.unless_gone(request, _last(api.desk.recognise(flat, wanted)))
    return _rendered(final.transcript, form, wanted.language.task, seconds)


@contextmanager
def _measured(api: Api) -> Iterator[None]:
    started_s = time.monotonic()
    try:
        yield
    except Fault as fault:
        api.metrics.recognised.labels("recording", fault.code).inc()
        raise
    api.metrics.recognised.labels("recording", "text").inc()
    api.metrics.wait_seconds.labels("recording").observe(time.monotonic() - started_s)


async def _last(reports: AsyncIterator[WindowReport | FinalReport]) -> FinalReport:
    async for report in reports:
        if isinstance(report, FinalReport):
            return report
    raise AssertionError("the last report is the final one")


# ---- whole answers --------------------------------------------------------------------------------------------------


def _rendered(transcript: Transcript, form: Form, task: Task, seconds: float) -> Response:
    """The answer in one of OpenAI's formats."""
    usage = shapes.DurationUsage(round(seconds, 3))
    match form.response_format:
        case "json":
            return as_json(shapes.Transcription(transcript.text, usage))
        case "verbose_json":
            return as_json(_verbose(transcript, form, task, seconds))
        case format:
            return PlainTextResponse(render(transcript, format), media_type=CONTENT_TYPES[format])


def _verbose(transcript: Transcript, form: Form, task: Task, seconds: float) -> shapes.VerboseTranscription:
    wanted = form.timestamp_granularities if isinstance(form, shapes.TranscriptionForm) else []
    answer = shapes.VerboseTranscription(
        task=task,
        language="english" if task == "translate" else LANGUAGES.get(transcript.language, "").lower(),
        duration=round(seconds, 3),
        text=transcript.text,
        usage=shapes.DurationUsage(round(seconds, 3)),
    )
    if "segment" in wanted or not wanted:
        answer.segments = [_segment(i, segment) for i, segment in enumerate(transcript.segments)]
    if "word" in wanted:
        answer.words = [
            shapes.TranscribedWord(word.text.strip(), round(word.start_s, 3), round(word.end_s, 3))
            for segment in transcript.segments
            for word in segment.words
        ]
    return answer


def _segment(i: int, segment: Segment) -> shapes.TranscribedSegment:
    return shapes.TranscribedSegment(
        id=i,
        seek=round(100 * segment.start_s),
        start=round(segment.start_s, 3),
        end=round(segment.end_s, 3),
        text=segment.text,
        tokens=list(segment.tokens),
        temperature=segment.temperature,
        avg_logprob=segment.avg_logprob,
        compression_ratio=segment.compression_ratio,
        no_speech_prob=segment.no_speech_prob,
    )


def as_json(answer: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(answer), status, media_type="application/json")


# ---- streamed answers -----------------------------------------------------------------------------------------------


class Held(StreamingResponse):
    """Holds files and places until the answer is sent, or nobody is there to read it."""

    def __init__(self, content: AsyncIterator[bytes], stack: AsyncExitStack) -> None:
        super().__init__(content, media_type=EVENT_STREAM, headers={"Cache-Control": "no-store"})
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._stack:
            await super().__call__(scope, receive, send)


async def _streamed(
    api: Api, request: HttpRequest, stack: AsyncExitStack, flat: Path, wanted: Request, seconds: float
) -> Response:
    """Server-sent events: a delta per window, then the whole text."""
    reports = api.desk.recognise(flat, wanted)
    stack.push_async_callback(reports.aclose)
    first = await uploads.unless_gone(request, anext(reports))  # a fault until here has a status of its own
    return Held(_deltas(api, first, reports, seconds), stack.pop_all())


async def _deltas(
    api: Api, first: WindowReport | FinalReport, reports: AsyncIterator[WindowReport | FinalReport], seconds: float
) -> AsyncIterator[bytes]:
    written = ""
    try:
        with _measured(api):
            report: WindowReport | FinalReport | None = first
            while isinstance(report, WindowReport):
                text = "".join(segment.text for segment in report.segments)
                delta = text if written else text.lstrip()
                if delta:
                    written += delta
                    yield event({"type": "transcript.text.delta", "delta": delta})
                report = await anext(reports)
            assert isinstance(report, FinalReport)
        usage = shapes.DurationUsage(round(seconds, 3))
        yield event({"type": "transcript.text.done", "text": report.transcript.text, "usage": usage})
    except Fault as fault:
        yield event(fault.body())


def event(data: Any) -> bytes:
    return b"data: " + msgspec.json.encode(data) + b"\n\n"


# ---- models ---------------------------------------------------------------------------------------------------------


async def models(api: Api, request: HttpRequest) -> Response:
    """GET /v1/models"""
    return as_json(shapes.ModelList([shapes.Model(name, api.started_unix_s) for name in api.model_names]))


async def model(api: Api, request: HttpRequest) -> Response:
    """GET /v1/models/{model}"""
    name = request.path_params["model"]
    api.check_model(name)
    return as_json(shapes.Model(name, api.started_unix_s))
