"""The server itself: sockets, uvicorn, and the one thread that all of it runs on."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import os
import shutil
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.routing import WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from dictation import log, paths
from dictation.errors import DictationError
from dictation.server import dictations, faults
from dictation.server.access import Gate, read_token, refuse
from dictation.server.api import Api, Core
from dictation.server.dictations import GONE
from dictation.server.faults import Fault
from dictation.server.limits import Limits
from dictation.server.openapi import document
from dictation.server.routes import ROUTES

SOCKET_PATH = "/sessions/socket"
START_S, STOP_S = 20.0, 5.0
PING_S = 2.0  # between two pings on a WebSocket
HEADERS_BYTES = 32 * 1024


class ServerError(DictationError):
    """The local API can't be served."""


# ---- the application ------------------------------------------------------------------------------------------------


def application(api: Api, token: str, host: str, names: Sequence[str], waiting: Waiting) -> ASGIApp:
    """All of the API as ASGI, behind its gate."""
    socket_: Callable[[WebSocket], Awaitable[None]] = partial(dictations.socket, api)
    paths_ = dict.fromkeys(route.path for route in ROUTES)
    routes = [
        WebSocketRoute(SOCKET_PATH, socket_),
        WebSocketRoute("/{anywhere:path}", _no_socket),
        *(_route(api, path) for path in paths_),
    ]
    handlers: dict[Any, Any] = dict.fromkeys((Exception, HTTPException, Fault, OSError), faults.answer)
    gate = Middleware(Gate, token=token, host=host, names=names)
    around = [Middleware(_Measured, api=api), Middleware(_Told, waiting=waiting), gate]
    app = Starlette(routes=routes, middleware=around, exception_handlers=handlers)
    app.state.document = document
    return app


async def _no_socket(websocket: WebSocket) -> None:
    await refuse(websocket.send, faults.no_socket(SOCKET_PATH))


def _route(api: Api, path: str) -> StarletteRoute:
    """All methods of an address: one that it does not take is answered with those that it takes."""
    by_method = {route.method: route for route in ROUTES if route.path == path}

    async def endpoint(request: Request) -> Response:
        route = by_method["GET" if request.method == "HEAD" else request.method]
        request.scope["sayso.route"] = route
        return await route.endpoint(api, request)

    return StarletteRoute(path, endpoint, methods=list(by_method))


class _Measured:
    """Counts and times requests, by route and never by address: those of sessions are secrets."""

    def __init__(self, app: ASGIApp, api: Api) -> None:
        self._app = app
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started_s, status = time.monotonic(), 0

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, note)
        finally:
            route = scope.get("sayso.route")
            name = route.name if route is not None else "none"
            self._api.metrics.requests.labels(name, str(status)).inc()
            self._api.metrics.request_seconds.labels(name).observe(time.monotonic() - started_s)
            log.get("server").debug("%s %d", name, status)


