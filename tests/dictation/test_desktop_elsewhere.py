"""macOS and Windows, as far as they can be tried without one: everything above the system's own calls."""

from __future__ import annotations

import queue

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dictation.desktop import back_end_name, macos, windows
from dictation.desktop.contract import Binding, Desktop, HotkeyError, How, KeyAction, KeyEvent, Method, Outcome, Role
from dictation.desktop.macos import MacDesktop
from dictation.desktop.windows import WindowsDesktop
from tests.fakes.desktops import FakeMac, FakeWindows

TEXT = "Grüße – 你好, 👩‍👩‍👧 and some more words that need several events"
DICTATE = Binding("dictate", "Ctrl+Alt+Space")


def make(system: str) -> tuple[Desktop, FakeMac | FakeWindows]:
    if system == "macos":
        mac = FakeMac()
        return MacDesktop(mac), mac
    pc = FakeWindows()
    return WindowsDesktop(pc), pc


@pytest.fixture(params=["macos", "windows"])
def both(request: pytest.FixtureRequest) -> tuple[Desktop, FakeMac | FakeWindows]:
    return make(request.param)


@pytest.mark.parametrize("method", [Method.PASTE, Method.TYPE])
def test_text_arrives_and_the_clipboard_comes_back(both: tuple, method: Method) -> None:
    desktop, fake = both
    delivery = desktop.insert(TEXT, desktop.target(), How(method))
    assert (delivery.outcome, delivery.method) == (Outcome.DELIVERED, method)
    assert fake.window == TEXT
    assert fake.contents == "old"


def test_a_paste_that_nobody_fetches_is_held_and_the_text_stays(both: tuple) -> None:
    desktop, fake = both
    fake.pastes = False
    assert desktop.insert(TEXT, desktop.target()).outcome is Outcome.HELD
    assert fake.contents == TEXT
    assert fake.promise.kept


def test_line_breaks_are_typed_as_spaces_unless_return_is_wanted(both: tuple) -> None:
    desktop, fake = both
    desktop.insert("a\nb\tc", desktop.target(), How(Method.TYPE))
    assert fake.window == "a b c"
    desktop.insert("\nd", desktop.target(), How(Method.TYPE, typed_newline="Return", submit=True))
    assert fake.window == "a b c\nd\n"


def test_a_window_that_changed_gets_nothing(both: tuple) -> None:
    desktop, fake = both
    target = desktop.target()
    fake.front = None
    assert desktop.insert(TEXT, target).outcome is Outcome.HELD
    assert fake.window == ""
    assert fake.contents == TEXT


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), st.sampled_from(["macos", "windows"]))
def test_any_text_is_typed_literally_or_refused_with_a_reason(text: str, system: str) -> None:
    desktop, fake = make(system)
    delivery = desktop.insert(text, desktop.target(), How(Method.TYPE))
    if delivery.outcome is Outcome.DELIVERED:
        assert fake.window == text.replace("\n", " ").replace("\t", " ")
    else:
        assert "control character" in delivery.reason
        assert fake.window == ""


@given(st.text(max_size=60))
def test_chunks_are_short_and_lose_nothing(text: str) -> None:
    chunks = macos.utf16_chunks(text, 20)
    assert "".join(chunks) == text
    assert all(0 < len(chunk.encode("utf-16-le", "surrogatepass")) <= 40 for chunk in chunks)


def test_the_mac_pastes_with_the_key_that_gives_v_and_without_one_by_place() -> None:
    for key in (47, None):  # Dvorak has v where QWERTY has the full stop
        desktop, mac = MacDesktop(FakeMac(v_key=key)), None
        mac = desktop._calls
        assert desktop.insert("words", desktop.target()).outcome is Outcome.DELIVERED
        assert mac.window == "words"


def test_the_mac_says_which_permission_is_missing_and_who_has_secure_input() -> None:
    desktop = MacDesktop(FakeMac(allowed=False, secure="1Password"))
    broken = {c.name: c for c in desktop.capabilities() if not c.works}
    assert set(broken) == {"typing", "hotkeys", "microphone", "secure input"}
    assert all(c.advice for c in broken.values())
    assert "1Password" in broken["secure input"].detail
    assert desktop.insert("x", desktop.target()).outcome is Outcome.HELD


def test_password_fields_are_recognised() -> None:
    mac = MacDesktop(FakeMac(role="AXSecureTextField")).target()
    pc = WindowsDesktop(FakeWindows(front=windows.Foreground(1, 2, "Edit", is_password=True))).target()
    assert mac is not None
    assert pc is not None
    assert mac.role is pc.role is Role.PASSWORD


def test_an_administrators_window_is_told_apart() -> None:
    front = windows.Foreground(1, 2, "RegEdit", is_elevated=True)
    desktop = WindowsDesktop(FakeWindows(front=front))
    delivery = desktop.insert("words", desktop.target())
    assert delivery.outcome is Outcome.HELD
    assert "administrator" in delivery.reason
    assert WindowsDesktop(FakeWindows(front=front, elevated=True)).insert("words", None).outcome is Outcome.DELIVERED


def test_held_modifiers_are_lifted_and_not_pressed_again() -> None:
    pc = FakeWindows(down={windows.VK_RMENU, windows.VK_LCONTROL})
    desktop = WindowsDesktop(pc)
    assert desktop.insert("words", desktop.target()).outcome is Outcome.DELIVERED
    assert pc.down == set()


CTRL, ALT, CTRL_ALT = 0x40000, 0x80000, 0xC0000


