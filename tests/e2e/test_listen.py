"""`sayso listen` as a user runs it: a real microphone (virtual), a real model, text on the terminal."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
import soxr

from tests.e2e.audio import CHANNELS
from tests.e2e.processes import until
from tests.fakes import sounds

ROOT = Path(__file__).parents[2]


class Listen:
    """A running `sayso listen --json` and its events."""

    def __init__(self, microphone, home, *arguments):
        environment = dict(os.environ) | microphone.environment | {"SAYSO_HOME": str(home)}
        command = [sys.executable, "-m", "dictation.cli", "listen", "--json", *arguments]
        self.environment = environment
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.events = []
        self._news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            with self._news:
                self.events.append((time.monotonic(), json.loads(line)))
                self._news.notify_all()

    def until(self, kind, timeout_s=90, **fields):
        def found():
            for _, event in self.events:
                if event["kind"] == kind and all(event[k] == v for k, v in fields.items()):
                    return event
            return None

        with self._news:
            assert self._news.wait_for(found, timeout_s), f"no {kind} {fields} in {[x['kind'] for _, x in self.events]}"
            return found()

    def sayso(self, *arguments):
        return subprocess.run(
            [sys.executable, "-m", "dictation.cli", *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


@pytest.fixture
def listen(virtual_microphone, tiny_en_q8, tmp_path):
    running = []

    def start(*arguments):
        running.append(Listen(virtual_microphone, tmp_path / "home", "--model", str(tiny_en_q8), *arguments))
        return running[-1]

    yield start
    for one in running:
        one.end()


def words(text):
    return [word.strip(".,;:!?\"'").lower() for word in text.split()]


def test_a_sentence_from_the_microphone_to_the_terminal_and_out_again_by_the_control_socket(listen, virtual_microphone):
    sayso = listen("--once")
    sayso.until("state_changed", state="opening")
    sayso.until("model_changed", status="ready")
    virtual_microphone.play(sounds.SPEECH / "en" / "jfk.flac")
    assert sayso.sayso("status").stdout.startswith("listening")
    assert sayso.sayso("stop").returncode == 0
    final = sayso.until("final_text")
    said = words(sounds.transcript("en/jfk"))
    assert words(final["text"])[:2] == said[:2] and words(final["text"])[-2:] == said[-2:]
    sayso.until("state_changed", state="idle")
    assert sayso.process.wait(20) == 0
    assert sayso.sayso("status").returncode == 1, "nothing runs any more"


@pytest.fixture
def another_microphone(virtual_microphone):
    yield virtual_microphone.replace
    virtual_microphone.lose()
    virtual_microphone.plug()


# The voice is on one input only; a quieter hum is on the others, as on a studio interface
@pytest.mark.parametrize(("rate", "channels", "voice"), [(44100, 1, 0), (48000, 1, 0), (44100, 2, 1), (48000, 4, 1)])
def test_hands_free_through_other_rates_and_channel_layouts(
    listen, virtual_microphone, another_microphone, tmp_path, rate, channels, voice
):
    another_microphone(rate, channels)
    speech = soxr.resample(sounds.clip("en/jfk"), 16000, rate)
    native = np.repeat(0.01 * np.sin(np.arange(len(speech)) * 2 * np.pi * 100 / rate)[:, None], channels, axis=1)
    native[:, voice] = speech
    soundfile.write(tmp_path / "clip.wav", native.astype(np.float32), rate)
    sayso = listen("--once", "--vad")
    opened = sayso.until("microphone_changed")["microphone"]
    assert (opened["native_rate_hz"], opened["channels"]) == (rate, channels)
    sayso.until("model_changed", status="ready")
    virtual_microphone.play(tmp_path / "clip.wav", ",".join(CHANNELS[:channels]))
    final = sayso.until("final_text")
    said = words(sounds.transcript("en/jfk"))
    assert words(final["text"])[:2] == said[:2] and words(final["text"])[-2:] == said[-2:]


def test_a1_a_headset_that_sends_zeros_first_is_opening_until_it_hears_and_no_word_is_lost(listen, virtual_microphone):
    virtual_microphone.mute()  # exact zeros, as a Bluetooth headset sends them while it changes its profile
    try:
        sayso = listen("--once")
        sayso.until("microphone_changed")
        virtual_microphone.hum()
        time.sleep(1.5)  # what a headset takes
        assert not [event for _, event in sayso.events if event.get("state") == "listening"]
        virtual_microphone.mute(False)
        sayso.until("state_changed", state="listening")
        virtual_microphone.play(sounds.SPEECH / "en" / "jfk.flac")
        sayso.sayso("stop")
        said = words(sounds.transcript("en/jfk"))
        text = words(sayso.until("final_text")["text"])
        assert text[:2] == said[:2] and text[-2:] == said[-2:]
    finally:
        virtual_microphone.mute(False)
        virtual_microphone.hum(False)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 143)])
def test_ended_while_speaking_it_loses_nothing_that_recover_can_not_give_back(listen, virtual_microphone, number, code):
    sayso = listen("--once")
    sayso.until("microphone_changed")
    virtual_microphone.play(sounds.SPEECH / "en" / "jfk.flac")
    sayso.process.send_signal(number)
    assert sayso.process.wait(20) == code
    left = sayso.sayso("recover").stdout
    assert left.count("\n") == 1
    assert number != signal.SIGKILL or "crash" in left
    model = next(argument for argument in sayso.process.args if argument.endswith(".gguf"))
    text = sayso.sayso("recover", "--text", "--model", model).stdout
    said = words(sounds.transcript("en/jfk"))
    assert words(text)[:2] == said[:2] and words(text)[-2:] == said[-2:]
    assert sayso.sayso("recover", "--discard").returncode == 0
    assert sayso.sayso("recover").stdout == ""


def test_a_muted_microphone_is_said_and_gives_no_ghost_text(listen, virtual_microphone):
    virtual_microphone.mute()
    try:
        sayso = listen("--once")
        sayso.until("notice", code="microphone_silent")
        sayso.sayso("stop")
        assert sayso.until("nothing_heard")["reason"] == "muted"
        assert sayso.process.wait(20) == 1
    finally:
        virtual_microphone.mute(False)


def test_the_microphone_is_unplugged_and_plugged_in_again_in_one_take(listen, virtual_microphone):
    sayso = listen("--once")
    sayso.until("microphone_changed")
    virtual_microphone.play(sounds.SPEECH / "en" / "gcp-today.flac")
    virtual_microphone.unplug()
    sayso.until("notice", code="microphone_lost")
    virtual_microphone.plug()
    until("recording again", lambda: sum(e["kind"] == "microphone_changed" for _, e in sayso.events) >= 2)
    virtual_microphone.play(sounds.SPEECH / "en" / "gcp-mountain-view.flac")
    sayso.sayso("stop")
    text = words(sayso.until("final_text")["text"])
    assert words(sounds.transcript("en/gcp-mountain-view"))[-1] in text
    assert words(sounds.transcript("en/gcp-today"))[-1] in text


@pytest.mark.parametrize("muted", [False, True])
def test_a10_what_is_muted_and_how_loud_stays_as_it_was_through_a_take_and_a_crash(listen, virtual_microphone, muted):
    virtual_microphone.mute(muted)
    virtual_microphone.level(-6)
    try:
        before = virtual_microphone.switches()
        assert f"Mute: {'yes' if muted else 'no'}" in before
        sayso = listen("--once")
        sayso.until("microphone_changed")
        assert virtual_microphone.switches() == before
        sayso.sayso("stop")
        sayso.process.wait(20)
        assert virtual_microphone.switches() == before
        crashed = listen("--once")
        crashed.until("microphone_changed")
        crashed.process.kill()
        crashed.process.wait()
        assert virtual_microphone.switches() == before
    finally:
        virtual_microphone.mute(False)
        virtual_microphone.level(0)
