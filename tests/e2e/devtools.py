"""Chromium's DevTools protocol, as much of it as a test needs: evaluate an expression in the page."""

from __future__ import annotations

import json
import urllib.request
from contextlib import ExitStack
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.e2e.processes import until


class Page:
    """One page of a running Chromium. Connects when first asked and again after a broken connection."""

    def __init__(self, port: int, address: str) -> None:
        self._port = port
        self._address = address
        self._socket: Any = None
        self._open = ExitStack()
        self._count = 0

    def _connect(self) -> Any:
        def socket_url() -> str:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/json", timeout=5) as answer:
                    pages = json.load(answer)
            except (OSError, ValueError):
                return ""
            # not the empty document that a new window starts with
            return next((p["webSocketDebuggerUrl"] for p in pages if p["url"].startswith(self._address)), "")

        address = until("DevTools page", socket_url)
        return self._open.enter_context(connect(address, open_timeout=10, proxy=None, compression=None))

    def evaluate(self, expression: str) -> Any:
        for attempt in (1, 2):
            try:
                if self._socket is None:
                    self._socket = self._connect()
                return self._call(expression)
            except (ConnectionClosed, OSError):
                self._socket = None
                if attempt == 2:
                    raise
        return None

    def _call(self, expression: str) -> Any:
        self._count += 1
        parameters = {"expression": expression, "returnByValue": True, "awaitPromise": True}
        self._socket.send(json.dumps({"id": self._count, "method": "Runtime.evaluate", "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=20))
            if answer.get("id") == self._count:
                result = answer["result"]
                if "exceptionDetails" in result:
                    raise RuntimeError(result["exceptionDetails"])
                return result["result"].get("value")

    def close(self) -> None:
        self._open.close()
