"""The engine thread shared by lanes: the microphone first, the others in turn, and nothing of theirs is lost."""

import queue
import threading

import numpy as np
import pytest

from dictation.worker.front import Worker
from dictation.worker.model import Request
from dictation.worker.reports import AgainReport, FinalReport, ModelReport, PartialReport, WindowReport
from engine.errors import Cancelled
from engine.transcript import Segment, Transcript
from tests.fakes.dictation import Words

SECOND = np.zeros(16_000, np.float32)


class Windows:
    """A recording of so many windows; each waits for the model's gate and gives way when it is told to."""

    def __init__(self, model, name, n):
        self._model, self._name, self._n = model, name, n
        self.segments, self.done_s = [], 0.0

    def step(self, cancelled=None):
        if len(self.segments) == self._n:
            return False
        self._model.entered.set()
        while not self._model.gate.wait(0.001):
            if cancelled():
                self._model.given_up.set()
                raise Cancelled("stopped")
        self._model.order.append(self._name)
        self.segments.append(Segment(self.done_s, self.done_s + 30, self._name))
        self.done_s += 30
        return True

    def transcript(self):
        return Transcript(self._name, "en", tuple(self.segments), self.done_s)


class Model(Words):
    def __init__(self):
        super().__init__()
        self.order = []
        self.entered, self.given_up = threading.Event(), threading.Event()
        self.live_gate = threading.Event()
        self.live_gate.set()

    def open(self, recording, request):
        return Windows(self, request.prompt, len(recording) // 16_000)

    def begin(self, request):
        growing, model = super().begin(request), self
        growing.finish = lambda heard_speech=None, cancelled=None: model._finish(request)
        return growing

    def _finish(self, request):
        self.live_gate.wait(10)
        self.order.append(request.prompt)
        return Transcript(request.prompt, "en")


class Answers:
    """What a lane was told, without the news of the model."""

    def __init__(self):
        self._queue = queue.SimpleQueue()

    def __call__(self, report):
        if not isinstance(report, ModelReport):
            self._queue.put(report)

    def until(self, kind):
        while not isinstance(report := self._queue.get(timeout=10), kind):
            pass
        return report


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def engine(model):
    """The worker and what its microphone's lane was told."""
    answers = Answers()
    worker = Worker(lambda name, device: model, answers)
    worker.use("fake")
    yield worker, answers
    model.gate.set()
    model.live_gate.set()
    assert worker.close()


def test_a_recording_gives_way_to_the_microphone_and_then_goes_on(engine, model):
    worker, microphone = engine
    others = Answers()
    model.gate.clear()
    worker.lane(others).transcribe(1, np.tile(SECOND, 3), Request(prompt="talk"))
    assert model.entered.wait(10)
    worker.microphone.begin(1, Request(prompt="spoken"))
    assert model.given_up.wait(10)
    worker.microphone.finish(1, True)
    microphone.until(FinalReport)
    model.gate.set()
    assert others.until(FinalReport).transcript.text == "talk"
    assert model.order == ["spoken", "talk", "talk", "talk"]


def test_words_on_the_screen_do_not_keep_others_from_getting_anywhere_but_a_key_always_goes_first(engine, model):
    worker, microphone = engine
    others = Answers()
    model.gate.clear()
    worker.lane(others).transcribe(1, SECOND, Request(prompt="talk"))
    assert model.entered.wait(10)
    worker.microphone.begin(1, Request(prompt="spoken"))
    n_given_up, gives_way = 0, True
    while gives_way:
        model.given_up.clear()
        worker.microphone.feed(1, SECOND, 16_000 * n_given_up)
        gives_way = model.given_up.wait(1.0)
        n_given_up += gives_way
    assert n_given_up > 1, "at first it does"
    worker.microphone.hurry(1)
    assert model.given_up.wait(10)
    worker.microphone.finish(1, True)
    microphone.until(FinalReport)
    model.gate.set()
    others.until(FinalReport)
    assert model.order == ["spoken", "talk"]


def test_recordings_take_turns_and_a_take_that_ends_goes_before_them(engine, model):
    worker, microphone = engine
    lane = worker.lane(told := Answers())
    model.live_gate.clear()
    worker.microphone.begin(1, Request(prompt="spoken"))
    microphone.until(PartialReport)
    worker.microphone.finish(1, True)  # holds the engine until everything is in the queue
    for take, name in enumerate("ab"):
        lane.transcribe(take, np.tile(SECOND, 2), Request(prompt=name))
    lane.begin(2, Request(prompt="ended"))
    lane.finish(2, True)
    model.live_gate.set()
    for _ in range(3):
        told.until(FinalReport)
    assert model.order == ["spoken", "ended", "a", "b", "a", "b"]


def test_each_window_of_a_recording_is_told_with_what_was_found_in_it(engine):
    worker, _ = engine
    lane = worker.lane(told := Answers())
    lane.transcribe(1, np.tile(SECOND, 2), Request(prompt="talk"))
    first, second = told.until(WindowReport), told.until(WindowReport)
    assert [report.done_s for report in (first, second)] == [30, 60]
    assert [segment.start_s for segment in (*first.segments, *second.segments)] == [0, 30]


def test_another_model_lets_the_others_begin_anew_instead_of_loading_two_in_turn(engine, model):
    worker, _ = engine
    lane = worker.lane(told := Answers())
    model.gate.clear()
    lane.transcribe(1, SECOND, Request(prompt="talk"))
    assert model.entered.wait(10)
    worker.use("another")
    assert told.until(AgainReport).take == 1
    model.gate.set()
    lane.transcribe(1, SECOND, Request(prompt="talk"))
    assert told.until(FinalReport).take == 1


def test_a_dropped_take_answers_no_more_and_what_waits_is_counted(engine, model):
    worker, _ = engine
    lane = worker.lane(told := Answers())
    model.gate.clear()
    lane.transcribe(1, SECOND, Request(prompt="talk"))
    assert model.entered.wait(10)
    lane.begin(2, Request(prompt="second"))
    lane.feed(2, SECOND, 0)
    assert lane.waiting(2) == 16_000
    lane.drop(1)
    assert model.given_up.wait(10)
    lane.finish(2, True)
    assert told.until(FinalReport).take == 2
    assert lane.waiting(2) == 0
