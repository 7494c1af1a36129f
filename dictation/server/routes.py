"""Every address of the API, in one table: what is routed and what the OpenAPI document says."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dictation.server import dictations, shapes, transcriptions
from dictation.server.api import Api
from dictation.server.metrics import CONTENT_TYPE

Endpoint = Callable[[Api, Request], Awaitable[Response]]


async def health(api: Api, request: Request) -> Response:
    return transcriptions.as_json(api.health())


async def metrics(api: Api, request: Request) -> Response:
    return Response(api.metrics.text(), headers={"Content-Type": CONTENT_TYPE})


async def openapi(api: Api, request: Request) -> Response:
    return JSONResponse(request.app.state.document())  # it is made from the table below: serving.py brings it


@dataclass(frozen=True)
class Body:
    """What a request holds. form: the fields beside the file `file`; json: an object; audio: raw bytes."""

    form: type | None = None
    json: type | None = None
    audio: bool = False


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    endpoint: Endpoint
    summary: str
    answers: tuple[tuple[int, str, Any], ...]  # status, content type, shape or shapes (None: no schema)
    faults: tuple[int, ...] = ()  # besides those that every address has
    body: Body = Body()
    parameters: tuple[dict[str, Any], ...] = ()

    @property
    def name(self) -> str:
        return self.endpoint.__name__


JSON, TEXT = "application/json", "text/plain; charset=utf-8"
_UPLOAD = (400, 408, 413, 415, 422, 429, 503, 504, 507)
_ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "Of a session, as `POST /sessions` gave it.",
    "schema": {"type": "string", "minLength": 1, "pattern": "^[A-Za-z0-9_-]+$"},
}
_MODEL = {
    "name": "model",
    "in": "path",
    "required": True,
    "description": "As `GET /v1/models` lists it.",
    "schema": {"type": "string", "minLength": 1, "pattern": "^[A-Za-z0-9._-]+$"},
}
_LAST_EVENT = {
    "name": "Last-Event-ID",
    "in": "header",
    "required": False,
    "description": "Go on behind this event.",
    "schema": {"type": "integer", "minimum": 0, "maximum": dictations.MOST_EVENTS},
}
_EVENT_STREAM = transcriptions.EVENT_STREAM
_TEXTS = tuple((200, f"{kind}; charset=utf-8", None) for kind in transcriptions.CONTENT_TYPES.values())

ROUTES: tuple[Route, ...] = (
    Route(
        "GET",
        "/health",
        health,
        "Whether Sayso is there, and its model. Needs no token.",
        ((200, JSON, shapes.Health),),
    ),
    Route("GET", "/metrics", metrics, "Numbers for Prometheus.", ((200, CONTENT_TYPE, None),)),
    Route("GET", "/openapi.json", openapi, "This document.", ((200, JSON, None),)),
    Route("GET", "/v1/models", transcriptions.models, "The model in use.", ((200, JSON, shapes.ModelList),)),
    Route(
        "GET",
        "/v1/models/{model}",
        transcriptions.model,
        "One of the names of the model in use.",
        ((200, JSON, shapes.Model),),
        (404,),
        parameters=(_MODEL,),
    ),
    Route(
        "POST",
        "/v1/audio/transcriptions",
        transcriptions.transcribe,
        "Write down what is said, as OpenAI's clients ask for it.",
        (
            (200, JSON, (shapes.Transcription, shapes.VerboseTranscription)),
            *_TEXTS,
            (200, _EVENT_STREAM, None),
        ),
        (*_UPLOAD, 404),
        Body(form=shapes.TranscriptionForm),
    ),
    Route(
        "POST",
        "/v1/audio/translations",
        transcriptions.translate,
        "Write down in English what is said in another language.",
        ((200, JSON, (shapes.Transcription, shapes.VerboseTranscription)), *_TEXTS),
        (*_UPLOAD, 404),
        Body(form=shapes.TranslationForm),
    ),
    Route(
        "POST",
        "/dictate",
        dictations.dictate,
        "Dictate a recording: recognised and rewritten as if it had been spoken into the microphone.",
        ((200, JSON, shapes.Dictation),),
        _UPLOAD,
        Body(form=shapes.DictateForm),
    ),
    Route(
        "POST",
        "/sessions",
        dictations.open_session,
        "Begin a dictation whose audio comes bit by bit.",
        ((201, JSON, shapes.SessionState),),
        (400, 408, 413, 422, 429, 507),
        Body(json=shapes.SessionRequest),
    ),
    Route(
        "GET",
        "/sessions/{id}",
        dictations.show_session,
        "How far a session is.",
        ((200, JSON, shapes.SessionState),),
        (404,),
        parameters=(_ID,),
    ),
    Route(
        "POST",
        "/sessions/{id}/audio",
        dictations.append_audio,
        "Send more audio, in the format of the session. One request after the other.",
        ((200, JSON, shapes.SessionState),),
        (400, 404, 408, 409, 413, 422, 429, 507),
        Body(audio=True),
        (_ID,),
    ),
    Route(
        "POST",
        "/sessions/{id}/finish",
        dictations.finish_session,
        "End the audio and wait for the text. Asked again, the same text.",
        ((200, JSON, shapes.Dictation),),
        (400, 404, 408, 409, 410, 413, 422, 503),
        parameters=(_ID,),
    ),
    Route(
        "GET",
        "/sessions/{id}/events",
        dictations.follow_session,
        "Follow a session: partial texts, pauses, and at the end the text or an error, as server-sent events.",
        ((200, _EVENT_STREAM, None),),
        (404, 422, 429),
        parameters=(_ID, _LAST_EVENT),
    ),
    Route(
        "DELETE",
        "/sessions/{id}",
        dictations.delete_session,
        "Forget a session and what was said.",
        ((204, "", None),),
        (404,),
        parameters=(_ID,),
    ),
)
