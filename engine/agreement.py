"""LocalAgreement-2: what two hypotheses in a row agree on is firm, the rest is a tentative tail.

Invariant: what was shown as firm stays as it was shown, letter for letter; firm text is only ever appended to. A later
hypothesis that reads it otherwise is laid along it by edit distance, and only what follows is taken from it. So nothing
that a reader has taken in moves; what was wrong is right in the final text.

Words are compared without letter case and punctuation; scripts without spaces between words are compared character by
character.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# A character of an unspaced script with the marks behind it, or a word with all that touches it
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}][^\w\s]*|[^\s{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")


@dataclass(frozen=True)
class Word:
    """A word of a text, with the indices behind it and behind the punctuation that follows it."""

    key: str  # as it is compared
    end: int
    end_of_marks: int
    marks: str  # the punctuation


def words(text: str) -> list[Word]:
    """The words of a text. Lone marks are no words; they belong to the word before."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        is_letter = [_is_letter(character) for character in match.group()]
        if any(is_letter):
            key = "".join(c for c, keep in zip(match.group(), is_letter, strict=True) if keep).casefold()
            end = match.end() - is_letter[::-1].index(True)
            found.append(Word(key, end, match.end(), text[end : match.end()]))
        elif found:
            end = found[-1].end
            found[-1] = Word(found[-1].key, end, match.end(), text[end : match.end()])
    return found


def _is_letter(character: str) -> bool:
    """Letters, figures, and what is written onto them: vowel signs, accents."""
    return unicodedata.category(character)[0] in "LMN"


class Agreement:
    """Feeds on the hypotheses of one growing dictation, piece after piece; `firm` is all that is firm so far."""

    def __init__(self) -> None:
        self.firm = ""
        self.n_wrong = 0  # firm words that the final texts have otherwise, or not at all
        self._keys: list[str] = []  # firm words of this piece
        self._marks = ""  # the punctuation that ends `firm`
        self._tail: list[Word] = []  # of the last hypothesis, behind the firm words

    def update(self, text: str) -> str:
        """Take a hypothesis of the piece; what of it is agreed becomes firm. Returns the rest, the tentative tail."""
        now = words(text)
        n_said = self._along([word.key for word in now])
        start = self._behind(now[n_said - 1]) if n_said else 0
        tail = now[n_said:]
        n = 0
        while n < min(len(tail), len(self._tail)) and tail[n].key == self._tail[n].key:
            n += 1
        if n:
            last, before = tail[n - 1], self._tail[n - 1]
            # what is heard last always seems to end a sentence
            marks_agree = last.marks == before.marks and n < min(len(tail), len(self._tail))
            end = last.end_of_marks if marks_agree else last.end
            self.firm += self._from(text[:end], start)
            self._marks = last.marks if marks_agree else ""
            self._keys += [word.key for word in tail[:n]]
            start = end
        self._tail = tail[n:]
        return self._from(text, start)

    def end_piece(self, text: str, heard_beyond: bool = False) -> None:
        """The final text of the piece: its end becomes firm as well, and a new piece begins.

        heard_beyond: the hypotheses reached past the end of the piece; firm words from there belong to the next one.
        """
        now = words(text)
        keys = [word.key for word in now]
        kept = _along(keys, self._keys) if heard_beyond else len(self._keys)
        belongs, beyond = self._keys[:kept], self._keys[kept:]
        self.n_wrong += min(_distances(belongs, keys))
        if not beyond:
            n_said = self._along(keys)
            start = self._behind(now[n_said - 1]) if n_said else 0
            self.firm += self._from(text, start)
            self._marks = ""
        self._keys, self._tail = beyond, []

    def _along(self, keys: list[str]) -> int:
        """How many of these words the firm words of the piece stand for."""
        return _along(self._keys, keys)

    def _behind(self, word: Word) -> int:
        """Where the text goes on behind a word that is firm, with or without the punctuation that is shown."""
        return word.end + len(self._marks) if word.marks.startswith(self._marks) else word.end_of_marks

    def _from(self, text: str, start: int) -> str:
        """What is left of a text, with the space that the beginning of one needs behind firm text."""
        rest = text[start:]
        if start or not self.firm or not rest or _IS_UNSPACED.search(self.firm[-2:] + rest[0]):
            return rest
        return " " + rest


def _distances(said: list[str], keys: list[str]) -> list[int]:
    """Edit distances between all of `said` and the first 0, 1, 2... of `keys`."""
    row = list(range(len(keys) + 1))
    for i, word in enumerate(said, 1):
        before, row = row, [i]
        for j, key in enumerate(keys, 1):
            row.append(min(before[j - 1] + (word != key), before[j] + 1, row[j - 1] + 1))
    return row


def _along(said: list[str], keys: list[str]) -> int:
    """How many of `keys` all of `said` matches best; of several, where the last word is the same, else their number."""
    if keys[: len(said)] == said:
        return len(said)
    distances = _distances(said, keys)

    def worse(n: int) -> tuple[int, bool, int]:
        return distances[n], not n or keys[n - 1] != said[-1], abs(n - len(said))

    return min(range(len(keys) + 1), key=worse)
