"""What can go wrong in a request: one JSON object per fault, in the shape that OpenAI's clients know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from dictation import log
from dictation.errors import DictationError

_PLAIN = {
    404: ("not_found", "There is nothing at this address. /openapi.json lists what there is."),
    405: ("method_not_allowed", "This address does not take that method."),
}


class Fault(DictationError):
    """An answer that is no success. `code` is for programs, the text for people."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.param = param
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        return JSONResponse(self.body(), self.status, self.headers)


def ending() -> Fault:
    return Fault(503, "ending", "Sayso is ending.")


def no_socket(path: str) -> Fault:
    return Fault(404, "not_found", f"There is no WebSocket at this address, only at {path}.")


async def answer(_: Request, error: Exception) -> Response:
    """Starlette's handler for everything that an endpoint raises."""
    match error:
        case Fault():
            return error.response()
        case HTTPException():
            code, message = _PLAIN.get(error.status_code, ("bad_request", f"{error.detail}"))
            return Fault(error.status_code, code, message, headers=error.headers or {}).response()
        case OSError():
            log.get("server").warning("a request failed: %s", error.strerror or type(error).__name__)
            return Fault(507, "storage", f"The computer can't store the audio ({error.strerror}).").response()
    log.get("server").error("a fault: %s", type(error).__name__, exc_info=error)
    return Fault(500, "fault", f"Something went wrong in Sayso ({type(error).__name__}).").response()
