"""Tells when a Linux computer has woken up, by logind's signal on the system bus. Nothing runs until then."""

from __future__ import annotations

import threading
from collections.abc import Callable

from jeepney import DBusAddress, MatchRule, message_bus
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

from dictation import log

LOGIND = DBusAddress("/org/freedesktop/login1", "org.freedesktop.login1", "org.freedesktop.login1.Manager")
ANSWER_S = 5.0


class WakeWatch:
    """Calls `woke` on a thread of its own, each time. Where there is no system bus it does nothing."""

    def __init__(self, woke: Callable[[], None]) -> None:
        self._woke = woke
        self._closed = False
        self.ready = threading.Event()  # from now on every waking is told, or there is nothing to tell it
        threading.Thread(target=self._run, name="wake", daemon=True).start()

    def close(self) -> None:
        """The thread ends with the process: it waits in a read that nobody else may end."""
        self._closed = True

    def _run(self) -> None:
        try:
            with open_dbus_connection("SYSTEM") as bus:
                interface, path = LOGIND.interface, LOGIND.object_path
                rule = MatchRule(type="signal", interface=interface, member="PrepareForSleep", path=path)
                unwrap_msg(bus.send_and_get_reply(message_bus.AddMatch(rule), timeout=ANSWER_S))
                self.ready.set()
                while not self._closed:
                    message = bus.receive()
                    if rule.matches(message) and message.body == (False,) and not self._closed:
                        self._woke()
        except (OSError, EOFError, TimeoutError, ConnectionError, DBusErrorResponse, KeyError, ValueError) as error:
            log.get("sleep").info("no word of sleep and waking: %s", type(error).__name__)
        finally:
            self.ready.set()
