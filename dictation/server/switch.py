"""The switch for the local API in the settings: starts and stops the server as they say. Imports nothing heavy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from dictation import events as e
from dictation import log
from dictation.errors import DictationError

if TYPE_CHECKING:
    from dictation.loop import Loop
    from dictation.server.serving import Server

PAGE = "server"
EXTRA = "The local API needs the extra `server`: install Sayso with it (pip install 'sayso[server]')."


class MissingExtra(DictationError):
    """The libraries of the extra `server` are not installed."""


class Switch:
    """Follows the settings from `start` to `close`. A server that can't run is a notice, and Sayso goes on.

    Starting and stopping take a while, so they have a thread: nobody waits for them but `close`.
    """

    def __init__(self, loop: Loop, publish: Callable[[e.Event], None]) -> None:
        self._loop = loop
        self._publish = publish
        self._server: Server | None = None
        self._changing = threading.Lock()
        self._closed = False
        self._leave: Callable[[], None] | None = None

    @property
    def url(self) -> str:
        """Where it is served; "" while it is not."""
        return self._server.url if self._server is not None else ""

    def start(self) -> None:
        self._leave = self._loop.subscribe(self._note)
        if self._loop.settings["server.enabled"]:
            self._change()

    def close(self) -> None:
        if self._leave is not None:
            self._leave()
        with self._changing:
            self._closed = True
            self._stop()

    def _note(self, event: e.Event) -> None:
        if isinstance(event, e.SettingsChanged) and any(key.startswith(f"{PAGE}.") for key in event.keys):
            self._change()

    def _change(self) -> None:
        threading.Thread(target=self._apply, name="api-switch", daemon=True).start()

    def _apply(self) -> None:
        with self._changing:
            self._stop()
            if self._closed or not self._loop.settings["server.enabled"]:
                return
            try:
                self._server = open_server(self._loop)
            except DictationError as error:
                log.get("server").warning("not served: %s", type(error).__name__)
                self._publish(e.Notice("server", str(error), "warning"))

    def _stop(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()


def open_server(loop: Loop, host: str | None = None, port: int | None = None) -> Server:
    """Serve a running loop as its settings say, or at another place. Raises DictationError."""
    try:
        from dictation.server.serving import Server
    except ImportError as error:
        raise MissingExtra(EXTRA) from error
    page = loop.settings.page(PAGE)
    return Server(loop, host or page["host"], page["port"] if port is None else port, page["names"])
