"""LocalAgreement-2: what two hypotheses in a row agree on is firm, the rest is a tentative tail.

Words are compared without letter case and punctuation, which the next hypothesis still sets right; scripts without
spaces between words are compared character by character.
"""

from __future__ import annotations

import re

# A character of an unspaced script with the marks behind it, or a word with all that touches it
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}][^\w\s]*|[^\s{_UNSPACED}]+")
_MARKS = re.compile(r"[^\w]")


def words(text: str) -> list[tuple[str, int]]:
    """The words of a text as they are compared, each with the index in `text` behind it. Lone marks are no words."""
    found = []
    for match in _WORD.finditer(text):
        word = _MARKS.sub("", match.group()).casefold()
        if word:
            found.append((word, match.end()))
        elif found:
            found[-1] = (found[-1][0], match.end())
    return found


class Agreement:
    """Feeds on hypotheses of one growing utterance."""

    def __init__(self) -> None:
        self._previous: list[str] = []
        self.n_firm = 0  # words agreed on so far
        self.n_taken_back = 0  # words that had been firm and did not stay

    def update(self, text: str) -> tuple[str, str]:
        """(firm, tentative): `text` in two parts. A firm word is taken back only when a later hypothesis lacks it."""
        now = words(text)
        n = 0
        while n < min(len(now), len(self._previous)) and now[n][0] == self._previous[n]:
            n += 1
        self.n_taken_back += max(0, self.n_firm - n)
        self._previous, self.n_firm = [word for word, _ in now], n
        end = now[n - 1][1] if n else 0
        return text[:end], text[end:]
