"""Editors for single settings: one widget per kind of value, made from a row of the settings table.

Each editor has `value()`, `set_value(v)` and the signal `edited`, which comes when the person is done with a change.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QBoxLayout,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from dictation.settings import Setting
from ui import theme

# what choices are called on screen; the rest is the choice with its underscores opened
CHOICE_WORDS = {
    "general.interface_language:system": "Like the desktop",
    "general.interface_language:en": "English",
    "general.interface_language:de": "Deutsch",
    "general.theme:system": "Like the desktop",
    "general.overlay_place:caret": "Near the text cursor",
    "hotkeys.mode:tap_or_hold": "Tap or hold",
    "hotkeys.mode:hold": "Hold only",
    "hotkeys.mode:toggle": "Press to start, press to stop",
    "recognition.device:cpu": "Processor",
    "recognition.device:gpu": "Graphics card",
    "insertion.method:keys": "Typing",
    "insertion.method:paste": "Pasting",
    "advanced.log_level:debug": "Debug",
}


class Editor(QWidget):
    """Root of the editors. Signals: edited(): the value was changed by the person."""

    edited = Signal()

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting = setting
        self.setObjectName(setting.key)
        row = self._make_layout()
        row.setContentsMargins(0, 0, 0, 0)

    def _make_layout(self) -> QBoxLayout:
        return QHBoxLayout(self)

    def _hold(self, control: QWidget) -> None:
        self._name(control)
        control.setMinimumHeight(theme.CONTROL_HEIGHT)
        self.setFocusProxy(control)
        self.layout().addWidget(control)

    def _name(self, control: QWidget) -> None:
        control.setAccessibleName(say(self.setting.label))
        control.setAccessibleDescription(say(self.setting.help))

    def _emit(self) -> None:
        self.edited.emit()

    def value(self) -> Any:
        raise NotImplementedError

    def set_value(self, value: Any) -> None:
        raise NotImplementedError


def say(text: str) -> str:
    """A text of the settings table in the interface's language."""
    return QCoreApplication.translate("settings", text)


class _Wrapping(theme.Label):
    """The words beside a check box, which can't wrap its own; a click on them counts as one on the box."""

    clicked = Signal()

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setWordWrap(True)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class SwitchEditor(Editor):
    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._box = QCheckBox()
        self._box.clicked.connect(self._emit)
        self._hold(self._box)
        words = _Wrapping(say(setting.label))
        words.clicked.connect(self._box.click)
        self.layout().addWidget(words, 1)

    def value(self) -> bool:
        return self._box.isChecked()

    def set_value(self, value: bool) -> None:
        self._box.setChecked(value)


class Combo(QComboBox):
    """A combo box that leaves the wheel to the page unless it has the focus. wide: pixels, where there is room."""

    def __init__(self, wide: int = 240) -> None:
        super().__init__()
        self._wide = wide
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumWidth(96)

    def sizeHint(self) -> QSize:
        return QSize(self._wide, super().sizeHint().height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceEditor(Editor):
    """Choices of the table, or `pairs` of (value, words) where they come from elsewhere."""

    def __init__(self, setting: Setting, pairs: list[tuple[str, str]] | None = None) -> None:
        super().__init__(setting)
        self._box = Combo()
        self.set_pairs(pairs or [(c, choice_words(setting, c)) for c in setting.choices])
        self._box.activated.connect(self._emit)
        self._hold(self._box)

    def set_pairs(self, pairs: list[tuple[str, str]]) -> None:
        """Offer these; the value stays, also when it is not among them (an unplugged microphone)."""
        value = self.value() if self._box.count() else None
        self._box.clear()
        for choice, words in pairs:
            self._box.addItem(words, choice)
        if value is not None:
            self.set_value(value)

    def value(self) -> str:
        return str(self._box.currentData() or "")

    def set_value(self, value: str) -> None:
        index = self._box.findData(value)
        if index < 0:
            self._box.addItem(value, value)
            index = self._box.count() - 1
        self._box.setCurrentIndex(index)


def choice_words(setting: Setting, choice: str) -> str:
    return QCoreApplication.translate("choices", choice_words_in_english(setting, choice))


def choice_words_in_english(setting: Setting, choice: str) -> str:
    return CHOICE_WORDS.get(f"{setting.key}:{choice}", choice.replace("_", " ").capitalize())


class NumberEditor(Editor):
    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        box: QSpinBox | QDoubleSpinBox = QSpinBox() if setting.kind == "whole" else QDoubleSpinBox()
        box.setRange(setting.least or 0, setting.most or 0)  # type: ignore[arg-type]
        if isinstance(box, QDoubleSpinBox):
            box.setDecimals(1)
            box.setSingleStep(0.5)
        if setting.unit:
            box.setSuffix(f" {QCoreApplication.translate('units', setting.unit)}")
        box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        box.setStepType(QAbstractSpinBox.StepType.AdaptiveDecimalStepType)
        box.setKeyboardTracking(False)
        box.setMinimumWidth(120)
        box.valueChanged.connect(self._emit)
        self._box = box
        self._hold(box)
        self.layout().addStretch(1)

    def value(self) -> int | float:
        return self._box.value()

    def set_value(self, value: float) -> None:
        self._box.blockSignals(True)
        self._box.setValue(value)  # type: ignore[arg-type]
        self._box.blockSignals(False)


class _Line(QLineEdit):
    """As wide as an address, where there is room."""

    def sizeHint(self) -> QSize:
        return QSize(240, super().sizeHint().height())


class TextEditor(Editor):
    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._box = _Line()
        self._box.setMinimumWidth(160)
        self._box.setClearButtonEnabled(True)
        self._box.editingFinished.connect(self._done)
        self._last = ""
        self._hold(self._box)

    def _done(self) -> None:
        if self._box.text() != self._last:
            self._last = self._box.text()
            self.edited.emit()

    def value(self) -> str:
        return self._box.text()

    def set_value(self, value: str) -> None:
        self._last = value
        self._box.setText(value)


class _Lines(QPlainTextEdit):
    done = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.done.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Tab:  # Tab goes on to the next control; a list of words needs none
            event.ignore()
            return
        super().keyPressEvent(event)


class WordsEditor(Editor):
    """A list of texts, one a line."""

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._box = _Lines()
        self._box.setPlaceholderText(QCoreApplication.translate("editors", "One per line"))
        self._box.setTabChangesFocus(True)
        self._box.done.connect(self._done)
        self._last: tuple[str, ...] = ()
        self._hold(self._box)
        self._box.setFixedHeight(112)

    def _done(self) -> None:
        if self.value() != self._last:
            self._last = self.value()
            self.edited.emit()

    def value(self) -> tuple[str, ...]:
        return tuple(line.strip() for line in self._box.toPlainText().splitlines() if line.strip())

    def set_value(self, value: tuple[str, ...]) -> None:
        self._last = tuple(value)
        self._box.setPlainText("\n".join(value))


def stacked(*parts: QWidget) -> QWidget:
    """Widgets above each other without margins."""
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(8)
    for part in parts:
        column.addWidget(part)
    return holder
