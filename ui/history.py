"""The history: what was dictated, held and failed takes on top, with everything that can be done with each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import (
    QT_TRANSLATE_NOOP,
    QAbstractListModel,
    QCoreApplication,
    QDateTime,
    QItemSelectionModel,
    QLocale,
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QGuiApplication, QPainter, QPaintEvent, QPalette, QTextCharFormat
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from dictation import events
from dictation.differences import differences
from dictation.errors import HistoryError
from dictation.glance import Face, clock
from dictation.history import Entry, History
from engine import store
from ui import theme
from ui.core import Core
from ui.sentences import say
from ui.widgets import button, side_by_side

PAGE = 200  # entries fetched at a time
SEARCH_PAUSE_MS = 200
UNDO_S = 10
_FACES = {"held": Face.HELD, "failed": Face.ERROR}
_WORDS = {
    "delivered": QT_TRANSLATE_NOOP("history", "typed"),
    "copied": QT_TRANSLATE_NOOP("history", "copied"),
    "printed": QT_TRANSLATE_NOOP("history", "printed"),
    "held": QT_TRANSLATE_NOOP("history", "held"),
    "failed": QT_TRANSLATE_NOOP("history", "failed"),
    "none": QT_TRANSLATE_NOOP("history", "not typed"),
}


class Entries(QAbstractListModel):
    """Entries that match a search, fetched as far as they are looked at."""

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history
        self._words = ""
        self._entries: list[Entry] = []
        self._more = True

    def search(self, words: str) -> None:
        self.beginResetModel()
        self._words = words
        self._entries = self._history.search(words, PAGE)
        self._more = len(self._entries) == PAGE
        self.endResetModel()

    def reload(self) -> None:
        """Read again, as far as was looked at."""
        count = max(PAGE, len(self._entries))
        self.beginResetModel()
        self._entries = self._history.search(self._words, count)
        self._more = len(self._entries) == count
        self.endResetModel()

    def entry(self, index: QModelIndex) -> Entry | None:
        return self._entries[index.row()] if index.isValid() and index.row() < len(self._entries) else None

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._entries)

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _first_line(entry)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{_first_line(entry)}, {_about(entry)}"
        if role == Qt.ItemDataRole.UserRole:
            return entry
        return None

    def canFetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> bool:
        return self._more and not parent.isValid()

    def fetchMore(self, parent: QModelIndex | QPersistentModelIndex) -> None:
        more = self._history.search(self._words, PAGE, len(self._entries))
        self._more = len(more) == PAGE
        first = len(self._entries)
        self.beginInsertRows(QModelIndex(), first, first + len(more) - 1)
        self._entries += more
        self.endInsertRows()


def _first_line(entry: Entry) -> str:
    return " ".join(entry.text.split()) or say(entry.evidence) or QCoreApplication.translate("history", "No text")


def _about(entry: Entry) -> str:
    started = QDateTime.fromSecsSinceEpoch(int(entry.started_unix_s))
    when = QLocale().toString(started, QLocale.FormatType.ShortFormat)
    status = QCoreApplication.translate("history", _WORDS.get(entry.status, entry.status))
    return " · ".join(part for part in (when, clock(entry.audio_s), entry.program, status) if part)


class EntryRow(QStyledItemDelegate):
    """Two lines: the text, and when, how long, where, what became of it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(200, 2 * option.fontMetrics.lineSpacing() + 20)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        self.initStyleOption(option, index)
        entry: Entry = index.data(Qt.ItemDataRole.UserRole)
        option.text = ""
        style = option.widget.style()
        style.drawControl(style.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        selected = bool(option.state & style.StateFlag.State_Selected)
        role = QPalette.ColorRole.HighlightedText if selected else QPalette.ColorRole.Text
        ink = option.palette.color(role)
        box = QRectF(option.rect).adjusted(12, 8, -12, -8)
        if face := _FACES.get(entry.status):
            mirrored = option.direction is Qt.LayoutDirection.RightToLeft
            shape = QRectF(box.right() - 16 if mirrored else box.left(), box.top(), 16, 16)
            theme.draw(
                painter, face.value, shape, ink if selected else theme.face_colour(face, QGuiApplication.palette())
            )
            box.adjust(*((0, 0, -24, 0) if mirrored else (24, 0, 0, 0)))
        painter.setPen(ink)
        line = option.fontMetrics.elidedText(_first_line(entry), Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignTop), line)
        painter.setPen(theme.faded(ink, 0.75))
        about = option.fontMetrics.elidedText(_about(entry), Qt.TextElideMode.ElideRight, int(box.width()))
        painter.drawText(box, int(Qt.AlignmentFlag.AlignBottom), about)


