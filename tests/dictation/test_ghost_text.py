"""No ghost text: what is no speech types nothing, with a real model; what was said stays, even a stock phrase."""

import numpy as np
import pytest

from dictation import events as e
from dictation import recogniser
from tests.fakes import sounds
from tests.fakes.dictation import Dictation

NOISES = {
    "silence": sounds.silence(3),
    "breath": sounds.breath(4),
    "fan": sounds.fan(4),
    "plane": sounds.plane(4),
    "clatter": sounds.clatter(4),
    "music": sounds.music(5),
    "breath, then clatter": np.concatenate([sounds.breath(2, seed=7), sounds.clatter(2, seed=8)]),
}


@pytest.fixture(scope="module")
def real(tmp_path_factory, tiny_en_q8):
    settings = {"recognition.model": str(tiny_en_q8), "recognition.live_text": False}  # partials cost time here
    with Dictation(tmp_path_factory.mktemp("ghost"), settings, build=recogniser.build) as dictation:
        dictation.until(e.ModelChanged, timeout_s=60, status=e.ModelStatus.READY)
        yield dictation


@pytest.mark.parametrize("name", NOISES)
def test_m6_noise_types_nothing(real, name):
    take = real.loop._session.next_number
    real.events.clear()
    real.editor.texts.clear()
    real.person.gives_sound_at_once = False
    real.send(e.Start())
    real.until(e.StateChanged, take=take, state=e.State.OPENING)
    real.until(e.MicrophoneChanged)
    real.person.say(NOISES[name])
    real.send(e.Stop())
    nothing = real.until(e.NothingHeard, timeout_s=60, take=take)
    real.until(e.StateChanged, take=take, state=e.State.IDLE)
    assert nothing.reason in ("muted", "silence", "no_speech")
    assert real.editor.texts == []


def test_speech_in_the_noise_of_a_plane_is_not_thrown_away(real):
    speech = sounds.clip("en/jfk")
    take = real.loop._session.next_number
    real.person.gives_sound_at_once = True
    real.dictate(speech + sounds.plane(len(speech) / 16000 + 0.01)[: len(speech)] * 0.4, take=take)
    text = real.until(e.FinalText, timeout_s=60, take=take).text.lower()
    real.until(e.TextDelivered, take=take)
    assert "my fellow american" in text and text.rstrip(".").endswith("your country")


def test_a_thank_you_that_was_said_stays(tmp_path):
    with Dictation(tmp_path) as dictation:
        dictation.words.text = "Thank you."
        dictation.dictate(sounds.clip("en/gcp-mountain-view"))
        assert dictation.until(e.TextDelivered).text == "Thank you."
