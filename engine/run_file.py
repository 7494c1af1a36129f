"""The file of a run: its conditions, then what came of it, a line of JSON each, appended as it comes.

So a run goes on where it was stopped. A line cut short by a crash is passed over, and its work done again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from functools import cache
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")
T = TypeVar("T", bound="DataclassInstance")


class RunFile(Generic[C]):
    """A subclass says what its conditions are, a dataclass `C`, and adds the results."""

    KEY: str  # of the line that holds the conditions
    CONDITIONS: type[C]
    COMMAND: str  # that writes such files
    ERROR: type[Exception]  # what is raised, with a sentence

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, conditions: C) -> None:
        """Write the conditions, or compare them with those there. Raises `ERROR` where they differ."""
        there = self.conditions()
        if there is None:
            self._append({self.KEY: asdict(conditions)})
        elif there != conditions:
            names = [field.name for field in fields(conditions)]
            different = ", ".join(name for name in names if getattr(there, name) != getattr(conditions, name))
            raise self.ERROR(
                f"{self.path} holds results of another run (different: {different}); choose another folder."
            )

    def conditions(self) -> C | None:
        """None where nothing was written yet. Raises `ERROR` for a file of another kind."""
        first = next(self._under(self.KEY), None)
        if first is None and self.path.exists() and self.path.stat().st_size:
            raise self.ERROR(f"{self.path} holds no results of `{self.COMMAND}`.")
        try:
            return _made(self.CONDITIONS, first) if first is not None else None
        except TypeError as error:
            raise self.ERROR(f"{self.path} was written by another version of Sayso.") from error

    def objects(self) -> Iterator[dict[str, Any]]:
        """Every whole line."""
        if not self.path.exists():
            return
        with self.path.open("rb") as lines:  # line by line: a long run's file is large
            for line in lines:
                try:
                    item = json.loads(line)
                except ValueError:
                    continue
                if isinstance(item, dict):
                    yield item

    def _under(self, key: str) -> Iterator[dict[str, Any]]:
        """What stands in lines `{key: {...}}`."""
        for item in self.objects():
            if isinstance(item.get(key), dict):
                yield item[key]

    def _all(self, key: str, kind: type[T]) -> list[T]:
        """Lines `{key: {...}}` that hold a `kind`, as one."""
        found = []
        for item in self._under(key):
            with suppress(TypeError):
                found.append(_made(kind, item))
        return found

    def _append(self, item: dict[str, Any]) -> None:
        # of a name that is no valid text, "\udcff" is left, which JSON reads back as it was
        line = json.dumps(item, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+b") as file:
                # Begin on a line of its own, after a crash too
                file.write(line if not file.tell() or self._ends_with_newline() else b"\n" + line)
        except OSError as error:
            raise self.ERROR(
                f"{self.path} can't be written: {error.strerror or error}. What is done is kept; the same command goes "
                "on from there."
            ) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from adding to this run. Raises `ERROR` where one does."""
        import filelock

        lock = filelock.FileLock(self.path.with_name(f".{self.path.name}.lock"), timeout=0)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire()
        except filelock.Timeout as error:
            raise self.ERROR(f"Another `{self.COMMAND}` is writing {self.path}; wait for it, or stop it.") from error
        except OSError as error:
            raise self.ERROR(f"{self.path} can't be written: {error.strerror or error}.") from error
        try:
            yield
        finally:
            with suppress(OSError):
                Path(lock.lock_file).unlink()
            lock.release()

    def _ends_with_newline(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"


def known(kind: type[T], item: dict[str, Any]) -> T:
    """A line as a `kind`; what it does not know is passed over. Raises TypeError where something is missing."""
    types = _types(kind)
    return _made(kind, {key: value for key, value in item.items() if key in types})


def _made(kind: type[T], item: dict[str, Any]) -> T:
    """Raises TypeError where a value is of another type than its field: a report may be a stranger's, or damaged."""
    types = _types(kind)
    if wrong := [key for key, value in item.items() if key in types and not isinstance(value, types[key])]:
        raise TypeError(f"{', '.join(wrong)}: of another type")
    return kind(**item)


@cache
def _types(kind: type[Any]) -> dict[str, tuple[type, ...]]:
    """What each field may hold; a whole number will do for any other."""
    found = {}
    for name, hint in get_type_hints(kind).items():
        parts = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        types = tuple(get_origin(part) or part for part in parts)
        found[name] = (*types, int) if float in types else types
    return {field.name: found[field.name] for field in fields(kind)}
