"""Contrast of our colours on both themes, and icons that draw."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSpinBox,
    QTableWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

import resources
from dictation.settings import BY_KEY
from ui import theme
from ui.settings.tables import Column, TableEditor
from ui.tray import TrayMenu

GROUNDS = {"light": ("#ffffff", "#efefef", "#000000"), "dark": ("#1e1e1e", "#323232", "#ffffff")}


def palettes(scheme: str) -> list[QPalette]:
    *grounds, ink = GROUNDS[scheme]
    made = []
    for ground in grounds:
        palette = QPalette(QColor(ground))
        palette.setColor(QPalette.ColorRole.Window, QColor(ground))
        palette.setColor(QPalette.ColorRole.WindowText, QColor(ink))
        made.append(palette)
    return made


def over(ink: QColor, ground: QColor) -> QColor:
    """What a half transparent ink looks like."""
    share = ink.alphaF()
    mixed = [share * a + (1 - share) * b for a, b in zip(ink.getRgbF()[:3], ground.getRgbF()[:3], strict=True)]
    return QColor.fromRgbF(*mixed)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["accent", "amber", "red", "good"])
def test_our_colours_are_readable(qtbot: QtBot, scheme: str, name: str) -> None:
    for palette in palettes(scheme):
        ground = palette.color(QPalette.ColorRole.Window)
        assert theme.contrast(theme.colour(name, palette), ground) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_quiet_text_is_readable(qtbot: QtBot, scheme: str) -> None:
    for palette in palettes(scheme):
        parent = QWidget()
        qtbot.addWidget(parent)
        parent.setPalette(palette)
        label = theme.Quiet("help")
        label.setParent(parent)
        ground = palette.color(QPalette.ColorRole.Window)
        ink = over(label.palette().color(QPalette.ColorRole.WindowText), ground)
        assert theme.contrast(ink, ground) >= 4.5


def test_quiet_text_follows_a_change_of_theme(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    label = theme.Quiet("help")
    label.setParent(parent)
    for palette in (palettes("light")[0], palettes("dark")[0]):
        parent.setPalette(palette)
        ground = palette.color(QPalette.ColorRole.Window)
        ink = label.palette().color(QPalette.ColorRole.WindowText)
        assert theme.contrast(over(ink, ground), ground) >= 4.5


def test_every_icon_draws_something(qapp: object) -> None:
    names = [p.stem for p in (resources.FOLDER / "icons").glob("*.svg")]
    assert len(names) > 20
    for name in names:
        image = theme.icon(name, QColor("black")).pixmap(24, 24).toImage()
        assert any(image.pixelColor(x, y).alpha() for x in range(24) for y in range(24)), name


def test_an_icon_that_is_not_there_is_an_error_and_not_the_end_of_the_process(qapp: object) -> None:
    for _ in range(3):
        with pytest.raises(FileNotFoundError):
            theme.icon("no-such-icon")


def menu_with_a_box() -> QWidget:
    menu = TrayMenu()
    menu.addAction("Pause hotkeys").setCheckable(True)
    return menu


def list_with_a_box() -> QWidget:
    boxes = QListWidget()
    item = QListWidgetItem()
    item.setCheckState(Qt.CheckState.Unchecked)
    boxes.addItem(item)
    return boxes


def table_with_a_box() -> QWidget:
    table = TableEditor(BY_KEY["rewrite.replacements"], (Column("on", "On", "switch"), Column("find", "Find", "text")))
    table.set_value(({"find": "a"},))
    return table.findChildren(QTableWidget)[0].viewport()


@pytest.mark.parametrize("make", [QCheckBox, menu_with_a_box, list_with_a_box, table_with_a_box])
def test_the_edge_of_a_box_can_be_seen(ground: QColor, qtbot: QtBot, make: Callable[[], QWidget]) -> None:
    widget = make()
    qtbot.addWidget(widget)
    widget.show()
    picture = widget.grab().toImage()
    middle = min(picture.height() // 2, 11)
    row = [picture.pixelColor(x, middle) for x in range(2, 24)]  # a frame is no box
    assert max(theme.contrast(colour, row[-10]) for colour in row) >= 3


@pytest.mark.parametrize("make", [QLineEdit, QPlainTextEdit, QSpinBox])
def test_where_a_field_begins_can_be_seen(ground: QColor, qtbot: QtBot, make: Callable[[], QWidget]) -> None:
    field = make()
    qtbot.addWidget(field)
    field.show()
    picture = field.grab().toImage()
    edge = [picture.pixelColor(x, picture.height() // 2) for x in range(4)]
    assert max(theme.contrast(colour, ground) for colour in edge) >= 3


def test_the_choices_of_a_box_keep_their_ground(ground: QColor, qtbot: QtBot) -> None:
    box = QComboBox()
    box.addItems(["One", "Two"])
    qtbot.addWidget(box)
    box.show()
    box.showPopup()
    picture = box.view().window().grab().toImage()
    behind = picture.pixelColor(picture.width() - 4, picture.height() - 6)
    assert theme.contrast(behind, box.view().palette().color(QPalette.ColorRole.Text)) >= 7
    box.hidePopup()


def ink_is_left(widget: QWidget) -> bool:
    """Whether what is drawn on it lies in its left half."""
    picture = widget.grab().toImage()
    ground = picture.pixelColor(0, 0)
    columns = [
        x
        for x in range(picture.width())
        if any(picture.pixelColor(x, y) != ground for y in range(0, picture.height(), 2))
    ]
    return sum(columns) / len(columns) < picture.width() / 2


@pytest.mark.parametrize("selectable", [False, True])
@pytest.mark.parametrize("kind", [theme.Label, theme.Quiet])
@pytest.mark.parametrize("text", ["base Q8_0", "שלום"])
def test_a_text_stands_on_the_side_where_the_interface_is_read_from(
    qtbot: QtBot, kind: type[theme.Label], text: str, selectable: bool
) -> None:
    for trailing in (False, True):
        label = kind(text, trailing=trailing)
        qtbot.addWidget(label)
        if selectable:
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.resize(400, 40)
        assert ink_is_left(label) is not trailing
        label.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        assert ink_is_left(label) is trailing
