"""The clipboard and the primary selection, from a thread that owns what we put there.

To paste, text is *lent* to a selection: everything it held is saved, the text takes its place, and after the target has
fetched it (the receipt) and nobody has asked for a while, the old contents come back. Whoever asks late, with a
timestamp from the time of the loan, still gets the text. All X traffic happens on this thread.
"""

from __future__ import annotations

import os
import queue
import select
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from Xlib import X, error
from Xlib.protocol.request import SetSelectionOwner

from dictation.desktop.x11.connection import Connection
from dictation.desktop.x11.selections import Contents, Fetcher, Named, SelectionUnreadable, Server, text_contents

LATE_READERS_S = 30.0
CALL_TIMEOUT_S = 5.0

Answer = TypeVar("Answer")


class LoanState(Enum):
    LENT = "lent"
    SETTLING = "settling"  # the target has it: give the old contents back after a quiet time
    KEPT = "kept"  # the text stays on the clipboard
    RETURNED = "returned"
    WITHDRAWN = "withdrawn"  # the text was typed instead: the target must not get it a second time
    LOST = "lost"  # another program took the selection


@dataclass
class Loan:
    """One text lent to one selection. Fields but `taken` and `state` belong to the clipboard's thread."""

    selection: int
    client: int  # X client of the target: only its fetch is a receipt
    pid: int
    contents: Contents
    saved: Contents | None  # None: nobody owned the selection
    since_ms: int
    linger_s: float  # given back at once, Chromium, which asks several times, lost pastes; after 20 ms it never did
    until_ms: int = 0
    expected: bool = False  # the keys are about to be pressed: what is fetched from now on may be the paste
    asked_s: float = 0.0
    ended_s: float = 0.0
    state: LoanState = LoanState.LENT
    taken: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    others_took: bool = False

    def covers(self, stamp_ms: int) -> bool:
        """Whether a request made at this server time was meant for the lent text (the clock wraps at 2^32)."""
        if not stamp_ms or not self.until_ms:
            return False
        return _not_before(stamp_ms, self.since_ms) and not _not_before(stamp_ms, self.until_ms)


def _not_before(stamp_ms: int, other_ms: int) -> bool:
    return (stamp_ms - other_ms) & 0xFFFFFFFF < 0x80000000


@dataclass
class _Owned:
    contents: Contents
    since_ms: int
    loan: Loan | None = None


