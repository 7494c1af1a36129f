"""Sounds for tests: made from a seed, or read from the real clips in tests/data/speech."""

from pathlib import Path

import numpy as np
import soundfile

RATE = 16_000
SPEECH = Path(__file__).parents[1] / "data" / "speech"


def clip(name: str) -> np.ndarray:
    """A real clip, float32 mono 16 kHz: clip("en/jfk")."""
    samples, rate = soundfile.read(SPEECH / f"{name}.flac", dtype="float32")
    assert rate == RATE
    return samples


def transcript(name: str) -> str:
    for line in (SPEECH / "transcripts.tsv").read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if fields[0].rsplit(".", 1)[0] == name:
            return fields[-1]
    raise KeyError(name)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(int(seconds * RATE), np.float32)


def _noise(seconds: float, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(int(seconds * RATE)).astype(np.float32)


def _shaped(white: np.ndarray, gain) -> np.ndarray:
    """Filter noise by a gain over frequency, unit RMS out."""
    spectrum = np.fft.rfft(white)
    hz = np.fft.rfftfreq(len(white), 1 / RATE)
    shaped = np.fft.irfft(spectrum * gain(np.maximum(hz, 20.0)), len(white))
    return (shaped / np.sqrt(np.mean(shaped**2))).astype(np.float32)


def fan(seconds: float, seed: int = 1, level: float = 0.02) -> np.ndarray:
    """A computer fan: steady pink noise with a hum."""
    t = np.arange(int(seconds * RATE)) / RATE
    hum = 0.3 * np.sin(2 * np.pi * 118 * t) + 0.2 * np.sin(2 * np.pi * 236 * t)
    return (level * (_shaped(_noise(seconds, seed), lambda hz: hz**-0.5) + hum)).astype(np.float32)


def plane(seconds: float, seed: int = 2, level: float = 0.1) -> np.ndarray:
    """The cabin of a plane: loud brown noise."""
    return level * _shaped(_noise(seconds, seed), lambda hz: 1 / hz)


def breath(seconds: float, seed: int = 3, level: float = 0.03) -> np.ndarray:
    """Breathing into the microphone: noise between 300 and 3,000 Hz that swells every two seconds."""
    t = np.arange(int(seconds * RATE)) / RATE
    noise = _shaped(_noise(seconds, seed), lambda hz: ((hz > 300) & (hz < 3000)) * hz**-0.3)
    return (level * noise * np.maximum(0, np.sin(2 * np.pi * t / 2.0)) ** 2).astype(np.float32)


def clatter(seconds: float, seed: int = 4, level: float = 0.4) -> np.ndarray:
    """A keyboard: about six short clicks a second."""
    random = np.random.default_rng(seed)
    out = np.zeros(int(seconds * RATE), np.float32)
    for at in random.uniform(0, max(0.0, seconds - 0.05), int(6 * seconds)):
        n = int(0.02 * RATE)
        click = random.standard_normal(n) * np.exp(-np.arange(n) / (0.004 * RATE))
        out[int(at * RATE) : int(at * RATE) + n] += (level * random.uniform(0.3, 1) * click).astype(np.float32)
    return out


def music(seconds: float, seed: int = 5, level: float = 0.2) -> np.ndarray:
    """Chords with overtones, a new one every half second."""
    random = np.random.default_rng(seed)
    out = np.zeros(int(seconds * RATE))
    scale = 220 * 2 ** (np.array([0, 2, 4, 5, 7, 9, 11, 12]) / 12)
    step = RATE // 2
    for start in range(0, len(out), step):
        t = np.arange(min(step, len(out) - start)) / RATE
        for note in random.choice(scale, 3, replace=False):
            for overtone in range(1, 5):
                out[start : start + len(t)] += np.sin(2 * np.pi * note * overtone * t) / overtone**2 * np.exp(-2 * t)
    return (level * out / np.max(np.abs(out))).astype(np.float32)


def blocks(samples: np.ndarray, size: int = 512):
    """The samples in the pieces that a microphone gives."""
    for start in range(0, len(samples), size):
        yield samples[start : start + size]
