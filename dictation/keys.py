"""The user's hotkeys: presses and releases become commands, by the settings; and which keys are bound when.

The cancel key is bound only while something is dictated: at other times Escape belongs to the other programs.
"""

from __future__ import annotations

from collections.abc import Callable

from dictation import events as e
from dictation import hotkey
from dictation.delivery import OwnThread
from dictation.desktop.contract import Binding, Desktop, HotkeyError, Hotkeys, KeyAction, KeyEvent
from dictation.desktop.keys import parse
from dictation.hotkey import Gesture
from dictation.hotkey_choice import why_not
from dictation.settings import TABLE, Settings

DICTATE, CANCEL, AGAIN = "dictate", "cancel", "insert_again"


class Keys:
    """`loop.Gestures` by the settings. Owned by the session loop."""

    def __init__(self, settings: Settings) -> None:
        self.paused = False
        self._machine = hotkey.Hotkey(_options(settings))

    @property
    def deadline_s(self) -> float | None:
        return self._machine.deadline_s

    def feed(self, key: e.KeyPress | e.KeyRelease | e.OtherKey) -> list[e.Command]:
        """What a key means now."""
        if isinstance(key, e.OtherKey):
            return _commands(self._machine.feed(hotkey.Input.OTHER, key.at_s))
        if key.binding == DICTATE:
            pressed = isinstance(key, e.KeyPress)
            if self.paused and pressed:
                return []
            what = hotkey.Input.PRESS if pressed else hotkey.Input.RELEASE
            return _commands(self._machine.feed(what, key.at_s))
        if self.paused or isinstance(key, e.KeyRelease):
            return []
        meaning: dict[str, e.Command] = {CANCEL: e.Cancel(), AGAIN: e.InsertAgain()}
        return [meaning[key.binding]] if key.binding in meaning else []

    def tick(self, now_s: float) -> list[e.Command]:
        return _commands(self._machine.feed(hotkey.Input.TICK, now_s))

    def take_ended(self, now_s: float) -> None:
        self._machine.feed(hotkey.Input.ENDED, now_s)

    def change(self, settings: Settings) -> None:
        self._machine.change(_options(settings))


def _commands(gestures: tuple[Gesture, ...]) -> list[e.Command]:
    meaning: dict[Gesture, e.Command] = {
        Gesture.START: e.Start("hotkey"),
        Gesture.STOP: e.Stop(),
        Gesture.CANCEL: e.Cancel(),
    }
    return [meaning[gesture] for gesture in gestures]


def _options(settings: Settings) -> hotkey.Options:
    try:
        bare = parse(str(settings["hotkeys.dictate"])).is_bare_modifier
    except HotkeyError:
        bare = False
    return hotkey.Options(hotkey.Mode(settings["hotkeys.mode"]), bool(settings["hotkeys.double_tap_lock"]), bare)


def bindings(settings: Settings, dictating: bool) -> tuple[Binding, ...]:
    """The keys that are bound now, the most important first."""
    wanted = [Binding(DICTATE, settings["hotkeys.dictate"]), Binding(AGAIN, settings["hotkeys.insert_again"])]
    if dictating:
        wanted.append(Binding(CANCEL, settings["hotkeys.cancel"], any_modifiers=True))
    return tuple(binding for binding in wanted if binding.keys)


def _label(action: str) -> str:
    return next(setting.label for setting in TABLE if setting.key == f"hotkeys.{action}")


class Binder:
    """Keeps the bound keys as the settings and the state want them, on a thread of its own; reports refused ones."""

    def __init__(
        self,
        desktop: Desktop,
        settings: Callable[[], Settings],
        send: Callable[[e.Command], None],
        publish: Callable[[e.Event], None],
    ) -> None:
        self._desktop = desktop
        self._settings = settings
        self._send = send
        self._publish = publish
        self._thread = OwnThread()
        self._hotkeys: Hotkeys | None = None
        self._told: set[str] = set()
        self._paused = False
        self._dictating = False
        self.update()

    def note(self, event: e.Event) -> None:
        """An event of the loop: the keys may have to change."""
        match event:
            case e.StateChanged(state=e.State.OPENING):
                self._dictating = True
            case e.StateChanged(state=e.State.IDLE, waiting=0):
                self._dictating = False
            case e.HotkeysPaused():
                self._paused = event.paused
            case e.SettingsChanged() if not any(key.startswith("hotkeys.") for key in event.keys):
                return
            case e.SettingsChanged():
                self._told.clear()
            case _:
                return
        self.update()

    def update(self) -> None:
        """Bind what is wanted now. A key that was given to two actions by hand keeps the first: it must not do both."""
        wanted: list[Binding] = []
        for binding in () if self._paused else bindings(self._settings(), self._dictating):
            others = {_label(before.action): before.keys for before in wanted}
            if reason := why_not(binding.keys, others, while_dictating=True):
                self._tell(reason)
            else:
                wanted.append(binding)
        self._thread(lambda: self._bind(tuple(wanted)))

    def close(self) -> None:
        self._thread(lambda: self._bind(()))
        self._thread.close()

    def _bind(self, wanted: tuple[Binding, ...]) -> None:
        if not wanted:
            if self._hotkeys is not None:
                self._hotkeys.close()
            self._hotkeys = None
            return
        try:
            if self._hotkeys is None:
                self._hotkeys = self._desktop.hotkeys(list(wanted), self._on_key)
            else:
                self._hotkeys.bind(list(wanted))
        except HotkeyError as error:
            self._tell(str(error))
            return
        for reason in self._hotkeys.refused.values():
            self._tell(reason)

    def _tell(self, reason: str) -> None:
        if reason not in self._told:
            self._told.add(reason)
            self._publish(e.Notice("hotkey_refused", reason, "warning"))

    def _on_key(self, key: KeyEvent) -> None:
        if key.kind is KeyAction.PRESS:
            self._send(e.KeyPress(key.action, key.at_s))
        elif key.kind is KeyAction.RELEASE:
            self._send(e.KeyRelease(key.action, key.at_s))
        else:
            self._send(e.OtherKey(key.at_s))
