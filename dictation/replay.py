"""A recorded clip in the microphone's place, through the whole app: session, segmenter, engine, rewrite, typist.

Nothing here is a second implementation: the app runs as it does for `sayso listen`, with a clip as its source. What it
does leaves no trace in the user's history and recordings. Many clips, with figures: `dictation/bench/`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from dictation import events as e
from dictation.app import App, Wiring
from dictation.clip_source import ClipSource, FastForward
from dictation.errors import DictationError
from dictation.scratch import scratch_folder
from dictation.spool import Spool
from dictation.worker.model import Build
from engine.audio import check_whole

Kind = TypeVar("Kind", bound=e.Event)
Mode = Literal["realtime", "fast", "offline"]
Sound = Path | tuple[NDArray[np.float32], int]  # a file, or samples (n,) or (n, channels) and their rate in Hz


class ReplayError(DictationError):
    """The dictation failed, as one into the microphone can."""


@dataclass(frozen=True)
class Replayed:
    """What came of a clip; the events are those that the tray and the overlay see."""

    final: e.FinalText | None  # None when there were no words
    delivered: e.TextDelivered | None
    failed: e.Failed | None
    written: e.FileTranscribed | None  # of an offline replay, in place of `final`
    notices: tuple[str, ...]  # sentences for the user, in order
    events: tuple[e.Event, ...]
    times_s: tuple[float, ...]  # when each event came, from key-down on, on the clock of the sound

    @property
    def text(self) -> str:
        """After the rewrite rules: what is typed."""
        if self.written is not None:
            return self.written.text
        return self.final.text if self.final else ""


def replay(
    clip: Path, build: Build, *, type_it: bool = False, realtime: bool = False, changes: dict[str, object] | None = None
) -> Replayed:
    """Dictate `clip`, and with `type_it` type the words into the window that has the keyboard when it begins.

    build: as of the engine worker. realtime: take as long to hear the clip as it took to say it, otherwise as fast as
    it is understood. changes: settings for this run. Raises AudioError for a clip that can't be read, ReplayError when
    the dictation fails.
    """
    check_whole(clip)  # damage in its middle would look like a microphone that comes and goes
    replayed = play(clip, build, mode="realtime" if realtime else "fast", type_it=type_it, changes=changes)
    if replayed.failed:
        raise ReplayError(replayed.failed.message)
    return replayed


def play(
    sound: Sound,
    build: Build,
    *,
    mode: Mode = "fast",
    type_it: bool = False,
    changes: dict[str, object] | None = None,
) -> Replayed:
    """As `replay`, for sound that is known to be whole; a failure is in what comes back.

    "fast" takes the same way as "realtime", block by block, on a clock that stands where the sound is. "offline" writes
    the clip down at once, as a file that is dropped on the window (a Path only).
    """
    forward = FastForward()
    if mode == "fast":
        forward.stop()  # from key-down on; the clip moves it
    with scratch_folder() as folder:
        wiring = Wiring(
            desktop=type_it,
            control=False,
            keep_history=False,
            changes={"recognition.live_text": True} | (changes or {}),
            make_source=lambda post: ClipSource(post, [sound], mode == "realtime", forward if mode == "fast" else None),
            build=build,
            spool=Spool(folder),
            clock=forward,
        )
        app = App(wiring)
        forward.settle = app.loop.settle
        command: e.Command = e.Start("replay", output="type" if type_it else "none")
        if mode == "offline":
            assert isinstance(sound, Path)
            command = e.TranscribeFile(sound)
        return _run(app, command, forward)


def _run(app: App, command: e.Command, clock: FastForward) -> Replayed:
    seen: list[e.Event] = []
    times_s: list[float] = []
    ended = threading.Event()

    def note(event: e.Event) -> None:  # on the loop's thread
        seen.append(event)
        times_s.append(clock() - began_s)
        if isinstance(event, e.FileTranscribed) or (isinstance(event, e.StateChanged) and event.state is e.State.IDLE):
            ended.set()

    app.loop.subscribe(note)
    began_s = clock()
    with app:
        app.loop.send(command)
        while not ended.wait(0.5):  # short waits: Ctrl-C gets through between them
            pass
    told = [event.message for event in seen if isinstance(event, (e.Notice, e.NothingHeard))]
    return Replayed(
        final=_first(seen, e.FinalText),
        delivered=_first(seen, e.TextDelivered),
        failed=_first(seen, e.Failed),
        written=_first(seen, e.FileTranscribed),
        notices=(*(notice.message for notice in app.notices), *told),
        events=tuple(seen),
        times_s=tuple(times_s),
    )


def _first(seen: list[e.Event], kind: type[Kind]) -> Kind | None:
    return next((event for event in seen if isinstance(event, kind)), None)
