"""From one model to the next: who loads where, what happens to the takes that are on, and that nothing is left over."""

from __future__ import annotations

import queue
import threading
import time

import numpy as np
import pytest

from dictation.events import ModelStatus
from dictation.worker import switching
from dictation.worker.front import Worker
from dictation.worker.model import Request, Room
from dictation.worker.reports import AgainReport, FinalReport, ModelReport, PartialReport
from engine.errors import EngineError
from tests.fakes.dictation import Words

SECOND = np.zeros(16_000, np.float32)


class Model(Words):
    """Counts the models that are in memory, and has the name that was asked for."""

    def __init__(self, name, garage):
        super().__init__()
        self.name, self._garage = name, garage
        self.n_to_prepare = garage.n_to_prepare
        self.gate = garage.gates.setdefault(f"recognise {name}", _opened())
        garage.in_memory.append(name)

    def prepare(self, cancelled):
        self._garage.n_prepared += 1
        return super().prepare(cancelled)

    def open(self, recording, request):
        opened = super().open(recording, request)
        self._garage.opened.set()
        return opened

    def close(self):
        assert not self.closed
        super().close()
        self._garage.in_memory.remove(self.name)
        self._garage.closed.put(self.name)


class Garage:
    """Builds models, each as soon as its gate is open."""

    def __init__(self):
        self.gates: dict[str, threading.Event] = {}
        self._held: dict[str, threading.Event] = {}
        self.closed: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.opened = threading.Event()  # a recording
        self.built: list[tuple[str, str]] = []  # with the thread
        self.in_memory: list[str] = []
        self.most_in_memory = 0
        self.n_prepared, self.n_to_prepare = 0, 0
        self.room = Room.BESIDE

    def hold(self, name):
        """The next load of this model waits for the gate."""
        gate = self.gates[f"load {name}"] = self._held[name] = threading.Event()
        return gate

    def beside(self, name, device):
        if name == "gone":
            raise EngineError("gone lies on a disk that is away.")
        return self.room

    def build(self, name, device):
        assert self._held.pop(name, _opened()).wait(30)
        if name == "damaged":
            raise EngineError("damaged.gguf is damaged.")
        if name == "huge":
            raise MemoryError
        self.built.append((name, threading.current_thread().name))
        model = Model(name, self)
        self.most_in_memory = max(self.most_in_memory, len(self.in_memory))
        return model

    def end(self):
        for gate in self.gates.values():
            gate.set()


def _opened():
    gate = threading.Event()
    gate.set()
    return gate


class Told:
    """What a lane was told, in order."""

    def __init__(self):
        self.news = queue.SimpleQueue()
        self.models: list[tuple[str, ModelStatus]] = []

    def __call__(self, report):
        if isinstance(report, ModelReport):
            self.models.append((report.event.name, report.event.status))
        self.news.put(report)

    def model(self, name, status):
        while not (isinstance(report := self.news.get(timeout=10), ModelReport)) or (
            (report.event.name, report.event.status) != (name, status)
        ):
            pass
        return report.event

    def until(self, kind):
        while not isinstance(report := self.news.get(timeout=10), kind):
            pass
        return report


@pytest.fixture
def garage():
    garage = Garage()
    yield garage
    garage.end()


@pytest.fixture
def engine(garage):
    """A worker with the model "old" in use, and what its microphone's lane is told."""
    told = Told()
    worker = Worker(garage.build, told, beside=garage.beside)
    worker.use("old")
    told.model("old", ModelStatus.READY)
    yield worker, told
    garage.end()
    assert worker.close()
    deadline = time.monotonic() + 10
    while garage.in_memory and time.monotonic() < deadline:  # a load that was left behind closes what it built
        time.sleep(0.01)
    assert garage.in_memory == []


def dictate(worker, told, take):
    """A take; the model that it was recognised by."""
    worker.microphone.begin(take, Request())
    worker.microphone.feed(take, SECOND, 0)
    worker.microphone.finish(take, True)
    final = told.until(FinalReport)
    assert final.take == take and final.transcript.text == "heard 1.00 s"
    return final.model


def test_takes_go_on_while_another_model_is_loaded_which_then_takes_over(engine, garage):
    worker, told = engine
    gate = garage.hold("new")
    worker.use("new")
    event = told.model("new", ModelStatus.LOADING)
    assert event.message == "old stays in use until new is ready."
    assert dictate(worker, told, 1) == "old"
    assert worker.loading_since_s is None, "nobody waits for a model"
    gate.set()
    told.model("new", ModelStatus.READY)
    assert dictate(worker, told, 2) == "new"
    assert garage.closed.get(timeout=10) == "old"
    assert garage.built == [("old", "engine"), ("new", "model-load")]


