"""`sayso listen` on a clip, as scripts and people without a desktop meet it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.fakes import sounds

ROOT = Path(__file__).parents[2]
CLIP = sounds.SPEECH / "en" / "gcp-today.flac"


@pytest.fixture
def listen(tiny_en_q8, tmp_path):
    """Starts `sayso listen` on a clip, with no display, no sound server and a home of its own."""
    running = []

    def start(*arguments, **options):
        own = {"SAYSO_HOME": str(tmp_path / "home"), "PULSE_SERVER": f"unix:{tmp_path}/none"}
        environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")} | own
        command = [sys.executable, "-m", "dictation.cli", "listen", "--model", str(tiny_en_q8), *map(str, arguments)]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        running.append(subprocess.Popen(command, cwd=ROOT, env=environment, text=True, **(streams | options)))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def left(tmp_path):
    return [path.name for path in (tmp_path / "home" / "data" / "spool").glob("*")]


def test_a_reader_that_goes_away_ends_it_and_what_was_said_is_kept(listen, tmp_path):
    sayso = listen("--json", "--clip", sounds.SPEECH / "en" / "jfk.flac")
    for line in sayso.stdout:
        if json.loads(line)["kind"] == "partial_text":
            break
    sayso.stdout.close()
    assert sayso.wait(30) == 141
    assert sayso.stderr.read() == ""
    assert len(left(tmp_path)) == 1 and "interrupted" in left(tmp_path)[0]


def test_output_that_can_not_be_written_is_one_sentence(listen):
    with open("/dev/full", "w") as full:
        sayso = listen("--once", "--json", "--clip", CLIP, stdout=full)
        assert sayso.wait(30) == 1
    said = sayso.stderr.read()
    assert "No space left" in said and said.count("\n") == 1


@pytest.mark.parametrize("wrong", [("--model", "nonsense"), ("--language", "klingon")])
def test_a_wrong_model_or_language_is_said_once_and_before_anybody_speaks(listen, tmp_path, wrong):
    sayso = listen("--once", "--clip", CLIP, *wrong)
    assert sayso.wait(30) in (1, 2)
    said = sayso.stderr.read()
    assert wrong[1] in said and said.count("\n") == 1
    assert not left(tmp_path)


def test_what_no_clipboard_took_is_not_called_copied(listen):
    sayso = listen("--once", "--copy", "--clip", CLIP)
    assert sayso.wait(30) == 1
    assert "Today" in sayso.stdout.read(), "the text is there all the same"
    assert "not copied" in sayso.stderr.read()


def test_where_there_is_no_microphone_the_list_says_so(listen):
    sayso = listen("--microphones")
    assert sayso.wait(30) == 1
    assert "no microphone" in sayso.stderr.read()


@pytest.mark.skipif(os.name != "posix", reason="a pseudo-terminal")
def test_the_end_of_input_ends_the_dictation_and_then_the_program(listen):
    ours, theirs = os.openpty()
    sayso = listen("--clip", CLIP, stdin=theirs)
    os.close(theirs)
    text = sayso.stdout.readline()  # the first dictation is over; the next would wait for Enter
    assert text.startswith("Today")
    time.sleep(0.1)
    os.write(ours, b"\x04")
    assert sayso.wait(30) == 0
    os.close(ours)
