"""A recorded clip in the microphone's place, through the whole app: session, segmenter, engine, rewrite, typist.

Nothing here is a second implementation: the app runs as it does for `sayso listen`, with a clip as its source. What it
does leaves no trace in the user's history and recordings.
"""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from dictation import events as e
from dictation.app import App, Wiring
from dictation.clip_source import ClipSource
from dictation.errors import DictationError
from dictation.spool import Spool
from dictation.worker import Build
from engine.audio import check_whole


class ReplayError(DictationError):
    """The dictation failed, as one into the microphone can."""


@dataclass(frozen=True)
class Replayed:
    """What came of a clip; the events are those that the tray and the overlay see."""

    final: e.FinalText | None  # None when there were no words
    delivered: e.TextDelivered | None
    notices: tuple[str, ...]  # sentences for the user, in order
    events: tuple[e.Event, ...]

    @property
    def text(self) -> str:
        """After the rewrite rules: what is typed."""
        return self.final.text if self.final else ""


def replay(
    clip: Path, build: Build, *, type_it: bool = False, realtime: bool = False, changes: dict[str, object] | None = None
) -> Replayed:
    """Dictate `clip`, and with `type_it` type the words into the window that has the keyboard when it begins.

    build: as of `worker.Worker`. realtime: take as long to hear the clip as it took to say it, otherwise as fast as it
    is understood. changes: settings for this run. Raises AudioError for a clip that can't be read, ReplayError when the
    dictation fails.
    """
    check_whole(clip)  # damage in its middle would look like a microphone that comes and goes
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder:
        wiring = Wiring(
            desktop=type_it,
            control=False,
            keep_history=False,
            changes={"recognition.live_text": True} | (changes or {}),
            make_source=lambda post: ClipSource(post, [clip], realtime),
            build=build,
            spool=Spool(Path(folder)),
        )
        return _dictate(App(wiring), "type" if type_it else "none")


def _dictate(app: App, output: e.Output) -> Replayed:
    seen: list[e.Event] = []
    ended = threading.Event()

    def note(event: e.Event) -> None:  # on the loop's thread
        seen.append(event)
        if isinstance(event, e.StateChanged) and event.state is e.State.IDLE:
            ended.set()

    app.loop.subscribe(note)
    with app:
        app.loop.send(e.Start("replay", output=output))
        while not ended.wait(0.5):  # short waits: Ctrl-C gets through between them
            pass
    failed = next((event for event in seen if isinstance(event, e.Failed)), None)
    if failed:
        raise ReplayError(failed.message)
    told = [event.message for event in seen if isinstance(event, (e.Notice, e.NothingHeard))]
    return Replayed(
        final=next((event for event in seen if isinstance(event, e.FinalText)), None),
        delivered=next((event for event in seen if isinstance(event, e.TextDelivered)), None),
        notices=(*(notice.message for notice in app.notices), *told),
        events=tuple(seen),
    )