def test_the_mac_tells_one_press_and_one_release_and_swallows_the_keys() -> None:
    mac, events = FakeMac(), []
    keys = MacDesktop(mac).hotkeys([DICTATE, Binding("talk", "Right Ctrl")], events.append)
    assert mac.event(macos.KEY_DOWN, 49, CTRL_ALT)
    assert mac.event(macos.KEY_DOWN, 49, CTRL_ALT, repeat=True)
    assert mac.event(macos.KEY_UP, 49, 0)  # the modifiers went first
    assert not mac.event(macos.KEY_DOWN, 49, CTRL)
    assert not mac.event(macos.FLAGS_CHANGED, 62, CTRL | 0x2000)
    assert not mac.event(macos.FLAGS_CHANGED, 59, CTRL | 0x2001)
    assert not mac.event(macos.FLAGS_CHANGED, 62, CTRL | 0x1)  # only the left one is down now
    assert told(events) == ["dictate press", "dictate release", "talk press", "talk other", "talk release"]
    keys.close()


def test_the_mac_rearms_a_disabled_tap_and_notices_a_lost_release() -> None:
    mac, events = FakeMac(), []
    keys = MacDesktop(mac).hotkeys([Binding("dictate", "F9")], events.append)
    mac.event(macos.KEY_DOWN, 101)
    mac.tap_enabled = False
    mac.event(macos.KEY_UP, 101)
    mac.event(macos.TAP_DISABLED_BY_TIMEOUT, 0)
    assert mac.tap_enabled
    keys.check_releases()  # what the watch does every second
    assert told(events) == ["dictate press", "dictate release"]
    keys.rearm()
    mac.event(macos.KEY_DOWN, 101)
    assert mac.taps == 2
    assert told(events)[-1] == "dictate press"
    keys.close()


def test_fn_alone_is_a_key_on_the_mac() -> None:
    mac, events = FakeMac(), []
    keys = MacDesktop(mac).hotkeys([Binding("talk", "Fn")], events.append)
    mac.event(macos.FLAGS_CHANGED, macos.FN_KEY, macos.FN_FLAG)
    mac.event(macos.FLAGS_CHANGED, macos.FN_KEY, 0)
    assert told(events) == ["talk press", "talk release"]
    keys.close()


def test_altgr_is_never_taken_for_ctrl_and_alt() -> None:
    pc, events = FakeWindows(), []
    WindowsDesktop(pc).hotkeys([DICTATE, Binding("talk", "Right Alt")], events.append)
    pc.key(windows.VK_LCONTROL)  # Windows sends it along with AltGr
    pc.key(windows.VK_RMENU)
    assert not pc.key(0x20)
    pc.key(0x20, up=True)
    pc.key(windows.VK_RMENU, up=True)
    pc.key(windows.VK_LCONTROL, up=True)
    assert told(events) == ["talk press", "talk other", "talk release"]


def test_windows_tells_one_press_and_one_release_and_swallows_the_keys() -> None:
    pc, events = FakeWindows(), []
    WindowsDesktop(pc).hotkeys([DICTATE], events.append)
    pc.key(windows.VK_LCONTROL)
    pc.key(0xA4)
    assert pc.key(0x20)
    assert pc.key(0x20)  # auto-repeat
    pc.key(windows.VK_LCONTROL, up=True)
    assert pc.key(0x20)
    assert pc.key(0x20, up=True)
    pc.key(0xA4, up=True)
    assert told(events) == ["dictate press", "dictate release"]


@pytest.mark.parametrize("system", ["macos", "windows"])
def test_after_sleep_or_unlock_the_keys_work_again(system: str) -> None:
    desktop, fake = make(system)
    events: list[KeyEvent] = []
    keys = desktop.hotkeys([Binding("dictate", "F9")], events.append)
    press = (lambda: fake.event(macos.KEY_DOWN, 101)) if isinstance(fake, FakeMac) else lambda: fake.key(0x78)
    press()
    if isinstance(fake, FakeMac):
        fake.down.clear()
    fake.wake()  # the release went to the lock screen
    press()
    assert told(events) == ["dictate press", "dictate release", "dictate press"]
    keys.close()
    fake.wake()  # nobody listens any more, and that stays so
    assert (fake.taps if isinstance(fake, FakeMac) else fake.hooks) == 2


@pytest.mark.parametrize("system", ["macos", "windows"])
def test_a_system_that_lets_nobody_listen_is_told(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    desktop, fake = make(system)

    def refuse(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(fake, "start_tap" if system == "macos" else "hook", refuse)
    with pytest.raises(HotkeyError):
        desktop.hotkeys([DICTATE], lambda event: None)


def test_a_lost_release_is_noticed_within_two_seconds_and_nothing_wakes_at_rest() -> None:
    mac, events = FakeMac(), queue.SimpleQueue()
    keys = MacDesktop(mac).hotkeys([Binding("dictate", "F9")], events.put)
    mac.event(macos.KEY_DOWN, 101)
    assert events.get(timeout=1).kind is KeyAction.PRESS
    mac.down.clear()
    assert events.get(timeout=2).kind is KeyAction.RELEASE
    keys.close()


def told(events: list[KeyEvent]) -> list[str]:
    return [f"{event.action} {event.kind}" for event in events]


@pytest.mark.parametrize(
    ("platform", "environment", "name"),
    [
        ("darwin", {}, "macos"),
        ("win32", {}, "windows"),
        ("linux", {"DISPLAY": ":0"}, "x11"),
        ("linux", {"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "wayland"),
        ("linux", {}, "dummy"),
    ],
)
def test_the_back_end_fits_the_session(platform: str, environment: dict, name: str) -> None:
    assert back_end_name(platform, environment) == name
