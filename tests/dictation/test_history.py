"""The history keeps, finds, expires, and survives damage."""

import os
import stat
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dictation.errors import HistoryError
from dictation.history import Entry, History


@pytest.fixture
def history(tmp_path):
    history = History(tmp_path / "data" / "history.db", tmp_path / "audio")
    yield history
    history.close()


def test_an_entry_comes_back_whole(history):
    entry = Entry(
        5.0, "Hello.", "hello", "delivered", "en", "base", 1.5, 1.2, 120, 30, "paste", "fetched", "xterm", None
    )
    id = history.add(entry)
    assert history.get(id) == Entry(**{**entry.__dict__, "id": id})
    assert history.last().id == id


@settings(max_examples=25)
@given(st.text(), st.dictionaries(st.text(), st.floats(allow_nan=False)))
def test_any_text_and_timings_come_back(tmp_path_factory, text, timings):
    history = History(tmp_path_factory.mktemp("h") / "history.db")
    if "\x00" not in text and all(ord(c) < 0xD800 or ord(c) > 0xDFFF for c in text):
        kept = history.get(history.add(Entry(1.0, text, timings=timings)))
        assert (kept.text, kept.timings) == (text, timings)
    history.close()


def test_search_finds_all_words_in_any_case_and_puts_held_and_failed_first(history):
    for n, (text, status) in enumerate(
        [("Größe und Maß", "delivered"), ("the size", "delivered"), ("GRÖSSE hier", "held"), ("", "failed")]
    ):
        history.add(Entry(float(n), text, status=status))
    assert [e.text for e in history.search("grösse")] == ["GRÖSSE hier", "Größe und Maß"]
    assert [e.text for e in history.search("maß größe")] == ["Größe und Maß"]
    assert [e.status for e in history.search()] == ["failed", "held", "delivered", "delivered"]
    assert history.search("%") == []


def test_deletion_can_be_undone_under_the_same_id(history):
    id = history.add(Entry(1.0, "keep me"))
    gone = history.delete([id])
    assert history.count() == 0
    assert history.add(gone[0]) == id


def test_retention_by_age_and_count_spares_failed_takes(history):
    history.audio_dir.mkdir()
    day = 86400.0
    for n in range(5):
        (history.audio_dir / f"{n}.wav").write_bytes(b"x")
        history.add(Entry(day * n, f"t{n}", status="failed" if n == 0 else "delivered", audio=f"{n}.wav"))
    gone = history.expire(text_days=3, audio_days=2, audio_count=1, now_unix_s=day * 4.5)
    assert gone == 1  # t1; t0 has failed and is kept
    assert sorted(f.name for f in history.audio_dir.iterdir()) == ["0.wav", "4.wav"]
    assert {e.text for e in history.search()} == {"t0", "t2", "t3", "t4"}
    assert history.expire(0, 0, 0, now_unix_s=day * 999) == 0


def test_delete_all_leaves_no_text_on_the_disk(history):
    (history.audio_dir).mkdir()
    (history.audio_dir / "a.wav").write_bytes(b"x")
    history.add(Entry(1.0, "confidential words", audio="a.wav"))
    history.delete_all()
    left = b"".join(f.read_bytes() for f in history.path.parent.rglob("*") if f.is_file())
    assert b"confidential" not in left
    assert not list(history.audio_dir.iterdir())


def test_a_file_that_is_no_database_is_put_aside_and_work_goes_on(tmp_path):
    path = tmp_path / "history.db"
    path.write_bytes(b"this is not a database at all" * 100)
    history = History(path)
    assert history.salvaged == 0
    assert history.add(Entry(1.0, "new")) == 1
    assert len(list(tmp_path.glob("history.damaged-*.db"))) == 1


def test_a_damaged_database_gives_back_what_can_still_be_read(tmp_path):
    path = tmp_path / "history.db"
    history = History(path)
    for n in range(400):
        history.add(Entry(float(n), f"text {n} " + "x" * 200))
    history._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    history.close()
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2 // 4096 * 4096
    damaged[middle : middle + 8192] = os.urandom(8192)
    path.write_bytes(damaged)
    again = History(path)
    assert again.salvaged is not None and again.salvaged > 300
    texts = {e.text.split(" x")[0] for e in again.search(limit=1000)}
    assert {"text 0", "text 399"} <= texts
    assert again.add(Entry(1.0, "new")) > 0


def test_only_the_owner_can_read_it(history):
    history.add(Entry(1.0, "x"))
    if os.name == "posix":
        assert stat.S_IMODE(history.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(history.path.parent.stat().st_mode) == 0o700


def test_two_threads_write_at_once(history):
    def write():
        for n in range(50):
            history.add(Entry(float(n), "x"))

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert history.count() == 100


def test_a_folder_in_the_way_is_one_sentence(tmp_path):
    (tmp_path / "history.db").mkdir()
    with pytest.raises(HistoryError, match="can't be written"):
        History(tmp_path / "history.db")
