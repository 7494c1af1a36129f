"""Whisper's languages by the names that their speakers use, and an editor to tick one's own."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from dictation.settings import Setting
from engine.languages import LANGUAGES
from ui.settings.editors import Editor


@lru_cache(maxsize=1)
def named() -> list[tuple[str, str]]:
    """(code, name) pairs by name."""
    pairs = [(code, _name(code, english)) for code, english in LANGUAGES.items()]
    return sorted(pairs, key=lambda pair: pair[1].casefold())


_PLAIN = {"en": "English", "es": "Español", "pt": "Português", "zh": "中文"}  # where Qt names one country's kind


def _name(code: str, english: str) -> str:
    if code in _PLAIN:
        return _PLAIN[code]
    locale = QLocale(code)
    known = locale.language() is not QLocale.Language.C and QLocale.languageToCode(locale.language()) == code
    name = locale.nativeLanguageName() if known else ""
    return name[:1].upper() + name[1:] if name else english


class LanguagesEditor(Editor):
    """A list with ticks. The value keeps its order: the languages that were there first stay first."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._value: tuple[str, ...] = ()
        self._list = QListWidget()
        for code, name in named():
            item = QListWidgetItem(name)
            item.setData(Qt.ItemDataRole.UserRole, code)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
            self._list.addItem(item)
        self._list.itemChanged.connect(self._ticked)
        self._hold(self._list)
        self._list.setFixedHeight(168)

    def _ticked(self, item: QListWidgetItem) -> None:
        code = str(item.data(Qt.ItemDataRole.UserRole))
        rest = tuple(c for c in self._value if c != code)
        self._value = (*rest, code) if item.checkState() is Qt.CheckState.Checked else rest
        self.edited.emit()

    def value(self) -> tuple[str, ...]:
        return self._value

    def set_value(self, value: tuple[str, ...]) -> None:
        self._value = tuple(value)
        self._list.blockSignals(True)
        for i in range(self._list.count()):
            item = self._list.item(i)
            ticked = item.data(Qt.ItemDataRole.UserRole) in value
            item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
        self._list.blockSignals(False)
