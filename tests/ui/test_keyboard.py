"""Every window by keyboard alone: Tab reaches each control, stays in none, and each tells a screen reader its name."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from tests import screenshots
from ui.overlay import Overlay


class TabKey:
    """A camera that goes through a window by Tab instead of taking its picture."""

    def __init__(self) -> None:
        self.count, self.faults = 0, set[str]()

    def take(self, window: QWidget, name: str) -> None:
        if isinstance(window, (QMenu, Overlay)):  # arrows; no keys at all
            return
        window.show()
        window.activateWindow()
        for _ in range(12):
            QApplication.sendPostedEvents()
            QApplication.processEvents()
        wanted = {part for part in window.findChildren(QWidget) if self._takes_focus(part, window)}
        for part in wanted:
            face = QAccessible.queryAccessibleInterface(part)
            if not face.text(QAccessible.Text.Name):
                self._fault(name, "has no name", part)
        for part in wanted - self._visited(name, len(wanted)):
            self._fault(name, "can't be reached", part)
        self.count += len(wanted)

    def _takes_focus(self, part: QWidget, window: QWidget) -> bool:
        by_tab = bool(part.focusPolicy() & Qt.FocusPolicy.TabFocus) and part.focusProxy() is None
        return by_tab and part.isVisibleTo(window) and part.isEnabled()

    def _visited(self, name: str, count: int) -> set[QWidget]:
        visited = set[QWidget]()
        for _ in range(count + 2):
            if (now := QApplication.focusWidget()) is None:
                break
            visited.add(now)
            QTest.keyClick(now, Qt.Key.Key_Tab)
            if QApplication.focusWidget() is now:
                self._fault(name, "keeps the focus", now)
                break
        return visited

    def _fault(self, name: str, what: str, part: QWidget) -> None:
        self.faults.add(f"{name}: {type(part).__name__} {part.objectName() or part.accessibleName()} {what}")


def test_tab_reaches_every_control_stays_in_none_and_all_have_names(home: Path, qapp: QApplication) -> None:
    screenshots.fill(home)
    keys = TabKey()
    screenshots.draw_all(keys)  # type: ignore[arg-type]
    assert keys.count > 100 and not keys.faults
