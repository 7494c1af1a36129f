"""Who may use the API: programs of this user that can read the token file, and no web page.

A page in a browser can send requests to this computer too. Three things keep it out: it does not know the token; it
can't help sending `Origin` or `Sec-Fetch-Site`, which are refused; and a name that was rebound to this computer (DNS
rebinding) stands in `Host`, where only this computer's own names and plain addresses are taken.
"""

from __future__ import annotations

import errno
import hmac
import ipaddress
import json
import os
import re
import secrets
import stat
from collections.abc import Collection
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from dictation import paths
from dictation.errors import DictationError
from dictation.server.faults import Fault

TOKEN_BYTES = 32
LEAST_TOKEN = 16  # characters of one that somebody wrote
OPEN_PATHS = frozenset({"/health"})  # no token: for a monitor; says nothing about the user
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?")


class TokenError(DictationError):
    """The token file can't be used."""


def read_token(file: Path) -> str:
    """The token in `file`, made at the first start; only its owner may read the file. Raises TokenError."""
    try:
        return _read(file)
    except FileNotFoundError:
        pass
    except OSError as error:
        why = "it is a link" if error.errno == errno.ELOOP else error.strerror
        raise TokenError(f"The token file {file} can't be read ({why}). Delete it, and a new one is made.") from error
    try:
        paths.private_dir(file.parent)
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as out:
            out.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
        return _read(file)
    except FileExistsError:  # another Sayso was faster
        return _read(file)
    except OSError as error:
        raise TokenError(f"The token file {file} can't be made ({error.strerror}).") from error


def _read(file: Path) -> str:
    # a pipe would be waited for
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise TokenError(f"{file}, where the token should be, is no file. Move it away, and a new token is made.")
    with os.fdopen(handle, encoding="ascii", errors="replace") as opened:
        if os.name == "posix":
            if status.st_uid != os.getuid():
                raise TokenError(f"The token file {file} belongs to somebody else. Delete it, and a new one is made.")
            if status.st_mode & 0o077:
                raise TokenError(
                    f"Others may read the token file {file}. Delete it: a new token is made at the next start."
                )
        token = opened.read(1000).strip()
    if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise TokenError(f"The token in {file} is no token. Delete the file: a new one is made at the next start.")
    return token


def is_loopback(host: str) -> bool:
    """Whether an address, or "localhost", leads to this computer only."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Gate:
    """ASGI middleware that lets nothing through but the user's own programs.

    host: what the server is bound to; names: more values of `Host` that are its own.
    """

    def __init__(self, app: ASGIApp, token: str, host: str, names: Collection[str] = ()) -> None:
        self._app = app
        self._token = token.encode()
        self._is_local = is_loopback(host)
        self._names = {name.casefold() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        fault = self._fault(scope["path"], Headers(scope=scope))
        if fault is None:
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await fault.response()(scope, receive, send)
        else:
            await refuse(send, fault)

    def _fault(self, path: str, headers: Headers) -> Fault | None:
        if not self._is_own(headers.get("host", "")):
            return Fault(421, "wrong_host", "This is not a name of the local API: use 127.0.0.1 or localhost.")
        if "origin" in headers or headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            return Fault(403, "web_page", "Web pages may not use the local API.")
        if path in OPEN_PATHS:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._token)
        if kind.casefold() != "bearer" or not known:
            text = "Send the token as `Authorization: Bearer TOKEN`. `sayso serve --show-token` prints it."
            return Fault(401, "wrong_token", text, headers={"WWW-Authenticate": "Bearer"})
        return None

    def _is_own(self, value: str) -> bool:
        match = _HOST.fullmatch(value)
        if match is None:
            return False
        name = match["name"].strip("[]").casefold()
        if is_loopback(name) or name in self._names:
            return True
        if self._is_local:
            return False
        try:  # a plain address is no name that could have been rebound
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


async def refuse(send: Send, fault: Fault) -> None:
    """Answer a WebSocket handshake with a fault instead of accepting it."""
    body = json.dumps(fault.body()).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in fault.headers.items()]
    await send({"type": "websocket.http.response.start", "status": fault.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})
