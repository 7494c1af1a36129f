"""The real microphone code on a real sound server: what is played is heard, and every misfortune is told."""

import os
import queue
import time

import numpy as np
import pytest

from dictation.frames import Framer
from dictation.microphone import PortAudioMicrophone, microphones
from dictation.source import Block, MicrophonesSeen, SourceLost, SourceOpened
from tests.e2e.audio import MICROPHONE
from tests.e2e.processes import until
from tests.fakes import sounds

CLIP = sounds.SPEECH / "en" / "gcp-today.flac"


class Listener:
    """A microphone and all that it has posted."""

    def __init__(self):
        self.posts: queue.SimpleQueue = queue.SimpleQueue()
        self.blocks: list[Block] = []
        self.last_block_s = 0.0
        self.microphone = PortAudioMicrophone(self._post)

    def _post(self, report):
        if isinstance(report, Block):
            self.blocks.append(report)
            self.last_block_s = time.monotonic()
        else:
            self.posts.put(report)

    def until(self, kind, timeout_s=10.0):
        deadline = time.monotonic() + timeout_s
        while True:
            report = self.posts.get(timeout=max(0.01, deadline - time.monotonic()))
            if isinstance(report, kind):
                return report

    def sound(self, opening):
        """16 kHz frames of an opening."""
        blocks = [block for block in self.blocks if block.opening == opening]
        framer = Framer(blocks[0].rate_hz, blocks[0].samples.shape[1])
        return np.concatenate([framer.push(block.samples) for block in blocks])

    def heard_all(self):
        """Something was heard, and nothing for 200 ms since."""
        blocks = list(self.blocks)
        return any(block.samples.any() for block in blocks) and not any(block.samples.any() for block in blocks[-10:])

    def open(self, opening, again=True):
        self.microphone.open(opening, again)
        opened = self.until(SourceOpened)
        until("the first block", lambda: any(block.opening == opening for block in list(self.blocks)))
        return opened


@pytest.fixture
def listener(virtual_microphone, monkeypatch):
    for name, value in virtual_microphone.environment.items():
        monkeypatch.setenv(name, value)
    virtual_microphone.plug()
    listener = Listener()
    yield listener
    listener.microphone.quit()
    virtual_microphone.plug()
    virtual_microphone.mute(False)
    virtual_microphone.stall(False)


def our_recordings():
    """Recordings of this process that the sound server knows."""
    import pulsectl

    with pulsectl.Pulse("test") as server:
        outputs = server.source_output_list()
    return sum(output.proplist.get("application.process.id") == str(os.getpid()) for output in outputs)


def correlation(heard, clip):
    size = 1 << (len(heard) + len(clip)).bit_length()
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(clip, size)))
    start = int(match[: max(1, len(heard) - len(clip))].argmax())
    return float(np.corrcoef(heard[start : start + len(clip)], clip)[0, 1])


def test_what_is_played_is_heard_in_blocks_of_one_size(listener, virtual_microphone):
    opened = listener.open(1)
    assert opened.microphone.name == MICROPHONE
    virtual_microphone.play(CLIP)
    until("all of the clip", listener.heard_all)
    listener.microphone.close()
    assert {len(block.samples) for block in listener.blocks} == {round(opened.microphone.native_rate_hz * 0.02)}
    assert not any(block.overflow for block in listener.blocks)
    assert correlation(listener.sound(1), sounds.clip("en/gcp-today")) > 0.97


def test_a9_no_recording_is_left_after_closing(listener):
    listener.open(1)
    assert our_recordings() == 1
    listener.microphone.close()
    until("the recording is closed", lambda: our_recordings() == 0)


def test_a12_the_list_names_the_microphones_and_opens_none(listener):
    listener.microphone.list_microphones()
    (seen,) = listener.until(MicrophonesSeen).microphones
    assert seen.name == MICROPHONE and seen.default
    assert microphones() == (seen,)
    assert our_recordings() == 0


def test_a_microphone_that_comes_or_goes_is_listed_without_asking(listener, virtual_microphone):
    assert listener.microphone.watch.ready.wait(10)
    virtual_microphone.unplug()
    while listener.until(MicrophonesSeen).microphones:
        pass
    virtual_microphone.plug()
    while not listener.until(MicrophonesSeen).microphones:
        pass


def test_a_sound_server_that_comes_back_is_noticed_without_asking(listener, virtual_microphone):
    assert listener.microphone.watch.ready.wait(10)
    virtual_microphone.kill()
    while MICROPHONE in names(listener.until(MicrophonesSeen)):
        pass
    virtual_microphone.revive()
    while MICROPHONE not in names(listener.until(MicrophonesSeen)):
        pass


def names(seen):
    return [microphone.name for microphone in seen.microphones]


def test_a4_unplugging_is_told_though_the_server_moves_the_recording_to_the_speakers_monitor(
    listener, virtual_microphone
):
    listener.open(1)
    virtual_microphone.unplug()
    assert listener.until(SourceLost).opening == 1
    listener.microphone.open(2, again=True)
    assert "no microphone" in listener.until(SourceLost).message, "the monitor is not taken for one"
    virtual_microphone.plug()
    assert listener.open(3).microphone.name == MICROPHONE


def test_all_sources_gone_is_told(listener, virtual_microphone):
    listener.open(1)
    virtual_microphone.lose()
    assert listener.until(SourceLost).opening == 1


def test_a_dead_sound_server_is_told_and_a_new_one_is_found(listener, virtual_microphone):
    listener.open(1)
    virtual_microphone.kill()
    assert listener.until(SourceLost).opening == 1
    listener.microphone.open(2, again=True)
    assert listener.until(SourceLost).opening == 2
    virtual_microphone.revive()
    listener.open(3)
    virtual_microphone.play(CLIP)
    assert any(block.opening == 3 for block in listener.blocks)


def test_a_suspended_source_gives_no_block_and_a_muted_one_zeros(listener, virtual_microphone):
    listener.open(1)
    virtual_microphone.stall()
    until("no block any more", lambda: time.monotonic() - listener.last_block_s > 0.2)
    n = len(listener.blocks)
    virtual_microphone.mute()
    virtual_microphone.stall(False)
    until("blocks again", lambda: len(listener.blocks) > n)
    n = len(listener.blocks)
    virtual_microphone.play(CLIP)
    assert len(listener.blocks) > n
    assert not any(block.samples.any() for block in listener.blocks[n + 5 :])


def test_a_chosen_microphone_that_is_not_there_falls_back_to_the_default(listener):
    listener.microphone.choose("a-headset-left-at-home")
    opened = listener.open(1)
    assert opened.reason == "fell_back" and opened.microphone.name == MICROPHONE
