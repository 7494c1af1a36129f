"""The history window: find, delete and undo, try again, copy, insert, export."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QItemSelectionModel
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QListView, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from dictation import events
from dictation.history import Entry, History
from dictation.history_export import export
from tests.fakes.core import Core
from ui import theme
from ui.history import SEARCH_PAUSE_MS, HistoryWindow


class Shown:
    def __init__(self, qtbot: QtBot, core: Core, history: History) -> None:
        self.core, self.history, self.played = core, history, []
        self.window = HistoryWindow(core, history, self.played.append, export)
        qtbot.addWidget(self.window)
        self.window.show()

    def texts(self) -> list[str]:
        entries = self.window.entries
        return [str(entries.data(entries.index(row))) for row in range(entries.rowCount())]

    def choose(self, *rows: int) -> None:
        view = self.window.findChild(QListView, "entries")
        view.selectionModel().clearSelection()
        view.setCurrentIndex(self.window.entries.index(rows[0]))
        for row in rows:
            view.selectionModel().select(self.window.entries.index(row), QItemSelectionModel.SelectionFlag.Select)

    def button(self, name: str) -> QPushButton:
        return self.window.findChild(QPushButton, f"history:{name}")

    def text(self) -> str:
        return self.window.findChild(QPlainTextEdit).toPlainText()


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    made = History(tmp_path / "history.db", tmp_path / "audio")
    (tmp_path / "audio").mkdir()
    soundfile.write(tmp_path / "audio" / "lost.wav", np.zeros(1600, np.float32), 16_000)
    made.add(Entry(100.0, "Apples and pears.", "apples and pears", "delivered", program="editor"))
    made.add(Entry(200.0, "Ein schöner Tag.", "Ein schöner Tag.", "delivered"))
    made.add(Entry(50.0, "", "", "failed", evidence="The model ran out of memory.", audio="lost.wav", audio_s=0.1))
    yield made
    made.close()


@pytest.fixture
def shown(qtbot: QtBot, core: Core, history: History, home: Path) -> Shown:
    return Shown(qtbot, core, history)


def test_failed_takes_stand_on_top_then_the_newest(shown: Shown) -> None:
    assert shown.texts() == ["The model ran out of memory.", "Ein schöner Tag.", "Apples and pears."]


def test_what_failed_is_marked_in_the_colour_of_its_theme(
    ground: QColor, qtbot: QtBot, core: Core, history: History, home: Path
) -> None:
    window = Shown(qtbot, core, history).window
    window.choose(2)
    picture = window.findChild(QListView, "entries").viewport().grab().toImage()
    shape = {picture.pixelColor(x, y).name() for x in range(12, 28) for y in range(8, 24)}
    assert theme.colour("red", QPalette(ground)).name() in shape


def test_search_waits_for_the_typing_to_pause(shown: Shown, qtbot: QtBot) -> None:
    shown.window.findChild(QLineEdit).setText("SCHÖNER")
    assert len(shown.texts()) == 3
    qtbot.waitUntil(lambda: shown.texts() == ["Ein schöner Tag."], timeout=SEARCH_PAUSE_MS * 20)


def test_a_failed_take_is_tried_again_with_one_click(shown: Shown) -> None:
    shown.choose(0)
    assert not shown.button("insert").isEnabled() and shown.button("retry").isEnabled()
    shown.button("retry").click()
    assert isinstance(shown.core.last(), events.Retry) and shown.core.last().recording == "lost.wav"


def test_another_model_can_be_chosen_for_it(shown: Shown, home: Path) -> None:
    (home / "models").mkdir()
    (home / "models" / "tiny.en-Q8_0.gguf").touch()
    shown.window.hide()
    shown.window.show()
    shown.choose(0)
    box = shown.window.findChild(QComboBox)
    box.setCurrentText("tiny.en:Q8_0")
    shown.button("retry").click()
    assert shown.core.last() == events.Retry("lost.wav", "tiny.en:Q8_0")


def test_a_failed_take_that_still_lies_in_the_spool_can_be_tried_again(
    qtbot: QtBot, core: Core, history: History, home: Path
) -> None:
    id = history.add(Entry(300.0, status="failed", evidence="It failed.", audio="take-7.wav"))
    shown = Shown(qtbot, core, history)
    shown.window.choose(id)
    shown.button("retry").click()
    assert shown.core.last() == events.Retry("take-7.wav", None)


def test_insert_and_copy_name_the_entry(shown: Shown) -> None:
    shown.choose(2)
    id = shown.window.entries.entry(shown.window.entries.index(2)).id
    shown.button("insert").click()
    assert shown.core.last() == events.InsertAgain(id)
    shown.button("copy").click()
    assert shown.core.last() == events.CopyText(id)
    assert shown.text() == "Apples and pears."


def test_what_the_model_gave_is_shown_where_the_rules_changed_it(shown: Shown) -> None:
    raw = shown.window.findChild(object, "raw")
    shown.choose(2)
    assert "apples and pears" in raw.text() and raw.isVisible()
    shown.choose(1)
    assert not raw.isVisible()


def test_delete_and_undo(shown: Shown, tmp_path: Path) -> None:
    shown.choose(0, 2)
    shown.button("delete").click()
    assert shown.texts() == ["Ein schöner Tag."] and (tmp_path / "audio" / "lost.wav").exists()
    assert shown.text() == "" and not shown.button("copy").isEnabled()  # the details went with it
    undo = next(b for b in shown.window.findChildren(QPushButton) if b.text() == "Undo")
    assert undo.isVisible()
    undo.click()
    assert len(shown.texts()) == 3 and not undo.isVisible()


def test_deleted_audio_goes_when_the_window_closes(shown: Shown, tmp_path: Path) -> None:
    shown.choose(0)
    shown.button("delete").click()
    shown.window.close()
    assert not (tmp_path / "audio" / "lost.wav").exists()


def test_play(shown: Shown, tmp_path: Path) -> None:
    shown.choose(0)
    shown.button("play").click()
    assert shown.played == [tmp_path / "audio" / "lost.wav"]


def test_damaged_audio_shows_the_entry_all_the_same(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "audio" / "lost.wav").write_bytes(b"no audio")
    shown.choose(0)
    assert shown.text() == "The model ran out of memory."


def test_a_new_dictation_appears_and_the_chosen_one_stays_chosen(shown: Shown) -> None:
    shown.choose(2)
    shown.history.add(Entry(300.0, "Brand new.", status="delivered"))
    shown.window.see(events.HistoryChanged())
    assert "Brand new." in shown.texts() and shown.text() == "Apples and pears."


def test_thousands_of_entries_are_fetched_as_they_are_looked_at(
    qtbot: QtBot, core: Core, history: History, home: Path
) -> None:
    for i in range(450):
        history.add(Entry(1000.0 + i, f"text {i}", status="delivered"))
    entries = Shown(qtbot, core, history).window.entries
    root = entries.index(-1)
    assert entries.rowCount() == 200
    while entries.canFetchMore(root):
        entries.fetchMore(root)
    assert entries.rowCount() == 453


def test_two_entries_are_compared_beside_each_other(shown: Shown, history: History) -> None:
    first = history.add(Entry(400.0, "Please call Basil at nine.", status="delivered", model="tiny.en:Q8_0"))
    second = history.add(Entry(401.0, "Please call Basel at nine.", status="none", model="base:Q8_0"))
    shown.window.entries.reload()
    assert not shown.window.comparison.isVisible()
    shown.window.choose(first, second)
    assert shown.window.comparison.isVisible() and shown.window.comparison.marked() == [["Basil"], ["Basel"]]
    shown.window.choose(first)
    assert not shown.window.comparison.isVisible()


def test_a_delivered_entry_is_recognised_again_from_its_audio_and_compared_with_the_new_text(
    shown: Shown, history: History
) -> None:
    history.audio_dir.mkdir(parents=True, exist_ok=True)
    audio = history.audio_dir / "kept.wav"
    audio.touch()
    before = history.add(Entry(400.0, "Please call Basil.", status="delivered", audio="kept.wav", model="tiny.en:Q8_0"))
    shown.window.entries.reload()
    shown.window.choose(before)
    shown.button("retry").click()
    assert shown.core.last() == events.TranscribeFile(audio, None)
    after = history.add(Entry(500.0, "Please call Basel.", model="base:Q8_0"))
    shown.window.see(events.HistoryChanged(after))
    shown.window.see(events.FileTranscribed(audio, "Please call Basel.", entry=after))
    assert shown.window.comparison.marked() == [["Basil."], ["Basel."]]


def test_why_recognising_again_failed_is_said(shown: Shown, history: History) -> None:
    history.audio_dir.mkdir(parents=True, exist_ok=True)
    audio = history.audio_dir / "kept.wav"
    audio.touch()
    shown.window.choose(history.add(Entry(400.0, "One.", status="delivered", audio="kept.wav")))
    shown.window.entries.reload()
    shown.window.choose(history.last().id)
    shown.button("retry").click()
    shown.window.see(events.FileTranscribed(audio, "", message="kept.wav is empty: there is nothing to transcribe."))
    assert "nothing to transcribe" in shown.window.findChild(QLabel, "raw").text()
