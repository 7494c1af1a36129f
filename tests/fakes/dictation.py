"""Stand-ins for what the session loop talks to: a source, a model, a window."""

from __future__ import annotations

import threading
import time

import numpy as np

from dictation import events as e
from dictation.desktop.contract import Delivery, Method, Outcome, Target
from dictation.loop import Loop, Parts
from dictation.settings import Settings
from dictation.source import Block, SourceLost, SourceOpened
from dictation.spool import Spool
from dictation.worker.model import Request
from engine.errors import Cancelled
from engine.transcript import Segment, Transcript

EDITOR = Target("0x1", 11, "editor")


class Person:
    """A microphone that gives what a test says: blocks, zeros, nothing, or an end."""

    def __init__(self, post):
        self._post = post
        self.opening = 0
        self.is_open = False
        self.openings: list[bool] = []  # `again` of each
        self.refuses = 0  # so many openings fail
        self.gives_sound_at_once = True

    def open(self, opening, again=False):
        self.opening, self.is_open = opening, True
        self.openings.append(again)
        if self.refuses:
            self.refuses -= 1
            self._post(SourceLost(opening, "It can't be opened."))
            return
        self._post(SourceOpened(opening, e.Microphone("fake", "Fake microphone")))
        if self.gives_sound_at_once:
            self.say(np.full(320, 1e-4, np.float32))

    def close(self):
        self.is_open = False

    def list_microphones(self): ...

    def choose(self, microphone): ...

    def quit(self):
        self.is_open = False

    def say(self, samples, rate=16_000, size=320):
        columns = samples[:, None] if samples.ndim == 1 else samples
        for start in range(0, len(columns), size):
            self._post(Block(self.opening, columns[start : start + size], rate))

    def vanish(self):
        self._post(SourceLost(self.opening, "The microphone was unplugged."))


class Words:
    """A model whose text tells how much audio it was given, so that tests see what arrived: "heard 1.50 s"."""

    name, device = "fake", "cpu"

    def __init__(self):
        self.text = None  # a fixed text instead
        self.gaps_s = ()
        self.error = None
        self.gate = threading.Event()  # `finish` waits for it
        self.gate.set()
        self.n_to_prepare = 0
        self.prepared = threading.Event()
        self.obeys = True  # False: does not look at `cancelled`, as a call stuck in native code
        self.closed = False
        self.rested = threading.Event()
        self.requests: list[Request] = []
        self.heard: list[np.ndarray] = []
        self.thread = None

    def warm_up(self): ...

    def prepare(self, cancelled):
        """One more of `n_to_prepare`, each of which takes until `prepared` is set."""
        while self.n_to_prepare and not self.prepared.wait(0.01):
            if cancelled():
                raise Cancelled("stopped")
        self.n_to_prepare = max(0, self.n_to_prepare - 1)
        return bool(self.n_to_prepare)

    def begin(self, request):
        self.thread = threading.current_thread()
        self.requests.append(request)
        return _Growing(self)

    def open(self, recording, request):
        self.requests.append(request)
        return _Recording(self, recording)

    def answer(self, samples, cancelled):
        assert threading.current_thread() is self.thread or self.thread is None
        while not self.gate.wait(0.01):
            if self.obeys and cancelled():
                raise Cancelled("stopped")
        if self.error is not None:
            raise self.error
        self.heard.append(samples)
        text = self.text if self.text is not None else f"heard {len(samples) / 16000:.2f} s"
        seconds = len(samples) / 16000
        return Transcript(text, "en", (Segment(0.0, seconds, text, avg_logprob=-0.2),), seconds, gaps_s=self.gaps_s)

    def close(self):
        self.closed = True


class _Recording:
    """A whole recording, in one window."""

    segments, done_s = (), 0.0

    def __init__(self, words, samples):
        self._words = words
        self._samples = samples.window(0, 1 << 40) if hasattr(samples, "window") else samples

    def step(self, cancelled=None):
        if self.segments:
            return False
        self._transcript = self._words.answer(self._samples, cancelled or (lambda: False))
        self.segments, self.done_s = self._transcript.segments, self._transcript.duration_s
        return True

    def transcript(self):
        return self._transcript