class X11Clipboard:
    """Reads, writes and lends the selections of one X server.

    hand_over: gets at the end what we own for the user, and returns when somebody else owns it.
    """

    def __init__(
        self, display_name: str | None = None, hand_over: Callable[[dict[str, Named]], None] | None = None
    ) -> None:
        self._hand_over = hand_over
        self._nothing_owned = threading.Event()
        self._x = Connection(display_name)
        self.primary = self._x.atom("PRIMARY")
        self.clipboard = self._x.atom("CLIPBOARD")
        self._texts = {
            self._x.atom(n) for n in ("UTF8_STRING", "text/plain;charset=utf-8", "text/plain", "TEXT", "STRING")
        }
        self._fetcher = Fetcher(self._x)
        self._server = Server(self._x)
        self._owned: dict[int, _Owned] = {}
        self._past: list[Loan] = []
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()
        self._wake_read, self._wake_write = os.pipe()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="x11-clipboard", daemon=True)
        self._thread.start()

    # any thread

    def read_text(self) -> str | None:
        return self._call(lambda: self._read_text(self.clipboard))

    def read_primary(self) -> str | None:
        return self._call(lambda: self._read_text(self.primary))

    def write_text(self, text: str, secret: bool = False) -> None:
        self._call(lambda: self._own(self.clipboard, text_contents(self._x, text, secret)))

    def save(self, selection: int) -> Contents | None:
        """All that a selection holds, to give it back later; None when nobody owns it or it can't be read."""
        return self._call(lambda: self._save(selection))

    def restore(self, selection: int, contents: Contents | None) -> None:
        """Put saved contents back, if there were any."""
        if contents is not None:
            self._call(lambda: self._own(selection, contents))

    def lend(self, selection: int, text: str, client: int, pid: int, linger_s: float) -> Loan:
        """Put `text` in the selection's place. Raises SelectionUnreadable when the old contents can't be saved."""
        return self._call(lambda: self._lend(selection, text, client, pid, linger_s))

    def expect(self, loan: Loan) -> None:
        """Call right before pressing the keys: a program may fetch whatever appears, and that is no receipt."""
        self._call(lambda: setattr(loan, "expected", True))

    def settle(self, loan: Loan) -> None:
        """The target has the text: give the old contents back once nobody asks any more."""
        self._call(lambda: self._set_state(loan, LoanState.SETTLING))

    def keep(self, loan: Loan) -> None:
        """Leave the text where it is, as the user's way to it."""
        self._call(lambda: self._set_state(loan, LoanState.KEPT))

    def withdraw(self, loan: Loan) -> None:
        """Give the old contents back at once, and nothing to the target if it still asks for the lent text."""
        self._call(lambda: self._give_back(loan, LoanState.WITHDRAWN))

    @property
    def lending(self) -> bool:
        """Whether a selection is lent now."""
        states = (LoanState.LENT, LoanState.SETTLING)
        return self._call(lambda: any(o.loan is not None and o.loan.state in states for o in self._owned.values()))

    def atom(self, name: str) -> int:
        return self._call(lambda: self._x.atom(name))

    def wait_until_nothing_is_owned(self) -> None:
        self._nothing_owned.wait()

    def close(self) -> None:
        """Go on answering until the last paste is over, then give everything back, hand over and end.

        Chromium asks several times per paste; one whose owner leaves after the first answer pastes nothing.
        """
        if self._closing:
            return
        try:
            deadline_s = time.monotonic() + CALL_TIMEOUT_S
            while (left_s := self._call(self._settling_s)) > 0 and time.monotonic() < deadline_s:
                time.sleep(left_s)
            kept = self._call(self._return_all)
            if kept and self._hand_over is not None:
                self._hand_over(kept)
        finally:
            self._closing = True
            os.write(self._wake_write, b"x")
            self._thread.join(CALL_TIMEOUT_S)
            os.close(self._wake_read)
            os.close(self._wake_write)

    def _call(self, function: Callable[[], Answer]) -> Answer:
        future: Future[Answer] = Future()
        self._calls.put((function, future))
        os.write(self._wake_write, b"x")
        return future.result(CALL_TIMEOUT_S)

    # the clipboard's thread

    def _run(self) -> None:
        try:
            self._answer_until_closed()
        except (error.ConnectionClosedError, OSError):
            pass  # the X server ended, and the desktop with it
        finally:
            self._nothing_owned.set()

    def _answer_until_closed(self) -> None:
        while not self._closing:
            due_s = self._handle_due()
            if not self._x.display.pending_events():
                readable, _, _ = select.select([self._x.display.fileno(), self._wake_read], [], [], due_s)
                if self._wake_read in readable:
                    os.read(self._wake_read, 4096)
            for event in self._x.events(0):
                self._handle(event)
            while not self._calls.empty():
                function, future = self._calls.get()
                try:
                    future.set_result(function())
                except Exception as failure:  # noqa: BLE001 - the top of this thread; the caller gets it
                    future.set_exception(failure)
                self._handle_kept()
            self._x.display.flush()
        self._x.close()

    def _handle_kept(self) -> None:
        for event in self._x.kept_events():
            self._handle(event)

    def _handle(self, event: Any) -> None:
        if event.type == X.SelectionRequest:
            self._serve(event)
        elif event.type == X.SelectionClear:
            owned = self._owned.pop(event.atom, None)
            if owned is not None and owned.loan is not None:
                owned.loan.state = LoanState.LOST
                owned.loan.over.set()
            if not self._owned:
                self._nothing_owned.set()
        elif event.type == X.PropertyNotify and event.state == X.PropertyDelete:
            self._server.property_deleted(event)

    def _serve(self, request: Any) -> None:
        owned = self._owned.get(request.selection)
        loan = next((p for p in self._past if p.selection == request.selection and p.covers(request.time)), None)
        if loan is None and owned is not None:
            loan = owned.loan
        if loan is None and owned is None:
            self._server.refuse(request)
            return
        client = self._x.client_of(request.requestor.id)
        is_target = loan is not None and (
            client == loan.client or bool(loan.pid and self._x.pid_of(request.requestor.id) == loan.pid)
        )
        if loan is not None and loan.state is LoanState.WITHDRAWN and is_target:
            self._server.refuse(request)
            return
        contents = loan.contents if loan is not None else owned.contents if owned is not None else {}
        since_ms = loan.since_ms if loan is not None else owned.since_ms if owned is not None else 0
        served = self._server.answer(request, contents, since_ms)
        if loan is None:
            return
        if is_target:
            loan.asked_s = time.monotonic()  # others, who may be looking again and again, don't prolong it
        if loan.expected and self._texts.intersection(served):
            if is_target:
                loan.taken.set()
            else:
                loan.others_took = True

    def _handle_due(self) -> float | None:
        """Give back what is due; seconds until the next such moment, None when there is nothing to wait for."""
        now = time.monotonic()
        waits = []
        for owned in list(self._owned.values()):
            loan = owned.loan
            if loan is None or loan.state is not LoanState.SETTLING:
                continue
            left = loan.asked_s + loan.linger_s - now
            if left <= 0:
                self._give_back(loan, LoanState.RETURNED)
                self._handle_kept()
            else:
                waits.append(left)
        self._past = [loan for loan in self._past if now - loan.ended_s < LATE_READERS_S]
        if self._server.transfers:
            self._server.drop_stale()
            waits.append(1.0)
        return min(waits) if waits else None

    def _lend(self, selection: int, text: str, client: int, pid: int, linger_s: float) -> Loan:
        owned = self._owned.get(selection)
        since = self._x.server_time()
        if owned is not None and owned.loan is not None and owned.loan.state is not LoanState.KEPT:
            saved = owned.loan.saved  # the loan before has not been given back yet
            self._retire(owned.loan, since, LoanState.RETURNED)
        elif owned is not None:
            saved = owned.contents
        elif not self._x.display.get_selection_owner(selection):
            saved = None
        else:
            saved = self._fetcher.everything(selection, since)
            since = self._x.server_time()
        loan = Loan(selection, client, pid, text_contents(self._x, text, secret=True), saved, since, linger_s)
        self._own(selection, loan.contents, since, loan)
        return loan

    def _save(self, selection: int) -> Contents | None:
        if selection in self._owned:
            return self._owned[selection].contents
        if not self._x.display.get_selection_owner(selection):
            return None
        try:
            return self._fetcher.everything(selection, self._x.server_time())
        except SelectionUnreadable:
            return None

    def _own(self, selection: int, contents: Contents, since: int = 0, loan: Loan | None = None) -> None:
        since = since or self._x.server_time()
        before = self._owned.get(selection)
        if before is not None and before.loan not in (None, loan) and not before.loan.over.is_set():
            self._retire(before.loan, since, LoanState.RETURNED)  # the next paste waits for it to be over
        # taken anew even if it is ours: that is how others notice that the contents changed
        self._x.window.set_selection_owner(selection, since)
        self._owned[selection] = _Owned(contents, since, loan)
        self._x.display.sync()

    def _set_state(self, loan: Loan, state: LoanState) -> None:
        if loan.state in (LoanState.LENT, LoanState.KEPT):
            loan.state = state
            if state is LoanState.KEPT:
                loan.over.set()

    def _give_back(self, loan: Loan, state: LoanState) -> None:
        owned = self._owned.get(loan.selection)
        now = self._x.server_time()
        if owned is None or owned.loan is not loan:
            if state is LoanState.WITHDRAWN:
                loan.state = state
            return
        self._retire(loan, now, state)
        if loan.saved is None:
            SetSelectionOwner(display=self._x.display.display, window=X.NONE, selection=loan.selection, time=now)
            del self._owned[loan.selection]
            self._x.display.sync()
        else:
            self._own(loan.selection, loan.saved, now)

    def _retire(self, loan: Loan, now_ms: int, state: LoanState) -> None:
        loan.state, loan.until_ms, loan.ended_s = state, now_ms, time.monotonic()
        loan.over.set()
        self._past.append(loan)

    def _settling_s(self) -> float:
        """How long until all pastes that were fetched are over, if nobody asks again."""
        loans = [owned.loan for owned in self._owned.values() if owned.loan]
        ends_s = [loan.asked_s + loan.linger_s for loan in loans if loan.state is LoanState.SETTLING]
        return max(ends_s, default=0.0) - time.monotonic()

    def _return_all(self) -> dict[str, Named]:
        for owned in list(self._owned.values()):
            # a text that was not fetched yet stays: a window that hangs would paste the old contents in its place
            if owned.loan is not None and owned.loan.state is LoanState.SETTLING:
                self._give_back(owned.loan, LoanState.RETURNED)
        name = self._x.atom_name
        return {
            name(selection): {name(t): (name(i.type_atom), i.width, i.data) for t, i in owned.contents.items()}
            for selection, owned in self._owned.items()
            if owned.contents
        }

    def _read_text(self, selection: int) -> str | None:
        owned = self._owned.get(selection)
        if owned is not None:
            item = owned.contents.get(self._x.atom("UTF8_STRING"))
            return item.data.decode("utf-8", "replace") if item else None
        if not self._x.display.get_selection_owner(selection):
            return None
        for name, encoding in (("UTF8_STRING", "utf-8"), ("STRING", "latin-1")):
            try:
                item = self._fetcher.one(selection, self._x.atom(name), self._x.server_time())
            except SelectionUnreadable:
                return None
            if item is not None:
                return item.data.decode(encoding, "replace")
        return None
