"""X11 selections as data: what a selection holds, how it is fetched from its owner and served to those who ask.

Follows ICCCM chapter 2: TARGETS, MULTIPLE, TIMESTAMP, and INCR in both directions for data larger than one request.
Runs on the clipboard's thread (`clipboard.py`), which owns the connection.
"""

from __future__ import annotations

import array
import contextlib
import time
from dataclasses import dataclass, field
from typing import Any

from Xlib import X, Xatom, error
from Xlib.protocol import event as xevent

from dictation.desktop.x11.connection import Connection

# One property write must fit a request (256 KiB without BIG-REQUESTS, which python-xlib doesn't speak).
CHUNK_BYTES = 128 * 1024
FORMAT_TIMEOUT_S = 0.25
SAVE_TIMEOUT_S = 0.6
SAVE_LIMIT_BYTES = 64 * 1024 * 1024
TRANSFER_TIMEOUT_S = 10.0
# Answers about the selection itself, not contents; and contents that name a resource of the owner's, which die with it.
_NOT_CONTENTS = """
    TARGETS MULTIPLE TIMESTAMP SAVE_TARGETS DELETE INSERT_SELECTION INSERT_PROPERTY
    PIXMAP BITMAP DRAWABLE COLORMAP WINDOW CLIENT_WINDOW
"""
NOT_CONTENTS = frozenset(_NOT_CONTENTS.split())


class SelectionUnreadable(Exception):
    """The owner doesn't answer in time, or holds more than we would keep."""


@dataclass(frozen=True)
class Item:
    """One format of a selection: type atom, width of a unit in bits, raw bytes."""

    type_atom: int
    width: int
    data: bytes


# format atom -> item; an empty dict is an owned selection with nothing in it
Contents = dict[int, Item]
Named = dict[str, tuple[str, int, bytes]]  # the same for another connection: format -> type, width, data by name


def text_contents(x: Connection, text: str, secret: bool) -> Contents:
    """Text in the formats programs ask for; `secret` adds the hint by which clipboard managers skip it."""
    utf8 = text.encode("utf-8", "replace")  # half a surrogate pair can't be written down
    items = {
        x.atom("UTF8_STRING"): Item(x.atom("UTF8_STRING"), 8, utf8),
        x.atom("text/plain;charset=utf-8"): Item(x.atom("text/plain;charset=utf-8"), 8, utf8),
        x.atom("text/plain"): Item(x.atom("text/plain"), 8, utf8),
        x.atom("TEXT"): Item(x.atom("UTF8_STRING"), 8, utf8),
    }
    with contextlib.suppress(UnicodeEncodeError):  # a program that only knows Latin-1 gets nothing, not question marks
        items[Xatom.STRING] = Item(Xatom.STRING, 8, text.encode("latin-1"))
    if secret:
        items[x.atom("x-kde-passwordManagerHint")] = Item(x.atom("x-kde-passwordManagerHint"), 8, b"secret")
    return items


def _to_bytes(value: Any, width: int) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("latin-1")
    return array.array({8: "B", 16: "H", 32: "I"}[width], value).tobytes()


def _write_property(window: Any, name: int, item: Item, data: bytes, mode: int = X.PropModeReplace) -> None:
    if item.width == 8:
        window.change_property(name, item.type_atom, 8, data, mode)
    else:
        values = array.array({16: "H", 32: "I"}[item.width], data)
        window.change_property(name, item.type_atom, item.width, values.tolist(), mode)


class Fetcher:
    """Reads a selection that somebody else owns."""

    def __init__(self, connection: Connection) -> None:
        self._x = connection

    def everything(self, selection: int, at: int) -> Contents:
        """All formats the owner offers. Raises SelectionUnreadable when that takes too long or is too large."""
        deadline = time.monotonic() + SAVE_TIMEOUT_S
        targets = self.one(selection, self._x.atom("TARGETS"), at)
        if targets is None:
            plain = self.one(selection, self._x.atom("UTF8_STRING"), at)
            return {self._x.atom("UTF8_STRING"): plain} if plain is not None else {}
        contents: Contents = {}
        total = 0
        for target in dict.fromkeys(array.array("I", targets.data)):
            if self._x.atom_name(target) in NOT_CONTENTS:
                continue
            if time.monotonic() > deadline:
                raise SelectionUnreadable("The clipboard's owner is slow.")
            item = self.one(selection, target, at)
            if item is None:
                continue
            contents[target] = item
            total += len(item.data)
            if total > SAVE_LIMIT_BYTES:
                raise SelectionUnreadable("The clipboard holds more than can be kept aside.")
        return contents

    def one(self, selection: int, target: int, at: int) -> Item | None:
        """One format; None when the owner declines. Raises SelectionUnreadable when it doesn't answer at all."""
        window, slot = self._x.window, self._x.atom("SAYSO_FETCH")
        window.delete_property(slot)
        window.convert_selection(selection, target, slot, at)
        answer = self._x.wait_for(
            lambda e: e.type == X.SelectionNotify and e.selection == selection and e.target == target, FORMAT_TIMEOUT_S
        )
        if answer is None:
            raise SelectionUnreadable("The clipboard's owner does not answer.")
        if not answer.property:
            return None
        item = self._take(slot)
        if item is not None and item.type_atom == self._x.atom("INCR"):
            return self._in_pieces(slot)
        return item

    def _take(self, slot: int) -> Item | None:
        found = self._x.window.get_full_property(slot, X.AnyPropertyType)
        if found is None:
            return None
        item = Item(found.property_type, found.format, _to_bytes(found.value, found.format))
        self._x.window.delete_property(slot)
        return item

    def _in_pieces(self, slot: int) -> Item:
        pieces: list[bytes] = []
        total = 0
        while True:
            news = self._x.wait_for(
                lambda e: e.type == X.PropertyNotify and e.atom == slot and e.state == X.PropertyNewValue,
                FORMAT_TIMEOUT_S,
            )
            piece = self._take(slot) if news is not None else None
            if piece is None:
                raise SelectionUnreadable("The clipboard's owner stopped half-way.")
            if not piece.data:
                return Item(piece.type_atom, piece.width, b"".join(pieces))
            pieces.append(piece.data)
            total += len(piece.data)
            if total > SAVE_LIMIT_BYTES:
                raise SelectionUnreadable("The clipboard holds more than can be kept aside.")