class Waveform(QWidget):
    """The shape of a recording. `show_file` reads it once; nothing moves."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(48)
        self.setAccessibleName(self.tr("Sound of this dictation"))
        self._peaks = np.zeros(0, np.float32)

    def show_file(self, path: Path | None) -> None:
        import soundfile  # here, because it takes a moment and most entries have no audio

        self._peaks = np.zeros(0, np.float32)
        samples = np.zeros((0, 1), np.float32)
        if path is not None:
            with contextlib.suppress(soundfile.LibsndfileError):  # damaged: the entry is shown without its sound
                samples, _ = soundfile.read(path, dtype="float32", always_2d=True)
        if len(samples):
            blocks = np.array_split(np.abs(samples).max(axis=1), min(240, max(1, len(samples))))
            self._peaks = np.array([b.max() if len(b) else 0.0 for b in blocks], np.float32)
        self.setVisible(len(self._peaks) > 0)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(theme.colour("accent", self.palette()))
        top = max(1e-3, float(self._peaks.max(initial=0)))
        for x, peak in enumerate(self._peaks):
            at, half = x * self.width() / len(self._peaks), max(1.0, peak / top * (self.height() - 4)) / 2
            painter.drawLine(int(at), int(self.height() / 2 - half), int(at), int(self.height() / 2 + half))
        painter.end()


class Comparison(QWidget):
    """Two entries beside each other, with what differs underlined and shaded."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.GAP)
        self._sides = [(theme.Quiet(), QTextEdit()) for _ in range(2)]
        for about, text in self._sides:
            text.setReadOnly(True)
            column = QVBoxLayout()
            column.addWidget(about)
            column.addWidget(text, 1)
            row.addLayout(column, 1)

    def show_entries(self, first: Entry, second: Entry) -> None:
        for (about, box), entry, pieces in zip(
            self._sides, (first, second), differences(first.text, second.text), strict=True
        ):
            about.setText(entry.model or _about(entry))
            box.setAccessibleName(self.tr("Text by {model}").format(model=entry.model))
            box.clear()
            for piece in pieces:
                box.textCursor().insertText(piece.text, self._format(piece.differs))

    def _format(self, differs: bool) -> QTextCharFormat:
        format_ = QTextCharFormat()
        if differs:
            format_.setFontUnderline(True)
            format_.setBackground(theme.faded(theme.colour("amber", self.palette()), 0.25))
        return format_

    def marked(self) -> list[list[str]]:
        """What is marked on each side."""
        found = []
        for _, box in self._sides:
            words, block = [], box.document().begin()
            while block.isValid():
                for part in (r for r in block.textFormats() if r.format.fontUnderline()):
                    words.append(block.text()[part.start : part.start + part.length].strip())
                block = block.next()
            found.append(words)
        return found


