"""The table: hard strings, programs, keyboards, byte for byte. The long form writes it into docs/typing.md."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dictation.desktop.contract import How, Method, Outcome
from dictation.desktop.linux_x11 import X11Desktop
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.hard_strings import HARD_STRINGS
from tests.e2e.processes import until
from tests.e2e.programs import X11_PROGRAMS, Chromium, Editor, Featherpad, Program

pytestmark = pytest.mark.desktop
PASTE_LIMIT_MS = 150
CONDITIONS = ("us", "fr", "de", "ru", "Caps Lock", "Ctrl held", "Shift held", "Alt held")
HELD = {"Ctrl held": "Control_L", "Shift held": "Shift_L", "Alt held": "Alt_L"}
METHODS = {Method.PASTE: "Paste", Method.TYPE: "Key by key"}
TABLE = Path(__file__).parents[2] / "docs" / "typing.md"


@contextmanager
def condition(desktop: VirtualDesktop, name: str, stays: bool) -> Iterator[None]:
    """The keyboard as it is while the text is inserted; as a test expects it again afterwards."""
    if name == "Caps Lock":
        desktop.person.tap("Caps_Lock")
        yield
        assert desktop.caps_lock_on()
        desktop.person.tap("Caps_Lock")
    elif name in HELD:
        with desktop.person.holding(HELD[name]):
            yield
    else:
        if desktop.layout_name != name:
            desktop.layout(name)
        yield
        if not stays:
            desktop.layout("us")  # the harness saves and empties an editor by keys of its own
    assert not desktop.keys_down()


def expected(text: str, kind: type[Program], method: Method) -> str:
    """Tab pressed as a key would leave the page's field, so it is typed as a space there. Qt's own editor saves every
    no-break space as a space (QTextDocument.toPlainText)."""
    if kind is Featherpad:
        return text.replace("\u00a0", " ")
    return text.replace("\t", " ") if method is Method.TYPE and kind is Chromium else text


def insert_and_read(
    desktop: VirtualDesktop, x11: X11Desktop, window: Program, text: str, method: Method, where: str
) -> tuple[bool, float]:
    until("the clipboard is given back", lambda: not x11.clipboard.lending)  # nobody dictates twice in 200 ms
    how = How(method, typed_newline="Return", typed_tab=not isinstance(window, Chromium))
    with condition(desktop, where, stays=not isinstance(window, Editor)):
        delivery = x11.insert(text, x11.target(), how)
    wanted = expected(text, type(window), method)
    arrived = window.text(wanted) == wanted
    return arrived and (delivery.outcome, delivery.method) == (Outcome.DELIVERED, method), delivery.elapsed_ms


@pytest.mark.parametrize("kind", X11_PROGRAMS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize(("method", "layout"), [(Method.PASTE, "ru"), (Method.TYPE, "us")])
def test_a_long_mixed_text_arrives_whole(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Program], method: Method, layout: str
) -> None:
    """The short form: every string shortened and joined to one text, so that one insertion meets them all."""
    window = desktop.reuse(kind)
    text = " | ".join(string[:40] for string in HARD_STRINGS.values())
    assert insert_and_read(desktop, x11, window, text, method, layout)[0]


@dataclass
class Cell:
    intact: int = 0
    of: int = 0
    times_ms: list[float] = field(default_factory=list)

    @property
    def median_ms(self) -> float:
        return statistics.median(self.times_ms)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", X11_PROGRAMS, ids=lambda kind: kind.kind)
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_hard_string_arrives_with_every_keyboard(
    desktop: VirtualDesktop, x11: X11Desktop, kind: type[Program], method: Method
) -> None:
    failures = []
    window = desktop.reuse(kind)
    cells = [Cell() for _ in CONDITIONS]
    for where, cell in zip(CONDITIONS, cells, strict=True):
        for name, text in HARD_STRINGS.items():
            window.clear()
            window.focus()
            intact, elapsed_ms = insert_and_read(desktop, x11, window, text, method, where)
            cell.of += 1
            cell.intact += intact
            cell.times_ms.append(elapsed_ms)
            if not intact:
                failures.append((method.value, where, name))
        desktop.layout("us")
    window.close()
    write_row(kind.kind, method, cells)
    assert failures == []
    assert method is not Method.PASTE or max(cell.median_ms for cell in cells) < PASTE_LIMIT_MS


def write_row(program: str, method: Method, cells: list[Cell]) -> None:
    """Put a program's row into its table, in place of the old one; the rest of the page stays."""
    lines = TABLE.read_text("utf-8").splitlines()
    texts = [f"{cell.intact}/{cell.of}, {cell.median_ms:.0f}, {max(cell.times_ms):.0f}" for cell in cells]
    start = lines.index(f"## {METHODS[method]}")
    row = next(i for i in range(start, len(lines)) if lines[i].startswith(f"| {program} |"))
    lines[row] = f"| {program} | " + " | ".join(texts) + " |"
    TABLE.write_text("\n".join(lines) + "\n", "utf-8")
