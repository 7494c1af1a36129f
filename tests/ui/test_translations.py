"""Every text on screen goes through the translation, German is complete, and nothing is cut off in it."""

from __future__ import annotations

import re
import shutil
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTranslator
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QTableWidget,
    QToolButton,
    QWidget,
)

import resources
from tests import screenshots, translations
from tests.fakes.translators import OPEN, Marked
from ui import keynames
from ui.overlay import ACTION_WORDS
from ui.settings import languages
from ui.translations import Translations

GERMAN = resources.FOLDER / "translations" / "sayso_de.ts"
# what is the same in every language: names of models, files, programs and their parts, numbers with units, data
DATA = re.compile(
    r"[\d.,:+×/ –-]*( MB| GB| ms| s| %)?|(tiny|base|small|medium|large|distil|[Bb]reeze|whisper)\S*( \S+)*"
    r"|\S+\.(mp3|mp4|txt): .*|Q\d\S*|F\d\d|X11 .*|Sayso|·|Text|.*\d+M · .*|USB headset|Could you .*"
    r"|say so|btw|by the way|code"
)


class Texts:
    """A camera that reads instead of taking pictures: all that stands in the windows, by window."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {}

    def take(self, widget: QWidget, name: str) -> None:
        _settle(widget)
        found = self.found.setdefault(name, set())
        found |= {widget.windowTitle(), widget.accessibleName()}
        for part in [widget, *widget.findChildren(QWidget)]:
            if part.isVisibleTo(widget):
                found |= set(_texts(part))


def _settle(widget: QWidget) -> None:
    widget.show()
    for _ in range(12):
        QApplication.sendPostedEvents()
        QApplication.processEvents()


def _texts(part: QWidget) -> Iterator[str]:
    yield part.toolTip()
    match part:
        case QLabel() | QAbstractButton():
            yield part.text()
        case QLineEdit() | QPlainTextEdit():
            yield part.placeholderText()
        case QComboBox():
            yield from (part.itemText(i) for i in range(part.count()))
        case QTableWidget():
            yield from (part.horizontalHeaderItem(i).text() for i in range(part.columnCount()))
            cells = [part.item(r, c) for r in range(part.rowCount()) for c in range(part.columnCount())]
            yield from (cell.text() for cell in cells if cell is not None)
        case QListWidget():
            yield from (part.item(i).text() for i in range(part.count()))
        case QMenu():
            yield from (action.text() for action in part.actions())


@pytest.fixture
def windows(home: Path, qapp: QApplication) -> Callable[[object], None]:
    screenshots.fill(home)
    qapp.setStyle("Fusion")
    return screenshots.draw_all  # type: ignore[return-value]


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    spoken = Translations(qapp)
    spoken.speak("de")
    yield
    spoken.speak("en")


def test_every_text_in_every_window_goes_through_the_translation(
    windows: Callable[[object], None], qapp: QApplication
) -> None:
    marked: QTranslator = Marked(qapp)
    qapp.installTranslator(marked)
    texts = Texts()
    try:
        windows(texts)
    finally:
        qapp.removeTranslator(marked)
    spoken = {name for _, name in languages.named()}
    bare = {
        f"{name}: {text}"
        for name, found in texts.found.items()
        for text in found
        if text and OPEN not in text and text not in spoken and not DATA.fullmatch(text) and name != "settings-about"
    }
    assert len(texts.found) > 20 and not bare


@pytest.fixture(scope="module")
def updated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the translations, brought up to date with the sources as they are now."""
    folder = tmp_path_factory.mktemp("translations")
    shutil.copytree(translations.FOLDER, folder, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translations, "FOLDER", folder)
        patch.setattr(translations, "TEMPLATES", folder / "templates.json")
        translations.update()
        yield folder


def test_every_text_of_the_windows_is_in_german(updated: Path) -> None:
    left = [line for line in translations.missing("de") if not line.startswith("core: ")]
    assert left == [], "run `make translations`, and translate these in resources/translations/sayso_de.ts"


def test_the_sentences_of_the_core_are_in_german_but_for_a_few_that_are_new(updated: Path) -> None:
    """A new sentence shows in English until somebody has run `make translations`; many of them would be neglect."""
    messages = xml.parse(translations.source_file("de")).iterfind("context[name='core']/message")
    count, left = len(list(messages)), [line for line in translations.missing("de") if line.startswith("core: ")]
    assert count > 300 and len(left) <= 0.05 * count, left


