"""The pill that shows a take while it is spoken: state, level, firm and tentative words, time. It never takes focus."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QPoint, QPointF, QRect, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QCursor,
    QFont,
    QGuiApplication,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QScreen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QWidget

from dictation.events import Action
from dictation.glance import Face, Glance, clock
from ui import theme
from ui.sentences import say

WIDTH, LEAST_HEIGHT, PAD = 480, 56, 12
FACE_SIZE, SIDE = 24, 84  # the state's shape; the column of time and hint
MOST_LINES = 3
FRAME_MS = 33  # at most 30 pictures a second while the meter moves
MARGIN = 24  # from the work area's edge
CARET_GAP = 12  # from the text cursor
CORNERS = ("top", "top-left", "top-right", "bottom", "bottom-left", "bottom-right")
ACTION_WORDS: dict[Action, str] = {
    "retry": QT_TRANSLATE_NOOP("Overlay", "Try again"),
    "copy": QT_TRANSLATE_NOOP("Overlay", "Copy"),
    "insert_again": QT_TRANSLATE_NOOP("Overlay", "Insert again"),
    "open_history": QT_TRANSLATE_NOOP("Overlay", "History"),
    "choose_microphone": QT_TRANSLATE_NOOP("Overlay", "Choose another"),
    "test_microphone": QT_TRANSLATE_NOOP("Overlay", "Test"),
    "choose_model": QT_TRANSLATE_NOOP("Overlay", "Choose a model"),
    "discard": QT_TRANSLATE_NOOP("Overlay", "Discard"),
}


class Overlay(QWidget):
    """Shows a `Glance`. Hidden it has no timer and costs nothing.

    on_action: called with the action whose button was clicked; `dismiss` with a click anywhere else.
    """

    def __init__(self, on_action: Callable[[Action], None], on_dismiss: Callable[[], None]) -> None:
        super().__init__(None, _flags())
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_X11NetWmWindowTypeNotification)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setObjectName("overlay")
        self.setAccessibleName(self.tr("Dictation"))
        self.corner = "bottom"
        self._caret: QRect | None = None  # of this take, where it is known
        self.hint = True  # "Esc to cancel", for the first uses
        self._on_action, self._on_dismiss = on_action, on_dismiss
        self._glance = Glance()
        self._buttons: list[tuple[QRectF, Action]] = []
        self._area = QRect(0, 0, 1024, 768)
        self._screen: QScreen | None = None
        self._frame = QTimer(self, singleShot=True, interval=FRAME_MS)
        self._frame.timeout.connect(self.update)
        self._second = QTimer(self, interval=1000)  # the clock's own tick, while one is shown
        self._second.timeout.connect(self.update)
        for change in (qt().screenAdded, qt().screenRemoved, qt().primaryScreenChanged):
            change.connect(self.screens_changed)

    def see(self, glance: Glance) -> None:
        """Show this; a change of level alone is drawn at the bounded rate."""
        before, self._glance = self._glance, glance
        if not glance.overlay:
            self._second.stop()
            self._frame.stop()
            self.hide()
            return
        if self.isVisible() and _only_level(before, glance):
            if not self._frame.isActive():
                self._frame.start()
            return
        if glance.started_s is not None and not self._second.isActive():
            self._second.start()
        elif glance.started_s is None:
            self._second.stop()
        if not self.isVisible():  # it stays on one screen while it shows, wherever the mouse goes
            self._choose_screen()
        self._fit()
        self.show()
        self.update()
        told = (say(glance.words), self._shown()[0], self._reason())
        self.setAccessibleDescription("\n".join(dict.fromkeys(text for text in told if text)))
        if before.face is not glance.face:
            self._announce()

    def see_caret(self, caret: QRect | None) -> None:
        """Where the text cursor is, in device pixels; None when a take begins and nobody knows yet."""
        ratio = self._screen.devicePixelRatio() if self._screen is not None else 1.0
        scaled = [round(value / ratio) for value in caret.getRect()] if caret is not None else []  # type: ignore[attr-defined]
        self._caret = QRect(*scaled) if scaled else None
        if self.isVisible() and self.corner == "caret":
            self._fit()

    def speak_anew(self) -> None:
        """In the language that is in force now."""
        self.setAccessibleName(self.tr("Dictation"))
        self.update()

    def warm_up(self) -> None:
        """Draw once unseen: fonts and shapes are loaded before the first take needs them."""
        if not self.isVisible():
            self.grab()

    def _choose_screen(self) -> None:
        screen = QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
        if self._screen is not None:
            self._screen.availableGeometryChanged.disconnect(self.screens_changed)
        self._screen = screen
        if screen is not None:
            screen.availableGeometryChanged.connect(self.screens_changed)
            self._area = screen.availableGeometry()

    @Slot()
    def screens_changed(self) -> None:
        """A display came, went or changed its size: stay where it can be seen."""
        self._choose_screen()
        if self.isVisible():
            self._fit()
            self.update()

    def hideEvent(self, event: QHideEvent) -> None:
        self._second.stop()
        self._frame.stop()

    def _announce(self) -> None:
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, say(self._glance.words)))

    # ------------------------------------------------------------------------------------------------- place and size

    def _fit(self) -> None:
        """Height by lines of text; grows away from the screen's edge, always inside the work area."""
        width = min(WIDTH, self._area.width() - 2 * MARGIN)
        height = 2 * PAD + min(MOST_LINES, self._layout(_text_width(width)).lineCount()) * self._line_height()
        if self._reason():
            height += self._line_height()
        if self._glance.actions:
            height += 8 + theme.CONTROL_HEIGHT
        size = QSize(width, max(LEAST_HEIGHT, height))
        near = self.corner == "caret" and self._caret is not None and self._area.intersects(self._caret)
        spot = (
            place_near(self._area, size, self._caret) if near and self._caret else place(self._area, size, self.corner)
        )
        self.setGeometry(QRect(spot, size))

    def _line_height(self) -> int:
        return int(self.fontMetrics().lineSpacing() * 1.2)

    # ----------------------------------------------------------------------------------------------------------- text

    def _shown(self) -> tuple[str, int]:
        """The text, and how many of its characters are firm."""
        g = self._glance
        if g.firm or g.tentative:
            gap = " " if g.firm and g.tentative and not g.tentative.startswith(" ") else ""
            return g.firm + gap + g.tentative, len(g.firm)
        text = say(g.words)
        return text, len(text)

    def _reason(self) -> str:
        """Why words that stand there were not typed, or what should be known while they are spoken."""
        g = self._glance
        if g.firm and g.face in (Face.HELD, Face.ERROR):
            return say(g.words)
        return say(g.note) if say(g.note) != self._shown()[0] else ""

    def text_layout(self) -> QTextLayout:
        """The text as it stands there, firm words first."""
        return self._layout(_text_width(self.width()))

    def _layout(self, width: float) -> QTextLayout:
        text, firm = self._shown()
        layout = QTextLayout(text, self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        if _reads_from_right(text):
            option.setAlignment(Qt.AlignmentFlag.AlignRight)  # Qt turns the words, and leaves the lines on the left
        layout.setTextOption(option)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        layout.setFormats([_span(0, firm, ink), _span(firm, len(text) - firm, theme.faded(ink, 0.6))])
        layout.beginLayout()
        count = 0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(40.0, width))
            line.setPosition(QPointF(0, count * self._line_height()))
            count += 1
        layout.endLayout()
        return layout

    # -------------------------------------------------------------------------------------------------------- drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        self._paint_face(painter)
        left = PAD + FACE_SIZE + 12
        layout = self.text_layout()
        count = layout.lineCount()
        hidden = max(0, count - MOST_LINES) * self._line_height()  # the newest lines are the ones to see
        box = QRectF(left, PAD, _text_width(self.width()), min(count, MOST_LINES) * self._line_height())
        if count == 1 and not self._glance.actions:
            box.moveTop((self.height() - self._line_height()) / 2)
        painter.save()
        painter.setClipRect(self._seen(box))
        layout.draw(painter, QPointF(self._seen(box).left(), box.top() - hidden))
        painter.restore()
        self._paint_side(painter)
        bottom = box.bottom()
        if reason := self._reason():
            painter.setFont(_small(self.font()))
            face = Face.HELD if self._glance.note.template else self._glance.face
            painter.setPen(theme.face_colour(face, self.palette()))
            room = QRectF(left, bottom, self.width() - left - PAD, self._line_height())
            text = painter.fontMetrics().elidedText(reason, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(self._seen(room), self._leading() | int(Qt.AlignmentFlag.AlignVCenter), text)
            bottom = room.bottom()
        self._paint_actions(painter, left, bottom + 8)
        painter.end()

    def _paint_ground(self, painter: QPainter) -> None:
        ground = self.palette().color(QPalette.ColorRole.Window)
        ground.setAlphaF(0.94)
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        painter.fillPath(path, ground)
        edge = theme.faded(self.palette().color(QPalette.ColorRole.WindowText), 0.18)
        painter.setPen(QPen(edge, 1))
        painter.drawPath(path)

    def _paint_face(self, painter: QPainter) -> None:
        face = self._glance.face
        ink = theme.face_colour(face, self.palette())
        middle = PAD + self._line_height() / 2 if self.height() > LEAST_HEIGHT else self.height() / 2
        box = self._seen(QRectF(PAD, middle - FACE_SIZE / 2, FACE_SIZE, FACE_SIZE))
        theme.draw(painter, face.value, box, ink)
        if face is Face.LISTENING:  # the meter: a bar under the microphone, as wide as the voice is loud
            track = QRectF(PAD, self.height() - 8, FACE_SIZE, 3)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.faded(ink, 0.25))
            painter.drawRoundedRect(self._seen(track), 1.5, 1.5)
            painter.setBrush(ink)
            track.setWidth(FACE_SIZE * self._glance.level)
            painter.drawRoundedRect(self._seen(track), 1.5, 1.5)

    def _paint_side(self, painter: QPainter) -> None:
        g = self._glance
        lines = []
        if g.started_s is not None:
            lines.append(clock(time.monotonic() - g.started_s))
        if self.hint and g.face in (Face.OPENING, Face.LISTENING, Face.WORKING):
            lines.append(self.tr("Esc to cancel"))
        if g.waiting:
            lines.append(self.tr("%n waiting", "", g.waiting))
        painter.setFont(_small(self.font()))
        painter.setPen(theme.faded(self.palette().color(QPalette.ColorRole.WindowText), 0.75))
        box = QRectF(self.width() - PAD - SIDE, PAD - 2, SIDE, self.height() - 2 * PAD + 4)
        painter.drawText(self._seen(box), self._trailing() | int(Qt.AlignmentFlag.AlignVCenter), "\n".join(lines))

    def _paint_actions(self, painter: QPainter, left: float, top: float) -> None:
        self._buttons = []
        painter.setFont(self.font())
        for action in self._glance.actions:
            text = QCoreApplication.translate("Overlay", ACTION_WORDS[action])
            width = painter.fontMetrics().horizontalAdvance(text) + 24
            box = self._seen(QRectF(left, top, width, theme.CONTROL_HEIGHT - 4))
            accent = theme.colour("accent", self.palette())
            painter.setPen(QPen(accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box, 6, 6)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)
            self._buttons.append((box, action))
            left += width + 8

    def _seen(self, box: QRectF) -> QRectF:
        """A box as it lies for people who read from right to left: on the other side."""
        if self.layoutDirection() is Qt.LayoutDirection.LeftToRight:
            return box
        return QRectF(self.width() - box.right(), box.top(), box.width(), box.height())

    def _leading(self) -> int:
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft
        return int(side | Qt.AlignmentFlag.AlignAbsolute)

    def _trailing(self) -> int:
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignLeft if mirrored else Qt.AlignmentFlag.AlignRight
        return int(side | Qt.AlignmentFlag.AlignAbsolute)

    # ---------------------------------------------------------------------------------------------------------- mouse

    def buttons(self) -> list[tuple[QRectF, Action]]:
        """What can be clicked, and where."""
        return list(self._buttons)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for box, action in self._buttons:
            if box.contains(event.position()):
                self._on_action(action)
                return
        if self._glance.face in (Face.HELD, Face.ERROR, Face.DONE):
            self._on_dismiss()


