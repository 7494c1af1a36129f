"""Spoken commands and punctuation: "new line", "scratch that", "all caps …", "comma", in the language of the text."""

from __future__ import annotations

import re
from functools import lru_cache

from dictation.rewrite.phrases import COMMANDS, GUARDS, GUARDS_AFTER, PUNCTUATION, SUBJECTS, Effect, Phrase, Place

_PAUSES = ",;:"  # marks that Whisper puts around a phrase it took for a word; they go with the phrase
_STOPS = ".!?…"
_OPENING = tuple("(“„¿¡«")  # a tuple for `endswith`
_WORD_BEFORE = re.compile(r"([\w'’]+)[\s]*$")
_WORD_AFTER = re.compile(r"\s+([\w'’]+)")
_LAST_SENTENCE = re.compile(r"(?:(?<=[.!?…])\s+|(?<=\n))(?=\S[^\n]*$)")


def apply_commands(text: str, language: str, commands: bool, punctuation: bool) -> tuple[str, bool]:
    """The text with its spoken commands carried out, and whether "scratch that" meant the insertion before it."""
    phrases = _phrases(language, commands, punctuation)
    if not phrases:
        return text, False
    builder = _Builder()
    end = 0
    for match in _pattern(phrases).finditer(text):
        phrase = phrases[int((match.lastgroup or "p0")[1:])]
        if _is_said_as_command(phrase, text, match, end, language):
            builder.take(text[end : match.start()])
            builder.carry_out(phrase)
            end = match.end()
    builder.take(text[end:])
    return builder.text, builder.undo_previous


def _phrases(language: str, commands: bool, punctuation: bool) -> tuple[Phrase, ...]:
    return (COMMANDS.get(language, ()) if commands else ()) + (PUNCTUATION.get(language, ()) if punctuation else ())


@lru_cache(maxsize=32)
def _pattern(phrases: tuple[Phrase, ...]) -> re.Pattern[str]:
    named = (f"(?P<p{i}>{phrase.words.replace(' ', '[ -]')})" for i, phrase in enumerate(phrases))
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(named)})(?![\w'’-])", re.IGNORECASE)


def _is_said_as_command(phrase: Phrase, text: str, match: re.Match[str], start: int, language: str) -> bool:
    """Whether the phrase can't be part of the sentence around it; `start` is where the last command ended."""
    before, after = text[start : match.start()], text[match.end() :]
    opens = not before.strip() or before.rstrip()[-1] in _PAUSES + _STOPS
    closes = not after.strip() or after.lstrip()[0] in _PAUSES + _STOPS
    if phrase.place is Place.ALONE:
        return opens and closes
    if phrase.place is Place.END and not closes:
        return False
    if word := _WORD_BEFORE.search(before):
        said = word[1].lower().replace("’", "'")
        subject = phrase.effect is Effect.SCRATCH and said in SUBJECTS[language]
        if subject or said in GUARDS[language]:
            return False
    following = _WORD_AFTER.match(after)
    return not (following and following[1].lower() in GUARDS_AFTER[language])


class _Builder:
    """The text written so far, and what the last command asks of the words to come."""

    def __init__(self) -> None:
        self.text = ""
        self.undo_previous = False
        self._spoken = 0  # up to here the text ends in a mark that was spoken
        self._joins = False  # the next words follow a command: its leading marks and spaces are not wanted
        self._capital = False  # the next word begins a sentence
        self._shout_next = False
        self._shout = False

    def take(self, words: str) -> None:
        """Add recognised words, in the state that the commands before them left."""
        if self._joins:
            words = self._join(words)
        if not words:
            return
        if self._capital and (first := re.search(r"\w", words)):
            at = first.start()
            words = words[:at] + words[at].upper() + words[at + 1 :]
            self._capital = False
        if self._shout:
            words = words.upper()
        elif self._shout_next and (word := re.search(r"[\w'’-]+", words)):
            words = words[: word.start()] + word[0].upper() + words[word.end() :]
            self._shout_next = False
        self.text += words
        self._joins = False

    def _join(self, words: str) -> str:
        """The words after a command, without the marks that Whisper set off the command with."""
        marks = _PAUSES + (_STOPS if self.text[-1:] in ("", "\n", *_PAUSES, *_STOPS, *_OPENING) else "")
        rest = words.lstrip().lstrip(marks).lstrip()
        if not rest:
            # Only a mark follows: it ends the sentence, unless the command's own mark has.
            return words.strip() if words.strip() and self.text[-1:].isalnum() and words.strip() in _STOPS else ""
        glued = not self.text or self.text[-1].isspace() or self.text.endswith(_OPENING) or rest[0] in _STOPS + _PAUSES
        return rest if glued else " " + rest

    def carry_out(self, phrase: Phrase) -> None:
        if phrase.effect is Effect.SCRATCH:
            self._scratch()
        elif phrase.effect is Effect.PUT:
            self._put(phrase.mark)
        else:
            self._shout = phrase.effect is Effect.CAPS_ON
            self._shout_next = phrase.effect is Effect.CAPS_NEXT
            self._drop_pause()
        self._joins = True

    def _put(self, mark: str) -> None:
        self._drop_pause()
        if mark.strip() in _OPENING:
            self.text += ("" if not self.text or self.text[-1].isspace() else " ") + mark
        else:
            if mark.strip()[:1] in tuple(_STOPS):
                self.text = self.text.rstrip(_STOPS).rstrip(" ")
            self.text += mark
            self._capital = mark[-1] in _STOPS + "\n"
        self._spoken = len(self.text)

    def _drop_pause(self) -> None:
        """Take back the space, and the comma, that Whisper set the command off with; never a mark that was spoken."""
        if len(self.text) > self._spoken:
            self.text = self.text[: self._spoken] + self.text[self._spoken :].rstrip(" ").rstrip(_PAUSES).rstrip(" ")

    def _scratch(self) -> None:
        written = self.text.rstrip().rstrip(_PAUSES)
        if not written.strip():
            self.undo_previous = True
            self._capital = True
            return
        starts = [match.end() for match in _LAST_SENTENCE.finditer(written)]
        self.text = written[: starts[-1]].rstrip(" ") if starts else ""
        self._spoken = 0
        self._capital = True
