"""An HTTP proxy on this computer, as companies have them: passes requests on, opens tunnels, and notes both."""

from __future__ import annotations

import select
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.fakes.http_server import QuietHandler, QuietServer


@dataclass
class Proxy:
    """What went through it: ("GET", "http://...") and ("CONNECT", "host:port")."""

    url: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    tunnels_to: tuple[str, int] | None = None  # every tunnel leads there, whatever host was asked for
    refuses: int | None = None  # answers everything with this status


@contextmanager
def serve() -> Iterator[Proxy]:
    with _ProxyServer(_ProxyHandler) as server:
        server.state = Proxy(server.url)
        yield server.state


class _ProxyServer(QuietServer):
    state: Proxy


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


class _ProxyHandler(QuietHandler):
    server: _ProxyServer

    @property
    def state(self) -> Proxy:
        return self.server.state

    def do_GET(self) -> None:
        self._pass_on()

    def do_HEAD(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        self.state.requests.append((self.command, self.path))
        if self.state.refuses:
            return self.send_error(self.state.refuses)
        headers = {key: value for key, value in self.headers.items() if key.lower() not in ("host", "proxy-connection")}
        request = urllib.request.Request(self.path, headers=headers, method=self.command)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
        try:
            answer = opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            body = answer.read()
            self.send_response(answer.status)
            for key, value in answer.headers.items():
                if key.lower() not in ("transfer-encoding", "connection", "date", "server"):
                    self.send_header(key, value)
            self.end_headers()
            self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.state.requests.append(("CONNECT", self.path))
        if self.state.refuses:
            return self.send_error(self.state.refuses)
        host, _, port = self.path.rpartition(":")
        self.close_connection = True
        with socket.create_connection(self.state.tunnels_to or (host, int(port))) as far:
            self.send_response(200)
            self.end_headers()
            ends = {self.connection: far, far: self.connection}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return None
                    ends[end].sendall(data)
