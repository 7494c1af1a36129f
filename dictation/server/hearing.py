"""One dictation that comes through the API: the microphone's way, with a client's audio in the microphone's place.

    stream -> framer -> take (segmenter, spool) -> the worker's lane ... transcript -> ghost check -> rewrite rules

Nothing here is a second implementation: frames, takes, rules and the check for ghosts are the microphone's own. Its
methods may take a while: they run on the pool of the desk, one at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from dictation import events as e
from dictation import languages
from dictation.frames import Framer
from dictation.results import is_ghost, why_nothing
from dictation.rewrite import RewriteOptions, Situation, rewrite
from dictation.server import shapes
from dictation.settings import Settings
from dictation.spool import Spool
from dictation.take import Take
from dictation.vocabulary import Term
from dictation.worker.lane import Lane
from dictation.worker.model import Request
from dictation.worker.reports import FinalReport

F32 = NDArray[np.float32]

BLOCK_S = 0.02  # as the microphone's
SILENCE_S = 0.7  # without speech, from which a client is told
SAMPLE_RATE_HZ = 16_000


@dataclass(frozen=True)
class Plan:
    """How a dictation is recognised and written: the settings, and what the request wants otherwise."""

    request: Request
    rules: RewriteOptions
    problems: tuple[str, ...]  # rules that can't work


def plan(settings: Settings, options: shapes.DictationOptions, live: bool) -> Plan:
    """What the request itself asks for is refused where the model lacks it; a setting is met as nearly as may be."""
    page = settings.page("recognition")
    exactly = options.language not in (None, "auto", "en") or options.task == "translate"
    policy = languages.policy(options.language or page["language"], page["my_languages"], options.task or page["task"])
    words = page["vocabulary"] if options.vocabulary is None else options.vocabulary
    request = Request(languages.request(policy, None), tuple(Term(word) for word in words), live, exactly=exactly)
    given = msgspec.to_builtins(options.rules or shapes.Rules())
    rules, problems = RewriteOptions.of(settings.page("rewrite") | given)
    return Plan(request, rules, problems)


@dataclass(frozen=True)
class Pause:
    """What a client should know after some audio."""

    pause_s: float | None = None  # a pause that has just become one
    is_over: bool = False  # the silence that ends the dictation has come


@dataclass
class Hearing:
    """One dictation. number: of the take, on this lane."""

    number: int
    plan: Plan
    lane: Lane
    spool: Spool
    end_after_silence_s: float | None = None
    _framer: Framer | None = None
    _told_pause: bool = False
    _is_dropped: bool = False  # then nothing is told to the engine any more: it would wait there for ever
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        start = e.Start("api", output="none")
        self.take = Take(self.number, start, self.plan.request, self.lane, self.spool)

    def hear(self, blocks: Iterable[tuple[F32, int]]) -> Pause:
        """Take audio, (n, channels) at its own rate."""
        pause_s: float | None = None
        with self._lock:
            if self._is_dropped or self.take.heard is not None:
                return Pause()
            for samples, rate_hz in blocks:
                step = max(1, round(BLOCK_S * rate_hz))
                if self._framer is None:
                    self._framer = Framer(rate_hz, samples.shape[1])
                for start in range(0, len(samples), step):
                    self.take.hear(self._framer.push(samples[start : start + step]))
                    if self._pause_begins():
                        pause_s = self.take.pause_s
                    if self._is_over:
                        return Pause(pause_s, is_over=True)
        return Pause(pause_s)

    def _pause_begins(self) -> bool:
        is_pause = self.take.pause_s >= SILENCE_S and not self.take.speaking
        begins, self._told_pause = is_pause and not self._told_pause, is_pause
        return begins

    @property
    def _is_over(self) -> bool:
        longest = self.end_after_silence_s
        return longest is not None and self.take.spoke and self.take.pause_s >= longest

    def end(self) -> shapes.Dictation | None:
        """Nothing more comes. The answer, where nothing was said; None where the engine will say it."""
        with self._lock:
            if self._is_dropped:
                return None
            if self._framer is not None:
                self.take.hear(self._framer.flush())
            heard = self.take.end()
            why = why_nothing(heard)
        if why is None:
            return None
        return shapes.Dictation("", "", "", heard.audio_s, heard.speech_s, "", why, None, list(self.plan.problems))

    def again(self) -> None:
        """The engine has forgotten the take: feed it all that was heard, from the spool."""
        with self._lock:
            if not self._is_dropped:
                self.take.feed_again()

    def written(self, report: FinalReport) -> shapes.Dictation:
        """The text of what was recognised, after the rules."""
        heard, said = self.take.heard, report.transcript
        assert heard is not None
        text, notices = "", list(self.plan.problems)
        is_speech = not is_ghost(heard, said)
        if is_speech and said.text:
            written = rewrite(said.text, self.plan.rules, Situation(said.language, said.language_probability))
            text = written.text
            notices += written.notices
        return shapes.Dictation(
            text=text,
            raw_text=said.text if is_speech else "",
            language=said.language,
            duration_s=round(heard.audio_s, 3),
            speech_s=round(heard.speech_s, 3),
            model=Path(report.model).name,
            reason="" if is_speech and said.text else "no_speech",
            language_probability=said.language_probability,
            notices=notices,
        )

    def drop(self) -> None:
        """Forget it, audio too."""
        with self._lock:
            self._is_dropped = True
            self.take.drop()
