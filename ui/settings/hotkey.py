"""Records a hotkey: press the keys that you want, and they stand there. Refuses bad choices and says why."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QPalette
from PySide6.QtWidgets import QBoxLayout, QPushButton, QVBoxLayout

from dictation.hotkey_choice import why_not
from dictation.settings import Setting
from ui import keynames, theme
from ui.sentences import say
from ui.settings.editors import Editor

# X11 keycodes of modifiers by side: Qt tells them apart by these alone
_SIDES = {
    37: "Left Ctrl",
    105: "Right Ctrl",
    50: "Left Shift",
    62: "Right Shift",
    64: "Left Alt",
    108: "Right Alt",
    133: "Left Super",
    134: "Right Super",
}
_NAMES = {
    Qt.Key.Key_Space: "Space",
    Qt.Key.Key_Escape: "Escape",
    Qt.Key.Key_Pause: "Pause",
    Qt.Key.Key_ScrollLock: "Scroll Lock",
    Qt.Key.Key_Insert: "Insert",
    Qt.Key.Key_Menu: "Menu",
    Qt.Key.Key_Return: "Return",
    Qt.Key.Key_Enter: "Return",
    Qt.Key.Key_Tab: "Tab",
    Qt.Key.Key_Backtab: "Tab",
    Qt.Key.Key_Backspace: "Backspace",
    Qt.Key.Key_Delete: "Delete",
    Qt.Key.Key_Home: "Home",
    Qt.Key.Key_End: "End",
    Qt.Key.Key_PageUp: "Page Up",
    Qt.Key.Key_PageDown: "Page Down",
    Qt.Key.Key_Up: "Up",
    Qt.Key.Key_Down: "Down",
    Qt.Key.Key_Left: "Left",
    Qt.Key.Key_Right: "Right",
    Qt.Key.Key_Print: "Print",
    Qt.Key.Key_CapsLock: "Caps Lock",
}
_MODIFIER_KEYS = {
    Qt.Key.Key_Control: "Right Ctrl",
    Qt.Key.Key_Shift: "Right Shift",
    Qt.Key.Key_Alt: "Left Alt",
    Qt.Key.Key_AltGr: "Right Alt",
    Qt.Key.Key_Meta: "Right Super",
    Qt.Key.Key_Super_L: "Left Super",
    Qt.Key.Key_Super_R: "Right Super",
}


def binding_of(event: QKeyEvent) -> str:
    """The name of a key press as the settings write it: "Ctrl+Alt+Space", "F9", "Right Ctrl"."""
    key = Qt.Key(event.key())
    if key in _MODIFIER_KEYS:
        return _SIDES.get(event.nativeScanCode(), _MODIFIER_KEYS[key])
    words = [
        name
        for flag, name in (
            (Qt.KeyboardModifier.ControlModifier, "Ctrl"),
            (Qt.KeyboardModifier.AltModifier, "Alt"),
            (Qt.KeyboardModifier.ShiftModifier, "Shift"),
            (Qt.KeyboardModifier.MetaModifier, "Super"),
        )
        if event.modifiers() & flag
    ]
    if Qt.Key.Key_F1 <= key <= Qt.Key.Key_F35:
        words.append(f"F{int(key) - int(Qt.Key.Key_F1) + 1}")
    elif key in _NAMES:
        words.append(_NAMES[key])
    elif 0x20 < int(key) < 0xFFFF:  # a character, whatever Ctrl makes of its text
        words.append(chr(int(key)).upper())
    else:
        words.append(key.name.removeprefix("Key_"))
    return "+".join(words)


class HotkeyEditor(Editor):
    """A button that shows the binding; clicked, it takes the next keys. Backspace takes the binding away.

    others: what the other hotkeys do, and their keys. Signals: recording(on): hotkeys should pause meanwhile.
    """

    recording = Signal(bool)

    def __init__(self, setting: Setting, others: Callable[[], dict[str, str]] = dict) -> None:
        super().__init__(setting)
        self.others = others
        self._binding = ""
        self._pending = ""  # a modifier that may turn out to be the whole binding
        self._button = QPushButton()
        self._button.setMinimumWidth(180)
        self._button.setCheckable(True)
        self._button.clicked.connect(self._show)
        self._button.toggled.connect(self.recording)
        self._button.installEventFilter(self)
        self._hold(self._button)
        self._problem = theme.Label()
        self._problem.setObjectName("problem")
        self._problem.setWordWrap(True)
        self._problem.hide()
        self.layout().addWidget(self._problem)

    def _make_layout(self) -> QBoxLayout:
        return QVBoxLayout(self)

    def value(self) -> str:
        return self._binding

    def set_value(self, value: str) -> None:
        self._binding = value
        self._show()

    def _show(self) -> None:
        if self._button.isChecked():
            self._button.setText(self.tr("Press the keys…"))
            self._tell("")
        else:
            self._button.setText(keynames.shown(self._binding) or self.tr("None: click to set"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self._button.isChecked() or not isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.FocusOut and self._button.isChecked():
                self._button.setChecked(False)
                self._pending = ""
                self._show()
            return False
        if event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
            binding = binding_of(event)
            if Qt.Key(event.key()) in _MODIFIER_KEYS:
                self._pending = binding
            else:
                self._take(binding)
        elif event.type() == QEvent.Type.KeyRelease and self._pending and not event.isAutoRepeat():
            self._take(self._pending)  # a modifier alone, pressed and let go
        return True

    def _take(self, binding: str) -> None:
        self._pending = ""
        self._button.setChecked(False)
        if binding in ("Backspace", "Delete") and self.setting.default == "":
            binding = ""
        elif reason := why_not(binding, self.others(), self.setting.key == "hotkeys.cancel"):
            self._tell(say(reason))
            self._show()
            return
        if binding != self._binding:
            self._binding = binding
            self.edited.emit()
        self._show()

    def _tell(self, reason: str) -> None:
        palette = QPalette()
        palette.setColor(QPalette.ColorRole.WindowText, theme.colour("red", self.palette()))
        self._problem.setPalette(palette)
        self._problem.setText(reason)
        self._problem.setVisible(bool(reason))
        if reason:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, reason))
