"""What one look at Sayso tells: its state, the words so far, what can be done. Pure: tested without Qt.

The tray icon, the overlay and the small window all show a `Glance`; each event makes a new one from the old. Sentences
are `Phrase`s, a template with values, so that the interface can translate the template.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from dictation import events
from dictation.events import Action, Event, ModelStatus, Severity, State

DONE_S = 0.7  # how long the tick stays after a delivery
NOTHING_S = 2.0  # how long "nothing heard" stays
QUIET_DBFS, LOUD_DBFS = -55.0, -15.0  # the meter's ends


class Face(StrEnum):
    """The shapes that the tray and the overlay know; each has an icon of this name."""

    IDLE = "idle"
    OPENING = "opening"
    LISTENING = "listening"
    WORKING = "working"
    DONE = "tick"
    HELD = "held"
    ERROR = "error"
    NO_MODEL = "no-model"
    PAUSED = "paused"


BUSY = (Face.OPENING, Face.LISTENING, Face.WORKING)  # with a take


@dataclass(frozen=True)
class Phrase:
    """A sentence for people: `template` in English with {names}, and their values."""

    template: str = ""
    values: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


@dataclass(frozen=True)
class Glance:
    face: Face = Face.IDLE
    words: Phrase = Phrase("Ready")
    note: Phrase = Phrase()  # what should be known besides, as long as its take lasts
    note_take: int = 0
    firm: str = field(default="", repr=False)
    tentative: str = field(default="", repr=False)
    level: float = 0.0  # 0 to 1, for the meter
    take: int = 0
    started_s: float | None = None  # when the words began to be kept; None shows no clock
    visible_until_s: float | None = None  # the overlay hides then; None: stays
    overlay: bool = False
    actions: tuple[Action, ...] = ()
    last_text: str = field(default="", repr=False)
    model: str = ""
    model_status: ModelStatus = ModelStatus.MISSING
    model_note: str = ""  # while it loads: what is in use until then
    hotkeys_paused: bool = False
    waiting: int = 0  # earlier takes still on their way

    def at(self, now_s: float) -> Glance:
        """The same, after what has run out by `now_s` is gone."""
        if self.visible_until_s is not None and now_s >= self.visible_until_s:
            return resting(self)
        return self


def _cleared(glance: Glance) -> Glance:
    """Nothing is left of a take: no words, no level, no clock, no end, nothing to do."""
    return replace(glance, firm="", tentative="", level=0.0, started_s=None, visible_until_s=None, actions=())


def resting(glance: Glance) -> Glance:
    """Nothing goes on: what the model and the hotkeys allow."""
    calm = replace(_cleared(glance), note=Phrase(), overlay=False)
    if glance.hotkeys_paused:
        return replace(calm, face=Face.PAUSED, words=Phrase("Hotkeys are paused"))
    if glance.model_status is ModelStatus.MISSING:
        return replace(calm, face=Face.NO_MODEL, words=Phrase("No model yet: choose one"), actions=("choose_model",))
    if glance.model_status in (ModelStatus.LOADING, ModelStatus.WARMING):
        loading = Phrase("Loading {model}", {"model": glance.model})
        return replace(calm, face=Face.IDLE, words=_as_it_is(glance.model_note) if glance.model_note else loading)
    return replace(calm, face=Face.IDLE, words=Phrase("Ready"))


def see(glance: Glance, event: Event, now_s: float) -> Glance:
    """The glance after `event`."""
    match event:
        case events.StateChanged():
            return _state(glance, event, now_s)
        case events.Level():
            span = (event.rms_dbfs - QUIET_DBFS) / (LOUD_DBFS - QUIET_DBFS)
            return replace(glance, level=min(1.0, max(0.0, span)))
        case events.PartialText() if event.take == glance.take:
            return replace(glance, firm=event.firm, tentative=event.tentative)
        case events.FinalText() if event.take == glance.take:
            return replace(glance, firm=event.text, tentative="", last_text=event.text)
        case events.TextDelivered():
            return _delivered(glance, event, now_s)
        case events.NothingHeard():
            return _said(glance, Face.IDLE, event.message, until_s=now_s + NOTHING_S)
        case events.Cancelled():
            return _said(glance, Face.IDLE, "Cancelled", until_s=now_s + DONE_S)
        case events.Failed():
            return replace(_said(glance, Face.ERROR, event.message), actions=event.actions)
        case events.Notice():
            return _notice(glance, event, now_s)
        case events.ModelChanged():
            return _model(glance, event)
        case events.HotkeysPaused():
            changed = replace(glance, hotkeys_paused=event.paused)
            return changed if glance.overlay else resting(changed)
        case _:
            return glance


def _state(glance: Glance, event: events.StateChanged, now_s: float) -> Glance:
    if event.take < glance.take:  # an older take ends while a newer one records
        return replace(glance, waiting=event.waiting)
    begun = replace(glance, take=event.take, overlay=True, visible_until_s=None, actions=(), waiting=event.waiting)
    match event.state:
        case State.OPENING:
            return replace(
                begun,
                face=Face.OPENING,
                words=Phrase("Getting the microphone ready"),
                note=glance.note if glance.note_take == event.take else Phrase(),
                firm="",
                tentative="",
                started_s=None,
            )
        case State.LISTENING:
            return replace(begun, face=Face.LISTENING, words=Phrase("Listening"), started_s=now_s)
        case State.FINISHING:
            return replace(begun, face=Face.WORKING, words=Phrase("Finishing the last words"), level=0.0)
        case State.DELIVERING:
            return replace(begun, face=Face.WORKING, words=Phrase("Typing"), level=0.0)
        case State.IDLE:
            shown = glance.visible_until_s is not None or glance.face in (Face.HELD, Face.ERROR)
            return replace(glance, waiting=event.waiting) if shown else resting(replace(glance, waiting=event.waiting))


def _delivered(glance: Glance, event: events.TextDelivered, now_s: float) -> Glance:
    glance = replace(glance, last_text=event.text)
    if event.take < glance.take:
        return glance
    shown = replace(glance, firm=event.text, tentative="", level=0.0, started_s=None, overlay=True)
    match event.outcome:
        case "held":
            words = Phrase("Not typed: {reason}", {"reason": event.evidence}) if event.evidence else Phrase("Not typed")
            return replace(shown, face=Face.HELD, words=words, actions=("insert_again", "copy"), visible_until_s=None)
        case "copied":
            return replace(shown, face=Face.DONE, words=Phrase("Copied"), visible_until_s=now_s + DONE_S)
        case _:
            return replace(shown, face=Face.DONE, words=Phrase("Typed"), visible_until_s=now_s + DONE_S)


def _said(glance: Glance, face: Face, message: str, until_s: float | None = None) -> Glance:
    """A sentence instead of words; stays until dismissed when it has no end."""
    return replace(_cleared(glance), face=face, words=_as_it_is(message), overlay=True, visible_until_s=until_s)


def _as_it_is(message: str) -> Phrase:
    return Phrase(message.replace("{", "{{").replace("}", "}}"))


def _notice(glance: Glance, event: events.Notice, now_s: float) -> Glance:
    """Warnings that belong to a take show where the eyes are; all others are the tray's and the history's."""
    face: dict[Severity, Face] = {"info": glance.face, "warning": glance.face, "error": Face.ERROR}
    busy = glance.face in BUSY
    message = _as_it_is(event.message)
    if busy and event.severity != "error":
        return replace(glance, words=message, note=message, note_take=glance.take, actions=event.actions)
    if event.take is not None and event.take > glance.take:  # its take is just about to begin
        glance = replace(glance, note=message, note_take=event.take)
    if event.severity == "info":
        return glance
    shown = _said(glance, face[event.severity], event.message, None if event.actions else now_s + 4 * NOTHING_S)
    return replace(shown, actions=event.actions)


def _model(glance: Glance, event: events.ModelChanged) -> Glance:
    changed = replace(glance, model=event.name, model_status=event.status, model_note=event.note)
    if event.status is ModelStatus.FAILED and glance.face not in BUSY:  # else the take, or a notice, tells what follows
        return replace(_said(changed, Face.ERROR, event.message), actions=("choose_model",))
    return changed if glance.overlay else resting(changed)


def clock(seconds: float) -> str:
    """Elapsed time as people read it: 0:07, 12:30."""
    whole = max(0, int(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
