"""The shelf: models deleted with a way back, imported, used."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation import events, shelf
from dictation.shelf import Shelf
from engine import store


class Kept:
    def __init__(self) -> None:
        self.sent: list[events.Command] = []
        self.published: queue.Queue[events.Event] = queue.Queue()
        self.changes: queue.Queue[None] = queue.Queue()
        self.shelf = Shelf(self.sent.append, self.published.put, lambda: self.changes.put(None))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "mine-Q8_0.gguf").write_bytes(b"weights")
    made = Kept()
    yield made
    made.shelf.close()


def labels() -> list[str]:
    return [model.label for model in store.installed()]


def test_a_deleted_model_can_come_back(kept: Kept) -> None:
    kept.shelf.delete("mine:Q8_0")
    assert labels() == []
    kept.shelf.undo_delete()
    assert labels() == ["mine:Q8_0"] and store.find("mine").read_bytes() == b"weights"
    assert kept.changes.qsize() == 2


def test_after_the_time_for_undo_the_file_is_gone(kept: Kept, tmp_path: Path) -> None:
    kept.shelf.delete("mine:Q8_0")
    kept.shelf.forget()
    kept.shelf.undo_delete()
    assert labels() == [] and list((tmp_path / "models").iterdir()) == []


def test_closing_ends_the_time_for_undo(kept: Kept, tmp_path: Path) -> None:
    kept.shelf.delete("mine:Q8_0")
    kept.shelf.close()
    assert list((tmp_path / "models").iterdir()) == []


def test_what_a_killed_sayso_had_deleted_goes_at_the_next_start(
    kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.shelf.delete("mine:Q8_0")
    Kept().shelf.close()  # another one, while it can still come back
    assert len(list((tmp_path / "models").iterdir())) == 1
    monkeypatch.setattr(shelf, "UNDO_S", 0.0)
    Kept().shelf.close()
    assert list((tmp_path / "models").iterdir()) == []


def test_a_model_that_can_not_be_deleted_is_a_notice_and_stays(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "models" / ".mine-Q8_0.gguf.deleted").mkdir()  # in the way
    kept.shelf.delete("mine:Q8_0")
    notice = kept.published.get(timeout=5)
    assert isinstance(notice, events.Notice) and "can't be deleted" in notice.message
    assert labels() == ["mine:Q8_0"]


def test_a_registered_file_stays_where_it_is(kept: Kept, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.gguf"
    elsewhere.write_bytes(b"theirs")
    store.register(elsewhere, "theirs", "F16")
    kept.shelf.delete("theirs:F16")
    assert labels() == ["mine:Q8_0"] and elsewhere.read_bytes() == b"theirs"
    kept.shelf.undo_delete()
    assert labels() == ["mine:Q8_0", "theirs:F16"]


def test_deleting_what_is_gone_already_is_a_notice(kept: Kept) -> None:
    kept.shelf.delete("other:Q8_0")
    notice = kept.published.get(timeout=5)
    assert isinstance(notice, events.Notice) and "other:Q8_0" in notice.message


def test_a_file_that_is_no_model_is_a_notice(kept: Kept, tmp_path: Path) -> None:
    odd = tmp_path / "odd.gguf"
    odd.write_bytes(b"GGUF nothing else")
    kept.shelf.import_file(odd)
    notice = kept.published.get(timeout=20)
    assert isinstance(notice, events.Notice) and notice.severity == "error" and notice.message


def test_an_imported_file_is_installed(kept: Kept, tiny_en_q8: Path) -> None:
    kept.shelf.import_file(tiny_en_q8)
    kept.changes.get(timeout=30)
    assert "tiny.en:Q8_0" in labels()


def test_use_and_unload_are_commands(kept: Kept) -> None:
    kept.shelf.use("mine:Q8_0")
    kept.shelf.unload()
    assert kept.sent == [events.ChangeSettings({"recognition.model": "mine:Q8_0"}), events.UnloadModel()]