def test_a_take_that_is_on_ends_on_the_old_model_after_the_new_one_took_over(engine, garage):
    worker, told = engine
    worker.microphone.begin(1, Request())
    told.until(PartialReport)
    worker.use("new")
    told.model("new", ModelStatus.READY)
    assert garage.in_memory == ["old", "new"]
    worker.microphone.finish(1, True)
    assert told.until(FinalReport).model == "old"
    assert garage.closed.get(timeout=10) == "old"


def test_other_lanes_takes_go_on_where_there_is_room_for_two(engine, garage):
    worker, told = engine
    lane = worker.lane(others := Told())
    lane.begin(1, Request())
    others.until(PartialReport)
    worker.use("new")
    told.model("new", ModelStatus.READY)
    lane.finish(1, True)
    reports = [others.news.get(timeout=10)]
    while not isinstance(reports[-1], FinalReport):
        reports.append(others.news.get(timeout=10))
    assert reports[-1].model == "old" and not any(isinstance(report, AgainReport) for report in reports)


@pytest.mark.parametrize(
    "name, why", {"damaged": "is damaged", "huge": "not enough memory", "gone": "disk that is away"}.items()
)
def test_a_load_that_fails_leaves_the_old_model_as_it_was_and_says_why(engine, garage, name, why):
    worker, told = engine
    worker.use(name)
    assert why in told.model(name, ModelStatus.FAILED).message
    event = told.model("old", ModelStatus.READY)
    assert why in event.message and event.message.endswith("old stays in use.")
    assert worker.active == "old" and dictate(worker, told, 1) == "old"
    assert garage.built == [("old", "engine")]


def test_of_two_switches_the_newest_wins_and_the_other_is_freed(engine, garage):
    worker, told = engine
    gate = garage.hold("first")
    worker.use("first")
    told.model("first", ModelStatus.LOADING)
    worker.use("second")
    assert dictate(worker, told, 1) == "old"
    gate.set()
    told.model("second", ModelStatus.READY)
    assert garage.closed.get(timeout=10) in ("first", "old") and garage.closed.get(timeout=10) in ("first", "old")
    assert garage.in_memory == ["second"] and garage.most_in_memory == 2
    assert ("first", ModelStatus.WARMING) not in told.models


def test_a_load_that_hangs_does_not_keep_the_next_one_from_beginning(engine, garage, monkeypatch):
    monkeypatch.setattr(switching, "HANGS_AFTER_S", 0.05)
    worker, told = engine
    garage.hold("hanging")
    worker.use("hanging")
    told.model("hanging", ModelStatus.LOADING)
    worker.use("second")
    told.model("second", ModelStatus.READY)
    assert dictate(worker, told, 1) == "second"


def test_waiting_for_a_load_that_nobody_wants_costs_nothing(garage, monkeypatch):
    monkeypatch.setattr(switching, "HANGS_AFTER_S", 0.2)
    garage.n_to_prepare = 9
    worker = Worker(garage.build, told := Told(), beside=garage.beside)
    worker.use("old")
    told.model("old", ModelStatus.READY)
    garage.hold("hanging")
    worker.use("hanging")
    told.model("hanging", ModelStatus.LOADING)
    worker.use("second")
    told.model("second", ModelStatus.LOADING)
    assert garage.n_prepared <= 2, "what only saves time later is not begun in vain again and again"
    assert worker.close()


def test_back_to_the_model_in_use_while_another_is_loaded(engine, garage):
    worker, told = engine
    gate = garage.hold("new")
    worker.use("new")
    told.model("new", ModelStatus.LOADING)
    worker.use("old")
    assert told.model("old", ModelStatus.READY).message == ""
    gate.set()
    assert garage.closed.get(timeout=10) == "new"
    assert dictate(worker, told, 1) == "old" and garage.built[0] == ("old", "engine")


def test_back_to_a_model_that_a_take_is_still_on_loads_nothing(engine, garage):
    worker, told = engine
    worker.microphone.begin(1, Request())
    told.until(PartialReport)
    worker.use("new")
    told.model("new", ModelStatus.READY)
    worker.use("old")
    told.model("old", ModelStatus.READY)
    worker.microphone.finish(1, True)
    assert told.until(FinalReport).model == "old" and dictate(worker, told, 2) == "old"
    assert garage.closed.get(timeout=10) == "new" and len(garage.built) == 2


