"""The OpenAPI document, made from the routes and the shapes. `python -m dictation.server.openapi` prints it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from dictation.server import shapes
from dictation.server.access import OPEN_PATHS
from dictation.server.limits import MIB, Limits
from dictation.server.routes import ROUTES, Body, Route
from dictation.version import version

EVERYWHERE = (401, 403, 421, 500)  # faults that every address has
_FAULTS = {
    400: "The request is not what this address takes.",
    401: "No token, or a wrong one.",
    403: "The request comes from a web page.",
    404: "There is nothing of that name.",
    408: "The request stopped coming.",
    409: "The session is busy, or has ended.",
    410: "The session was deleted meanwhile.",
    413: "Too many bytes, or too much audio.",
    415: "Not a form.",
    421: "`Host` is not a name of this computer.",
    422: "A value that is not allowed, audio that can't be read, or something the model can't do.",
    429: "Too much at once: try again in a while.",
    500: "A fault in Sayso.",
    503: "The recognition failed.",
    504: "The recognition took too long.",
    507: "The computer can't store the audio.",
}
_LIMITS = Limits()


@lru_cache(maxsize=1)
def document() -> dict[str, Any]:
    """OpenAPI 3.1. The same object at every call: not to be changed."""
    schemas = _schemas()
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sayso's local API",
            "version": version(),
            "description": "Dictation and transcription on the user's own computer. See docs/api.md.",
        },
        "servers": [{"url": "http://127.0.0.1:7296"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {str(status): _fault(text) for status, text in _FAULTS.items()},
        },
    }


def _shapes() -> Iterator[type]:
    for route in ROUTES:
        yield from (kind for kind in (route.body.form, route.body.json) if kind is not None)
        for _, _, shape in route.answers:
            yield from shape if isinstance(shape, tuple) else () if shape is None else (shape,)
    yield from (shapes.Partial, shapes.Silence, shapes.Failed, shapes.DictationOptions)


_REF = "#/components/schemas/{name}"


def _schemas() -> dict[str, Any]:
    _, components = msgspec.json.schema_components(list(_shapes()), ref_template=_REF)
    components["Error"] = {
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["message", "type", "param", "code"],
                "properties": {
                    "message": {"type": "string"},
                    "type": {"enum": ["invalid_request_error", "server_error"]},
                    "param": {"type": ["string", "null"]},
                    "code": {"type": "string"},
                },
            }
        },
    }
    return dict(sorted(components.items()))


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, tuple):
        return {"anyOf": [_schema(one) for one in shape]}
    (schema,), _ = msgspec.json.schema_components([shape], ref_template=_REF)
    return schema


def _fault(text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}}


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {"operationId": route.name, "summary": route.summary}
    if route.path in OPEN_PATHS:
        operation["security"] = []
    if route.parameters:
        operation["parameters"] = list(route.parameters)
    if body := _body(route.body):
        operation["requestBody"] = body
    answers: dict[str, Any] = {}
    for status, kind, shape in route.answers:
        answer = answers.setdefault(str(status), {"description": "Done."})
        if kind:
            answer.setdefault("content", {})[kind.partition(";")[0]] = (
                {} if shape is None else {"schema": _schema(shape)}
            )
    faults = sorted({*route.faults, *EVERYWHERE} - ({401} if route.path in OPEN_PATHS else set()))
    answers |= {str(status): {"$ref": f"#/components/responses/{status}"} for status in faults}
    if "201" in answers and route.path == "/sessions":
        answers["201"]["links"] = _links()
    operation["responses"] = answers
    return operation


def _links() -> dict[str, Any]:
    """What can be done with the id of a new session."""
    on_sessions = [route.name for route in ROUTES if route.path.startswith("/sessions/{id}")]
    return {name: {"operationId": name, "parameters": {"id": "$response.body#/id"}} for name in on_sessions}


def _body(body: Body) -> dict[str, Any]:
    if body.form is not None:
        fields = msgspec.json.schema_components([body.form])[1][body.form.__name__]
        properties = {name: _in_form(schema) for name, schema in fields["properties"].items()}
        if "timestamp_granularities" in properties:  # as OpenAI's clients spell it
            properties["timestamp_granularities[]"] = properties.pop("timestamp_granularities")
        file = {"type": "string", "format": "binary", "description": f"Audio, up to {_LIMITS.upload_bytes // MIB} MiB."}
        schema: dict[str, Any] = {"type": "object", "required": ["file"], "properties": {"file": file, **properties}}
        return {"required": True, "content": {"multipart/form-data": {"schema": schema}}}
    if body.json is not None:
        return {"required": False, "content": {"application/json": {"schema": _schema(body.json)}}}
    if body.audio:
        chunk: dict[str, Any] = {"type": "string", "format": "binary", "maxLength": _LIMITS.chunk_bytes}
        return {"required": True, "content": {"application/octet-stream": {"schema": chunk}}}
    return {}


def _in_form(schema: dict[str, Any]) -> dict[str, Any]:
    """A field's schema; what is not given is left out of a form, where there is no null."""
    if schema.get("type") == "boolean":
        return {"enum": [True, False, "true", "false", 1, 0, "1", "0"], "default": schema["default"]}
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    return choices[0] if choices else schema


def text() -> str:
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
