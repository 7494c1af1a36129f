"""Languages that nobody speaks: one in which every translated text is marked, and one that reads from right to left."""

from __future__ import annotations

from PySide6.QtCore import QTranslator

OPEN, CLOSE = "⟦", "⟧"
RIGHT_TO_LEFT_MARK = "\u200f"  # makes Qt take a text for one of a language that reads from right to left


class Marked(QTranslator):
    """What is not marked on screen never went through the translation."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        return f"{OPEN}{text}{CLOSE}"


class Mirrored(Marked):
    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str:
        return RIGHT_TO_LEFT_MARK + text if text and context != "language" else text
