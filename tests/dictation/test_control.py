"""The control socket: commands in, status and events out, for the owner only."""

import asyncio
import contextlib
import os
import socket
import stat
import threading
from multiprocessing.connection import Client
from pathlib import Path

import pytest

from dictation import control
from dictation import events as e
from dictation.cli import main
from dictation.errors import ControlError
from dictation.server.api import Api
from dictation.worker.model import Room
from tests.fakes import sounds
from tests.fakes.dictation import Dictation, Words


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    shown = threading.Event()
    with Dictation(tmp_path) as dictation:
        dictation.opened = []
        server = control.Server(dictation.loop, shown.set, dictation.opened.extend)
        dictation.shown = shown
        yield dictation
        server.close()


def test_start_speak_stop_and_the_words_are_typed(served):
    control.ask({"do": "start"})
    served.until(e.StateChanged, state=e.State.LISTENING)
    assert control.ask({"do": "status"})["state"] == "listening"
    served.person.say(sounds.clip("en/gcp-today"))
    control.ask({"do": "toggle"})
    delivered = served.until(e.TextDelivered)
    assert served.editor.texts == [delivered.text]


def test_cancel_forgets_the_take(served):
    control.ask({"do": "toggle"})
    served.until(e.StateChanged, state=e.State.LISTENING)
    control.ask({"do": "cancel"})
    served.until(e.Cancelled)


def test_followers_get_every_event_in_order_and_a_gone_one_costs_nothing(served):
    lines = control.follow()
    assert next(lines)["state"] == "idle"
    gone = control.follow()
    next(gone)
    gone.close()
    control.ask({"do": "start"})
    kinds = []
    for event in lines:
        kinds.append(event["kind"])
        if event.get("state") == "listening":
            break
    assert [kind for kind in kinds if kind == "state_changed"] == ["state_changed"] * 2
    served.dictate(sounds.clip("en/gcp-today"), take=1)
    served.until(e.TextDelivered)


def test_the_command_that_chooses_a_model_reaches_the_sayso_that_runs(served, tmp_path, capsys):
    """Who holds the settings in memory would write over what another process wrote into their file."""
    model = tmp_path / "other.gguf"
    model.write_bytes(b"GGUF")
    assert main(["models", "use", str(model)]) == 0
    assert "from the next dictation on" in capsys.readouterr().err
    served.until(e.SettingsChanged, keys=("recognition.model",))
    assert served.loop.settings["recognition.model"] == str(model)
    with pytest.raises(ControlError, match="takes “model”"):
        control.ask({"do": "use"})


def test_a_second_sayso_finds_the_first_and_shows_its_window(served):
    assert control.is_running()
    with pytest.raises(ControlError, match="runs already"):
        control.Server(served.loop)
    control.ask({"do": "show"})
    assert served.shown.wait(5)


def test_while_another_model_loads_status_and_health_say_which_one_is_in_use(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    new, may_load = "/models/new.gguf", threading.Event()

    def build(name, device):
        assert name != new or may_load.wait(20)
        return Words()

    async def health():
        return Api(dictation.loop, tmp_path).health()

    with Dictation(tmp_path, build=build, beside=lambda name, device: Room.BESIDE) as dictation:
        server = control.Server(dictation.loop)
        dictation.until(e.ModelChanged, status=e.ModelStatus.READY)
        for status, note in (("loading", "fake stays in use until new.gguf is ready."), ("ready", "")):
            control.ask({"do": "use", "model": new})
            dictation.until(e.ModelChanged, name=new, status=e.ModelStatus(status))
            while control.ask({"do": "status"})["model_status"] != status:
                pass  # it hears of this event after us
            assert main(["status"]) == 0
            assert capsys.readouterr().out.strip() == f"idle, {new} ({status})" + f". {note}" * bool(note)
            told = asyncio.run(health())
            assert (told.model, told.model_status, told.model_note) == ("new.gguf", status, note)
            may_load.set()
        server.close()


@pytest.mark.parametrize("request_", [{"do": "explode"}, {}, {"do": ["start"]}])
def test_a_wrong_request_gets_a_sentence_and_the_server_lives(served, request_):
    with pytest.raises(ControlError):
        control.ask(request_)
    assert control.ask({"do": "status"})["state"] == "idle"


@pytest.mark.parametrize("junk", [b"", b"\xff\xfe", b"[1, 2]", b"{" * 9000, b"x" * 100_000, b"[" * 9000])
def test_junk_does_not_hurt_the_server(served, junk):
    with Client(control.address()) as client, contextlib.suppress(OSError):  # it may hang up while we send
        client.send_bytes(junk)
    assert control.ask({"do": "status"})["state"] == "idle"


@pytest.mark.skipif(os.name != "posix", reason="named pipes belong to their user")
def test_only_the_owner_reaches_the_socket(served):
    path = control.address()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_without_a_running_sayso_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    with pytest.raises(ControlError, match="not running"):
        control.ask({"do": "status"})


@pytest.mark.skipif(os.name != "posix", reason="named pipes go with their process")
def test_a_socket_left_by_a_crash_is_taken_over(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    path = Path(control.address())
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with Dictation(tmp_path) as dictation:
        server = control.Server(dictation.loop)
        assert control.is_running()
        server.close()
    assert not path.exists()


def test_a_long_home_folder_still_has_a_socket(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / ("x" * 120)))
    assert len(control.address()) < 100


def test_files_are_opened_by_their_absolute_paths_only(served, tmp_path):
    control.ask({"do": "open", "files": [str(tmp_path / "a.mp3"), str(tmp_path / "b.wav")]})
    assert served.opened == [tmp_path / "a.mp3", tmp_path / "b.wav"]
    for files in (None, "a.mp3", ["a.mp3"], [1], {"0": "a"}):
        with pytest.raises(ControlError, match="absolute paths"):
            control.ask({"do": "open", "files": files})
    assert len(served.opened) == 2


@pytest.mark.skipif(os.name != "posix", reason="a socket that nobody serves")
@pytest.mark.parametrize("waiting", [0, 3])
def test_a_sayso_that_is_stuck_is_there_but_does_not_answer(tmp_path, monkeypatch, waiting):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setattr(control, "ANSWER_S", 0.2)
    path = Path(control.address())
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as stuck, contextlib.ExitStack() as others:
        stuck.bind(str(path))
        stuck.listen(1)
        for _ in range(waiting):  # as many as the system lets wait, and one more
            other = others.enter_context(socket.socket(socket.AF_UNIX))
            other.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                other.connect(str(path))
        with pytest.raises(control.NoAnswer, match="does not answer"):
            control.ask({"do": "status"})
        assert control.is_running(), "a second one must not take its socket away"
