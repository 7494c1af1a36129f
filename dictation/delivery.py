"""Hands texts to the typist, on the thread that may type, and reports what came of it.

On macOS only the Qt main thread may type; elsewhere, and without Qt, a thread of our own does. A text whose take was
cancelled or given up meanwhile is dropped just before it would be typed.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from dictation import log
from dictation.desktop.contract import Delivery, Method, Target
from dictation.desktop.contract import Outcome as Came

Run = Callable[[Callable[[], None]], None]  # runs work soon, in order, on the thread that may type


class Deliverer(Protocol):
    """`dictation.typist.Typist` with a clipboard."""

    def target(self) -> Target | None: ...

    def deliver(self, text: str, target: Target | None) -> Delivery: ...

    def undo(self) -> Delivery: ...

    def copy(self, text: str) -> Delivery: ...


@dataclass(frozen=True)
class TargetNoted:
    take: int
    target: Target | None


@dataclass(frozen=True)
class Delivered:
    take: int | None  # None: a text inserted again, or taken back
    delivery: Delivery
    text: str = field(repr=False, default="")
    entry: int | None = None


class NoDesktop:
    """Where nothing can be typed: every text is held."""

    def target(self) -> Target | None:
        return None

    def deliver(self, text: str, target: Target | None) -> Delivery:
        return Delivery(Came.HELD, Method.AUTO, "", 0.0, "There is no desktop here to type into.")

    def undo(self) -> Delivery:
        return Delivery(Came.HELD, Method.AUTO, "", 0.0, "There is no desktop here.")

    def copy(self, text: str) -> Delivery:
        return Delivery(Came.HELD, Method.COPY, "", 0.0, "There is no clipboard here.")


class OwnThread:
    """A `Run` with a thread of its own, which begins with the first work."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def __call__(self, work: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._loop, name="delivery", daemon=True)
            self._thread.start()
        self._work.put(work)

    def replace(self) -> None:
        """Leave a thread that is stuck in a window that does not answer; another does what still waits."""
        left, self._work, self._thread = self._work, queue.SimpleQueue(), None
        while not left.empty():
            work = left.get()
            if work is not None:
                self(work)
        left.put(None)

    def close(self) -> None:
        self._work.put(None)
        if self._thread is not None:
            self._thread.join(2.0)

    def _loop(self) -> None:
        todo = self._work
        while (work := todo.get()) is not None:
            work()


class Courier:
    """See the module. `post` puts what came of it into the loop's inbox."""

    def __init__(self, deliverer: Deliverer, run: Run, post: Callable[[TargetNoted | Delivered], None]) -> None:
        self._deliverer = deliverer
        self._run = run
        self._post = post
        self._wanted: set[int] = set()

    def note_target(self, take: int) -> None:
        """Ask which window has the keyboard now."""

        def ask() -> None:
            try:
                target = self._deliverer.target()
            except Exception as error:  # noqa: BLE001 - top of what runs on the typing thread
                log.get("delivery").warning("the window can't be told: %s", type(error).__name__)
                target = None
            self._post(TargetNoted(take, target))

        self._run(ask)

    def deliver(self, take: int, text: str, target: Callable[[], Target | None], undo_first: bool = False) -> None:
        """Insert the text of a take; `target` is asked when its turn has come."""
        self._wanted.add(take)

        def insert() -> Delivery | None:
            if take not in self._wanted:
                return None
            if undo_first:
                undone = self._deliverer.undo()
                if not text:
                    return undone
            return self._deliverer.deliver(text, target())

        self._do(take, text, None, insert)

    def copy(self, take: int | None, text: str, entry: int | None = None) -> None:
        self._do(take, text, entry, lambda: self._deliverer.copy(text))

    def again(self, text: str, entry: int | None) -> None:
        """Insert a text where the keyboard is now."""
        self._do(None, text, entry, lambda: self._deliverer.deliver(text, self._deliverer.target()))

    def undo(self) -> None:
        self._do(None, "", None, self._deliverer.undo)

    def forget(self, take: int) -> None:
        """Do not deliver this take, should its turn still come."""
        self._wanted.discard(take)

    def give_up(self, take: int) -> None:
        """The window does not answer: forget the take, and let others be delivered meanwhile."""
        self.forget(take)
        if isinstance(self._run, OwnThread):
            self._run.replace()

    def _do(self, take: int | None, text: str, entry: int | None, what: Callable[[], Delivery | None]) -> None:
        def work() -> None:
            try:
                delivery = what()
            except Exception as error:  # noqa: BLE001 - top of what runs on the typing thread
                log.get("delivery").exception("a fault: %s", type(error).__name__)
                reason = f"The text could not be inserted ({type(error).__name__})."
                delivery = Delivery(Came.HELD, Method.AUTO, "", 0.0, reason)
            if take is not None:
                self._wanted.discard(take)
            if delivery is not None:
                self._post(Delivered(take, delivery, text, entry))

        self._run(work)
