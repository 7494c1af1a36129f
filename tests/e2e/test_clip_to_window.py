"""The whole main path: a recorded clip, a real Whisper, and the words in a window that nobody here wrote."""

import json
import re

import pytest

from tests.e2e.desktop import VirtualDesktop
from tests.e2e.programs import Chromium, Xterm
from tests.shell import JFK, complaints, sayso

pytestmark = pytest.mark.desktop
WORDS = "and so my fellow americans ask not what your country can do for you ask what you can do for your country"


def words(text: str) -> str:
    return " ".join(re.findall(r"[a-z']+", text.lower()))


@pytest.mark.parametrize("program", [Xterm, Chromium])
def test_a_replayed_clip_is_typed_into_the_window(desktop: VirtualDesktop, tiny_en_q8, program):
    window = desktop.reuse(program)
    done = sayso("replay", JFK, "--type", "--model", tiny_en_q8, "--json", env=desktop.environment)
    assert done.returncode == 0, done.stderr
    events = {event["kind"]: event for event in map(json.loads, done.stdout.splitlines())}
    text = events["final_text"]["text"]
    assert words(text) == WORDS
    assert window.text(text) == text
    assert events["text_delivered"]["outcome"] == "delivered"


def test_without_a_window_the_command_says_why_it_did_not_type(desktop: VirtualDesktop, tiny_en_q8):
    for program in list(desktop.programs):
        program.close()
    done = sayso("replay", JFK, "--type", "--model", tiny_en_q8, env=desktop.environment)
    assert done.returncode == 1
    assert words(done.stdout) == WORDS
    assert complaints(done)[-1].startswith("the text was not typed. ")
