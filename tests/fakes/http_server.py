"""HTTP on this computer for tests: a server that says nothing, and whose connections, threads and state end with it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        pass


class QuietServer(ThreadingHTTPServer):
    """Answers on threads of its own while it is entered: `with QuietServer(Handler) as server`.

    Clients keep connections open for a next request, and a thread of ours waits at each: the end closes them, and waits
    for the threads.
    """

    daemon_threads = False  # those are not waited for

    def __init__(self, handler: type[QuietHandler], tls: ssl.SSLContext | None = None) -> None:
        """tls: speak HTTPS with this certificate."""
        super().__init__(("127.0.0.1", 0), handler)
        self.port: int = self.server_address[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.closing = threading.Event()  # to be waited for in place of a sleep
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> QuietServer:
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):  # the client was first
                    # not SSLSocket's own, which pulls the rug from under the thread that reads
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: socket.socket, client_address: tuple[str, int]) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):  # clients that go away in the middle are what is tested
            super().handle_error(request, client_address)
