"""The quant picker: one model's quants as a table, recommended row first, and a small chart of size against error."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPalette, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QBoxLayout,
    QCheckBox,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from dictation.model_facts import QuantFacts
from engine.catalog import Fact
from ui import theme
from ui.sentences import say
from ui.widgets import button, side_by_side

COLUMNS = (
    QT_TRANSLATE_NOOP("QuantPicker", "Quant"),
    QT_TRANSLATE_NOOP("QuantPicker", "Download"),
    QT_TRANSLATE_NOOP("QuantPicker", "Memory"),
    QT_TRANSLATE_NOOP("QuantPicker", "Speed"),
    QT_TRANSLATE_NOOP("QuantPicker", "Words wrong"),
    QT_TRANSLATE_NOOP("QuantPicker", "Verdict"),
)
CHART = QSize(220, 150)


def megabytes(size_bytes: float) -> str:
    if size_bytes >= 1e9:
        return f"{theme.number(size_bytes / 1e9, 1)} GB"
    return f"{theme.number(size_bytes / 1e6)} MB"


def fact_text(fact: Fact | None, text: str) -> str:
    """A number with the word that says where it comes from; never one without the other."""
    if fact is None:
        return QCoreApplication.translate("facts", "not known yet")
    words = {
        "measured": QCoreApplication.translate("facts", "measured here"),
        "published": QCoreApplication.translate("facts", "published"),
        "estimated": QCoreApplication.translate("facts", "estimated"),
    }
    return f"{text}, {words.get(fact.source, fact.source)}"


class QuantPicker(QWidget):
    """Signals: download(quant), use(quant), delete(quant)."""

    download = Signal(str)
    use = Signal(str)
    delete = Signal(str)

    def __init__(self, rows: list[QuantFacts]) -> None:
        super().__init__()
        self.setObjectName("quant_picker")
        self._all = rows
        self._rows: list[QuantFacts] = []
        self._fits = QCheckBox(self.tr("Only what fits into memory"))
        self._fits.toggled.connect(self._fill)
        self._table = self._make_table()
        self._chart = Chart(rows)
        self._reason = theme.Label()
        self._reason.setWordWrap(True)
        self._reason.setAccessibleName(self.tr("Why"))
        self._act = button("", self._go)
        self._delete = button(self.tr("Delete"), lambda: self.delete.emit(self.chosen().quant))
        self._build()
        self.show_rows(rows)

    def _build(self) -> None:
        lower = self._lower = QHBoxLayout()
        lower.setSpacing(theme.WIDE_GAP)
        words = QVBoxLayout()
        words.addWidget(self._reason)
        words.addStretch(1)
        words.addLayout(side_by_side(self._act, self._delete))
        lower.addLayout(words, 1)
        lower.addWidget(self._chart)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        column.addWidget(self._fits)
        column.addWidget(self._table)
        column.addLayout(lower)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the chart goes below the words."""
        beside = self.width() >= 2 * CHART.width() + theme.WIDE_GAP
        sides = QBoxLayout.Direction
        self._lower.setDirection(sides.LeftToRight if beside else sides.TopToBottom)
        self._fit_height()

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, len(COLUMNS))
        table.setAccessibleName(self.tr("Quants"))
        table.setHorizontalHeaderLabels([QCoreApplication.translate("QuantPicker", c) for c in COLUMNS])
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.CONTROL_HEIGHT)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setStretchLastSection(True)
        table.itemSelectionChanged.connect(self._selected)
        return table

    def show_rows(self, rows: list[QuantFacts]) -> None:
        """Show these facts; what was chosen stays chosen."""
        chosen = self.chosen().quant if self._rows else None
        self._all = rows
        self._chart.show_rows(rows)
        self._fill()
        at = next((i for i, r in enumerate(self._rows) if r.quant == chosen), 0)
        self._table.selectRow(at)
        self._selected()  # the same row may have become another: just installed, just deleted

    def chosen(self) -> QuantFacts:
        return self._rows[max(0, self._table.currentRow())]

    def choose(self, quant: str) -> None:
        self._table.selectRow(next(i for i, r in enumerate(self._rows) if r.quant == quant))

    def _fill(self) -> None:
        fitting = [r for r in self._all if r.verdict != "memory is short"]
        self._rows = (fitting or self._all) if self._fits.isChecked() else self._all
        self._table.setRowCount(len(self._rows))
        for at, row in enumerate(self._rows):
            for i, (text, fact) in enumerate(_cells(row)):
                self._table.setItem(at, i, self._cell(text, fact, row, i in (0, len(COLUMNS) - 1)))
        self._fit_height()
        self._table.selectRow(0)

    def _fit_height(self) -> None:
        """All rows show; in a narrow window there is a bar to scroll sideways, inside the table only."""
        header = self._table.horizontalHeader()
        height = header.sizeHint().height() + theme.CONTROL_HEIGHT * len(self._rows) + 4
        if header.length() > self._table.viewport().width():
            height += self._table.horizontalScrollBar().sizeHint().height()
        self._table.setFixedHeight(height)

    def _cell(self, text: str, fact: Fact | None, row: QuantFacts, name: bool) -> QTableWidgetItem:
        item = QTableWidgetItem(text)
        font = QFont(self.font())
        font.setItalic(fact is not None and fact.source == "estimated")
        font.setBold(row.verdict == "recommended" and name)
        font.setFeature(QFont.Tag("tnum"), 1)
        item.setFont(font)
        if row.verdict == "memory is short":
            item.setForeground(theme.faded(self.palette().color(QPalette.ColorRole.WindowText), 0.6))
            item.setToolTip(say(row.reason))
        return item

    def _selected(self) -> None:
        if not self._rows:
            return
        row = self.chosen()
        self._reason.setText(say(row.reason) or self.tr("{quant} fits.").format(quant=row.quant))
        self._act.setText(self.tr("Use now") if row.installed else self.tr("Download"))
        self._delete.setVisible(row.installed)
        self._chart.choose(row.quant)

    def _go(self) -> None:
        row = self.chosen()
        (self.use if row.installed else self.download).emit(row.quant)


