"""The pickle inside a PyTorch file, read as data: a small stack machine that can build dicts, lists and tensors only.

No name in the pickle is ever imported or called. What torch.save writes for tensors (`_rebuild_tensor_v2`, a storage
by persistent id) becomes a `StoredTensor`; any other call becomes None.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from engine.errors import ModelFileError

MAX_STACK = 1 << 20


@dataclass(frozen=True)
class Name:
    """A global that the pickle names, "torch.HalfStorage"; never looked up."""

    text: str


@dataclass(frozen=True)
class Storage:
    kind: str  # "torch.HalfStorage"
    key: str  # name of the member that holds its bytes


@dataclass(frozen=True)
class StoredTensor:
    storage: Storage
    offset: int  # in items
    shape: tuple[int, ...]
    strides: tuple[int, ...]


_MARK = object()
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_LITERALS = {
    "BININT",
    "BININT1",
    "BININT2",
    "LONG1",
    "LONG4",
    "BINFLOAT",
    "BINUNICODE",
    "SHORT_BINUNICODE",
    "BINUNICODE8",
    "BINSTRING",
    "SHORT_BINSTRING",
    "BINBYTES",
    "SHORT_BINBYTES",
    "INT",
    "LONG",
    "UNICODE",
    "STRING",
    "FLOAT",
}


def load(pickle: bytes) -> object:
    """The value that a pickle describes. Raises ModelFileError where it is damaged or does more than describe data."""
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(pickle):
            if opcode.name == "STOP":
                return machine.stack.pop()
            machine.run(opcode.name, argument)
    except ModelFileError:
        raise
    except (ValueError, IndexError, KeyError, TypeError, UnicodeError, OverflowError) as fault:
        raise ModelFileError("This PyTorch file is damaged: fetch it again.") from fault
    raise ModelFileError("This PyTorch file is cut short: fetch it again.")


class _Machine:
    def __init__(self) -> None:
        self.stack: list[object] = []
        self.memo: dict[int, object] = {}
        self.steps: dict[str, Callable[[], None]] = {
            "MARK": lambda: self.stack.append(_MARK),
            "EMPTY_DICT": lambda: self.stack.append({}),
            "EMPTY_LIST": lambda: self.stack.append([]),
            "EMPTY_TUPLE": lambda: self.stack.append(()),
            "EMPTY_SET": lambda: self.stack.append([]),
            "TUPLE": lambda: self.stack.append(tuple(self._to_mark())),
            "LIST": lambda: self.stack.append(self._to_mark()),
            "DICT": lambda: self._put_items({}, self._to_mark()),
            "TUPLE1": lambda: self.stack.append(tuple(self._pop(1))),
            "TUPLE2": lambda: self.stack.append(tuple(self._pop(2))),
            "TUPLE3": lambda: self.stack.append(tuple(self._pop(3))),
            "APPEND": lambda: self._append(self._pop(1)),
            "APPENDS": lambda: self._append(self._to_mark()),
            "ADDITEMS": lambda: self._append(self._to_mark()),
            "SETITEM": lambda: self._set_items(self._pop(2)),
            "SETITEMS": lambda: self._set_items(self._to_mark()),
            "STACK_GLOBAL": self._stack_global,
            "BINPERSID": self._persistent,
            "REDUCE": self._call,
            "NEWOBJ": self._call,
            "BUILD": lambda: self._pop(1).clear(),  # state of an object: nothing a tensor needs
            "POP": lambda: self._pop(1).clear(),
            "POP_MARK": lambda: self._to_mark().clear(),
            "DUP": lambda: self.stack.append(self.stack[-1]),
            "MEMOIZE": lambda: self.memo.__setitem__(len(self.memo), self.stack[-1]),
        }

    def run(self, name: str, argument: object) -> None:
        if len(self.stack) > MAX_STACK or len(self.memo) > MAX_STACK:
            raise ModelFileError("This PyTorch file is damaged: it describes too many things.")
        if name in _LITERALS:
            self.stack.append(argument)
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in ("BINPUT", "LONG_BINPUT", "PUT") and isinstance(argument, int):
            self.memo[argument] = self.stack[-1]
        elif name in ("BINGET", "LONG_BINGET", "GET") and isinstance(argument, int):
            self.stack.append(self.memo[argument])
        elif name == "GLOBAL":
            self.stack.append(Name(str(argument).replace(" ", ".")))
        elif name in self.steps:
            self.steps[name]()
        elif name not in ("PROTO", "FRAME"):
            raise ModelFileError(f"This PyTorch file is not plain weights: it contains the instruction {name}.")

    def _pop(self, count: int) -> list[object]:
        if len(self.stack) < count:
            raise IndexError("stack underflow")
        taken = self.stack[-count:]
        del self.stack[-count:]
        return taken

    def _to_mark(self) -> list[object]:
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise IndexError("no mark")
        taken = self.stack[at + 1 :]
        del self.stack[at:]
        return taken

    def _append(self, items: list[object]) -> None:
        target = self.stack[-1]
        if isinstance(target, list):
            target += items

    def _put_items(self, target: dict[Hashable, object], items: list[object]) -> None:
        self.stack.append(target)
        self._set_items(items)

    def _set_items(self, items: list[object]) -> None:
        target = self.stack[-1]
        if isinstance(target, dict):
            for key, value in zip(items[::2], items[1::2], strict=True):
                if isinstance(key, str | int):
                    target[key] = value

    def _stack_global(self) -> None:
        module, name = self._pop(2)
        self.stack.append(Name(f"{module}.{name}") if isinstance(module, str) and isinstance(name, str) else None)

    def _persistent(self) -> None:
        """("storage", type, key, device, size): torch.save's way to point at a member of the archive."""
        (identity,) = self._pop(1)
        storage = None
        if isinstance(identity, tuple) and len(identity) >= 3 and identity[0] == "storage":
            kind, key = identity[1], identity[2]
            if isinstance(kind, Name) and isinstance(key, str):
                storage = Storage(kind.text, key)
        self.stack.append(storage)

    def _call(self) -> None:
        callee, arguments = self._pop(2)
        name = callee.text if isinstance(callee, Name) else ""
        values = arguments if isinstance(arguments, tuple) else ()
        if name == "collections.OrderedDict":
            self.stack.append({})
        elif name == "torch._utils._rebuild_tensor_v2":
            self.stack.append(_tensor(values))
        elif name in ("torch._utils._rebuild_parameter", "torch._tensor._rebuild_from_type_v2"):
            self.stack.append(values[0] if values else None)
        else:
            self.stack.append(None)


def _tensor(values: tuple[object, ...]) -> StoredTensor | None:
    storage, offset, shape, strides = values[:4] if len(values) >= 4 else (None, 0, (), ())
    if not isinstance(storage, Storage) or type(offset) is not int or offset < 0:
        return None
    if not isinstance(shape, tuple) or not isinstance(strides, tuple) or len(shape) != len(strides) or len(shape) > 8:
        return None
    if not all(type(n) is int and n >= 0 for n in (*shape, *strides)):
        return None
    return StoredTensor(storage, offset, shape, strides)
