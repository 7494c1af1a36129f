"""Events and work from other threads arrive on Qt's thread, all of them and in order."""

from __future__ import annotations

import threading

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from dictation import events
from dictation.doctor import Finding
from ui.bridge import Bridge
from ui.settings.about import AboutPage


def test_events_of_another_thread_arrive_in_order_on_the_main_thread(qtbot: QtBot) -> None:
    bridge, seen = Bridge(), []
    bridge.event.connect(lambda event: seen.append((event.take, threading.current_thread())))
    sender = threading.Thread(target=lambda: [bridge.publish(events.Cancelled(i)) for i in range(500)])
    sender.start()
    sender.join()
    assert seen == []  # nothing runs on the sender's thread
    qtbot.waitUntil(lambda: len(seen) == 500)
    assert [take for take, _ in seen] == list(range(500))
    assert {thread for _, thread in seen} == {threading.main_thread()}


def test_work_from_another_thread_runs_on_the_main_one(qtbot: QtBot) -> None:
    bridge, ran = Bridge(), []
    worker = threading.Thread(target=lambda: bridge.run_on_main(lambda: ran.append(threading.current_thread())))
    worker.start()
    worker.join()
    qtbot.waitUntil(lambda: ran == [threading.main_thread()])


def test_work_from_the_main_thread_runs_at_once(qtbot: QtBot) -> None:
    ran: list[int] = []
    Bridge().run_on_main(lambda: ran.append(1))
    assert ran == [1]


def test_what_was_found_for_a_widget_that_is_gone_is_dropped(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    faults: list[object] = []
    monkeypatch.setattr(threading, "excepthook", faults.append)
    looking, goes_on = threading.Event(), threading.Event()

    def look() -> list[Finding]:
        looking.set()
        goes_on.wait(10)
        return []

    page = AboutPage(look)
    before = set(threading.enumerate())
    page.findChild(QPushButton, "about:look").click()
    assert looking.wait(10)
    (doctor,) = set(threading.enumerate()) - before
    shiboken6.delete(page)
    goes_on.set()
    doctor.join(10)
    QApplication.processEvents()
    assert faults == []
