"""The models page and the quant picker: facts with their sources, and a whole download from a Hub on this computer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from dictation import events
from dictation.downloads import Downloads
from dictation.model_facts import QuantFacts, rows
from dictation.shelf import Shelf
from engine import catalog, store
from engine.catalog import CatalogModel, Fact
from tests.fakes.hub_server import Fault, Hub, serve
from ui.bridge import Bridge
from ui.settings.models import DownloadRow, ModelCard, ModelsPage
from ui.settings.quant_picker import COLUMNS, Chart, QuantPicker

TINY = catalog.find("tiny.en")
assert TINY is not None


def facts(quant: str, verdict: str, error: float = 5.0, installed: bool = False) -> QuantFacts:
    published = Fact(error, "published")
    memory = Fact(2e8, "estimated")
    return QuantFacts(
        quant, 50_000_000, memory, Fact(6.1, "measured"), published, "", installed, verdict, f"why {quant}"
    )  # type: ignore[arg-type]


ROWS = [facts("Q8_0", "recommended"), facts("F16", "memory is short", 4.9), facts("Q4_K_M", "fits", 5.4, True)]


@pytest.fixture
def picker(qtbot: QtBot) -> QuantPicker:
    made = QuantPicker(ROWS)
    qtbot.addWidget(made)
    return made


def table(picker: QuantPicker) -> list[list[str]]:
    found = picker.findChild(QTableWidget)
    columns = range(found.columnCount())
    return [[found.item(row, column).text() for column in columns] for row in range(found.rowCount())]


def press(widget: QWidget, text: str) -> None:
    next(b for b in widget.findChildren(QPushButton) if b.text() == text and not b.isHidden()).click()


def words(widget: QWidget) -> str:
    return " ".join(label.text() for label in widget.findChildren(QLabel) if not label.isHidden())


# ---------------------------------------------------------------------------------------------------------- the picker


def test_every_number_says_where_it_comes_from(picker: QuantPicker) -> None:
    assert table(picker)[0] == [
        "Q8_0",
        "50 MB",
        "200 MB, estimated",
        "6.1× speech, measured here",
        "5.00 %, published",
        "Recommended",
    ]
    assert len(COLUMNS) == 6


def test_the_recommended_row_is_chosen_and_its_reason_stands_below(picker: QuantPicker) -> None:
    assert picker.chosen().quant == "Q8_0" and "why Q8_0" in words(picker)
    picker.choose("F16")
    assert "why F16" in words(picker)


def test_only_what_fits(picker: QuantPicker) -> None:
    picker.findChild(QCheckBox).setChecked(True)
    assert [row[0] for row in table(picker)] == ["Q8_0", "Q4_K_M"]


def test_the_button_does_what_the_chosen_row_needs(picker: QuantPicker, qtbot: QtBot) -> None:
    with qtbot.waitSignal(picker.download) as asked:
        press(picker, "Download")
    assert asked.args == ["Q8_0"]
    picker.choose("Q4_K_M")
    with qtbot.waitSignal(picker.use) as used:
        press(picker, "Use now")
    assert used.args == ["Q4_K_M"]
    with qtbot.waitSignal(picker.delete) as deleted:
        press(picker, "Delete")
    assert deleted.args == ["Q4_K_M"]


def test_new_facts_leave_the_choice(picker: QuantPicker) -> None:
    picker.choose("Q4_K_M")
    picker.show_rows(list(reversed(ROWS)))
    assert picker.chosen().quant == "Q4_K_M"


def test_a_picker_with_no_numbers_yet_still_works(qtbot: QtBot) -> None:
    picker = QuantPicker([replace(ROWS[0], speed=None, error_percent=None)])
    qtbot.addWidget(picker)
    assert table(picker)[0][3:5] == ["not known yet", "not known yet"]


def test_the_chart_tells_its_points_to_a_screen_reader_and_is_no_window(qtbot: QtBot, picker: QuantPicker) -> None:
    chart = picker.findChild(Chart)
    assert "F16: 50 MB, 4.90 %" in chart.accessibleDescription()
    lonely = Chart(ROWS)
    qtbot.addWidget(lonely)
    assert not lonely.isVisible()  # before it has a place, it must not open a window of its own


# ------------------------------------------------------------------------------------------------------------ the page


class Desk:
    """The page with the real shelf and downloads behind it, and a Hub on this computer."""

    def __init__(self, qtbot: QtBot, server: Hub, home: Path, model: CatalogModel) -> None:
        self.bridge, self.sent = Bridge(), []
        self.downloads = Downloads(self.bridge.publish, lambda label: None, server.url, home / "cache" / "hub")
        self.shelf = Shelf(
            self.sent.append, self.bridge.publish, lambda: self.bridge.run_on_main(self.refresh), self.downloads
        )
        self.page = ModelsPage(self.shelf, [model])
        qtbot.addWidget(self.page)
        self.seen: list[events.Event] = []
        self.bridge.event.connect(self.see)

    def see(self, event: events.Event) -> None:
        self.seen.append(event)
        self.page.see(event)

    def refresh(self) -> None:
        self.page.refresh()

    @property
    def card(self) -> ModelCard:
        return self.page.card("tiny.en")

    def picker(self) -> QuantPicker:
        self.card.open()
        return self.card.findChild(QuantPicker)

    def row(self) -> DownloadRow | None:
        return self.page.findChild(DownloadRow)

    def until(self, qtbot: QtBot, status: str) -> events.Download:
        def came() -> bool:
            return any(isinstance(e, events.Download) and e.status == status for e in self.seen)

        qtbot.waitUntil(came, timeout=30_000)
        return next(e for e in reversed(self.seen) if isinstance(e, events.Download) and e.status == status)


@pytest.fixture
def server() -> Iterator[Hub]:
    with serve() as hub:
        yield hub


@pytest.fixture
def desk(qtbot: QtBot, server: Hub, home: Path, tiny_en_q8: Path) -> Iterator[Desk]:
    file = TINY.file("Q8_0")
    server.add(TINY.repo, file.filename, tiny_en_q8.read_bytes())
    size = tiny_en_q8.stat().st_size
    model = replace(TINY, revision=None, files=(replace(file, size_bytes=size, sha256=None),))
    made = Desk(qtbot, server, home, model)
    yield made
    made.shelf.close()


def test_pull_fail_resume_use(desk: Desk, qtbot: QtBot, server: Hub) -> None:
    server.fail(TINY.file("Q8_0").filename, Fault("html"))
    press(desk.picker(), "Download")
    assert "web page" in desk.until(qtbot, "failed").message
    qtbot.waitUntil(lambda: desk.row() is not None and "web page" in words(desk.row()))
    assert store.installed() == []

    offer = desk.row().findChild(QPushButton, "download:file")
    assert offer.isVisibleTo(desk.row()), "a file can be used instead"
    press(desk.row(), "Resume")
    desk.until(qtbot, "done")
    qtbot.waitUntil(lambda: desk.picker().chosen().installed)
    assert [m.label for m in store.installed()] == ["tiny.en:Q8_0"]
    qtbot.waitUntil(lambda: desk.row() is None)

    press(desk.picker(), "Use now")
    assert desk.sent == [events.ChangeSettings({"recognition.model": "tiny.en:Q8_0"})]


def test_a_paused_download_stands_there_after_a_restart(desk: Desk, qtbot: QtBot, server: Hub, home: Path) -> None:
    server.chunk_pause_s = 0.01
    press(desk.picker(), "Download")
    qtbot.waitUntil(lambda: any(getattr(e, "received_bytes", 0) > 500_000 for e in desk.seen), timeout=30_000)
    press(desk.row(), "Pause")
    desk.until(qtbot, "paused")
    qtbot.waitUntil(lambda: "are kept" in words(desk.row()))

    again = Desk(qtbot, server, home, TINY)  # as after a new start
    assert again.row() is not None and "are kept" in words(again.row())
    press(again.row(), "Cancel")
    again.until(qtbot, "cancelled")
    qtbot.waitUntil(lambda: again.row() is None)


def test_a_name_that_the_hub_does_not_know_is_a_notice(desk: Desk, qtbot: QtBot) -> None:
    desk.shelf.pull("some/where")
    qtbot.waitUntil(lambda: any(isinstance(e, events.Notice) for e in desk.seen), timeout=20_000)
    (notice,) = [e for e in desk.seen if isinstance(e, events.Notice)]
    assert "some/where" in notice.message


def test_a_deleted_model_comes_back_with_undo(desk: Desk, qtbot: QtBot, home: Path, tiny_en_q8: Path) -> None:
    (home / "models").mkdir(exist_ok=True)
    (home / "models" / "tiny.en-Q8_0.gguf").symlink_to(tiny_en_q8)
    desk.refresh()
    row = desk.page.findChild(QWidget, "installed:tiny.en:Q8_0")
    press(row, "Delete")
    assert store.installed() == [] and "is deleted" in words(desk.page)
    press(desk.page, "Undo")
    assert [m.label for m in store.installed()] == ["tiny.en:Q8_0"]
    assert tiny_en_q8.exists()


def test_deleting_in_the_picker_can_be_undone_too(desk: Desk, home: Path, tiny_en_q8: Path) -> None:
    (home / "models").mkdir(exist_ok=True)
    (home / "models" / "tiny.en-Q8_0.gguf").symlink_to(tiny_en_q8)
    desk.refresh()
    press(desk.picker(), "Delete")
    assert store.installed() == []
    press(desk.page, "Undo")
    assert [m.label for m in store.installed()] == ["tiny.en:Q8_0"]


def test_the_model_in_use_says_how_it_is(desk: Desk) -> None:
    desk.page.see(events.ModelChanged("base:Q8_0", events.ModelStatus.READY, device="cpu"))
    card = desk.page.findChild(QWidget, "card:in_use")
    assert "base:Q8_0" in words(card) and "Ready" in words(card)
    desk.page.see(events.ModelChanged("base:Q8_0", events.ModelStatus.FAILED, "The file is damaged."))
    assert "The file is damaged." in words(card)
    meanwhile = "tiny.en stays in use until base:Q8_0 is ready."
    desk.page.see(events.ModelChanged("base:Q8_0", events.ModelStatus.LOADING, meanwhile))
    assert "Loading" in words(card) and meanwhile in words(card)


def test_nothing_is_cut_off_in_a_narrow_window(qtbot: QtBot, desk: Desk, home: Path) -> None:
    (home / "models").mkdir(exist_ok=True)
    (home / "models" / "tiny.en-Q8_0.gguf").touch()
    desk.refresh()
    desk.page.see(events.Download("job", "small:Q8_0", "running", 91_000_000, 264_000_000, 6_400_000.0))
    desk.page.see(
        events.Download("late", "medium:Q8_0", "failed", 91_000_000, 824_000_000, message="It keeps failing.")
    )
    desk.card.open()
    desk.page.resize(560 - 180, 600)  # what the list of pages leaves of the least width
    desk.page.show()
    qtbot.waitUntil(lambda: desk.page.widget().width() <= desk.page.viewport().width())


def test_every_catalogued_model_opens_into_a_picker(qtbot: QtBot, desk: Desk) -> None:
    page = ModelsPage(desk.shelf)
    qtbot.addWidget(page)
    for model in catalog.models():
        page.card(model.name).open()
        picker = page.card(model.name).findChild(QuantPicker)
        assert len(table(picker)) == len(model.files) == len(rows(model))
