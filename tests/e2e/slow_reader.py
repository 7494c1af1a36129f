"""A window that fetches the clipboard late after Shift+Insert, as a busy program does."""

from __future__ import annotations

import threading

from Xlib import XK, X, Xutil, display


class SlowReader:
    """Fetches `delay_s` after the keys; `received` holds the text once `done` is set."""

    def __init__(self, display_name: str, delay_s: float) -> None:
        self._x = display.Display(display_name)
        self._delay_s = delay_s
        self.received = ""
        self.done = threading.Event()
        self._closing = threading.Event()
        mask = X.KeyPressMask | X.PropertyChangeMask
        self._window = self._x.screen().root.create_window(0, 0, 200, 100, 0, X.CopyFromParent, event_mask=mask)
        self._window.set_wm_class("slow", "Slow")
        self._window.set_wm_hints(flags=Xutil.InputHint, input=True)
        self._window.map()
        self._x.sync()
        self.window = self._window.id
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        insert = self._x.keysym_to_keycode(XK.XK_Insert)
        slot = self._x.intern_atom("SLOW_READER")
        while not self._closing.is_set():
            if not self._x.pending_events():
                self._closing.wait(0.02)
                continue
            event = self._x.next_event()
            if event.type == X.KeyPress and event.detail == insert and event.state & X.ShiftMask:
                self._closing.wait(self._delay_s)
                clipboard, utf8 = self._x.intern_atom("CLIPBOARD"), self._x.intern_atom("UTF8_STRING")
                self._window.convert_selection(clipboard, utf8, slot, event.time)
                self._x.flush()
            elif event.type == X.SelectionNotify:
                found = self._window.get_full_property(slot, X.AnyPropertyType) if event.property else None
                self.received = bytes(found.value).decode() if found is not None else ""
                self.done.set()
        self._x.close()

    def close(self) -> None:
        self._closing.set()