def qt() -> QGuiApplication:
    app = QGuiApplication.instance()
    assert isinstance(app, QGuiApplication)
    return app


def _text_width(width: int) -> float:
    return width - 2 * PAD - FACE_SIZE - 12 - SIDE - 8


def _flags() -> Qt.WindowType:
    flags = (
        Qt.WindowType.Tool
        | Qt.WindowType.FramelessWindowHint
        | Qt.WindowType.WindowStaysOnTopHint
        | Qt.WindowType.WindowDoesNotAcceptFocus
        | Qt.WindowType.NoDropShadowWindowHint
    )
    if QGuiApplication.platformName() == "xcb":
        flags |= Qt.WindowType.X11BypassWindowManagerHint  # no window manager, no focus, whatever it thinks best
    return flags


def _only_level(before: Glance, after: Glance) -> bool:
    return before.level != after.level and replace(before, level=0.0) == replace(after, level=0.0)


def _reads_from_right(text: str) -> bool:
    """By its first letter that has a direction."""
    return next((kind != "L" for kind in map(unicodedata.bidirectional, text) if kind in ("L", "R", "AL")), False)


def _span(start: int, length: int, ink: QColor) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    span.start, span.length = start, length
    span.format = QTextCharFormat()
    span.format.setForeground(ink)
    return span


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * 0.85)
    small.setFeature(QFont.Tag("tnum"), 1)  # figures of one width, so that the clock stands still
    return small


def place(area: QRect, size: QSize, corner: str) -> QPoint:
    """Where the pill's top left lies, clamped to the work area."""
    x = area.center().x() - size.width() // 2
    if corner.endswith("-left"):
        x = area.left() + MARGIN
    elif corner.endswith("-right"):
        x = area.right() - size.width() - MARGIN
    y = area.top() + MARGIN if corner.startswith("top") else area.bottom() - size.height() - MARGIN
    x = max(area.left(), min(x, area.right() - size.width()))
    y = max(area.top(), min(y, area.bottom() - size.height()))
    return QPoint(x, y)


def place_near(area: QRect, size: QSize, caret: QRect) -> QPoint:
    """Below the text cursor, or above it where there is no room; never over it."""
    x = max(area.left(), min(caret.left(), area.right() - size.width()))
    y = caret.bottom() + CARET_GAP
    if y + size.height() > area.bottom():
        y = max(area.top(), caret.top() - CARET_GAP - size.height())
    return QPoint(x, y)
