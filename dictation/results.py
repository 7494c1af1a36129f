"""From a transcript to a delivered text: ghost check, rewrite, delivery, history. The output side of the loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from dictation import events as e
from dictation import languages, log
from dictation.delivery import Courier, Delivered
from dictation.desktop.contract import Outcome as Came
from dictation.desktop.contract import Target
from dictation.errors import DictationError
from dictation.history import Entry, History
from dictation.rewrite import RewriteOptions, Rewritten, Situation, rewrite
from dictation.segmenter import Heard
from dictation.settings import Settings
from dictation.take import Take
from dictation.vocabulary import Vocabulary
from dictation.worker.model import Request
from engine.transcript import GAP, Timings, Transcript

TOO_SHORT_S = 0.1
PREVIOUS_S = 20.0  # for so long the caret is believed to be where the last text ended
DOUBTFUL_LOGPROB, DOUBTFUL_NO_SPEECH = -0.8, 0.6
UNCLEAR_S = 1.0  # this much sound without a text may have been speech: its audio is kept


class Results:
    """Owned by the session loop."""

    def __init__(
        self,
        courier: Courier,
        history: History | None,
        settings: Settings,
        publish: Callable[[e.Event], None],
        clock: Callable[[], float],
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self._courier = courier
        self._history = history
        self._publish = publish
        self._clock = clock
        self._vocabulary = vocabulary or Vocabulary()
        self._last_language: str | None = None
        self._previous: tuple[Target | None, str, float] | None = None  # target, text, when
        self._use(settings)

    def change(self, settings: Settings) -> None:
        self._use(settings)
        self.tell_problems()

    def tell_problems(self) -> None:
        """Say which of the user's rules can't work."""
        for problem in self._problems:
            self._publish(e.Notice("rewrite_rule", problem, "warning"))

    def _use(self, settings: Settings) -> None:
        self._settings = settings
        self._rules, self._problems = RewriteOptions.of(settings.page("rewrite"))
        if self._history is not None:
            page = settings.page("privacy")
            self._history.expire(page["history_days"], page["audio_days"], page["audio_count"])

    # -- recognition

    def request(self, task: str | None = None, model: str | None = None) -> Request:
        """How the next take is to be recognised. The take's own task goes before the setting."""
        page = self._settings.page("recognition")
        policy = self._policy("translate" in (task, page["task"]))
        terms = self._vocabulary.terms(page["vocabulary"])
        return Request(languages.request(policy, self._last_language), terms, bool(page["live_text"]), model)

    def _policy(self, translate: bool) -> languages.LanguagePolicy:
        page = self._settings.page("recognition")
        return languages.policy(page["language"], page["my_languages"], "translate" if translate else "transcribe")

    def nothing(self, take: int, heard: Heard) -> e.NothingHeard | None:
        """Why a take needs no recognition; None when it does."""
        why = why_nothing(heard)
        sentences = {
            "too_short": "That was too short to hear anything.",
            "muted": "The microphone sent only silence. Is it muted?",
            "silence": "Nothing was said.",
        }
        return None if why is None else e.NothingHeard(take, why, sentences[why], self._clock())

    def recognised(self, take: Take, transcript: Transcript, model: str) -> e.FinalText | e.NothingHeard:
        """The event that a transcript comes to."""
        now_s = self._clock()
        if take.heard is not None and is_ghost(take.heard, transcript):
            return e.NothingHeard(take.number, "no_speech", "There was sound, but no words.", now_s)
        written = self.rewritten(transcript, self._text_before(take.target))
        take.undo_previous = written.undo_previous
        if not written.text and not written.undo_previous:
            return e.NothingHeard(take.number, "no_speech", "No words were heard.", now_s)
        self._last_language = transcript.language or self._last_language
        self._warn_of_language(take, transcript)
        self._warn_of_gaps(take, transcript)
        self._note_words(written.text)
        return e.FinalText(
            take.number,
            written.text,
            transcript.text,
            transcript.language,
            transcript.language_probability,
            take.heard.audio_s if take.heard else 0.0,
            take.heard.speech_s if take.heard else 0.0,
            (now_s - take.last_sample_s) * 1000,
            model,
            transcript.timings,
            now_s,
        )

    def rewritten(self, transcript: Transcript, previous: str | None = None) -> Rewritten:
        """The text after the user's rules; a rule that can't work is said."""
        situation = Situation(transcript.language, transcript.language_probability, previous)
        written = rewrite(transcript.text, self._rules, situation) if transcript.text else Rewritten("")
        for notice in written.notices:
            self._publish(e.Notice("rewrite_rule", notice, "warning"))
        return written

    @staticmethod
    def is_unclear(heard: Heard) -> bool:
        """Whether a take without a text may have held speech after all."""
        return heard.speech_s >= UNCLEAR_S or heard.active_s >= 3 * UNCLEAR_S

    def _text_before(self, target: Target | None) -> str | None:
        """What stands before the caret, as far as that is known: the text inserted there just now."""
        if self._previous is None:
            return None
        place, text, at_s = self._previous
        here = (target is None and place is None) or (target is not None and target.same_place(place))
        return text if here and self._clock() - at_s <= PREVIOUS_S else None

    def _note_words(self, text: str) -> None:
        """The user's own words in a text were used just now."""
        try:
            words = self._settings["recognition.vocabulary"]
            self._vocabulary.note(text, words, keep=bool(self._settings["privacy.keep_history"]))
        except OSError as error:
            log.get("results").warning("the vocabulary's times can't be written: %s", error.strerror)

    def _warn_of_language(self, take: Take, transcript: Transcript) -> None:
        policy = self._policy("translate" in (take.start.task, self._settings["recognition.task"]))
        heard = transcript.heard_language
        notice = None if heard is None else languages.mismatch_notice(policy, *heard)
        if notice is not None:
            self._publish(e.Notice("language", notice, "warning", take=take.number))

    def _warn_of_gaps(self, take: Take, transcript: Transcript) -> None:
        take.has_gaps = bool(transcript.gaps_s)
        if take.has_gaps:
            where = ", ".join(f"{_clock(start)} to {_clock(end)}" for start, end in transcript.gaps_s)
            text = f"Not all of it was understood ({where}): {GAP} marks the place, and the recording is kept."
            self._publish(e.Notice("gap", text, "warning", take=take.number))

    # -- delivery

    def deliver(self, take: Take) -> e.TextDelivered | None:
        """Send the text on its way; the event when nothing has to be waited for."""
        final = take.final
        assert final is not None
        match take.start.output:
            case "print":
                return self._event(take, "printed", "", "", 0.0)
            case "none":
                return self._event(take, "none", "", "", 0.0)
            case "copy":
                self._courier.copy(take.number, final.text)
            case "type":
                self._courier.deliver(take.number, final.text, lambda: take.target, take.undo_previous)
        return None

    def delivered(self, take: Take, said: Delivered) -> e.TextDelivered:
        """The courier is back."""
        delivery = said.delivery
        outcome = _OUTCOMES[delivery.outcome]
        if outcome == "delivered" and take.final is not None:
            self._previous = (take.target, take.final.text, self._clock())
        evidence = delivery.reason or delivery.evidence
        return self._event(take, outcome, str(delivery.method), evidence, delivery.elapsed_ms)

    def hold(self, take: Take) -> e.TextDelivered:
        """The window does not answer: the text waits in the history."""
        self._courier.give_up(take.number)
        return self._event(take, "held", "", "The window did not take the text in time.", 0.0)

    def repeat(self, command: e.InsertAgain | e.CopyText) -> None:
        """Insert or copy an earlier text."""
        entry = None
        if self._history is not None:
            entry = self._history.last() if command.entry is None else self._history.get(command.entry)
        text = entry.text if entry is not None else self._previous[1] if self._previous else ""
        if not text:
            self._publish(e.Notice("nothing_yet", "There is no text to repeat yet."))
            return
        id = entry.id if entry is not None else None
        if isinstance(command, e.InsertAgain):
            self._courier.again(text, id)
        else:
            self._courier.copy(None, text, id)

    def repeated(self, said: Delivered) -> None:
        """An earlier text was inserted, copied or taken back."""
        delivery = said.delivery
        outcome, evidence = _OUTCOMES[delivery.outcome], delivery.reason or delivery.evidence
        method = str(delivery.method)
        if said.entry is not None and outcome != "held" and self._history is not None:
            self._history.change(said.entry, status=outcome, method=method, evidence=evidence)
            self._publish(e.HistoryChanged(said.entry))
        now_s = self._clock()
        self._publish(e.TextDelivered(0, said.text, outcome, method, evidence, delivery.elapsed_ms, said.entry, now_s))

    def _event(self, take: Take, outcome: e.Outcome, method: str, evidence: str, ms: float) -> e.TextDelivered:
        assert take.final is not None
        entry = self._write(take, take.final, outcome, method, evidence, ms)
        return e.TextDelivered(take.number, take.final.text, outcome, method, evidence, ms, entry, self._clock())

    # -- history

    def _write(
        self, take: Take, final: e.FinalText, outcome: e.Outcome, method: str, evidence: str, ms: float
    ) -> int | None:
        if take.start.output == "none":
            return None
        program = take.target.window_class if take.target is not None else ""
        entry = entry_of(final, take.started_unix_s, outcome, method, evidence, ms, program)
        entry = dataclasses.replace(entry, settings=self._settings.of_the_text())
        return self.keep(entry, take.file.move_to)

    def keep(self, entry: Entry, move_audio_to: Callable[[Path], None] | None) -> int | None:
        """Write an entry if there is a history, with its audio if that is wanted; its id."""
        if self._history is None or not self._settings["privacy.keep_history"]:
            return None
        try:
            id = self._history.add(entry)
            if self._settings["privacy.keep_audio"] and move_audio_to is not None:
                move_audio_to(self._history.audio_dir / f"{id}.wav")
                self._history.change(id, audio=f"{id}.wav")
        except (DictationError, OSError) as error:
            self._publish(e.Notice("history", str(error), "warning"))
            return None
        self._publish(e.HistoryChanged(id))
        return id


