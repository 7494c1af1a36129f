"""Hotkeys from press to command, and which keys are bound when."""

import threading

import pytest

from dictation import events as e
from dictation.desktop.contract import Binding, HotkeyError, KeyAction, KeyEvent
from dictation.keys import Binder, Keys, bindings
from dictation.settings import Settings
from tests.fakes import sounds
from tests.fakes.dictation import Dictation


def settings(**changes):
    return Settings().changed({f"hotkeys.{key}": value for key, value in changes.items()})


def run(keys, script):
    """Rows of (time, press or release of which binding)."""
    out = []
    for at_s, what in script:
        if what == "tick":
            out += keys.tick(at_s)
        elif what == "other":
            out += keys.feed(e.OtherKey(at_s))
        else:
            down, name = what.split()
            out += keys.feed((e.KeyPress if down == "press" else e.KeyRelease)(name, at_s))
    return [e.kind(command) for command in out]


@pytest.mark.parametrize(
    ("mode", "script", "commands"),
    [
        ("hold", [(0, "press dictate"), (2, "release dictate")], ["start", "stop"]),
        ("toggle", [(0, "press dictate"), (1, "release dictate"), (5, "press dictate")], ["start", "stop"]),
        ("hold", [(0, "press cancel"), (0.1, "release cancel")], ["cancel"]),
        ("hold", [(0, "press insert_again")], ["insert_again"]),
        ("hold", [(0, "press no_such")], []),
    ],
)
def test_keys_become_commands(mode, script, commands):
    assert run(Keys(settings(dictate="F9", mode=mode)), script) == commands


def test_h5_a_bare_modifier_that_becomes_a_shortcut_starts_nothing():
    keys = Keys(settings(dictate="Right Ctrl", mode="hold"))
    assert run(keys, [(0, "press dictate"), (0.1, "other"), (0.5, "tick"), (1, "release dictate")]) == []


def test_paused_hotkeys_start_nothing_but_a_running_take_can_be_ended():
    keys = Keys(settings(dictate="F9", mode="hold"))
    assert run(keys, [(0, "press dictate")]) == ["start"]
    keys.paused = True
    assert run(keys, [(1, "release dictate"), (2, "press dictate"), (3, "press insert_again")]) == ["stop"]


def test_the_cancel_key_is_bound_only_while_dictating():
    wanted = settings(dictate="F9", insert_again="")
    assert bindings(wanted, False) == (Binding("dictate", "F9"),)
    assert Binding("cancel", "Escape", any_modifiers=True) in bindings(wanted, True)


class Bound:
    def __init__(self, desk, wanted):
        self._desk = desk
        self.bind(wanted)

    def bind(self, wanted):
        taken = self._desk.taken
        self.refused = {b.action: f"{b.keys} is taken by another program." for b in wanted if b.keys in taken}
        self._desk.change({b.keys for b in wanted} - set(taken))

    def close(self):
        self._desk.change(set())


class Desk:
    """A desktop that binds keys and remembers which are bound."""

    def __init__(self, taken=()):
        self.bound: set[str] = set()
        self.changed = threading.Condition()
        self.taken = taken

    def hotkeys(self, wanted, on_event):
        self.on_event = on_event
        if any(binding.keys == "nonsense" for binding in wanted):
            raise HotkeyError("There is no key 'nonsense'.")
        return Bound(self, wanted)

    def change(self, keys):
        with self.changed:
            self.bound = keys
            self.changed.notify_all()

    def until(self, keys):
        with self.changed:
            assert self.changed.wait_for(lambda: self.bound == keys, 5), self.bound


def test_from_key_to_text_with_escape_bound_in_between(tmp_path):
    desk, wanted = Desk(), settings(dictate="F9", mode="hold")
    with Dictation(tmp_path, {"hotkeys.dictate": "F9", "hotkeys.mode": "hold"}, keys=Keys(wanted)) as dictation:
        binder = Binder(desk, lambda: dictation.loop.settings, dictation.loop.send, dictation.loop.publish)
        dictation.loop.subscribe(binder.note)
        desk.until({"F9"})
        desk.on_event(KeyEvent("dictate", KeyAction.PRESS, 10.0))
        desk.until({"F9", "Escape"})
        dictation.until(e.StateChanged, state=e.State.LISTENING)
        dictation.person.say(sounds.clip("en/gcp-today"))
        desk.on_event(KeyEvent("dictate", KeyAction.RELEASE, 12.0))
        dictation.until(e.TextDelivered)
        desk.until({"F9"})
        dictation.send(e.ChangeSettings({"hotkeys.dictate": "F10"}))
        desk.until({"F10"})
        dictation.send(e.PauseHotkeys(True))
        desk.until(set())
        binder.close()


@pytest.mark.parametrize(("keys", "taken"), [("F9", ("F9",)), ("nonsense", ())])
def test_a_key_that_can_not_be_bound_is_said_once(tmp_path, keys, taken):
    with Dictation(tmp_path, {"hotkeys.dictate": keys}) as dictation:
        binder = Binder(Desk(taken), lambda: dictation.loop.settings, dictation.loop.send, dictation.loop.publish)
        dictation.until(e.Notice, code="hotkey_refused")
        binder.update()
        binder.close()
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        assert len(dictation.of(e.Notice)) == 1


def test_a_key_with_two_actions_does_the_first_one_only_and_that_is_said(tmp_path):
    desk = Desk()
    wanted = {"hotkeys.dictate": "F9", "hotkeys.insert_again": "f9", "hotkeys.cancel": "F9"}
    with Dictation(tmp_path, wanted) as dictation:
        binder = Binder(desk, lambda: dictation.loop.settings, dictation.loop.send, dictation.loop.publish)
        desk.until({"F9"})
        said = dictation.until(e.Notice, code="hotkey_refused").message
        assert "f9" in said and "“Dictate”" in said
        binder.close()
