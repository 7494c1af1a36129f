"""The about page: version, licences, and what `sayso doctor` says, shown before it is saved."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtWidgets import QFileDialog, QFrame, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

import resources
from dictation import updates
from dictation.doctor import Finding, examine
from dictation.errors import UpdateError
from dictation.version import version
from engine.files import write_text
from ui import theme
from ui.bridge import to_main
from ui.sentences import say
from ui.widgets import button, heading, side_by_side

NOTICES = "THIRD-PARTY-NOTICES.txt"  # in `resources`, where this is a packaged Sayso
QT_NOTICE = QT_TRANSLATE_NOOP(
    "AboutPage",
    "Sayso uses Qt under the GNU LGPL, version 3: Qt's libraries are files of their own beside Sayso's program, "
    "and you may put others that fit in their place.",
)
LIBRARIES = ("PySide6-Essentials", "numpy", "mlx", "gguf", "huggingface_hub", "sounddevice", "soundfile", "soxr")


def licences() -> str:
    """Libraries that Sayso stands on, with their licences, one a line."""
    lines = []
    for name in LIBRARIES:
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue
        licence = about.get("License-Expression") or (about.get("License") or "").partition("\n")[0]
        classifiers = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier") or [] if c.startswith("License")]
        lines.append(f"{name} {about['Version']}: {licence or ', '.join(classifiers) or 'see its files'}")
    return "\n".join(lines)


def report(findings: list[Finding]) -> str:
    """Findings as text; the home folder's name is left out, and no dictated text is in them."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.check}: {finding.status}. {say(finding.found)}")
        if finding.advice:
            lines.append(f"    {say(finding.advice)}")
    return "\n".join(lines).replace(str(Path.home()), "~") + "\n"


def notices() -> str:
    """The licences of everything inside a packaged Sayso; empty where it runs from installed packages."""
    try:
        return resources.path(NOTICES).read_text("utf-8")
    except FileNotFoundError:
        return ""


class AboutPage(QScrollArea):
    """look: asks the doctor; newer: asks for updates. Both take their time, so each runs on a thread of its own."""

    def __init__(
        self,
        look: Callable[[], list[Finding]] = examine,
        newer: Callable[[], updates.Release | None] = updates.newer,
    ) -> None:
        super().__init__()
        self._look, self._newer = look, newer
        self.setObjectName("page:about")
        self.setAccessibleName(QCoreApplication.translate("Front", "About"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text = QPlainTextEdit()
        self._text.setObjectName("about:report")
        self._text.setReadOnly(True)
        self._text.setMinimumHeight(200)
        self._text.setAccessibleName(self.tr("Diagnostics"))
        self._text.setPlaceholderText(self.tr("Looking…"))
        self._save = button(self.tr("Save…"), self._save_as)
        self._save.setObjectName("about:save")
        self._save.hide()
        self._text.hide()
        self._found = to_main(self._show)
        self._check = button(self.tr("Look for a newer Sayso"), self._ask_for_updates)
        self._check.setObjectName("about:updates")
        self._answer = theme.Quiet(
            self.tr("Only this button and the setting under General ask; nothing is downloaded.")
        )
        self._answer.setObjectName("about:answer")
        self._answer.setTextFormat(Qt.TextFormat.PlainText)
        self._answer.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._answered = to_main(self._show_answer)
        self._notices = QPlainTextEdit()
        self._notices.setObjectName("about:notices")
        self._notices.setReadOnly(True)
        self._notices.setMinimumHeight(200)
        self._notices.setAccessibleName(self.tr("Licences"))
        self._notices.hide()
        self._build()

    def _build(self) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP)
        column.setSpacing(theme.WIDE_GAP)
        column.addWidget(heading(self.tr("Sayso {version}").format(version=version()), 1.4))
        column.addWidget(theme.Quiet(self.tr("Types what you say. Everything runs on this computer. MIT licence.")))
        column.addLayout(side_by_side(self._check))
        column.addWidget(self._answer)
        column.addWidget(heading(self.tr("Diagnostics")))
        column.addWidget(
            theme.Quiet(self.tr("What works here and what does not. Nothing that you dictated is in it, and no name."))
        )
        look = button(self.tr("Show diagnostics"), self._ask)
        look.setObjectName("about:look")
        column.addLayout(side_by_side(look, self._save))
        column.addWidget(self._text)
        column.addWidget(heading(self.tr("Libraries")))
        column.addWidget(theme.Quiet(QCoreApplication.translate("AboutPage", QT_NOTICE)))
        column.addWidget(theme.Quiet(licences()))
        if notices():
            show = button(self.tr("Show all licences"), self._show_notices)
            show.setObjectName("about:show_notices")
            column.addLayout(side_by_side(show))
            column.addWidget(self._notices)
        column.addStretch(1)
        self.setWidget(holder)

    def _ask(self) -> None:
        self._text.show()
        found, look = self._found, self._look
        threading.Thread(target=lambda: found(look()), name="doctor", daemon=True).start()

    def _show(self, findings: list[Finding]) -> None:
        self._text.setPlainText(report(findings))
        self._save.show()

    def _show_notices(self) -> None:
        self._notices.setPlainText(notices())
        self._notices.show()

    def _ask_for_updates(self) -> None:
        self._check.setEnabled(False)
        self._answer.setText(self.tr("Asking…"))
        answered, newer = self._answered, self._newer

        def ask() -> None:
            try:
                answered(updates.sentence(newer()))
            except UpdateError as error:
                answered(str(error))

        threading.Thread(target=ask, name="updates", daemon=True).start()

    def _show_answer(self, sentence: str) -> None:
        self._check.setEnabled(True)
        self._answer.setText(say(sentence))

    def _save_as(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Save diagnostics"), "sayso-diagnostics.txt")
        if name:
            write_text(Path(name), self._text.toPlainText())
