"""What keys are called in the interface's language. The settings write their English names."""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

NAMES = (
    QT_TRANSLATE_NOOP("keys", "Alt"),
    QT_TRANSLATE_NOOP("keys", "Backspace"),
    QT_TRANSLATE_NOOP("keys", "Caps Lock"),
    QT_TRANSLATE_NOOP("keys", "Ctrl"),
    QT_TRANSLATE_NOOP("keys", "Delete"),
    QT_TRANSLATE_NOOP("keys", "Down"),
    QT_TRANSLATE_NOOP("keys", "End"),
    QT_TRANSLATE_NOOP("keys", "Escape"),
    QT_TRANSLATE_NOOP("keys", "Home"),
    QT_TRANSLATE_NOOP("keys", "Insert"),
    QT_TRANSLATE_NOOP("keys", "Left"),
    QT_TRANSLATE_NOOP("keys", "Left Alt"),
    QT_TRANSLATE_NOOP("keys", "Left Ctrl"),
    QT_TRANSLATE_NOOP("keys", "Left Shift"),
    QT_TRANSLATE_NOOP("keys", "Left Super"),
    QT_TRANSLATE_NOOP("keys", "Menu"),
    QT_TRANSLATE_NOOP("keys", "Page Down"),
    QT_TRANSLATE_NOOP("keys", "Page Up"),
    QT_TRANSLATE_NOOP("keys", "Pause"),
    QT_TRANSLATE_NOOP("keys", "Print"),
    QT_TRANSLATE_NOOP("keys", "Return"),
    QT_TRANSLATE_NOOP("keys", "Right"),
    QT_TRANSLATE_NOOP("keys", "Right Alt"),
    QT_TRANSLATE_NOOP("keys", "Right Ctrl"),
    QT_TRANSLATE_NOOP("keys", "Right Shift"),
    QT_TRANSLATE_NOOP("keys", "Right Super"),
    QT_TRANSLATE_NOOP("keys", "Scroll Lock"),
    QT_TRANSLATE_NOOP("keys", "Shift"),
    QT_TRANSLATE_NOOP("keys", "Space"),
    QT_TRANSLATE_NOOP("keys", "Super"),
    QT_TRANSLATE_NOOP("keys", "Tab"),
    QT_TRANSLATE_NOOP("keys", "Up"),
)


def shown(binding: str) -> str:
    """ "Ctrl+Alt+Space" as people read it."""
    return "+".join(QCoreApplication.translate("keys", part) for part in binding.split("+"))
