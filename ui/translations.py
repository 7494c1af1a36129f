"""The languages of the interface: puts one in force, and numbers and dates with it."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTranslator
from PySide6.QtGui import QGuiApplication

import resources


class Translations(QObject):
    """Owns what is installed. Windows that are there already keep their words: make them anew."""

    def __init__(self, qt: QGuiApplication) -> None:
        super().__init__(qt)
        self._qt = qt
        self._installed: list[QTranslator] = []

    def speak(self, language: str) -> None:
        """`language`: a code, or "system": like the desktop, English where Sayso does not speak that."""
        for translator in self._installed:
            self._qt.removeTranslator(translator)
        self._installed = []
        locale = QLocale.system() if language == "system" else QLocale(language)
        own = QTranslator(self)
        if own.load(locale, "sayso", "_", str(resources.FOLDER / "translations")):
            library = QTranslator(self)  # the words of Qt's own dialogs
            if library.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
                self._install(library)
            self._install(own)
        QLocale.setDefault(locale)

    def _install(self, translator: QTranslator) -> None:
        self._qt.installTranslator(translator)
        self._installed.append(translator)
