"""Small widgets that every window uses."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ui import theme

BUTTON_AIR = 16  # pixels around the words of a button, besides the style's own


class Button(QPushButton):
    """With air around its words, whatever the style does."""

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width() + BUTTON_AIR, max(hint.height(), theme.CONTROL_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


def button(text: str, act: Callable[[], object]) -> Button:
    made = Button(text)
    made.clicked.connect(lambda checked: act())
    return made


def heading(text: str, factor: float = 1.15) -> theme.Label:
    label = theme.Label(text)
    font = label.font()
    font.setPointSizeF(font.pointSizeF() * factor)
    font.setWeight(font.Weight.DemiBold)
    label.setFont(font)
    return label


def side_by_side(*widgets: QWidget) -> QHBoxLayout:
    """From the left, each as wide as it wants to be."""
    row = QHBoxLayout()
    for widget in widgets:
        row.addWidget(widget)
    row.addStretch(1)
    return row


class Reflow(QWidget):
    """Two parts beside each other, or above each other where that is too narrow."""

    def __init__(self, first: QWidget, second: QWidget) -> None:
        super().__init__()
        self._parts = (first, second)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(0, 0, 0, 0)
        self._box.addWidget(first, 1)
        self._box.addWidget(second)

    def minimumSizeHint(self) -> QSize:
        return QSize(max(part.minimumSizeHint().width() for part in self._parts), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        wanted = sum(part.sizeHint().width() for part in self._parts) + self._box.spacing()
        sides = QBoxLayout.Direction
        self._box.setDirection(sides.LeftToRight if wanted <= self.width() else sides.TopToBottom)


class Card(QFrame):
    """A framed group of widgets."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(theme.WIDE_GAP, theme.GAP, theme.WIDE_GAP, theme.GAP)
        self.column.setSpacing(8)