_OUTCOMES: dict[Came, e.Outcome] = {Came.DELIVERED: "delivered", Came.HELD: "held", Came.COPIED: "copied"}


def why_nothing(heard: Heard) -> Literal["too_short", "muted", "silence"] | None:
    """Why what was heard needs no recognition; None when it does."""
    if heard.audio_s < TOO_SHORT_S:
        return "too_short"
    if heard.muted:
        return "muted"
    return "silence" if heard.silent else None


def is_ghost(heard: Heard, transcript: Transcript) -> bool:
    """Whether the text of a take in which the detector found next to no speech has no speech under it.

    Whispered or noisy speech is decoded too, but must convince by itself: greedily, and likely. Measured with tiny.en
    and base on breath, clatter, music and a plane's cabin: all below these, real speech in loud noise far above.
    """
    if not heard.decode_everything:
        return False
    return not any(
        s.temperature == 0.0 and s.avg_logprob > DOUBTFUL_LOGPROB and s.no_speech_prob < DOUBTFUL_NO_SPEECH
        for s in transcript.segments
    )


def entry_of(
    final: e.FinalText, started_unix_s: float, outcome: e.Outcome, method: str, evidence: str, ms: float, program: str
) -> Entry:
    """The history's entry for a text."""
    return Entry(
        started_unix_s,
        final.text,
        final.raw_text,
        outcome,
        final.language,
        final.model,
        final.audio_s,
        final.speech_s,
        final.release_to_text_ms,
        ms,
        method,
        evidence,
        program,
        timings=timings_of(final.timings),
    )


def timings_of(timings: Timings) -> dict[str, float]:
    return {name: float(value) for name, value in dataclasses.asdict(timings).items()}


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"
