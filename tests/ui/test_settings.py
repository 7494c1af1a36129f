"""The settings window: every row of the table can be edited, searched for and reset, and changes apply at once."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QListWidget, QPlainTextEdit, QPushButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from dictation import events
from dictation.settings import BY_KEY, TABLE, Setting, Settings
from tests.fakes.core import Core
from ui.settings.dialog import SettingsWindow
from ui.settings.page import Row

OTHER: dict[str, Any] = {
    "recognition.language": "de",
    "recognition.my_languages": ("de", "en"),
    "rewrite.replacements": (
        {"find": "say so", "replace": "Sayso", "match_case": True, "is_pattern": False, "enabled": True},
    ),
    "insertion.programs": ({"program": "xterm", "method": "keys", "trailing": "enter"},),
}
SHOWN = [setting for setting in TABLE if not setting.hidden]


def other_value(setting: Setting) -> Any:
    """A value that is not the default."""
    if setting.key in OTHER:
        return OTHER[setting.key]
    if setting.kind == "switch":
        return not setting.default
    if setting.kind == "choice":
        return setting.choices[-1]
    if setting.kind in ("whole", "number"):
        return setting.most
    return {"text": "F8", "list": ("one", "two words")}[setting.kind]


@pytest.fixture
def window(qtbot: QtBot, core: Core) -> SettingsWindow:
    made = SettingsWindow(core)
    qtbot.addWidget(made)
    return made


def row(window: SettingsWindow, key: str) -> Row:
    found = window.findChild(Row, f"row:{key}")
    assert isinstance(found, Row), key
    return found


def reset(row_: Row) -> QPushButton:
    return next(b for b in row_.findChildren(QPushButton) if b.accessibleName().startswith("Reset"))


def test_every_setting_has_an_editor_that_gives_back_what_it_shows(window: SettingsWindow) -> None:
    for setting in SHOWN:
        editor = row(window, setting.key).editor
        for value in (setting.default, other_value(setting)):
            editor.set_value(setting.check(value))
            assert setting.check(editor.value()) == setting.check(value), setting.key


def test_every_setting_has_a_name_and_a_description_for_a_screen_reader(window: SettingsWindow) -> None:
    for setting in SHOWN:
        control = row(window, setting.key).editor.focusProxy()
        assert control is not None and control.focusPolicy() != Qt.FocusPolicy.NoFocus, setting.key
        assert control.accessibleName() == setting.label and control.accessibleDescription() == setting.help


def test_a_change_applies_at_once_and_can_be_reset(window: SettingsWindow, core: Core, qtbot: QtBot) -> None:
    switch = row(window, "general.show_overlay")
    window.show_page("general")
    qtbot.keyClick(switch.editor.focusProxy(), Qt.Key.Key_Space)
    assert core.last() == events.ChangeSettings({"general.show_overlay": False})
    assert reset(switch).isVisible()
    qtbot.mouseClick(reset(switch), Qt.MouseButton.LeftButton)
    assert core.settings["general.show_overlay"] is True and not reset(switch).isVisible()


def test_numbers_and_choices_by_keyboard(window: SettingsWindow, core: Core, qtbot: QtBot) -> None:
    number = row(window, "recognition.max_length_min").editor.focusProxy()
    window.show_page("recognition")
    qtbot.keyClick(number, Qt.Key.Key_Up)
    assert core.settings["recognition.max_length_min"] > BY_KEY["recognition.max_length_min"].default
    choice = row(window, "recognition.device").editor.focusProxy()
    qtbot.keyClick(choice, Qt.Key.Key_Down)
    assert core.settings["recognition.device"] == "cpu"


def test_text_is_taken_when_it_is_finished(window: SettingsWindow, core: Core, qtbot: QtBot) -> None:
    box = row(window, "advanced.hub_endpoint").editor.focusProxy()
    qtbot.keyClicks(box, "http://hub")
    assert core.sent == []
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert core.settings["advanced.hub_endpoint"] == "http://hub"


def test_search_finds_labels_and_help_on_every_page(window: SettingsWindow) -> None:
    field, pages = window.findChild(QLineEdit, "search"), window.findChild(QListWidget, "pages")
    assert isinstance(field, QLineEdit) and isinstance(pages, QListWidget)
    field.setText("half a second")  # stands in a help text of the microphone page
    shown = [pages.item(i).text() for i in range(pages.count()) if not pages.item(i).isHidden()]
    assert shown == ["Microphone"] and pages.currentItem().text() == "Microphone"
    assert not row(window, "microphone.keep_warm").isHidden() and row(window, "microphone.device").isHidden()
    field.clear()
    assert not any(pages.item(i).isHidden() for i in range(pages.count()))
    assert not row(window, "microphone.device").isHidden()


def test_a_search_without_a_match_says_so(window: SettingsWindow) -> None:
    field, nothing = window.findChild(QLineEdit, "search"), window.findChild(QWidget, "nothing")
    field.setText("qqqq")
    assert not nothing.isHidden()
    field.setText("microphone")
    assert nothing.isHidden()


def test_changes_from_elsewhere_are_shown(window: SettingsWindow, core: Core) -> None:
    core.settings = core.settings.changed({"general.theme": "dark"})
    window.see(events.SettingsChanged(("general.theme",)))
    assert row(window, "general.theme").editor.value() == "dark"


def test_what_is_being_typed_survives_a_change_elsewhere(window: SettingsWindow, core: Core, qtbot: QtBot) -> None:
    box = row(window, "advanced.hub_endpoint").editor.focusProxy()
    qtbot.keyClicks(box, "half typ")
    core.settings = core.settings.changed({"general.theme": "dark"})
    window.see(events.SettingsChanged(("general.theme",)))
    assert box.text() == "half typ"


def test_a_replacement_is_added_in_the_table_and_its_cell_stays_open(window: SettingsWindow, core: Core) -> None:
    editor = row(window, "rewrite.replacements").editor
    table = editor.findChild(QTableWidget)
    next(b for b in editor.findChildren(QPushButton) if b.text() == "Add").click()
    table.item(0, 0).setText("say so")
    table.setCurrentCell(0, 1)
    window.see(events.SettingsChanged(("rewrite.replacements",)))  # the core's answer to the first cell
    assert table.currentColumn() == 1
    table.item(0, 1).setText("Sayso")
    assert core.settings["rewrite.replacements"][0]["replace"] == "Sayso"
    next(b for b in editor.findChildren(QPushButton) if b.text() == "Delete").click()
    assert core.settings["rewrite.replacements"] == ()


def test_no_page_scrolls_sideways_at_the_least_width(window: SettingsWindow, qtbot: QtBot) -> None:
    window.resize(window.minimumWidth(), 600)
    for name in {setting.page for setting in SHOWN}:
        window.show_page(name)
        page = window.page(name)
        qtbot.waitUntil(lambda p=page: p.widget().width() <= p.viewport().width())


def test_what_is_not_set_says_so_from_the_start(window: SettingsWindow) -> None:
    assert "None" in row(window, "hotkeys.insert_again").editor.focusProxy().text()


def test_a_combo_box_leaves_the_wheel_to_the_page(window: SettingsWindow) -> None:
    box = row(window, "general.theme").editor.findChild(QComboBox)
    assert box.focusPolicy() == Qt.FocusPolicy.StrongFocus


def test_a_list_of_words_is_taken_when_the_field_is_left(window: SettingsWindow, core: Core, qtbot: QtBot) -> None:
    window.show_page("recognition")
    box = row(window, "recognition.vocabulary").editor.findChild(QPlainTextEdit)
    box.setFocus()
    qtbot.waitUntil(box.hasFocus)
    qtbot.keyClicks(box, "Angstrom")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    qtbot.keyClicks(box, "  quay ")
    qtbot.keyClick(box, Qt.Key.Key_Tab)
    assert not box.hasFocus()  # Tab goes on, it types nothing
    assert core.settings["recognition.vocabulary"] == ("Angstrom", "quay")


def test_settings_are_those_of_the_core(qtbot: QtBot) -> None:
    window = SettingsWindow(Core(Settings({"general.theme": "light"})))
    qtbot.addWidget(window)
    assert row(window, "general.theme").editor.value() == "light"


def test_every_page_has_an_icon(window: SettingsWindow) -> None:
    pages = window.findChild(QListWidget, "pages")
    assert not [pages.item(i).text() for i in range(pages.count()) if pages.item(i).icon().isNull()]
