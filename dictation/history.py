"""The history: every text with its audio, model, timings and delivery. SQLite, on this computer only.

A damaged file never stops the app: what can still be read is carried into a new one, the damaged one is kept beside it.
One object serves all threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from dictation import log, paths
from dictation.errors import HistoryError

SCHEMA_VERSION = 1
Status = Literal["delivered", "held", "copied", "printed", "none", "failed"]


@dataclass(frozen=True)
class Entry:
    """One dictation. Text fields stay out of `repr`."""

    started_unix_s: float
    text: str = field(repr=False, default="")
    raw_text: str = field(repr=False, default="")
    status: Status = "none"
    language: str = ""
    model: str = ""
    audio_s: float = 0.0
    speech_s: float = 0.0
    release_to_text_ms: float = 0.0
    deliver_ms: float = 0.0
    method: str = ""
    evidence: str = ""
    program: str = ""  # window class of the target
    audio: str | None = None  # file name in the audio folder, or in the spool while the take has failed
    timings: dict[str, float] = field(default_factory=dict)  # milliseconds per stage, and counts
    settings: dict[str, Any] = field(default_factory=dict)  # that decided the text, where not as by default
    id: int | None = None


_OBJECTS = ("timings", "settings")  # stored as JSON
_COLUMNS = tuple(f.name for f in fields(Entry) if f.name != "id")
_TYPES = {"started_unix_s": "REAL NOT NULL", "audio_s": "REAL", "speech_s": "REAL", "release_to_text_ms": "REAL"}
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY AUTOINCREMENT, "
    + ", ".join(f"{name} {_TYPES.get(name, 'TEXT' if name != 'deliver_ms' else 'REAL')}" for name in _COLUMNS)
    + ")"
)


class History:
    """Opens or makes the file. Raises HistoryError only when its folder can't be written."""

    def __init__(self, path: Path | None = None, audio_dir: Path | None = None) -> None:
        self.path = path or paths.history_file()
        self.audio_dir = audio_dir or paths.audio_dir()
        self.salvaged: int | None = None  # entries carried over from a damaged file, when it was damaged
        self._lock = threading.RLock()
        try:
            paths.private_dir(self.path.parent)
            self._db = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            why = getattr(error, "strerror", None) or error
            raise HistoryError(f"The history can't be written to {self.path}: {why}.") from error

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # -- writing

    def add(self, entry: Entry) -> int:
        """Store an entry; returns its id. An entry that has one is put back under it (undo of a deletion)."""
        row = _row(entry)
        names = list(row)
        with self._write() as db:
            marks = ", ".join("?" for _ in names)
            cursor = db.execute(f"INSERT INTO entries ({', '.join(names)}) VALUES ({marks})", list(row.values()))
            return int(cursor.lastrowid or 0)

    def change(self, id: int, **changes: Any) -> None:
        """Change fields of an entry."""
        changes |= {name: json.dumps(changes[name]) for name in _OBJECTS if name in changes}
        unknown = set(changes) - set(_COLUMNS)
        if unknown:
            raise ValueError(f"no such fields: {unknown}")
        with self._write() as db:
            sets = ", ".join(f"{name} = ?" for name in changes)
            db.execute(f"UPDATE entries SET {sets} WHERE id = ?", [*changes.values(), id])

    def delete(self, ids: Iterable[int]) -> list[Entry]:
        """Delete entries and return them, so that it can be undone with `add`. Audio goes with `drop_audio`."""
        gone = [entry for id in ids if (entry := self.get(id)) is not None]
        with self._write() as db:
            db.executemany("DELETE FROM entries WHERE id = ?", [(entry.id,) for entry in gone])
        return gone

    def drop_audio(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.audio:
                (self.audio_dir / entry.audio).unlink(missing_ok=True)

    def delete_all(self) -> None:
        """Everything, audio too, with the space it took on the disk."""
        with self._write() as db:
            db.execute("DELETE FROM entries")
        with self._lock:
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for file in self.audio_dir.glob("*.wav"):
            file.unlink(missing_ok=True)

    def expire(self, text_days: int, audio_days: int, audio_count: int, now_unix_s: float | None = None) -> int:
        """Apply the retention settings (0: no limit); returns how many entries went. Failed takes are kept."""
        now = time.time() if now_unix_s is None else now_unix_s
        with_audio = self._entries("WHERE audio IS NOT NULL AND status != 'failed' ORDER BY started_unix_s DESC")
        for place, entry in enumerate(with_audio):
            too_old = audio_days and entry.started_unix_s < now - audio_days * 86400
            if (too_old or (audio_count and place >= audio_count)) and entry.id is not None:
                self.drop_audio([entry])
                self.change(entry.id, audio=None)
        if not text_days:
            return 0
        old = self._entries("WHERE status != 'failed' AND started_unix_s < ?", [now - text_days * 86400])
        self.drop_audio(old)
        self.delete(entry.id for entry in old if entry.id is not None)
        return len(old)

    # -- reading

    def get(self, id: int) -> Entry | None:
        return next(iter(self._entries("WHERE id = ?", [id])), None)

    def last(self) -> Entry | None:
        """The newest entry with a text."""
        return next(iter(self._entries("WHERE text != '' ORDER BY id DESC LIMIT 1")), None)

    def search(self, words: str = "", limit: int = 200, offset: int = 0) -> list[Entry]:
        """Entries whose text holds all the words, whatever their case; held and failed ones first, then the newest."""
        wanted = [word.casefold() for word in words.split()]
        where = " AND ".join("instr(folded(text), ?) > 0" for _ in wanted)
        order = "ORDER BY status IN ('held', 'failed') DESC, started_unix_s DESC, id DESC LIMIT ? OFFSET ?"
        return self._entries(f"{'WHERE ' + where if where else ''} {order}", [*wanted, limit, offset])

    def count(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT count(*) FROM entries").fetchone()[0])

    def audio_path(self, entry: Entry) -> Path | None:
        """The audio of an entry, if it is still there."""
        path = self.audio_dir / entry.audio if entry.audio else None
        return path if path is not None and path.is_file() else None

    # -- inside

    def _entries(self, clause: str, values: Iterable[Any] = ()) -> list[Entry]:
        with self._lock:
            rows = self._db.execute(f"SELECT id, {', '.join(_COLUMNS)} FROM entries {clause}", list(values)).fetchall()
        return [_entry(dict(row)) for row in rows]

    @contextlib.contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock, self._db:
                yield self._db
        except sqlite3.Error as error:
            raise HistoryError(f"The history can't be written: {error}.") from error

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return self._salvage()

    def _connect(self) -> sqlite3.Connection:
        handle = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)  # made private before SQLite sees it
        os.close(handle)
        db = sqlite3.connect(self.path, check_same_thread=False, timeout=5.0)
        try:
            db.row_factory = sqlite3.Row
            db.create_function("folded", 1, lambda text: str(text or "").casefold(), deterministic=True)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")
            if db.execute("PRAGMA quick_check").fetchone()[0] != "ok":
                raise sqlite3.DatabaseError("damaged")
            db.execute(_SCHEMA)
            have = {row["name"] for row in db.execute("PRAGMA table_info(entries)")}
            for name in _COLUMNS:  # a file of an older version
                if name not in have:
                    db.execute(f"ALTER TABLE entries ADD COLUMN {name} {_TYPES.get(name, 'TEXT')}")
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            db.close()
            raise
        return db

    def _salvage(self) -> sqlite3.Connection:
        damaged = self.path.with_name(f"{self.path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}.db")
        os.replace(self.path, damaged)
        for suffix in ("-wal", "-shm"):
            extra = Path(f"{self.path}{suffix}")
            if extra.exists():
                os.replace(extra, f"{damaged}{suffix}")
        rows = _readable_rows(damaged)
        db = self._connect()
        self._db = db
        for row in rows:
            with contextlib.suppress(HistoryError, TypeError, ValueError):
                self.add(_entry(row))
        self.salvaged = len(rows)
        log.get("history").warning("a damaged history was replaced; %d entries were saved", len(rows))
        return db


def _readable_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a damaged file that can still be read, from both ends."""
    found: dict[int, dict[str, Any]] = {}
    for order in ("ASC", "DESC"):
        with contextlib.suppress(sqlite3.DatabaseError), contextlib.closing(sqlite3.connect(path)) as db:
            db.row_factory = sqlite3.Row
            for row in db.execute(f"SELECT * FROM entries ORDER BY id {order}"):
                found[row["id"]] = dict(row)
    return [found[id] for id in sorted(found)]


def _row(entry: Entry) -> dict[str, Any]:
    row = asdict(entry)
    row |= {name: json.dumps(row[name], ensure_ascii=False) for name in _OBJECTS}
    if entry.id is None:
        del row["id"]
    return row


def _entry(row: dict[str, Any]) -> Entry:
    known = {name: row[name] for name in (*_COLUMNS, "id") if row.get(name) is not None}
    return Entry(**known | {name: _object(known.get(name)) for name in _OBJECTS})


def _object(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except (TypeError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
