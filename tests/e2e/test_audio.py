"""The virtual microphone gives what is played into it, and its misfortunes are what they claim to be."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import soundfile

from tests.e2e.audio import VirtualMicrophone
from tests.e2e.processes import DIES_WITH_US, until

CLIP = Path(__file__).parents[1] / "data/speech/en/gcp-230pm.flac"
RATE_HZ = 16_000


class Recording:
    """What a recorder has written so far."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def samples(self) -> np.ndarray:
        data = self._path.read_bytes()
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2").astype(np.float32) / 32768

    def is_over(self) -> bool:
        """Something was heard, and nothing for a quarter of a second since."""
        heard = self.samples()
        return bool(heard.any()) and not heard[-RATE_HZ // 4 :].any()


@contextmanager
def record(microphone: VirtualMicrophone, path: Path) -> Iterator[Recording]:
    before = microphone.recorders()
    command = ["parec", f"--rate={RATE_HZ}", "--channels=1", "--format=s16le", "--latency-msec=10", "--raw"]
    environment = microphone._environment()
    with path.open("wb") as file, subprocess.Popen([*DIES_WITH_US, *command], env=environment, stdout=file) as recorder:
        try:
            until("recorder", lambda: microphone.recorders() > before)
            yield Recording(path)
        finally:
            recorder.terminate()


def likeness(heard: np.ndarray, clip: np.ndarray) -> float:
    """Correlation at the place where the clip fits the recording best."""
    size = 1 << (len(heard) + len(clip)).bit_length()
    match = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(clip, size)))
    start = int(match[: max(1, len(heard) - len(clip))].argmax())
    part = heard[start : start + len(clip)]
    return float(np.corrcoef(part, clip[: len(part)])[0, 1])


def test_what_is_played_is_heard(virtual_microphone: VirtualMicrophone, tmp_path: Path) -> None:
    clip, clip_rate_hz = soundfile.read(CLIP, dtype="float32")
    assert clip_rate_hz == RATE_HZ
    likenesses: list[float] = []
    while len(likenesses) < 3 and max(likenesses, default=0.0) < 0.95:  # a busy machine drops a block now and then
        with record(virtual_microphone, tmp_path / "heard.raw") as recording:
            virtual_microphone.play(CLIP)
            until("all of the clip", recording.is_over)
            likenesses.append(likeness(recording.samples(), clip))
    assert likenesses[-1] > 0.95, likenesses


def test_a_muted_microphone_gives_zeros(virtual_microphone: VirtualMicrophone, tmp_path: Path) -> None:
    with record(virtual_microphone, tmp_path / "heard.raw") as recording:
        until("a beginning", lambda: len(recording.samples()))
        virtual_microphone.mute()
        try:
            n_before = len(recording.samples()) + RATE_HZ // 10
            virtual_microphone.play(CLIP)
            until("as much again", lambda: len(recording.samples()) > n_before + 3 * RATE_HZ)
        finally:
            virtual_microphone.mute(False)
        assert not recording.samples()[n_before : n_before + 3 * RATE_HZ].any()