class HistoryWindow(QWidget):
    """List on the left, one entry on the right.

    play: plays an audio file. export: writes entries to a path, whose ending chooses the format.
    """

    def __init__(
        self,
        core: Core,
        history: History,
        play: Callable[[Path], None],
        export: Callable[[list[Entry], Path], None],
    ) -> None:
        super().__init__()
        self._core, self._history, self._play, self._export = core, history, play, export
        self._deleted: list[Entry] = []
        self._again: dict[Path, int] = {}  # audio that is being recognised again, and the entry it belongs to
        self.setObjectName("history")
        self.setWindowTitle(self.tr("Sayso history"))
        self.setWindowIcon(theme.app_icon())
        self.resize(860, 560)
        self.entries = Entries(history)
        self._search = QLineEdit()
        self._search.setPlaceholderText(self.tr("Find in texts"))
        self._search.setAccessibleName(self.tr("Find in texts"))
        self._search.setMinimumHeight(theme.CONTROL_HEIGHT)
        self._search.setClearButtonEnabled(True)
        self._search.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self._wait = QTimer(self, singleShot=True, interval=SEARCH_PAUSE_MS)
        self._wait.timeout.connect(lambda: self.entries.search(self._search.text()))
        self._search.textChanged.connect(lambda words: self._wait.start())
        self._list = QListView()
        self._list.setObjectName("entries")
        self._list.setAccessibleName(self.tr("Dictations"))
        self._list.setModel(self.entries)
        self._list.setItemDelegate(EntryRow(self._list))
        self._list.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self._list.selectionModel().currentChanged.connect(lambda now, before: self._show(self.entries.entry(now)))
        self._list.selectionModel().selectionChanged.connect(lambda now, before: self._compare())
        self._list.setToolTip(self.tr("Choose two with Ctrl to compare them"))
        self._text, self._raw, self._wave, self._facts = QPlainTextEdit(), theme.Quiet(""), Waveform(), QFormLayout()
        self._text.setReadOnly(True)
        self._raw.setObjectName("raw")
        self._text.setAccessibleName(self.tr("Text"))
        self.comparison = Comparison()
        self.comparison.hide()
        self._models = QComboBox()
        self._models.setAccessibleName(self.tr("Model for recognising again"))
        self._undo = button(self.tr("Undo"), self._put_back)
        self._undo.hide()
        self._undo_ends = QTimer(self, singleShot=True, interval=UNDO_S * 1000)
        self._undo_ends.timeout.connect(self._forget)
        self._buttons: dict[str, QPushButton] = {}
        self._build()
        self.entries.search("")
        self._show(None)

    def _build(self) -> None:
        left, right = QWidget(), QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._search)
        column.addWidget(self._list)
        detail = QVBoxLayout(right)
        detail.setContentsMargins(0, 0, 0, 0)
        detail.setSpacing(theme.GAP)
        detail.addWidget(self._text, 1)
        detail.addWidget(self.comparison, 1)
        detail.addWidget(self._raw)
        detail.addWidget(self._wave)
        acts = {
            "insert": (self.tr("Insert"), lambda: self._send(events.InsertAgain)),
            "copy": (self.tr("Copy"), lambda: self._send(events.CopyText)),
            "play": (self.tr("Play"), self._play_audio),
            "retry": (self.tr("Recognise again"), self._retry),
            "export": (self.tr("Export…"), self._export_chosen),
            "delete": (self.tr("Delete"), self._delete),
        }
        for name, (text, act) in acts.items():
            self._buttons[name] = button(text, act)
            self._buttons[name].setObjectName(f"history:{name}")
        for names in (("insert", "copy", "play"), ("retry",), ("export", "delete")):
            beside = {"retry": [self._models], "delete": [self._undo]}.get(names[-1], [])
            detail.addLayout(side_by_side(*(self._buttons[name] for name in names), *beside))
        split = QSplitter()
        split.addWidget(left)
        split.addWidget(right)
        split.setHandleWidth(theme.WIDE_GAP)
        split.setSizes([420, 440])
        split.setChildrenCollapsible(False)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.GAP, theme.GAP, theme.GAP, theme.GAP)
        outer.addWidget(split)

    def see(self, event: events.Event) -> None:
        if isinstance(event, events.HistoryChanged) and self.isVisible():
            self._reload()
        elif isinstance(event, events.FileTranscribed) and event.path in self._again:
            self._recognised_again(event)

    def _recognised_again(self, event: events.FileTranscribed) -> None:
        """The new text beside the old one, or why there is none."""
        if event.message:
            self._raw.setText(say(event.message))
            self._raw.show()
        if event.progress < 1:
            return
        before = self._again.pop(event.path)
        if event.entry is not None and self.isVisible():
            self.entries.reload()
            self.choose(before, event.entry)

    def _compare(self) -> None:
        """Two that are chosen stand beside each other."""
        chosen = self._chosen()
        two = len(chosen) == 2
        if two:
            self.comparison.show_entries(*sorted(chosen, key=lambda entry: entry.id or 0))
        self.comparison.setVisible(two)
        self._text.setVisible(not two)

    def _reload(self) -> None:
        chosen = self._current()
        self.entries.reload()
        if chosen is not None:
            self.choose(chosen.id)
        self._show(self._current())

    def choose(self, *ids: int | None) -> None:
        """Bring an entry to the front; two are compared."""
        first = True
        for row in range(self.entries.rowCount()):
            entry = self.entries.entry(self.entries.index(row))
            if entry is not None and entry.id in ids:
                how = QItemSelectionModel.SelectionFlag
                self._list.selectionModel().setCurrentIndex(
                    self.entries.index(row), how.ClearAndSelect if first else how.Select
                )
                first = False

    def showEvent(self, event: object) -> None:
        self._reload()
        self._models.clear()
        self._models.addItems([m.label for m in store.installed()])

    # -------------------------------------------------------------------------------------------------------- one entry

    def _current(self) -> Entry | None:
        return self.entries.entry(self._list.currentIndex())

    def _show(self, entry: Entry | None) -> None:
        audio = self._history.audio_path(entry) if entry else None
        self._text.setPlainText((entry.text or say(entry.evidence)) if entry else "")
        same = entry is None or not entry.raw_text or entry.raw_text.strip() == entry.text.strip()
        self._raw.setText("" if same or entry is None else self.tr("Recognised: {text}").format(text=entry.raw_text))
        self._raw.setVisible(not same)
        self._wave.show_file(audio)
        has_text = entry is not None and bool(entry.text)
        for name, on in {
            "insert": has_text,
            "copy": has_text,
            "play": audio is not None,
            "retry": entry is not None and (audio is not None or (entry.status == "failed" and bool(entry.audio))),
            "export": entry is not None,
            "delete": entry is not None,
        }.items():
            self._buttons[name].setEnabled(on)

    def _send(self, command: type[events.InsertAgain] | type[events.CopyText]) -> None:
        if (entry := self._current()) is not None:
            self._core.send(command(entry.id))

    def _play_audio(self) -> None:
        entry = self._current()
        if entry is not None and (path := self._history.audio_path(entry)):
            self._play(path)

    def _retry(self) -> None:
        entry = self._current()
        if entry is None or not entry.audio:
            return
        model = self._models.currentText() or None
        kept = self._history.audio_path(entry)
        if entry.status == "failed" or kept is None or entry.id is None:  # such audio is still in the spool
            self._core.send(events.Retry(entry.audio, model))
        else:
            self._again[kept] = entry.id
            self._core.send(events.TranscribeFile(kept, model))

    def _chosen(self) -> list[Entry]:
        indexes = sorted(self._list.selectionModel().selectedIndexes(), key=lambda i: i.row())
        return [entry for index in indexes if (entry := self.entries.entry(index)) is not None]

    def _export_chosen(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self,
            self.tr("Export"),
            "sayso.txt",
            self.tr("Text") + " (*.txt);;SubRip (*.srt);;WebVTT (*.vtt);;JSON (*.json)",
        )
        if name:
            try:
                self._export(self._chosen(), Path(name))
            except HistoryError as error:
                QMessageBox.warning(self, self.tr("Export"), say(str(error)))

    def _delete(self) -> None:
        self._forget()
        self._deleted = self._history.delete([e.id for e in self._chosen() if e.id is not None])
        self._undo.setVisible(bool(self._deleted))
        self._undo_ends.start()
        self._reload()

    def _put_back(self) -> None:
        for entry in self._deleted:
            self._history.add(entry)
        self._deleted = []
        self._undo.hide()
        self._reload()

    def _forget(self) -> None:
        """Undo is over: now the audio goes too."""
        self._history.drop_audio(self._deleted)
        self._deleted = []
        self._undo.hide()

    def closeEvent(self, event: object) -> None:
        self._forget()
