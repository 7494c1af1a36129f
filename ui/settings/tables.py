"""Editors for settings that are tables: replacements, and rules per program. A row is added below, deleted with Del."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from dictation.settings import Setting
from ui import theme
from ui.settings.editors import Combo, Editor
from ui.widgets import button, side_by_side


@dataclass(frozen=True)
class Column:
    key: str
    title: str
    kind: str  # "text", "switch", or choices separated by spaces
    default: Any = ""
    wide: bool = False


REPLACEMENT_COLUMNS = (
    Column("find", QT_TRANSLATE_NOOP("columns", "When you say"), "text", wide=True),
    Column("replace", QT_TRANSLATE_NOOP("columns", "Write"), "text", wide=True),
    Column("match_case", QT_TRANSLATE_NOOP("columns", "Same case"), "switch", False),
    Column("is_pattern", QT_TRANSLATE_NOOP("columns", "Pattern"), "switch", False),
    Column("enabled", QT_TRANSLATE_NOOP("columns", "On"), "switch", True),
)
PROGRAM_COLUMNS = (
    Column("program", QT_TRANSLATE_NOOP("columns", "Program"), "text", wide=True),
    Column("method", QT_TRANSLATE_NOOP("columns", "Insert by"), "auto paste keys", "auto"),
    Column("trailing", QT_TRANSLATE_NOOP("columns", "After it"), "nothing space enter", "nothing"),
)
CHOICE_WIDTH = 128
CHOICES = {
    "auto": QT_TRANSLATE_NOOP("choices", "Auto"),
    "paste": QT_TRANSLATE_NOOP("choices", "Pasting"),
    "keys": QT_TRANSLATE_NOOP("choices", "Typing"),
    "nothing": QT_TRANSLATE_NOOP("choices", "Nothing"),
    "space": QT_TRANSLATE_NOOP("choices", "Space"),
    "enter": QT_TRANSLATE_NOOP("choices", "Enter"),
}


class TableEditor(Editor):
    """Rows of named values. Rows whose first column is empty are not part of the value."""

    def __init__(self, setting: Setting, columns: tuple[Column, ...]) -> None:
        super().__init__(setting)
        self._columns = columns
        self._filling = False
        self._table = QTableWidget(0, len(columns))
        self._table.setHorizontalHeaderLabels([QCoreApplication.translate("columns", c.title) for c in columns])
        self._table.verticalHeader().hide()
        self._table.verticalHeader().setDefaultSectionSize(theme.CONTROL_HEIGHT)
        self._table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._table.setMinimumHeight(180)
        self._table.setTabKeyNavigation(False)  # Tab leaves it; arrows go from cell to cell
        header = self._table.horizontalHeader()
        for i, column in enumerate(columns):
            mode = QHeaderView.ResizeMode.Stretch if column.wide else QHeaderView.ResizeMode.ResizeToContents
            header.setSectionResizeMode(i, mode)
        self._table.itemChanged.connect(self._changed)
        QShortcut(QKeySequence(Qt.Key.Key_Delete), self._table, self._delete, context=Qt.ShortcutContext.WidgetShortcut)
        self._hold(self._frame())
        self._name(self._table)
        self.setFocusProxy(self._table)

    def _frame(self) -> QWidget:
        frame = QWidget()
        column = QVBoxLayout(frame)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._table)
        add, delete = button(self.tr("Add"), self._add), button(self.tr("Delete"), self._delete)
        column.addLayout(side_by_side(add, delete))
        return frame

    def value(self) -> tuple[dict[str, Any], ...]:
        rows = [self._row(i) for i in range(self._table.rowCount())]
        return tuple(row for row in rows if str(row[self._columns[0].key]).strip())

    def set_value(self, value: tuple[dict[str, Any], ...]) -> None:
        self._filling = True
        self._table.setRowCount(0)
        for row in value:
            self._append(row)
        self._filling = False

    def _append(self, row: dict[str, Any]) -> None:
        at = self._table.rowCount()
        self._table.insertRow(at)
        for i, column in enumerate(self._columns):
            value = row.get(column.key, column.default)
            item = QTableWidgetItem(str(value) if column.kind == "text" else "")
            if column.kind == "switch":
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if value else Qt.CheckState.Unchecked)
            self._table.setItem(at, i, item)
            if " " in column.kind:
                box = Combo(wide=CHOICE_WIDTH)
                box.setAccessibleName(QCoreApplication.translate("columns", column.title))
                for choice in column.kind.split():
                    box.addItem(QCoreApplication.translate("choices", CHOICES[choice]), choice)
                box.setCurrentIndex(max(0, box.findData(value)))
                box.activated.connect(self._changed)
                self._table.setCellWidget(at, i, box)

    def _row(self, at: int) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for i, column in enumerate(self._columns):
            item, box = self._table.item(at, i), self._table.cellWidget(at, i)
            if isinstance(box, Combo):
                row[column.key] = box.currentData()
            elif column.kind == "switch":
                row[column.key] = item is not None and item.checkState() is Qt.CheckState.Checked
            else:
                row[column.key] = item.text() if item else ""
        return row

    def _add(self) -> None:
        self._filling = True
        self._append({})
        self._filling = False
        at = self._table.rowCount() - 1
        self._table.setCurrentCell(at, 0)
        self._table.editItem(self._table.item(at, 0))

    def _delete(self) -> None:
        rows = {index.row() for index in self._table.selectedIndexes()}
        for at in sorted(rows, reverse=True):
            self._table.removeRow(at)
        if rows:
            self.edited.emit()

    def _changed(self) -> None:
        if not self._filling:
            self.edited.emit()
