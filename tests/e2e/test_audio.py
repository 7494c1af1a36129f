"""The virtual microphone gives what is played into it, and its misfortunes are what they claim to be."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import soundfile

from tests.e2e.audio import VirtualMicrophone
from tests.e2e.processes import until

CLIP = Path(__file__).parents[1] / "data/speech/en/gcp-230pm.flac"


def record(microphone: VirtualMicrophone, path: Path) -> subprocess.Popen:
    before = microphone.recorders()
    command = ["parec", "--rate=16000", "--channels=1", "--format=s16le", "--latency-msec=10", "--file-format=wav"]
    process = subprocess.Popen([*command, str(path)], env=dict(os.environ) | microphone.environment)
    until("recorder", lambda: microphone.recorders() > before)
    return process


def test_what_is_played_is_heard_until_it_is_muted(virtual_microphone: VirtualMicrophone, tmp_path: Path) -> None:
    recording = record(virtual_microphone, tmp_path / "heard.wav")
    virtual_microphone.play(CLIP)
    virtual_microphone.mute()
    virtual_microphone.play(CLIP)
    virtual_microphone.mute(False)
    recording.send_signal(2)
    recording.wait(10)
    heard, rate = soundfile.read(tmp_path / "heard.wav", dtype="float32")
    clip, clip_rate = soundfile.read(CLIP, dtype="float32")
    assert rate == clip_rate == 16000
    size = 1 << (len(heard) + len(clip)).bit_length()
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(clip, size)))
    start = int(match[: len(heard) - len(clip)].argmax())
    first = heard[start : start + len(clip)]
    assert np.corrcoef(first, clip)[0, 1] == pytest.approx(1, abs=0.05)
    rest = heard[start + len(clip) + rate // 2 :]
    assert len(rest) > len(clip) // 2
    assert np.abs(rest).max() == 0
