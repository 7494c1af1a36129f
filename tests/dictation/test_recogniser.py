"""Dictation with the real engine: languages that differ from the chosen one, repeats, many takes in one process."""

import gc
import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

from dictation import events as e
from dictation import recogniser
from dictation.session import Limits
from tests.fakes import sounds
from tests.fakes.dictation import Dictation


def dictate(dictation, samples):
    take = dictation.loop._session.next_number
    dictation.dictate(samples, take=take)
    final = dictation.until(e.FinalText, timeout_s=60, take=take)
    dictation.until(e.StateChanged, timeout_s=60, take=take, state=e.State.IDLE)
    return final


def test_m9_german_with_english_chosen_is_said_and_translating_on_purpose_is_not(tmp_path, base_q8):
    settings = {"recognition.model": str(base_q8), "recognition.language": "en", "recognition.live_text": False}
    with Dictation(tmp_path, settings, build=recogniser.build) as dictation:
        dictation.until(e.ModelChanged, timeout_s=60, status=e.ModelStatus.READY)
        german = sounds.clip("de/leopard-de")
        dictate(dictation, german)
        notice = dictation.until(e.Notice, code="language", take=1)
        assert "German" in notice.message and "English" in notice.message
        dictation.dictate(german, take=2, task="translate")
        dictation.until(e.StateChanged, timeout_s=60, take=2, state=e.State.IDLE)
        dictate(dictation, sounds.clip("en/gcp-mountain-view"))
        assert [said.take for said in dictation.of(e.Notice) if said.code == "language"] == [1]
        dictation.send(e.ChangeSettings({"recognition.language": "auto", "recognition.my_languages": ["en", "fr"]}))
        dictate(dictation, german)
        assert "none of your languages" in dictation.until(e.Notice, code="language", take=4).message


@contextmanager
def dictation_with(model, folder):
    settings = {"recognition.model": str(model), "recognition.live_text": False}
    parts = {"build": recogniser.build, "limits": lambda _: Limits(tail_s=0.02, tail_most_s=0.02)}  # nobody speaks on
    with Dictation(folder, settings, **parts) as dictation:
        dictation.until(e.ModelChanged, timeout_s=60, status=e.ModelStatus.READY)
        yield dictation


@pytest.fixture
def tiny_en(tmp_path, tiny_en_q8):
    with dictation_with(tiny_en_q8, tmp_path) as dictation:
        yield dictation


def test_m7_honest_repeats_stay_and_no_text_leads_the_next_one(tiny_en):
    once = np.concatenate([sounds.clip("en/gcp-mountain-view"), sounds.fan(0.4, level=0.0005)])
    alone = dictate(tiny_en, once).raw_text
    thrice = dictate(tiny_en, np.tile(once, 3)).raw_text
    again = dictate(tiny_en, once).raw_text
    assert again == alone
    words = re.findall(r"[a-z]+", alone.lower())
    assert re.findall(r"[a-z]+", thrice.lower()) == 3 * words


def growth_kib(model, folder, takes, settle):
    """Memory gained per take after the first `settle` ones: the slope of a line through the resident sizes."""
    folder.mkdir(exist_ok=True)
    speech, resident = sounds.clip("en/gcp-today")[:16_000], []
    with dictation_with(model, folder) as dictation:
        for _ in range(takes):
            dictate(dictation, speech)
            dictation.events.clear()  # what the test itself collects
            dictation.editor.texts.clear()
            gc.collect()
            resident.append(psutil.Process().memory_info().rss / 1024)
    slope = np.polyfit(np.arange(takes - settle), resident[settle:], 1)[0]
    print(f"{slope:.2f} KiB per take, {resident[settle]:.0f} to {resident[-1]:.0f} KiB")
    return slope


def growth_in_its_own_process_kib(*arguments):
    """Whatever ran before in this one would be measured with it."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes:
        return processes.submit(growth_kib, *arguments).result()


def test_p2_fifty_takes_do_not_grow_the_memory(tiny_en_q8, tmp_path):
    # the allocator may take a megabyte late once; what leaks does so each time
    assert any(growth_in_its_own_process_kib(tiny_en_q8, tmp_path / name, 50, 10) < 50 for name in ("first", "second"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_p2_a_thousand_takes_do_not_grow_the_memory(tiny_en_q8, tmp_path):
    assert growth_in_its_own_process_kib(tiny_en_q8, tmp_path, 1000, 100) < 5
