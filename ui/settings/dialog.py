"""The settings window: pages on the left, a search field above them, changes apply at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QStackedWidget, QVBoxLayout, QWidget

from dictation import events
from ui import theme
from ui.core import Core
from ui.settings.editors import ChoiceEditor
from ui.settings.extras import DeleteEverything, RewritePreview
from ui.settings.hotkey import HotkeyEditor
from ui.settings.page import Page, model_pairs
from ui.settings.server import ServerNote

WIDTH, HEIGHT, LEAST_WIDTH, LIST_WIDTH = 760, 640, 560, 156


class SettingsWindow(QWidget):
    """One window for everything that can be set.

    pages: further pages as (name, title, widget), placed after those of the table.
    delete_all: empties the history; None where there is none.
    """

    def __init__(
        self,
        core: Core,
        pages: list[tuple[str, str, QWidget]] | None = None,
        delete_all: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._core = core
        self._recording = self._paused = False  # hotkeys rest while one is being recorded
        self._preview = RewritePreview(core.settings)
        self.setObjectName("settings")
        self.setWindowTitle(self.tr("Sayso settings"))
        self.setWindowIcon(theme.app_icon())
        self.setMinimumWidth(LEAST_WIDTH)
        self.resize(WIDTH, HEIGHT)
        self._search = QLineEdit()
        self._search.setObjectName("search")
        self._search.setPlaceholderText(self.tr("Find a setting"))
        self._search.setAccessibleName(self.tr("Find a setting"))
        self._search.setClearButtonEnabled(True)
        self._search.setMinimumHeight(theme.CONTROL_HEIGHT)
        self._search.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self._search.textChanged.connect(self._find)
        self._list = QListWidget()
        self._list.setObjectName("pages")
        self._list.setAccessibleName(self.tr("Pages"))
        self._nothing = theme.Quiet(self.tr("No setting has these words."))
        self._nothing.setObjectName("nothing")
        self._nothing.hide()
        self._list.setFrameShape(QListWidget.Shape.NoFrame)
        self._list.setIconSize(QSize(16, 16))
        self._stack = QStackedWidget()
        self._list.currentRowChanged.connect(self._stack.setCurrentIndex)
        self._pages: list[Page] = []
        self._build()
        self.page("rewrite").insert(self._preview, above=True)
        self._server = ServerNote(core.settings)
        self.page("server").insert(self._server)
        if delete_all is not None:
            self.page("privacy").insert(DeleteEverything(delete_all))
        for editor in self.findChildren(HotkeyEditor):
            editor.recording.connect(self._record_hotkey)
        for name, title, widget in pages or []:
            self.add(name, title, widget)
        self._list.setCurrentRow(0)

    def _build(self) -> None:
        left = QVBoxLayout()
        left.setContentsMargins(theme.GAP, theme.GAP, theme.GAP, theme.GAP)
        left.setSpacing(theme.GAP)
        left.addWidget(self._search)
        left.addWidget(self._nothing)
        left.addWidget(self._list)
        side = QWidget()
        side.setLayout(left)
        side.setFixedWidth(LIST_WIDTH + 2 * theme.GAP)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(side)
        row.addWidget(self._stack, 1)
        titles = {
            "general": self.tr("General"),
            "microphone": self.tr("Microphone"),
            "hotkeys": self.tr("Hotkeys"),
            "recognition": self.tr("Recognition"),
            "rewrite": self.tr("Text rules"),
            "insertion": self.tr("Insertion"),
            "privacy": self.tr("Privacy"),
            "server": self.tr("Local API"),
            "advanced": self.tr("Advanced"),
        }
        for name, title in titles.items():
            page = Page(name, title, self._core.settings, self._change)
            self._pages.append(page)
            self.add(name, title, page)

    def add(self, name: str, title: str, widget: QWidget) -> None:
        """One more page; an icon of its name is taken when there is one."""
        item = QListWidgetItem(_icon(name), title)
        item.setSizeHint(QSize(0, theme.CONTROL_HEIGHT + 2))
        item.setData(Qt.ItemDataRole.UserRole, name)
        self._list.addItem(item)
        self._stack.addWidget(widget)

    def page(self, name: str) -> Page:
        return next(p for p in self._pages if p.page == name)

    def show_page(self, name: str) -> None:
        """Open the window at a page."""
        for i in range(self._list.count()):
            if self._list.item(i).data(Qt.ItemDataRole.UserRole) == name:
                self._list.setCurrentRow(i)
        self.show()
        self.raise_()
        self.activateWindow()

    def current_page(self) -> str:
        """The name of the page that shows."""
        return str(self._list.currentItem().data(Qt.ItemDataRole.UserRole))

    def see(self, event: events.Event) -> None:
        """Keep up with changes from elsewhere: the command line, the tray."""
        match event:
            case events.SettingsChanged():
                for page in self._pages:
                    page.show_values(self._core.settings, event.keys)
                self._preview.show_settings(self._core.settings)
                self._server.show_settings(self._core.settings)
            case events.MicrophonesListed():
                default = next((m.label for m in event.microphones if m.default), "")
                first = self.tr("The system's default") + (f" ({default})" if default else "")
                self._offer("microphone.device", [("", first), *((m.name, m.label) for m in event.microphones)])
            case events.HotkeysPaused() if not self._recording:
                self._paused = event.paused

    def refresh(self) -> None:
        """Models came or went."""
        self._offer("recognition.model", model_pairs())

    def showEvent(self, event: object) -> None:
        self._core.send(events.ListMicrophones())
        self.refresh()

    def _offer(self, key: str, pairs: list[tuple[str, str]]) -> None:
        editor = self.page(key.partition(".")[0]).row(key).editor
        if isinstance(editor, ChoiceEditor):
            editor.set_pairs(pairs)

    def _record_hotkey(self, on: bool) -> None:
        self._recording = on
        self._core.send(events.PauseHotkeys(on or self._paused))

    def _change(self, key: str, value: Any) -> None:
        self._core.send(events.ChangeSettings({key: value}))

    def _find(self, words: str) -> None:
        """Pages without a match are hidden; the first with one comes to the front."""
        first = None
        for i, page in enumerate(self._pages):
            hits = page.filter(words)
            self._list.item(i).setHidden(bool(words) and hits == 0)
            if hits and first is None:
                first = i
        for i in range(len(self._pages), self._list.count()):
            self._list.item(i).setHidden(bool(words) and words.casefold() not in self._list.item(i).text().casefold())
        visible = [i for i in range(self._list.count()) if not self._list.item(i).isHidden()]
        first = first if first is not None else next(iter(visible), None)
        self._nothing.setVisible(not visible)
        if words and first is not None and self._list.item(self._list.currentRow()).isHidden():
            self._list.setCurrentRow(first)


def _icon(name: str) -> QIcon:
    try:
        return theme.icon(name)
    except FileNotFoundError:
        return QIcon()
