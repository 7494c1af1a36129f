"""The pill: never takes the focus, shows firm and tentative words, stays inside the screen, costs nothing hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from dictation.glance import Face, Glance, Phrase
from tests.fakes.translators import Mirrored
from ui.overlay import CORNERS, MOST_LINES, Overlay, place, place_near

LISTENING = Glance(face=Face.LISTENING, words=Phrase("Listening"), overlay=True, started_s=0.0)
HELD = Glance(
    face=Face.HELD,
    words=Phrase("Not typed: {reason}", {"reason": "the window changed"}),
    firm="some words",
    overlay=True,
    actions=("insert_again", "copy"),
)


class Shown:
    """An overlay and what its buttons and its ground did."""

    def __init__(self, qtbot: QtBot) -> None:
        self.acts: list[str] = []
        self.overlay = Overlay(self.acts.append, lambda: self.acts.append("dismiss"))
        qtbot.addWidget(self.overlay)


@pytest.fixture
def shown(qtbot: QtBot) -> Shown:
    return Shown(qtbot)


def timers(widget: QWidget) -> list[QTimer]:
    return [timer for timer in widget.findChildren(QTimer) if timer.isActive()]


def test_it_asks_the_system_for_no_focus(shown: Shown) -> None:
    flags = shown.overlay.windowFlags()
    assert flags & Qt.WindowType.WindowDoesNotAcceptFocus and flags & Qt.WindowType.WindowStaysOnTopHint
    assert shown.overlay.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert shown.overlay.focusPolicy() is Qt.FocusPolicy.NoFocus


def test_hidden_it_has_no_timer(shown: Shown) -> None:
    shown.overlay.see(LISTENING)
    assert timers(shown.overlay)
    shown.overlay.see(replace(LISTENING, overlay=False))
    assert not shown.overlay.isVisible() and not timers(shown.overlay)


def test_hidden_by_others_it_has_no_timer_either(shown: Shown) -> None:
    shown.overlay.see(LISTENING)
    shown.overlay.hide()
    assert not timers(shown.overlay)


def test_levels_alone_are_drawn_at_most_thirty_times_a_second(shown: Shown, qtbot: QtBot) -> None:
    class Counting(Overlay):
        painted = 0

        def paintEvent(self, event: object) -> None:
            self.painted += 1
            super().paintEvent(event)

    overlay = Counting(lambda action: None, lambda: None)
    qtbot.addWidget(overlay)
    overlay.see(LISTENING)
    qtbot.waitUntil(lambda: overlay.painted > 0)
    overlay.painted = 0
    for i in range(200):
        overlay.see(replace(LISTENING, level=(i % 100) / 100))
    assert overlay.painted == 0  # a frame waits for its timer, however many levels come
    qtbot.waitUntil(lambda: overlay.painted == 1)


def test_firm_words_are_solid_and_tentative_ones_pale(shown: Shown) -> None:
    shown.overlay.see(replace(LISTENING, firm="all of this", tentative="may change"))
    firm, tentative = shown.overlay.text_layout().formats()
    assert (firm.start, firm.length) == (0, len("all of this"))
    assert (tentative.start, tentative.length) == (len("all of this"), len(" may change"))
    assert firm.format.foreground().color().alphaF() == 1.0
    assert tentative.format.foreground().color().alphaF() == pytest.approx(0.6, abs=0.01)


def test_long_text_takes_three_lines_and_no_more(shown: Shown) -> None:
    shown.overlay.see(replace(LISTENING, firm="word " * 10))
    few = shown.overlay.height()
    heights = set()
    for words in (60, 120, 2000):
        shown.overlay.see(replace(LISTENING, firm="word " * words))
        heights.add(shown.overlay.height())
    assert shown.overlay.text_layout().lineCount() > MOST_LINES
    assert len(heights) == 1 and few < heights.pop() < few + MOST_LINES * 40


@pytest.mark.parametrize("corner", [*CORNERS, "caret"])
@pytest.mark.parametrize("area", [QRect(0, 0, 1280, 680), QRect(1920, -300, 800, 600), QRect(0, 27, 320, 240)])
@pytest.mark.parametrize("size", [QSize(480, 56), QSize(300, 200)])
def test_it_stays_inside_the_work_area(corner: str, area: QRect, size: QSize) -> None:
    box = QRect(place(area, size, corner), size)
    assert box.top() >= area.top() and box.left() >= area.left()
    if size.width() <= area.width():
        assert area.contains(box)


def test_it_stays_on_one_screen_while_a_take_lasts(shown: Shown) -> None:
    shown.overlay.see(LISTENING)
    at = shown.overlay.geometry().bottomLeft()
    shown.overlay.see(replace(LISTENING, firm="word " * 60))
    assert shown.overlay.geometry().bottomLeft() == at  # grows away from the edge


def test_held_text_offers_its_actions_by_mouse(shown: Shown, qtbot: QtBot) -> None:
    shown.overlay.see(HELD)
    qtbot.waitUntil(lambda: len(shown.overlay.buttons()) == 2)
    for box, action in shown.overlay.buttons():
        qtbot.mouseClick(shown.overlay, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
        assert shown.acts[-1] == action
    qtbot.mouseClick(shown.overlay, Qt.MouseButton.LeftButton, pos=shown.overlay.rect().topRight())
    assert shown.acts[-1] == "dismiss"


def test_a_click_while_listening_does_nothing(shown: Shown, qtbot: QtBot) -> None:
    shown.overlay.see(LISTENING)
    qtbot.mouseClick(shown.overlay, Qt.MouseButton.LeftButton)
    assert shown.acts == []


def test_the_state_and_the_words_are_in_the_accessibility_tree(shown: Shown) -> None:
    shown.overlay.see(HELD)
    described = shown.overlay.accessibleDescription()
    assert shown.overlay.accessibleName() and "the window changed" in described and "some words" in described


def test_a_display_that_changes_keeps_the_overlay_where_it_can_be_seen(shown: Shown) -> None:
    shown.overlay.see(LISTENING)
    shown.overlay.move(5000, 5000)  # where a display was
    screen = shown.overlay.screen()
    screen.availableGeometryChanged.emit(screen.availableGeometry())
    assert screen.availableGeometry().contains(shown.overlay.geometry())
    shown.overlay.move(5000, 5000)
    QGuiApplication.instance().screenRemoved.emit(screen)
    assert screen.availableGeometry().contains(shown.overlay.geometry())


@pytest.mark.parametrize("x", [0, 640, 1279])
@pytest.mark.parametrize("y", [0, 300, 780])
def test_near_the_text_cursor_it_stays_on_screen_and_never_covers_it(x: int, y: int) -> None:
    area, size, caret = QRect(0, 0, 1280, 800), QSize(480, 120), QRect(x, y, 1, 18)
    box = QRect(place_near(area, size, caret), size)
    assert area.contains(box) and not box.intersects(caret)


def test_near_the_text_cursor_where_that_is_known_else_in_its_corner(shown: Shown) -> None:
    shown.overlay.corner = "caret"
    shown.overlay.see(LISTENING)
    corner = shown.overlay.pos()
    shown.overlay.see_caret(QRect(100, 100, 1, 18))
    assert shown.overlay.y() > 118 and shown.overlay.y() < 160 and shown.overlay.x() == 100
    shown.overlay.see_caret(QRect(-5000, -5000, 1, 18))  # on no screen
    assert shown.overlay.pos() == corner
    shown.overlay.see_caret(None)
    assert shown.overlay.pos() == corner


@pytest.mark.parametrize(("text", "from_right"), [("שלום, זה משפט", True), ("A sentence", False), ("", False)])
def test_words_begin_on_the_side_that_their_language_is_read_from(shown: Shown, text: str, from_right: bool) -> None:
    shown.overlay.see(replace(LISTENING, firm=text))
    layout = shown.overlay.text_layout()
    line = layout.lineAt(0)
    words = line.naturalTextRect()
    assert (words.left() > line.width() / 3) is from_right
    assert words.right() <= line.width() + 1


def test_right_to_left_it_is_as_tall_as_left_to_right(shown: Shown, qapp: QApplication) -> None:
    def heights() -> list[int]:
        found = []
        for glance in (LISTENING, HELD, replace(LISTENING, firm="word " * 40)):
            shown.overlay.see(glance)
            found.append(shown.overlay.height())
        return found

    before = heights()
    mirrored = Mirrored(qapp)
    qapp.installTranslator(mirrored)
    try:
        assert heights() == before
    finally:
        qapp.removeTranslator(mirrored)
