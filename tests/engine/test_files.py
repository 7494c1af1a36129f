"""Files are written whole or not at all."""

import os
import stat
import threading
from pathlib import Path

import pytest

from engine.errors import ModelFileError
from engine.files import atomic, locked, write_text


def test_a_file_is_the_old_one_until_it_is_the_whole_new_one(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "notes.txt"
    write_text(path, "old\n")
    with atomic(path) as part:
        part.write_text("half")
        assert path.read_bytes() == b"old\n"
        part.write_text("new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    write_text(path, "old")
    with pytest.raises(ZeroDivisionError), atomic(path) as part:
        part.write_text("half")
        raise ZeroDivisionError
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])


def test_a_link_stays_and_what_it_points_at_changes(tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles" / "settings.toml"
    write_text(kept, "old")
    link = tmp_path / "settings.toml"
    link.symlink_to(kept)
    write_text(link, "new")
    assert link.is_symlink() and kept.read_text() == "new"


def test_what_is_private_is_the_owners_only_and_the_rest_is_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x", private=True)
        write_text(tmp_path / "b", "x")
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"]
    assert modes == [0o600, 0o640] or os.name == "nt"


def test_names_as_long_as_the_file_system_takes_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    for name in ("x" * 255, os.fsdecode(b"\xff.txt")):
        write_text(tmp_path / name, f"{name}: whole")
    assert len(list(tmp_path.iterdir())) == 2


def test_what_a_killed_writer_left_goes_with_the_next_one(tmp_path: Path) -> None:
    stale, fresh, other = (tmp_path / f".{name}.part" for name in ("x.gguf.1", "x.gguf.2", "y.gguf.1"))
    for part in (stale, fresh, other):
        part.touch()
    for part in (stale, other):
        os.utime(part, (0, 0))
    with atomic(tmp_path / "x.gguf") as part:
        part.write_bytes(b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([fresh, other, tmp_path / "x.gguf"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
def test_a_device_or_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="no plain file"), atomic(tmp_path / "pipe", fault=ModelFileError):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_a_refusal_is_one_sentence_where_one_is_wanted(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFileError, match=r"can't be written: .*\.$"):
        write_text(tmp_path / "file" / "x", "x", fault=ModelFileError)
    with pytest.raises(OSError):
        write_text(tmp_path / "file" / "x", "x")


def test_changes_under_a_lock_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "count"
    write_text(path, "0")

    def add() -> None:
        for _ in range(50):
            with locked(path):
                write_text(path, str(int(path.read_text()) + 1), durable=False)

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "200"
