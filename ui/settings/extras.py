"""What pages of the settings have besides their rows: a preview of the text rules, and the way to delete everything."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QMessageBox, QVBoxLayout, QWidget

from dictation.rewrite import RewriteOptions, Situation, rewrite
from dictation.settings import Settings
from ui import theme
from ui.sentences import language, say
from ui.widgets import button, heading, side_by_side

SAMPLE = QT_TRANSLATE_NOOP("RewritePreview", "Um, I said twenty-five apples. New line. That is all.")


class RewritePreview(QFrame):
    """A sentence as it is recognised, and what the rules make of it, with every change at once."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.setObjectName("preview")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._settings = settings
        self._said = QLineEdit(QCoreApplication.translate("RewritePreview", SAMPLE))
        self._said.setAccessibleName(self.tr("A sentence to try"))
        self._said.setMinimumHeight(theme.CONTROL_HEIGHT)
        self._said.textChanged.connect(self._write)
        self._written, self._problem = theme.Label(), theme.Label()
        self._written.setObjectName("preview:written")
        for label in (self._written, self._problem):
            label.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.WIDE_GAP, theme.GAP, theme.WIDE_GAP, theme.GAP)
        column.addWidget(theme.Quiet(self.tr("Try it: what you say")))
        column.addWidget(self._said)
        column.addWidget(theme.Quiet(self.tr("What is written")))
        column.addWidget(self._written)
        column.addWidget(self._problem)
        self._write()

    def show_settings(self, settings: Settings) -> None:
        self._settings = settings
        self._write()

    def _write(self) -> None:
        options, problems = RewriteOptions.of(self._settings.page("rewrite"))
        chosen = str(self._settings["recognition.language"])
        written = rewrite(self._said.text(), options, Situation(language=language() if chosen == "auto" else chosen))
        self._written.setText(written.text.replace("\n", " ⏎\n") or self.tr("(nothing)"))
        self._problem.setText(" ".join(say(problem) for problem in (*problems, *written.notices)))
        self._problem.setVisible(bool(self._problem.text()))


class DeleteEverything(QWidget):
    """One button, one question, and all texts and recordings are gone."""

    def __init__(self, delete_all: Callable[[], None]) -> None:
        super().__init__()
        self._delete_all = delete_all
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.GAP, 0, 0)
        column.addWidget(heading(self.tr("What is stored")))
        delete = button(self.tr("Delete all texts and recordings…"), self._ask)
        delete.setObjectName("privacy:delete_all")
        column.addLayout(side_by_side(delete))
        column.addWidget(theme.Quiet(self.tr("This can't be undone. Models and settings stay.")))

    def _ask(self) -> None:
        question = QMessageBox(self)
        question.setObjectName("delete_all")
        question.setIcon(QMessageBox.Icon.Warning)
        question.setText(self.tr("Delete all texts and recordings?"))
        question.setInformativeText(self.tr("Everything in the history goes, with its audio. This can't be undone."))
        yes = question.addButton(self.tr("Delete everything"), QMessageBox.ButtonRole.DestructiveRole)
        question.setDefaultButton(question.addButton(QMessageBox.StandardButton.Cancel))
        question.exec()
        if question.clickedButton() is yes:
            self._delete_all()
