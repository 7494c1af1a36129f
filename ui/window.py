"""The small window: what the tray tells, for desktops without one, and a place to drop files on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QPlainTextEdit, QVBoxLayout, QWidget

from dictation import events
from dictation.glance import Face, Glance
from ui import theme
from ui.core import Core
from ui.sentences import say
from ui.widgets import button, heading


class FaceView(QWidget):
    """The state's shape."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(QSize(40, 40))
        self.face = Face.IDLE

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme.draw(painter, self.face.value, QRectF(self.rect()), theme.face_colour(self.face, self.palette()))
        painter.end()


class MainWindow(QWidget):
    """open_window: called with "settings", "history" or "models". note: a sentence shown at the foot, such as which
    extension brings a tray."""

    def __init__(self, core: Core, open_window: Callable[[str], None], note: str = "") -> None:
        super().__init__()
        self._core = core
        self.setObjectName("main")
        self.setWindowTitle("Sayso")
        self.setWindowIcon(theme.app_icon())
        self.setAcceptDrops(True)
        self.resize(480, 420)
        self._face, self._words, self._model = FaceView(), heading(""), theme.Quiet("")
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setAccessibleName(self.tr("Last text"))
        self._text.setPlaceholderText(self.tr("What you say appears here."))
        self._dictate = button(self.tr("Dictate"), lambda: core.send(events.Toggle("window")))
        self._dictate.setObjectName("main:dictate")
        self._files = QListWidget()
        self._files.setAccessibleName(self.tr("Files"))
        self._files.hide()
        self._words.setWordWrap(True)
        top = QHBoxLayout()
        top.setSpacing(theme.GAP)
        top.addWidget(self._face)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._words)
        words.addWidget(self._model)
        top.addLayout(words, 1)
        row = QHBoxLayout()
        row.addWidget(self._dictate)
        row.addWidget(button(self.tr("Copy"), lambda: core.send(events.CopyText())))
        row.addStretch(1)
        row.addWidget(button(self.tr("History"), lambda: open_window("history")))
        row.addWidget(button(self.tr("Settings"), lambda: open_window("settings")))
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.WIDE_GAP, theme.WIDE_GAP, theme.WIDE_GAP, theme.WIDE_GAP)
        column.setSpacing(theme.GAP)
        column.addLayout(top)
        column.addWidget(self._text, 1)
        column.addWidget(self._files)
        column.addLayout(row)
        column.addWidget(theme.Quiet(self.tr("Drop audio or video files here to write them down.")))
        self._note = theme.Label(note)
        self._note.setWordWrap(True)
        self._note.setVisible(bool(note))
        column.addWidget(self._note)

    def see(self, glance: Glance) -> None:
        self._face.face = glance.face
        self._face.update()
        self._words.setText(say(glance.words))
        self._model.setText(glance.model)
        recording = glance.face in (Face.OPENING, Face.LISTENING)
        self._dictate.setText(self.tr("Stop") if recording else self.tr("Dictate"))
        shown = f"{glance.firm} {glance.tentative}".strip() or glance.last_text
        if shown != self._text.toPlainText():
            self._text.setPlainText(shown)

    def heard(self, event: events.Event) -> None:
        """Progress of dropped files."""
        if not isinstance(event, events.FileTranscribed):
            return
        for i in range(self._files.count()):
            item = self._files.item(i)
            if item.data(Qt.ItemDataRole.UserRole) == str(event.path):
                item.setText(f"{event.path.name}: {self._state(event)}")

    def _state(self, event: events.FileTranscribed) -> str:
        if event.message:
            return say(event.message)
        if event.progress < 1:
            return theme.percent(100 * event.progress)
        return self.tr("written down, see History")

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.take_files([Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()])

    def take_files(self, paths: list[Path]) -> None:
        """Queue files to be written down."""
        for path in paths:
            item = QListWidgetItem(f"{path.name}: " + self.tr("waiting"))
            item.setData(Qt.ItemDataRole.UserRole, str(path))
            self._files.addItem(item)
            self._core.send(events.TranscribeFile(path))
        self._files.setVisible(self._files.count() > 0)