def test_what_is_shipped_is_what_the_translators_wrote() -> None:
    shipped = QTranslator()
    assert shipped.load(str(GERMAN.with_suffix(".qm")))
    for context in xml.parse(GERMAN).iterfind("context"):
        for message in context.iterfind("message"):
            wanted = message.findtext("translation")
            if wanted and not message.get("numerus"):
                name, source = str(context.findtext("name")), str(message.findtext("source"))
                assert shipped.translate(name, source) == wanted, "run `make translations`"


def test_every_value_of_a_text_is_in_its_translation() -> None:
    for message in xml.parse(GERMAN).iter("message"):
        source, german = message.findtext("source") or "", message.findtext("translation") or ""
        values = [sorted(re.findall(r"\{[^}]*\}|%n", text)) for text in (source, german)]
        assert not german or message.get("numerus") or values[0] == values[1] or _dropped(source), values


def _dropped(source: str) -> bool:
    """German has no “s” to put behind these."""
    return source == "{0} control character{1} left out."


class Rulers:
    """A camera that measures: every text has the room that it needs."""

    def __init__(self) -> None:
        self.cut: list[str] = []
        self.count = 0

    def take(self, widget: QWidget, name: str) -> None:
        _settle(widget)
        for part in widget.findChildren(QWidget):
            if part.isVisibleTo(widget):
                self.count += 1
                self.cut += [f"{name}: {text}" for text in _cut_off(part)]


def _cut_off(part: QWidget) -> Iterator[str]:
    metrics = part.fontMetrics()
    match part:
        case QToolButton() if part.text() and part.width() < part.sizeHint().width():
            yield part.text()
        case QAbstractButton() if part.text() and part.width() < metrics.horizontalAdvance(part.text()) + 8:
            yield part.text()
        case QLabel() if part.wordWrap() and part.text() and part.height() < part.heightForWidth(part.width()):
            yield part.text()
        case QLabel() if not part.wordWrap() and part.width() < metrics.horizontalAdvance(part.text()):
            yield part.text()
        case QLineEdit() if part.width() - 12 < metrics.horizontalAdvance(part.placeholderText()):
            yield part.placeholderText()
        case QComboBox():
            room = part.width() - 28
            yield from (
                part.itemText(i)
                for i in range(part.count())
                if part.itemText(i) not in _NATIVE and metrics.horizontalAdvance(part.itemText(i)) > room
            )
        case QListWidget() if part.sizeHintForColumn(0) > part.viewport().width():
            yield part.accessibleName()
        case QTableWidget():
            header = part.horizontalHeader()
            yield from (
                part.horizontalHeaderItem(i).text()
                for i in range(part.columnCount())
                if header.sectionSize(i) < header.sectionSizeHint(i)
            )


_NATIVE = {name for _, name in languages.named()}


def test_nothing_is_cut_off_in_german(windows: Callable[[object], None], german: None) -> None:
    rulers = Rulers()
    windows(rulers)
    assert rulers.count > 500 and rulers.cut == []


def test_the_column_beside_the_overlays_words_is_wide_enough_in_german(german: None, qapp: QApplication) -> None:
    from ui.overlay import SIDE, Overlay, _small

    overlay = Overlay(lambda action: None, lambda: None)
    overlay.setFont(_small(overlay.font()))
    for text in (overlay.tr("Esc to cancel"), overlay.tr("%n waiting", "", 12), "120:00"):
        assert overlay.fontMetrics().horizontalAdvance(text) <= SIDE, text


def test_keys_and_actions_have_german_names(german: None, qapp: QApplication) -> None:
    from PySide6.QtCore import QCoreApplication

    assert keynames.shown("Ctrl+Alt+Space") == "Strg+Alt+Leertaste"
    assert keynames.shown("Right Ctrl") == "Strg rechts" and keynames.shown("F9") == "F9" and keynames.shown("") == ""
    assert all(QCoreApplication.translate("Overlay", words) != words for words in ACTION_WORDS.values())


def test_a_language_that_reads_from_right_to_left_turns_the_overlay_round(qapp: QApplication) -> None:
    from ui.overlay import Overlay

    name, held = next((n, g) for n, g in screenshots.glances() if n == "held")
    boxes = {}
    for direction in (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft):
        overlay = Overlay(lambda action: None, lambda: None)
        overlay.setLayoutDirection(direction)
        overlay.see(held)
        overlay.grab()
        boxes[direction] = [(box, overlay.width()) for box, _ in overlay.buttons()]
    there, back = boxes.values()
    assert name and len(there) == 2
    assert all(a.left() == pytest.approx(width - b.right()) for (a, width), (b, _) in zip(there, back, strict=True))


def test_actions_of_a_menu_are_read(qapp: QApplication) -> None:
    menu = QMenu()
    menu.addAction(QAction("seen", menu))
    assert "seen" in set(_texts(menu))
