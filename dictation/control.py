"""The control socket: start, stop, toggle, cancel and status of the running Sayso, for its owner only.

One JSON object per line in both directions. A client writes a request; the server answers with one line, or, for
"follow", with a line per event until the client goes away.

    {"do": "start" | "stop" | "toggle" | "cancel" | "again" | "copy" | "undo" | "show" | "open" | "use" | "status"
           | "follow"}

"open" takes "files", a list of absolute paths to write down; "use" takes "model", a name or an absolute path.

A Unix socket in a folder that only the owner can enter; on Windows a named pipe, which belongs to its user.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

from dictation import events as e
from dictation import paths
from dictation.errors import ControlError
from dictation.loop import Loop

ANSWER_S = 5.0  # a running Sayso answers within milliseconds; one that is stopped or stuck, never
NO_ANSWER = "Sayso runs, but does not answer. End it, and start it anew."
WAITING_CLIENTS = 64
WAITING_EVENTS = 1000  # of a follower that does not read; then it is dropped
MAX_REQUEST_BYTES = 10_000

_COMMANDS: dict[str, Callable[[dict[str, Any]], e.Command]] = {
    "start": lambda r: e.Start("control", bool(r.get("hands_free", False)), _output(r)),
    "stop": lambda r: e.Stop(),
    "toggle": lambda r: e.Toggle("control", bool(r.get("hands_free", False)), _output(r)),
    "cancel": lambda r: e.Cancel(),
    "again": lambda r: e.InsertAgain(),
    "copy": lambda r: e.CopyText(),
    "undo": lambda r: e.Undo(),
    "use": lambda r: e.UseModel(r["model"]),
}


def _are_paths(files: Any) -> bool:
    return isinstance(files, list) and all(isinstance(name, str) and os.path.isabs(name) for name in files)


def _output(request: dict[str, Any]) -> Any:
    output = request.get("output", "type")
    return output if output in ("type", "copy", "none") else "type"


def address() -> str:
    """Where the running Sayso listens."""
    if sys.platform == "win32":
        home = os.environ.get("SAYSO_HOME", "")
        return rf"\\.\pipe\sayso-{hashlib.sha256(home.encode() + os.getlogin().encode()).hexdigest()[:16]}"
    path = paths.runtime_dir() / "control"
    if len(str(path).encode()) > 100:  # the system's limit is 107
        digest = hashlib.sha256(str(path).encode()).hexdigest()[:16]
        return f"/tmp/sayso-{os.getuid()}-{digest}/control"
    return str(path)


class Server:
    """Serves a loop. Only one per user and SAYSO_HOME: a second one raises ControlError."""

    def __init__(
        self,
        loop: Loop,
        show: Callable[[], None] | None = None,
        open_files: Callable[[list[Path]], None] | None = None,
    ) -> None:
        self._loop = loop
        self._show = show  # brings the window up: what a second start asks for
        self._open_files = open_files  # the same with files to write down
        self._status: dict[str, Any] = {"state": "idle", "take": 0, "model": "", "model_status": "", "model_note": ""}
        self.address = address()
        if _answers(self.address):
            raise ControlError("Another Sayso runs already; commands like `sayso toggle` reach that one.")
        self._listener = self._listen()
        self._closing = False
        self._leave = loop.subscribe(self._note)
        threading.Thread(target=self._accept, name="control", daemon=True).start()

    def close(self) -> None:
        self._closing = True
        self._leave()
        with contextlib.suppress(OSError, EOFError):
            _connection(self.address).close()  # wakes the thread that accepts
        self._listener.close()
        if sys.platform != "win32":
            Path(self.address).unlink(missing_ok=True)

    def _listen(self) -> Listener:
        if sys.platform == "win32":
            return Listener(self.address, "AF_PIPE")
        path = Path(self.address)
        paths.private_dir(path.parent)
        if path.parent.stat().st_uid != os.getuid():
            raise ControlError(f"{path.parent} belongs to somebody else; Sayso does not listen there.")
        path.unlink(missing_ok=True)  # nobody answers there: left over from a crash
        listener = Listener(self.address, "AF_UNIX", WAITING_CLIENTS)
        path.chmod(0o600)
        return listener

    def _accept(self) -> None:
        while not self._closing:
            try:
                client = self._listener.accept()
            except (OSError, AuthenticationError):
                continue
            threading.Thread(target=self._serve, args=(client,), name="control-client", daemon=True).start()

    def _serve(self, client: Connection) -> None:
        with client, contextlib.suppress(OSError, EOFError):
            try:
                request = json.loads(client.recv_bytes(MAX_REQUEST_BYTES))
                what = str(request["do"])
            except (ValueError, KeyError, TypeError, RecursionError):
                _send(client, {"error": "A request is one JSON object with “do”."})
                return
            if what == "follow":
                self._follow(client)
            elif what == "status":
                _send(client, self._status)
            elif what == "show" and self._show is not None:
                self._show()
                _send(client, {"done": True})
            elif what == "open" and self._open_files is not None:
                if _are_paths(files := request.get("files")):
                    self._open_files([Path(name) for name in files])
                    _send(client, {"done": True})
                else:
                    _send(client, {"error": "“open” takes “files”, a list of absolute paths."})
            elif what == "use" and not (isinstance(request.get("model"), str) and request["model"]):
                _send(client, {"error": "“use” takes “model”, the name of one."})
            elif what in _COMMANDS:
                self._loop.send(_COMMANDS[what](request))
                _send(client, {"done": True})
            else:
                _send(client, {"error": f"There is no command {what!r}."})

    def _follow(self, client: Connection) -> None:
        """Pass every event on. A client that does not read is left, so that it costs no memory."""
        waiting: queue.Queue[e.Event | None] = queue.Queue(WAITING_EVENTS)

        def note(event: e.Event) -> None:
            try:
                waiting.put_nowait(event)
            except queue.Full:
                leave()

        leave = self._loop.subscribe(note)
        try:
            _send(client, self._status)
            while not self._closing:
                event = waiting.get()
                if isinstance(event, e.Level):
                    continue
                _send(client, e.as_dict(event) if event is not None else {})
                if isinstance(event, e.Stopped):
                    return
        finally:
            leave()

    def _note(self, event: e.Event) -> None:
        if isinstance(event, e.StateChanged):
            self._status |= {"state": str(self._loop.state), "take": event.take}
        elif isinstance(event, e.ModelChanged):
            self._status |= {"model": event.name, "model_status": str(event.status), "model_note": event.note}


class NoAnswer(ControlError):
    """A Sayso has the socket, but is stopped or stuck."""


def ask(request: dict[str, Any], where: str | None = None) -> dict[str, Any]:
    """Send one request to the running Sayso and return its answer. Raises ControlError when none is running, and
    NoAnswer when one is, but does not say anything."""
    with _connect(where or address()) as client:
        try:
            _send(client, request)
            if not client.poll(ANSWER_S):
                raise NoAnswer(NO_ANSWER)
            answer = json.loads(client.recv_bytes())
        except (OSError, EOFError, ValueError) as error:
            raise ControlError("Sayso does not answer. Is it just ending?") from error
    if "error" in answer:
        raise ControlError(str(answer["error"]))
    return dict(answer)


def follow(where: str | None = None) -> Iterator[dict[str, Any]]:
    """The running Sayso's events as they come; the first one is its status. Raises ControlError when none runs."""
    with _connect(where or address()) as client:
        _send(client, {"do": "follow"})
        while True:
            try:
                yield json.loads(client.recv_bytes())
            except (EOFError, ConnectionError):
                return


def _connect(where: str) -> Connection:
    deadline_s = time.monotonic() + ANSWER_S
    while True:
        try:
            return _connection(where)
        except BlockingIOError as error:  # as many wait there already as may
            if time.monotonic() > deadline_s:
                raise NoAnswer(NO_ANSWER) from error
            time.sleep(0.05)
        except (OSError, EOFError) as error:
            advice = "Start it with `sayso-app`, or dictate here with `sayso listen`."
            raise ControlError(f"Sayso is not running. {advice}") from error


def _connection(where: str) -> Connection:
    """`multiprocessing`'s Client, which would wait for ever where nobody accepts."""
    if sys.platform == "win32":
        return Client(where)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.setblocking(False)
        caller.connect(where)
        caller.setblocking(True)
        return Connection(caller.detach())


def _answers(where: str) -> bool:
    """Whether a Sayso is there. One that does not answer is there as well: its socket and its files are its own."""
    try:
        ask({"do": "status"}, where)
    except NoAnswer:
        return True
    except (ControlError, OSError, EOFError):
        return False
    return True


def _send(client: Connection, message: dict[str, Any]) -> None:
    client.send_bytes(json.dumps(message, ensure_ascii=False).encode())


def is_running() -> bool:
    return _answers(address())
