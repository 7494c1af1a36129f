"""Models are switched while somebody dictates: no text is lost or cut, and memory stays flat."""

from __future__ import annotations

import gc

import numpy as np
import psutil
import pytest

from dictation import events as e
from dictation import recogniser
from dictation.session import Limits
from tests.fakes import sounds
from tests.fakes.dictation import Dictation

LONG_S = 280.0
CLIPS = ("en/gcp-today", "en/gcp-mountain-view", "en/jfk")


def dictate(dictation: Dictation, samples: np.ndarray, *, use: str = "") -> tuple[str, str]:
    """Hold the key, speak, let go; in the middle of the words change to the model `use`. Returns text and model."""
    take = dictation.loop._session.next_number
    dictation.send(e.Start("hotkey"))
    dictation.until(e.StateChanged, timeout_s=LONG_S, take=take, state=e.State.LISTENING)
    middle = len(samples) // 2
    dictation.person.say(samples[:middle])
    if use:
        dictation.send(e.UseModel(use))
    dictation.person.say(samples[middle:])
    dictation.send(e.Stop())
    final = dictation.until(e.FinalText, timeout_s=LONG_S, take=take)
    dictation.until(e.StateChanged, timeout_s=LONG_S, take=take, state=e.State.IDLE)
    return final.raw_text, final.model


def switching(tmp_path, models: list[str], switches: int) -> list[float]:
    """So many switches, each in the middle of a take; MB resident after each. Every text is that of its model alone."""
    settings = {"recognition.model": models[0], "recognition.live_text": False, "recognition.language": "en"}
    # nobody speaks on; and other work on the machine is no stuck engine
    quick = {"limits": lambda _: Limits(tail_s=0.02, tail_most_s=0.02, life_sign_s=LONG_S, deliver_s=LONG_S)}
    clips, resident = [sounds.clip(name) for name in CLIPS], []
    with Dictation(tmp_path, settings, build=recogniser.build, **quick) as dictation:
        wanted = {}
        for model in models:
            dictation.send(e.UseModel(model))
            dictation.until(e.ModelChanged, timeout_s=LONG_S, name=model, status=e.ModelStatus.READY)
            wanted[model] = [dictate(dictation, clip)[0] for clip in clips]
            assert all(wanted[model])
        for number in range(switches):
            before, after = models[(number + 1) % 2], models[number % 2]
            text, by = dictate(dictation, clips[number % len(clips)], use=after)
            assert by == before, "what is being said ends on the model that it began with"
            assert text == wanted[before][number % len(clips)]
            dictation.until(e.ModelChanged, timeout_s=LONG_S, name=after, status=e.ModelStatus.READY)
            dictation.events.clear()  # what the test itself collects
            gc.collect()
            resident.append(psutil.Process().memory_info().rss / 1e6)
        assert not dictation.of(e.Failed) and len(dictation.editor.texts) == switches + 2 * len(clips)
    return resident


def test_a_switch_in_the_middle_of_a_take_costs_neither_text(tmp_path, tiny_en_q8, base_q8):
    switching(tmp_path, [str(tiny_en_q8), str(base_q8)], 4)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_switches_leave_every_text_whole_and_the_memory_flat(tmp_path, tiny_en_q8, base_q8):
    resident = switching(tmp_path, [str(tiny_en_q8), str(base_q8)], 100)
    slope = np.polyfit(np.arange(80), resident[20:], 1)[0]
    print(
        f"{1000 * slope:.0f} KB a switch after the first 20; {resident[20]:.0f} MB then, {resident[-1]:.0f} at the end"
    )
    assert slope < 0.1


def test_an_unloaded_model_gives_its_memory_back_and_is_there_again_at_key_down(tmp_path, base_q8):
    settings = {"recognition.model": str(base_q8), "recognition.live_text": False, "recognition.language": "en"}
    clip = sounds.clip(CLIPS[0])
    with Dictation(tmp_path, settings, build=recogniser.build) as dictation:
        dictation.until(e.ModelChanged, timeout_s=LONG_S, status=e.ModelStatus.READY)
        text, _ = dictate(dictation, clip)
        loaded = psutil.Process().memory_info().rss
        dictation.send(e.UnloadModel())
        dictation.until(e.ModelChanged, timeout_s=LONG_S, status=e.ModelStatus.UNLOADED)
        gc.collect()
        freed = loaded - psutil.Process().memory_info().rss
        assert freed > 0.5 * base_q8.stat().st_size, f"only {freed / 1e6:.0f} MB came back"
        assert dictate(dictation, clip)[0] == text
