"""A settings page made from the table: each setting with its label, editor, one sentence of help, and a reset."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from dictation import settings as table
from dictation.settings import Setting
from engine import store
from ui import theme
from ui.settings import editors, languages, tables
from ui.settings.editors import Editor
from ui.settings.hotkey import HotkeyEditor
from ui.widgets import heading

Change = Callable[[str, Any], None]


def make_editor(setting: Setting) -> Editor:
    """The editor for a row of the table."""
    if setting.widget == "hotkey":
        return HotkeyEditor(setting)
    if setting.widget == "replacements":
        return tables.TableEditor(setting, tables.REPLACEMENT_COLUMNS)
    if setting.widget == "program_rules":
        return tables.TableEditor(setting, tables.PROGRAM_COLUMNS)
    if setting.widget == "microphone":
        return editors.ChoiceEditor(setting, [("", QCoreApplication.translate("page", "The system's default"))])
    if setting.widget == "language":
        auto = ("auto", QCoreApplication.translate("page", "Automatic"))
        return editors.ChoiceEditor(setting, [auto, *languages.named()])
    if setting.widget == "languages":
        return languages.LanguagesEditor(setting)
    if setting.widget == "model":
        return editors.ChoiceEditor(setting, model_pairs())
    kinds: dict[str, type[Editor]] = {
        "switch": editors.SwitchEditor,
        "choice": editors.ChoiceEditor,
        "whole": editors.NumberEditor,
        "number": editors.NumberEditor,
        "list": editors.WordsEditor,
    }
    return kinds.get(setting.kind, editors.TextEditor)(setting)


def model_pairs() -> list[tuple[str, str]]:
    """Installed models, and the choice of none in particular."""
    any_ = ("", QCoreApplication.translate("page", "Whatever is installed"))
    return [any_, *((m.label, f"{m.name} {m.quant}") for m in store.installed())]


class Row(QFrame):
    """One setting. Its name in the object tree is "row:" and the key."""

    def __init__(self, setting: Setting, value: Any, change: Change) -> None:
        super().__init__()
        self.setObjectName(f"row:{setting.key}")
        self.setting = setting
        self.editor = make_editor(setting)
        self._change = change
        self._reset = QPushButton(QCoreApplication.translate("page", "Reset"))
        self._reset.setFlat(True)
        self._reset.setAccessibleName(
            QCoreApplication.translate("page", "Reset {setting}").format(setting=editors.say(setting.label))
        )
        self._reset.clicked.connect(self._to_default)
        self._build()
        self.editor.set_value(value)
        self._mark(value)
        self.editor.edited.connect(self._edited)

    def _build(self) -> None:
        setting = self.setting
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        label = theme.Label(editors.say(setting.label))
        label.setBuddy(self.editor)
        label.setWordWrap(True)
        wide = setting.kind in ("list", "table")
        top = QHBoxLayout()
        top.setSpacing(theme.GAP)
        if setting.kind == "switch":
            top.addWidget(self.editor, 1)
        else:
            top.addWidget(label, 1)
            if not wide:
                top.addWidget(self.editor)
        top.addWidget(self._reset)
        column.addLayout(top)
        if wide:
            column.addWidget(self.editor)
        help_ = theme.Quiet(editors.say(setting.help))
        if setting.kind == "switch":
            help_.setIndent(24)
        column.addWidget(help_)

    def show_value(self, value: Any) -> None:
        if value != self.editor.value():  # an editor that shows it already keeps its cursor and its open cell
            self.editor.set_value(value)
        self._mark(value)

    def _mark(self, value: Any) -> None:
        policy = self._reset.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._reset.setSizePolicy(policy)
        self._reset.setVisible(value != self.setting.default)

    def _edited(self) -> None:
        value = self.editor.value()
        self._mark(value)
        self._change(self.setting.key, value)

    def _to_default(self) -> None:
        self.show_value(self.setting.default)
        self._change(self.setting.key, self.setting.default)

    def matches(self, words: str) -> bool:
        """Whether a search finds this setting, by label, help or key."""
        text = f"{editors.say(self.setting.label)} {editors.say(self.setting.help)} {self.setting.key}".casefold()
        return all(word in text for word in words.casefold().split())


class Page(QScrollArea):
    """All rows of one page of the table, with `extra` widgets above or below them."""

    def __init__(self, page: str, title: str, values: table.Settings, change: Change) -> None:
        super().__init__()
        self.page, self.title = page, title
        self.setObjectName(f"page:{page}")
        self.setAccessibleName(title)  # it takes the focus, for the keys that scroll
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        holder = QWidget()
        self.column = QVBoxLayout(holder)
        self.column.setContentsMargins(theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP)
        self.column.setSpacing(theme.WIDE_GAP)
        self.column.addWidget(heading(title, 1.4))
        self.rows = [Row(s, values[s.key], change) for s in table.TABLE if s.page == page and not s.hidden]
        for row in self.rows:
            self.column.addWidget(row)
            if isinstance(row.editor, HotkeyEditor):
                row.editor.others = partial(self._other_hotkeys, row)
        self.column.addStretch(1)
        self.setWidget(holder)

    def row(self, key: str) -> Row:
        return next(row for row in self.rows if row.setting.key == key)

    def insert(self, widget: QWidget, above: bool = False) -> None:
        """Put a widget of the page's own above or below the rows."""
        self.column.insertWidget(1 if above else self.column.count() - 1, widget)

    def show_values(self, values: table.Settings, keys: Collection[str]) -> None:
        """Show these settings anew; the others keep what is just being typed."""
        for row in self.rows:
            if row.setting.key in keys:
                row.show_value(values[row.setting.key])

    def _other_hotkeys(self, own: Row) -> dict[str, str]:
        hotkeys = [row for row in self.rows if isinstance(row.editor, HotkeyEditor) and row is not own]
        return {editors.say(row.setting.label): row.editor.value() for row in hotkeys}

    def filter(self, words: str) -> int:
        """Show only the rows that match; returns how many do."""
        found = 0
        for row in self.rows:
            hit = row.matches(words)
            row.setVisible(hit)
            found += hit
        return found