class Waiting:
    """Requests that have no answer yet."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()
        self.is_over = False

    def end(self) -> None:
        """Answer all of them, now and from now on, that Sayso is ending."""
        self.is_over = True
        for task in self.tasks:
            task.cancel()


class _Told:
    """Keeps `Waiting`, so that whoever waits when the server ends is told so and does not wait for its end."""

    def __init__(self, app: ASGIApp, waiting: Waiting) -> None:
        self._app = app
        self._waiting = waiting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            await self._app(scope, receive, send)
            return
        tasks = self._waiting.tasks

        async def note(message: Message) -> None:
            tasks.discard(task)  # from here on it has an answer
            await send(message)

        tasks.add(task)
        try:
            if not self._waiting.is_over:
                await self._app(scope, receive, note)
                return
        except asyncio.CancelledError:
            if not (self._waiting.is_over and task in tasks):
                raise
            task.uncancel()
        finally:
            tasks.discard(task)
        await faults.ending().response()(scope, receive, send)


# ---- connections ----------------------------------------------------------------------------------------------------


class _Patience:
    """Ends connections of clients that take nothing, or say nothing: they would hold their place for ever."""

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    write_s = Limits.write_s
    read_s = Limits.read_s
    _stuck: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()  # type: ignore[misc]
        self._stuck = self.loop.call_later(self.write_s, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()  # type: ignore[misc]
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
        super().connection_lost(exc)  # type: ignore[misc]


class _Http(_Patience, H11Protocol):
    _look: asyncio.TimerHandle | None = None
    _seen: object = None  # the request that was answered last, as of the last look

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look_no_more()  # else all of a closed connection would be held until then
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        self._look_no_more()
        super().handle_websocket_upgrade(event)

    def _look_later(self) -> None:
        self._look = self.loop.call_later(self.read_s, self._has_asked_something)

    def _look_no_more(self) -> None:
        if self._look is not None:
            self._look.cancel()

    def _has_asked_something(self) -> None:
        """Uvicorn's own patience ends with any byte: whoever sends one now and then would stay for ever."""
        cycle = self.cycle
        is_idle = cycle is None or cycle.response_complete
        if is_idle and cycle is self._seen:
            self.transport.abort()
            return
        self._seen = cycle if is_idle else None
        self._look_later()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP gets an error of the same shape as all others."""
        body = json.dumps(Fault(400, "not_http", msg).body()).encode()
        head = f"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"connection: close\r\n\r\n" + body)
        self.transport.close()


class _Socket(_Patience, WebSocketsSansIOProtocol):
    """`gone` is set when the client is, however much of what it sent has not been read yet.

    A client that has to wait is not read meanwhile, nor then its end and its pongs. So pings go out often, and nobody
    waits for an answer: once the client is gone, the second one fails.
    """

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.gone = asyncio.Event()

    async def run_asgi(self) -> None:
        self.scope[GONE] = self.gone  # type: ignore[literal-required]
        await super().run_asgi()

    def schedule_ping(self) -> None:
        self.ping_timer = self.loop.call_later(PING_S, self.send_keepalive_ping)

    def handle_close(self, event: Any) -> None:
        self.gone.set()
        super().handle_close(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self.gone.set()
        super().connection_lost(exc)


# ---- the server -----------------------------------------------------------------------------------------------------


class Server:
    """Serves a running core until `close`. Raises ServerError, or TokenError, when it can't."""

    def __init__(
        self,
        core: Core,
        host: str = "127.0.0.1",
        port: int = 7296,
        names: Sequence[str] = (),
        limits: Limits | None = None,
        token_file: Path | None = None,
    ) -> None:
        self._core = core
        self._host = host
        self._names = names
        self._limits = limits or Limits()
        self._token = read_token(token_file or paths.token_file())
        self._folder = _own_folder()
        self._listener = _listen(host, port)
        self.port: int = self._listener.getsockname()[1]
        self._end: Callable[[], object] | None = None
        self._started = threading.Event()
        self._fault = ""
        self._thread = threading.Thread(target=self._run, name="api", daemon=True)
        self._thread.start()
        if not self._started.wait(START_S) or self._fault:
            self.close()
            raise ServerError(f"The local API did not start ({self._fault or 'it took too long'}).")

    @property
    def url(self) -> str:
        host = "127.0.0.1" if self._host in ("0.0.0.0", "localhost") else self._host
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def close(self) -> None:
        """End all connections; whoever waits is told."""
        if self._end is not None:
            with suppress(RuntimeError):  # it has ended by itself
                self._end()
        self._thread.join(2 * STOP_S)
        self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except Exception as error:  # noqa: BLE001 - top of the thread
            self._fault = type(error).__name__
            log.get("server").exception("the local API ended: %s", type(error).__name__)
        finally:
            self._started.set()

    async def _serve(self) -> None:
        api, waiting = Api(self._core, self._folder, self._limits), Waiting()
        config = uvicorn.Config(
            application(api, self._token, self._host, self._names, waiting),
            http=_Http,
            ws=_Socket,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            ws_max_size=self._limits.chunk_bytes,
            ws_ping_timeout=None,
            ws_per_message_deflate=False,
            limit_concurrency=self._limits.connections,
            h11_max_incomplete_event_size=HEADERS_BYTES,
            timeout_graceful_shutdown=int(STOP_S),
        )
        _quiet_uvicorn()
        server, wanted = uvicorn.Server(config), asyncio.Event()
        self._end = partial(asyncio.get_running_loop().call_soon_threadsafe, wanted.set)
        tell = asyncio.create_task(self._tell_started(server))
        try:
            ended, end = asyncio.create_task(server.serve(sockets=[self._listener])), asyncio.create_task(wanted.wait())
            await asyncio.wait({ended, end}, return_when=asyncio.FIRST_COMPLETED)
            api.desk.end()
            await api.sessions.close()  # before their connections are closed
            waiting.end()
            server.should_exit = True
            await ended
            api.desk.close()
        finally:
            tell.cancel()

    async def _tell_started(self, server: uvicorn.Server) -> None:
        while not server.started:
            await asyncio.sleep(0.005)
        self._started.set()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
        listener.setblocking(False)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        text = f"The local API can't listen on {host}, port {port} ({why}). Choose another port in the settings."
        if getattr(error, "errno", None) not in (errno.EADDRINUSE, errno.EACCES):
            text = f"The local API can't listen on {host} ({why}). Choose another address in the settings."
        raise ServerError(text) from error
    return listener


def _own_folder() -> Path:
    """A folder for uploads and spooled audio, for this process; those that a crash has left are removed."""
    every = paths.private_dir(paths.api_dir())
    for left in every.iterdir():
        pid = left.name.partition("-")[0]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    return paths.private_dir(every / f"{os.getpid()}-{time.monotonic_ns()}")


def _quiet_uvicorn() -> None:
    """Its own log would go to stderr, with addresses in it; what matters is in Sayso's."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
