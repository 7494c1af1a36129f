"""The programs that type on Wayland get only what they can type: no control characters, no letters they would drop."""

from __future__ import annotations

import pytest

from dictation.desktop.wayland.tools import ToolFailed, Tools, type_text

YDOTOOL = Tools(wl_copy=True, wtype=False, ydotool=True)


@pytest.mark.parametrize("text", ["Sprach\u00e4nderung", "\u4f60\u597d", "\U0001f44d"])
def test_ydotool_is_never_given_letters_that_it_would_drop(text: str) -> None:
    with pytest.raises(ToolFailed, match="plain English"):
        type_text(YDOTOOL, text)


@pytest.mark.parametrize("text", ["one\nkey ctrl+alt+Delete", "a\tb", "\x1b[31m"])
@pytest.mark.parametrize("tools", [YDOTOOL, Tools(wl_copy=True, wtype=True, ydotool=False)], ids=["ydotool", "wtype"])
def test_no_tool_is_given_a_line_break_or_control_character(tools: Tools, text: str) -> None:
    with pytest.raises(ToolFailed):
        type_text(tools, text)