@pytest.mark.parametrize("room", [Room.NO_MEMORY, Room.ONE_THREAD])
def test_where_there_is_no_room_the_old_one_is_freed_first_when_its_takes_have_ended(engine, garage, room):
    worker, told = engine
    garage.room = room
    lane = worker.lane(others := Told())
    lane.begin(7, Request())
    others.until(PartialReport)
    worker.microphone.begin(1, Request())
    told.until(PartialReport)
    worker.use("new")
    worker.microphone.begin(2, Request())  # waits for the new one
    worker.microphone.finish(2, True)
    worker.microphone.finish(1, True)
    assert told.until(FinalReport).model == "old"
    event = told.model("new", ModelStatus.LOADING)
    assert (event.message == "There is not enough memory for two models, so old is freed first.") == (
        room is Room.NO_MEMORY
    )
    assert told.until(FinalReport).model == "new"
    assert others.until(AgainReport).take == 7
    assert garage.most_in_memory == 1 and garage.built == [("old", "engine"), ("new", "engine")]


def test_a_take_that_began_before_the_choice_ends_on_the_old_model_though_the_engine_had_no_time_for_a_look(
    engine, garage
):
    worker, told = engine
    garage.room = Room.ONE_THREAD
    garage.gates["recognise old"].clear()
    worker.microphone.begin(1, Request())
    worker.microphone.finish(1, True)  # keeps the engine busy
    worker.microphone.begin(2, Request())
    worker.use("new")
    worker.microphone.begin(3, Request())
    for take in (2, 3):
        worker.microphone.finish(take, True)
    garage.gates["recognise old"].set()
    assert [told.until(FinalReport).model for _ in range(3)] == ["old", "old", "new"]


def test_unloading_while_another_model_is_loaded_leaves_none_in_memory_until_the_next_take(engine, garage):
    worker, told = engine
    gate = garage.hold("new")
    worker.use("new")
    told.model("new", ModelStatus.LOADING)
    worker.unload("Memory is short on this computer.")
    assert told.model("old", ModelStatus.UNLOADED).message == "Memory is short on this computer."
    gate.set()
    assert {garage.closed.get(timeout=10), garage.closed.get(timeout=10)} == {"old", "new"}
    assert dictate(worker, told, 1) == "new"


def test_a_worker_that_hangs_is_replaced_and_ended_at_once_while_a_model_is_loaded(engine, garage):
    worker, told = engine
    garage.gates["recognise old"].clear()
    stuck = garage.hold("new")
    worker.microphone.begin(1, Request())
    told.until(PartialReport)
    worker.use("new")
    told.model("new", ModelStatus.LOADING)
    worker.microphone.finish(1, True)  # hangs
    began = time.monotonic()
    worker.replace()
    told.model("new", ModelStatus.READY)
    assert dictate(worker, told, 2) == "new"
    assert worker.close()
    assert time.monotonic() - began < 5, "neither the thread that hangs nor the load is waited for"
    stuck.set()
    garage.gates["recognise old"].set()
    assert sorted(garage.closed.get(timeout=10) for _ in range(3)) == ["new", "new", "old"]


def test_a_whole_recording_on_the_old_model_keeps_nobody_from_speaking(engine, garage):
    worker, told = engine
    garage.room = Room.ONE_THREAD
    recognising = garage.gates["recognise old"]
    recognising.clear()
    worker.microphone.transcribe(-1, SECOND, Request())
    assert garage.opened.wait(10)
    worker.use("new")
    worker.microphone.begin(1, Request())
    told.until(PartialReport)
    recognising.set()
    worker.microphone.finish(1, True)
    finals = {report.take: report.model for report in (told.until(FinalReport), told.until(FinalReport))}
    assert finals == {-1: "old", 1: "old"}
    told.model("new", ModelStatus.READY)


def test_a_take_does_not_disturb_a_recording_that_asked_for_another_model(engine, garage):
    worker, told = engine
    recognising = garage.gates["recognise guest"] = threading.Event()
    worker.microphone.transcribe(-1, SECOND, Request(model="guest"))
    assert garage.opened.wait(10) and garage.in_memory == ["guest"]
    assert dictate(worker, told, 1) == "old"
    recognising.set()
    final = told.until(FinalReport)
    assert (final.take, final.model) == (-1, "guest")
    assert garage.closed.get(timeout=10) == "old", "freed for the guest"
    assert garage.closed.get(timeout=10) == "guest" and garage.in_memory == ["old"]