class _Growing:
    def __init__(self, words):
        self._words = words
        self._parts = [np.zeros(0, np.float32)]

    def append(self, samples, start=None):
        self._parts.append(samples)

    def cut(self, at=None): ...

    def rest(self):
        self._words.rested.set()

    def partial(self, cancelled=None):
        class Partial:
            firm, tentative = "heard", f"{sum(map(len, self._parts)) / 16000:.2f} s"
            seconds = 0.0

        return Partial()

    def finish(self, heard_speech=None, cancelled=None):
        return self._words.answer(np.concatenate(self._parts), cancelled or (lambda: False))


class Editor:
    """A window that takes text."""

    def __init__(self):
        self.texts: list[str] = []
        self.clipboard = ""
        self.held_because = ""  # nothing is inserted then
        self.gate = threading.Event()  # `deliver` waits for it, as a window that does not answer
        self.gate.set()

    def target(self):
        return EDITOR

    def deliver(self, text, target):
        assert self.gate.wait(30)
        if self.held_because:
            return Delivery(Outcome.HELD, Method.PASTE, "", 1.0, self.held_because)
        self.texts.append(text)
        return Delivery(Outcome.DELIVERED, Method.PASTE, "fetched", 1.0)

    def undo(self):
        self.texts.pop()
        return Delivery(Outcome.DELIVERED, Method.TYPE, "taken back", 1.0)

    def copy(self, text):
        self.clipboard = text
        return Delivery(Outcome.COPIED, Method.COPY, "on the clipboard", 1.0)


class Listener:
    """Everything that a loop published, to wait for."""

    def __init__(self, loop):
        self.events: list[e.Event] = []
        self._news = threading.Condition()
        loop.subscribe(self._note)

    def _note(self, event):
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def until(self, kind, timeout_s=10.0, **fields):
        """Wait for an event of this kind whose fields have these values, and return the first one."""
        deadline = time.monotonic() + timeout_s
        with self._news:
            while True:
                for event in self.events:
                    if isinstance(event, kind) and all(getattr(event, k) == v for k, v in fields.items()):
                        return event
                left = deadline - time.monotonic()
                names = [e.kind(event) for event in self.events if not isinstance(event, e.Level)]
                assert left > 0, f"no {kind.__name__} {fields} among {names}"
                self._news.wait(left)

    def of(self, kind):
        with self._news:
            return [event for event in self.events if isinstance(event, kind)]


class Dictation(Listener):
    """A running loop on fakes (or on real parts that a test hands in), with everything it published."""

    def __init__(self, tmp_path, settings=None, **parts):
        self.words = parts.pop("words", None) or Words()
        self.editor = Editor()
        self.spool = Spool(tmp_path / "spool")
        values = {"recognition.model": "fake"} | (settings or {})
        defaults = {
            "make_source": self._make_source,
            "build": lambda name, device: self.words,
            "deliverer": self.editor,
            "spool": self.spool,
            "settings": Settings().changed(values),
        }
        self.loop = Loop(Parts(**(defaults | parts)))
        super().__init__(self.loop)

    def _make_source(self, post):
        self.person = Person(post)
        return self.person

    def __enter__(self):
        self.loop.start()
        return self

    def __exit__(self, *_):
        self.words.gate.set()
        self.editor.gate.set()
        assert self.loop.stop(), "the loop did not end"

    def send(self, *commands):
        for command in commands:
            self.loop.send(command)

    def dictate(self, samples, take=1, **start):
        """Hold the key, say it, let go."""
        self.send(e.Start("hotkey", **start))
        self.until(e.StateChanged, take=take, state=e.State.LISTENING)
        self.person.say(samples)
        self.send(e.Stop())