@dataclass
class Transfer:
    """A large answer on its way: the reader deletes the property whenever it wants the next piece."""

    window: Any
    slot: int
    item: Item
    started_s: float
    offset: int = 0
    finished: bool = False


@dataclass
class Server:
    """Answers those who ask for a selection of ours."""

    x: Connection
    transfers: dict[tuple[int, int], Transfer] = field(default_factory=dict)

    def answer(self, request: Any, contents: Contents, owned_since: int) -> list[int]:
        """Serve one SelectionRequest; returns the content formats that were handed over."""
        slot = request.property or request.target
        if request.target == self.x.atom("MULTIPLE"):
            served = self._answer_multiple(request, contents, owned_since)
        else:
            served = (
                [request.target] if self._put(request.requestor, slot, request.target, contents, owned_since) else []
            )
            if not served:
                slot = X.NONE
        self._notify(request, slot)
        return [target for target in served if target in contents]

    def refuse(self, request: Any) -> None:
        self._notify(request, X.NONE)

    def _notify(self, request: Any, slot: int) -> None:
        request.requestor.send_event(
            xevent.SelectionNotify(
                time=request.time,
                requestor=request.requestor,
                selection=request.selection,
                target=request.target,
                property=slot,
            )
        )

    def _answer_multiple(self, request: Any, contents: Contents, owned_since: int) -> list[int]:
        pairs = None
        if request.property:
            try:
                pairs = request.requestor.get_full_property(request.property, X.AnyPropertyType)
            except error.XError:
                pairs = None
        if pairs is None:
            return []
        values = list(pairs.value)
        served = []
        for i in range(0, len(values) - 1, 2):
            target, slot = values[i], values[i + 1]
            if slot and self._put(request.requestor, slot, target, contents, owned_since):
                served.append(target)
            else:
                values[i + 1] = X.NONE
        request.requestor.change_property(request.property, self.x.atom("ATOM_PAIR"), 32, values)
        return served

    def _put(self, window: Any, slot: int, target: int, contents: Contents, owned_since: int) -> bool:
        if target == self.x.atom("TARGETS"):
            own = [self.x.atom("TARGETS"), self.x.atom("MULTIPLE"), self.x.atom("TIMESTAMP")]
            window.change_property(slot, Xatom.ATOM, 32, [*own, *contents])
        elif target == self.x.atom("TIMESTAMP"):
            window.change_property(slot, Xatom.INTEGER, 32, [owned_since])
        elif target in contents:
            item = contents[target]
            if len(item.data) <= CHUNK_BYTES:
                _write_property(window, slot, item, item.data)
            else:
                window.change_attributes(event_mask=X.PropertyChangeMask)
                window.change_property(slot, self.x.atom("INCR"), 32, [len(item.data)])
                self.transfers[(window.id, slot)] = Transfer(window, slot, item, time.monotonic())
        else:
            return False
        return True

    def property_deleted(self, event: Any) -> None:
        """The reader took a piece: send the next; an empty one says that it was the last."""
        transfer = self.transfers.get((event.window.id, event.atom))
        if transfer is None:
            return
        piece = transfer.item.data[transfer.offset : transfer.offset + CHUNK_BYTES]
        _write_property(transfer.window, transfer.slot, transfer.item, piece)
        transfer.offset += len(piece)
        if not piece:
            del self.transfers[(event.window.id, event.atom)]

    def drop_stale(self) -> None:
        """Forget readers that went away in the middle."""
        now = time.monotonic()
        for key in [k for k, t in self.transfers.items() if now - t.started_s > TRANSFER_TIMEOUT_S]:
            del self.transfers[key]
