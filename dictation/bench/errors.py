"""What can go wrong with a bench run as a whole. What goes wrong with one clip is a sentence in its result."""

from __future__ import annotations

from dictation.errors import DictationError


class ClipError(DictationError):
    """A clip, a set of clips or a `.sayso-clip` that can't be used."""


class BenchError(DictationError):
    """A run that can't begin or go on, or a report that can't be compared."""
