"""Where threads meet Qt: events from the core become a signal on the main thread, and work is handed to that thread.

The only file of `ui` that other threads call into.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QThread, Signal, Slot

from dictation.events import Event


class Bridge(QObject):
    """Signals:

    event(Event): emitted on the main thread for each event of the core, in the core's order.
    """

    event = Signal(object)
    _arrived = Signal(object)
    _work = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._arrived.connect(self.event, Qt.ConnectionType.QueuedConnection)
        self._work.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def publish(self, event: Event) -> None:
        """Called by the core on any thread."""
        self._arrived.emit(event)

    def run_on_main(self, work: Callable[[], Any]) -> None:
        """Run `work` on the main thread: at once when called there, else as soon as it is free. Any thread."""
        if QThread.currentThread() is self.thread():
            work()
        else:
            self._work.emit(work)

    @Slot(object)
    def _run(self, work: Callable[[], Any]) -> None:
        work()


class _Carrier(QObject):
    arrived = Signal(object)


_carriers: list[_Carrier] = []  # never freed: a thread may be just about to use one


def to_main(show: Callable[[Any], None]) -> Callable[[object], None]:
    """A call for other threads that hands its argument to `show`, a widget's method, on the main thread.

    Nothing happens once the widget is gone; a signal of its own, emitted from a thread then, may end the program.
    """
    carrier = _Carrier()
    _carriers.append(carrier)
    carrier.arrived.connect(show, Qt.ConnectionType.QueuedConnection)
    return carrier.arrived.emit
