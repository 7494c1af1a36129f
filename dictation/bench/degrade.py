"""What rooms, microphones and lines do to a voice, on demand: one clip becomes a family. The same for the same seed.

A degradation is written as steps, `noise:10+telephone`, applied from left to right. Sound goes through as samples,
(n, channels), and their rate, because some steps change these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictation.bench.errors import ClipError
from engine.evaluate import with_noise

F32 = NDArray[np.float32]
Random = np.random.Generator

PACKET_S, BURST = 0.02, 2.0  # of a call; lost packets in a row, on average
LAYOUTS = ("stereo", "left", "right", "8")
HUSH = 1e-4  # -80 dBFS: a quiet room, and never the exact zeros of a muted microphone


@dataclass(frozen=True)
class Step:
    """One kind of damage; `value` is its amount, or a layout's name."""

    name: str
    value: float | str

    def __str__(self) -> str:
        amount = f"{self.value:g}" if isinstance(self.value, float) else self.value
        return f"{self.name}:{amount}" if amount else self.name


@dataclass(frozen=True)
class _Kind:
    apply: Callable[[F32, int, float, Random], tuple[F32, int]]
    default: float | None  # None: the amount must be given
    least: float
    most: float
    help: str


def _noise(samples: F32, rate_hz: int, snr_db: float, random: Random) -> tuple[F32, int]:
    if not len(samples) or not samples.any():
        return samples, rate_hz
    noisy = [with_noise(channel, snr_db, int(random.integers(1 << 31))) for channel in samples.T]
    return _limited(np.stack(noisy, axis=1)), rate_hz


def _gain(samples: F32, rate_hz: int, gain_db: float, random: Random) -> tuple[F32, int]:
    return _limited(samples * np.float32(10 ** (gain_db / 20))), rate_hz


def _clip(samples: F32, rate_hz: int, over_db: float, random: Random) -> tuple[F32, int]:
    peak = float(np.abs(samples).max(initial=0.0))
    return _limited(samples * np.float32(10 ** (over_db / 20) / peak)) if peak else samples, rate_hz


def _echo(samples: F32, rate_hz: int, rt60_s: float, random: Random) -> tuple[F32, int]:
    """A room: noise that decays by 60 dB in `rt60_s`, as loud as the voice itself at a metre or two."""
    if not len(samples):
        return samples, rate_hz
    n = max(2, int(rt60_s * rate_hz))
    tail = random.standard_normal(n) * 10 ** (-3 * np.arange(n) / n)
    tail[: int(0.005 * rate_hz)] = 0.0  # the first wall
    tail /= max(1e-9, float(np.sqrt(np.square(tail).sum())))
    tail[0] = 1.0  # the voice itself
    size = len(samples) + n - 1
    room = np.fft.irfft(np.fft.rfft(samples, size, axis=0) * np.fft.rfft(tail, size)[:, None], size, axis=0)
    loud_before, loud_now = float(np.abs(samples).max()), float(np.abs(room).max())
    return (room * (loud_before / max(1e-9, loud_now))).astype(np.float32), rate_hz


def _telephone(samples: F32, rate_hz: int, _: float, random: Random) -> tuple[F32, int]:
    """300 to 3400 Hz in 8 bits of µ-law at 8 kHz, as a headset in call mode sends it."""
    narrow, rate_hz = _rate(samples, rate_hz, 8_000, random)
    if not len(narrow):
        return narrow, rate_hz
    spectrum = np.fft.rfft(narrow, axis=0)
    hz = np.fft.rfftfreq(len(narrow), 1 / rate_hz)[:, None]
    spectrum *= np.clip((hz - 200) / 100, 0, 1) * np.clip((3600 - hz) / 200, 0, 1)
    band = np.clip(np.fft.irfft(spectrum, len(narrow), axis=0), -1, 1)
    squeezed = np.round(np.sign(band) * np.log1p(255 * np.abs(band)) / np.log(256) * 127) / 127
    return (np.sign(squeezed) * np.expm1(np.abs(squeezed) * np.log(256)) / 255).astype(np.float32), rate_hz


def _loss(samples: F32, rate_hz: int, percent: float, random: Random) -> tuple[F32, int]:
    """Lost packets in bursts (Gilbert's model); a lost one is silence."""
    share = percent / 100
    size = round(PACKET_S * rate_hz)
    lost, kept = False, samples.copy()
    enter, leave = share / max(1e-9, (1 - share) * BURST), 1 / BURST
    for start in range(0, len(samples), size):
        lost = bool(random.random() < (1 - leave if lost else enter))
        if lost:
            kept[start : start + size] = 0.0
    return kept, rate_hz


def _zeros(samples: F32, rate_hz: int, seconds: float, random: Random) -> tuple[F32, int]:
    zeros = np.zeros((round(seconds * rate_hz), samples.shape[1]), np.float32)
    return np.concatenate([zeros, samples]), rate_hz


def _before(samples: F32, rate_hz: int, seconds: float, random: Random) -> tuple[F32, int]:
    return np.concatenate([_hush(samples, rate_hz, seconds, random), samples]), rate_hz


def _after(samples: F32, rate_hz: int, seconds: float, random: Random) -> tuple[F32, int]:
    return np.concatenate([samples, _hush(samples, rate_hz, seconds, random)]), rate_hz


