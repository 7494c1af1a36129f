"""Colours, icons and measures that every surface shares. Palette from the system, one accent of ours."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QLocale, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QLabel

import resources
from dictation.glance import Face

GAP, WIDE_GAP, PAGE_GAP = 12, 16, 24  # pixels, on the 8 px grid
CONTROL_HEIGHT = 32
EDGES = {"light": "#808080", "dark": "#9a9a9a"}  # 3:1 on their grounds
# whose edges these are; not QMenu's: a combo box paints the ground of its choices in that one's colour
EDGED = (
    "QCheckBox",
    "QListView",
    "QTableView",
    "TrayMenu",
    "QTextEdit",
    "QPlainTextEdit",
    "QLineEdit",
    "QAbstractSpinBox",
)
TEXT_WIDTH = 560  # about 68 characters
ICON_SIZES = (16, 22, 24, 32, 48, 64)
APP_ICON_SIZES = (16, 24, 32, 48, 64, 256)

# accent, amber, red: at least 4.5:1 on the window colour of their theme (tested)
_LIGHT = {"accent": "#1d6f5f", "amber": "#8a5300", "red": "#b3261e", "good": "#1d6f5f"}
_DARK = {"accent": "#6fd3bb", "amber": "#f0b45a", "red": "#ff8a80", "good": "#6fd3bb"}


def number(value: float, decimals: int = 0) -> str:
    """A number as the interface's language writes it."""
    return QLocale().toString(float(value), "f", decimals)


def percent(value: float, decimals: int = 0) -> str:
    return f"{number(value, decimals)} %"


def is_dark(palette: QPalette | None = None) -> bool:
    palette = palette or QGuiApplication.palette()
    return palette.color(QPalette.ColorRole.Window).lightness() < 128


def follow(scheme: str) -> None:
    """ "light", "dark", or "system": like the desktop."""
    schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
    QGuiApplication.styleHints().setColorScheme(schemes.get(scheme, Qt.ColorScheme.Unknown))


def show_edges() -> None:
    """Fusion draws edges of boxes and fields somewhat darker than a window: pale on a light one, lost in the dark."""
    own = QPalette()
    if QApplication.style().objectName() == "fusion":
        edge = QColor(EDGES["dark" if is_dark() else "light"])
        own.setColor(QPalette.ColorRole.Window, edge.lighter(140))  # Fusion takes it darker(140)
    for kind in EDGED:
        QApplication.setPalette(own, kind)


def colour(name: str, palette: QPalette | None = None) -> QColor:
    """ "accent", "amber" (held), "red" (errors only), "good"; for the palette's theme."""
    return QColor((_DARK if is_dark(palette) else _LIGHT)[name])


def face_colour(face: Face, palette: QPalette) -> QColor:
    """Shape tells the state; colour only supports it."""
    match face:
        case Face.LISTENING | Face.WORKING | Face.DONE:
            return colour("accent", palette)
        case Face.HELD:
            return colour("amber", palette)
        case Face.ERROR | Face.NO_MODEL:
            return colour("red", palette)
        case _:
            return palette.color(QPalette.ColorRole.WindowText)


def faded(base: QColor, share: float) -> QColor:
    """`base` at `share` of its opacity: tentative words stand at 0.6."""
    colour_ = QColor(base)
    colour_.setAlphaF(share)
    return colour_


class Label(QLabel):
    """A text on the side where the interface is read from, or on the other one (`trailing`).

    Qt goes by the text instead: right to left, a model's name would stand alone on the left.
    """

    def __init__(self, text: str = "", *, trailing: bool = False) -> None:
        super().__init__(text)
        self._trailing = trailing
        self._align()

    def _align(self) -> None:
        from_right = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if from_right is not self._trailing else Qt.AlignmentFlag.AlignLeft
        self.setAlignment(side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._align()


class Quiet(Label):
    """A text in grey: help, captions. Still 4.5:1 on both themes, and follows a change of theme."""

    def __init__(self, text: str = "", *, trailing: bool = False) -> None:
        super().__init__(text, trailing=trailing)
        self.setWordWrap(True)
        self._quieten()

    def _quieten(self) -> None:
        parent = self.parentWidget()
        around = parent.palette() if parent is not None else QGuiApplication.palette()
        own = QPalette()  # this one colour; all others go on coming from around
        own.setColor(QPalette.ColorRole.WindowText, faded(around.color(QPalette.ColorRole.WindowText), 0.72))
        self.setPalette(own)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.ParentChange):
            self._quieten()  # setting the palette that is there already sends no event


@lru_cache(maxsize=64)
def _svg(name: str, ink: str) -> QSvgRenderer:
    text = resources.path(f"icons/{name}.svg").read_text(encoding="utf-8").replace("currentColor", ink)
    return QSvgRenderer(QByteArray(text.encode()))


def draw(painter: QPainter, name: str, box: QRectF, ink: QColor) -> None:
    """Draw an icon of ours into `box`."""
    drawing = _svg(name, ink.name())
    painter.save()
    painter.setOpacity(painter.opacity() * ink.alphaF())
    drawing.render(painter, box)
    painter.restore()


@lru_cache(maxsize=128)
def _icon(name: str, ink: str, selected_ink: str) -> QIcon:
    icon = QIcon()
    for size in ICON_SIZES:
        icon.addPixmap(_pixmap(name, ink, size))
        if selected_ink != ink:
            icon.addPixmap(_pixmap(name, selected_ink, size), QIcon.Mode.Selected)
    return icon


def _pixmap(name: str, ink: str, size: int) -> QPixmap:
    drawing = _svg(name, ink)  # before the painter: a fault between its begin and its end ends the process
    pixmap = QPixmap(QSize(size, size))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    drawing.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap


def icon(name: str, ink: QColor | None = None) -> QIcon:
    """An icon of ours in the text colour, or in `ink`."""
    palette = QGuiApplication.palette()
    ink = ink or palette.color(QPalette.ColorRole.WindowText)
    return _icon(name, ink.name(), palette.color(QPalette.ColorRole.HighlightedText).name())


@lru_cache(maxsize=1)
def app_icon() -> QIcon:
    icon = QIcon()
    for size in APP_ICON_SIZES:
        icon.addPixmap(_pixmap("sayso", "#000000", size))
    return icon


def contrast(a: QColor, b: QColor) -> float:
    """WCAG contrast ratio, 1 to 21."""

    def luminance(c: QColor) -> float:
        parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (c.redF(), c.greenF(), c.blueF())]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)
