"""The switch in the settings, and `sayso serve`: one server while it is wanted, and a sentence where it can't run."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from dictation import events as e
from dictation.server.switch import Switch
from tests.fakes import sounds
from tests.fakes.dictation import Dictation
from tests.shell import environment, free_port, sayso


def is_served(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
            return json.load(answer)["status"] == "ok"
    except OSError:
        return False


def wait_until(is_so):
    deadline_s = time.monotonic() + 60  # the libraries are imported first
    while not is_so():
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


@pytest.fixture
def dictation(tmp_path, monkeypatch):
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path / "home"))
    with Dictation(tmp_path) as running:
        switch = Switch(running.loop, running.loop.publish)
        switch.start()
        running.switch = switch
        yield running
        switch.close()


def test_the_settings_switch_it_on_move_it_and_switch_it_off(dictation):
    first, second = free_port(), free_port()
    assert dictation.switch.url == ""
    dictation.send(e.ChangeSettings({"server.port": first, "server.enabled": True}))
    wait_until(lambda: is_served(first))
    assert dictation.switch.url == f"http://127.0.0.1:{first}"
    dictation.send(e.ChangeSettings({"server.port": second}))
    wait_until(lambda: is_served(second))
    assert not is_served(first)
    dictation.send(e.ChangeSettings({"server.enabled": False}))
    wait_until(lambda: not is_served(second))


def test_a_port_that_is_taken_is_a_notice_and_dictation_goes_on(dictation):
    with socket.create_server(("127.0.0.1", 0)) as other:
        dictation.send(e.ChangeSettings({"server.port": other.getsockname()[1], "server.enabled": True}))
        assert "Choose another port" in dictation.until(e.Notice, code="server").message
    dictation.dictate(sounds.clip("en/gcp-today"))
    assert dictation.until(e.FinalText).text


def test_the_command_serves_until_it_is_interrupted(tmp_path, tiny_en_q8):
    home = environment(SAYSO_HOME=str(tmp_path))
    command = [sys.executable, "-m", "dictation.cli", "serve", "--port", "0", "--model", str(tiny_en_q8)]
    with subprocess.Popen(command, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        port = int(serving.stdout.readline().rsplit(":", 1)[1])
        assert is_served(port)
        shown = sayso("serve", "--show-token", env=home)
        assert shown.stdout.strip() == (tmp_path / "config" / "api-token").read_text().strip()
        again = sayso("serve", "--port", str(port), env=home)
        assert again.returncode == 1 and "Choose another port" in again.stderr
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(20) == 143
        assert "Traceback" not in serving.stderr.read()
    assert not [path for path in (tmp_path / "data" / "api").rglob("*") if path.is_file()]


@pytest.mark.parametrize("port", ["-1", "70000", "http"])
def test_a_port_that_is_none_is_refused(port):
    done = sayso("serve", "--port", port, env=os.environ)
    assert done.returncode == 2 and "is not a port" in done.stderr


def test_without_the_extra_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['starlette'] = None; from dictation.cli import main; sys.exit(main(['serve']))"
    home = environment(SAYSO_HOME=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", code], env=home, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "sayso[server]" in done.stderr