def _between(samples: F32, rate_hz: int, seconds: float, random: Random) -> tuple[F32, int]:
    """At the quietest place of the middle half."""
    size = max(1, round(0.1 * rate_hz))
    first, last = len(samples) // 4, 3 * len(samples) // 4
    starts = range(first, max(first + 1, last - size), size)
    at = min(starts, key=lambda start: float(np.square(samples[start : start + size]).sum())) + size // 2
    return np.concatenate([samples[:at], _hush(samples, rate_hz, seconds, random), samples[at:]]), rate_hz


def _cut(samples: F32, rate_hz: int, seconds: float, random: Random) -> tuple[F32, int]:
    return samples[: max(0, len(samples) - round(seconds * rate_hz))], rate_hz


def _rate(samples: F32, rate_hz: int, wanted_hz: float, random: Random) -> tuple[F32, int]:
    import soxr

    if int(wanted_hz) == rate_hz:
        return samples, rate_hz
    return np.asarray(soxr.resample(samples, rate_hz, wanted_hz), np.float32), int(wanted_hz)


def _channels(samples: F32, layout: str, random: Random) -> F32:
    """The voice in both ears, in one of two, or in the last of eight inputs whose others hum."""
    voice = samples[:, [int(np.argmax(np.square(samples).sum(axis=0)))]]
    silent = np.zeros_like(voice)
    if layout == "stereo":
        return np.concatenate([voice, voice], axis=1)
    if layout == "8":
        others = HUSH * random.standard_normal((len(voice), 7), np.float32)
        return np.concatenate([others, voice], axis=1)
    return np.concatenate([voice, silent] if layout == "left" else [silent, voice], axis=1)


def _hush(samples: F32, rate_hz: int, seconds: float, random: Random) -> F32:
    hush: F32 = HUSH * random.standard_normal((round(seconds * rate_hz), samples.shape[1]), np.float32)
    return hush.astype(np.float32)


def _limited(samples: F32) -> F32:
    return np.clip(samples, -1.0, 1.0).astype(np.float32)


KINDS = {
    "noise": _Kind(_noise, 10, -20, 60, "room noise, so many dB below the voice"),
    "gain": _Kind(_gain, -20, -90, 60, "louder or quieter by so many dB"),
    "clip": _Kind(_clip, 12, 0, 60, "driven so many dB over full scale"),
    "echo": _Kind(_echo, 0.6, 0.05, 5, "a room in which sound dies in so many seconds"),
    "telephone": _Kind(_telephone, 0, 0, 0, "a headset in call mode: 8 kHz, 300 to 3400 Hz, 8 bits"),
    "loss": _Kind(_loss, 5, 0, 90, "so many percent of all 20 ms packets lost"),
    "zeros": _Kind(_zeros, 1.5, 0, 60, "so many seconds of exact zeros first, as Bluetooth sends"),
    "rate": _Kind(_rate, 48_000, 4_000, 192_000, "another sample rate in Hz"),
    "before": _Kind(_before, 2, 0, 600, "so many seconds of a quiet room before"),
    "between": _Kind(_between, 2, 0, 600, "the same in the middle"),
    "after": _Kind(_after, 2, 0, 600, "the same after the end"),
    "cut": _Kind(_cut, None, 0, 600, "the last so many seconds are missing"),
}
# What `all` stands for: a step of each kind
FAMILY = (
    "noise:20", "noise:5", "gain:-30", "clip:12", "echo:0.6", "telephone", "loss:5", "zeros:1.5", "rate:44100",
    "rate:48000", "channels:stereo", "channels:left", "channels:8", "before:2", "between:2", "after:2",
)  # fmt: skip


def parse(text: str) -> tuple[Step, ...]:
    """Steps from how they are written; none for "" and "none". Raises ClipError."""
    return tuple(_step(part.strip()) for part in text.split("+")) if text.strip() not in ("", "none") else ()


def _step(text: str) -> Step:
    name, _, amount = text.partition(":")
    if name == "channels":
        if amount not in LAYOUTS:
            raise ClipError(f"channels takes one of {', '.join(LAYOUTS)}, not {amount!r}.")
        return Step(name, amount)
    kind = KINDS.get(name)
    if kind is None:
        raise ClipError(f"there is no degradation {name!r}; there are {', '.join([*KINDS, 'channels'])}.")
    if not amount:
        if kind.default is None:
            raise ClipError(f"{name} needs an amount, as in {name}:1 ({kind.help}).")
        return Step(name, "" if kind.least == kind.most else float(kind.default))
    try:
        value = float(amount)
    except ValueError:
        value = float("nan")
    if not kind.least <= value <= kind.most:
        raise ClipError(f"{name} takes a number from {kind.least:g} to {kind.most:g}, not {amount!r} ({kind.help}).")
    return Step(name, value)


def written(steps: tuple[Step, ...]) -> str:
    return "+".join(map(str, steps))


def apply(samples: F32, rate_hz: int, steps: tuple[Step, ...], clip: str, seed: int = 0) -> tuple[F32, int]:
    """Degrade (n, channels) samples. Each clip and step has random numbers of its own, whatever else is done."""
    for place, step in enumerate(steps):
        key = hashlib.sha256(f"{seed}/{clip}/{place}/{step}".encode()).digest()
        random = np.random.default_rng(list(key[:16]))
        if isinstance(step.value, str) and step.name == "channels":
            samples = _channels(samples, step.value, random)
        else:
            samples, rate_hz = KINDS[step.name].apply(samples, rate_hz, float(step.value or 0), random)
    return samples, rate_hz