def _cells(row: QuantFacts) -> list[tuple[str, Fact | None]]:
    words = {
        "recommended": QCoreApplication.translate("facts", "Recommended"),
        "fits": QCoreApplication.translate("facts", "Fits"),
        "memory is short": QCoreApplication.translate("facts", "Too large now"),
        "installed": QCoreApplication.translate("facts", "Installed"),
    }
    verdict = words[row.verdict]
    if row.installed:
        verdict += " · " + QCoreApplication.translate("facts", "installed")
    speed = fact_text(row.speed, _times_speech(row.speed.value) if row.speed else "")
    error = fact_text(row.error_percent, theme.percent(row.error_percent.value, 2) if row.error_percent else "")
    return [
        (row.quant, None),
        (megabytes(row.download_bytes), None),
        (fact_text(row.memory_bytes, megabytes(row.memory_bytes.value)), row.memory_bytes),
        (speed, row.speed),
        (error, row.error_percent),
        (verdict, None),
    ]


def _times_speech(factor: float) -> str:
    return QCoreApplication.translate("facts", "{factor}× speech").format(factor=theme.number(factor, 1))


class Chart(QWidget):
    """Size against words wrong: a dot per quant with its name, the chosen one ringed. Readable without colour."""

    def __init__(self, rows: list[QuantFacts]) -> None:
        super().__init__()
        self.setFixedSize(CHART)
        self._chosen = ""
        self.show_rows(rows)

    def show_rows(self, rows: list[QuantFacts]) -> None:
        self._points = [(r.quant, r.download_bytes / 1e6, r.error_percent.value) for r in rows if r.error_percent]
        if self.parentWidget() is not None:  # before, it would be a window of its own
            self.setVisible(len(self._points) > 1)
        described = "; ".join(
            f"{quant}: {theme.number(mb)} MB, {theme.percent(error, 2)}" for quant, mb, error in self._points
        )
        self.setAccessibleName(self.tr("Download size against words wrong"))
        self.setAccessibleDescription(described)
        self.update()

    def choose(self, quant: str) -> None:
        self._chosen = quant
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # figures grow to the right everywhere
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        small = QFont(self.font())
        small.setPointSizeF(small.pointSizeF() * 0.8)
        painter.setFont(small)
        box = QRectF(34, 8, self.width() - 46, self.height() - 40)
        self._axes(painter, box, ink)
        taken: list[QRectF] = []
        for quant, size, error in self._points:
            at = self._place(box, size, error)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("accent", self.palette()))
            painter.drawEllipse(at, 3.5, 3.5)
            if quant == self._chosen:
                painter.setPen(QPen(ink, 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawEllipse(at, 7, 7)
            self._label(painter, at, quant, box, taken, ink)
        painter.end()

    def _label(self, painter: QPainter, at: QPointF, text: str, box: QRectF, taken: list[QRectF], ink: QColor) -> None:
        """The dot's name beside it, where no other name stands; left out where there is no room."""
        width, height = painter.fontMetrics().horizontalAdvance(text), painter.fontMetrics().height()
        for dx, dy in ((9, -height / 2), (-9 - width, -height / 2), (-width / 2, -height - 7), (-width / 2, 7)):
            label = QRectF(at.x() + dx, at.y() + dy, width, height)
            if box.adjusted(-2, -6, 10, 6).contains(label) and not any(label.intersects(t) for t in taken):
                painter.setPen(ink)
                painter.drawText(label, text)
                taken.append(label)
                return

    def _place(self, box: QRectF, size: float, error: float) -> QPointF:
        sizes, errors = [p[1] for p in self._points], [p[2] for p in self._points]
        x = (size - min(sizes)) / (max(sizes) - min(sizes) or 1)
        y = (error - min(errors)) / (max(errors) - min(errors) or 1)
        return QPointF(box.left() + 10 + x * (box.width() - 20), box.bottom() - 10 - y * (box.height() - 20))

    def _axes(self, painter: QPainter, box: QRectF, ink: QColor) -> None:
        painter.setPen(QPen(theme.faded(ink, 0.4), 1))
        painter.drawLine(box.bottomLeft(), box.topLeft())
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.setPen(theme.faded(ink, 0.7))
        sizes, errors = [p[1] for p in self._points], [p[2] for p in self._points]
        below = QRectF(box.left(), box.bottom() + 2, box.width(), 16)
        painter.drawText(below, int(Qt.AlignmentFlag.AlignLeft), f"{min(sizes):.0f}")
        painter.drawText(below, int(Qt.AlignmentFlag.AlignRight), f"{max(sizes):.0f} MB")
        painter.drawText(QRectF(0, box.top(), 30, 16), int(Qt.AlignmentFlag.AlignRight), theme.percent(max(errors), 1))
        painter.drawText(
            QRectF(0, box.bottom() - 16, 30, 16), int(Qt.AlignmentFlag.AlignRight), theme.percent(min(errors), 1)
        )
        title = self.tr("size against words wrong")
        painter.drawText(below.translated(0, 14), int(Qt.AlignmentFlag.AlignHCenter), title)
