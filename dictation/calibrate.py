"""Measures an installed model on this computer in seconds: speed, memory, words wrong on the bundled sample.

`python -m dictation.calibrate MODEL` prints one JSON line; `measure` runs that in a process of its own, so that the
model in use is not disturbed and the memory is the model's alone. Results are kept per file in `measured.json`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dictation import paths
from dictation.errors import DictationError
from engine.files import locked, write_text

SAMPLE_TEXT = "And so my fellow Americans ask not what your country can do for you ask what you can do for your country"
RUNS = 3
LIMIT_S = 300.0


class CalibrationError(DictationError):
    """The model could not be measured."""


@dataclass(frozen=True)
class Measured:
    """What one model file does on this computer."""

    speed: float  # seconds of speech per second of work, end to end, warm
    memory_bytes: int  # largest resident size of a process that did nothing else
    load_ms: float
    words_wrong: int  # on the sample
    words: int
    device: str
    measured_unix_s: float


def measure(model: str, device: str = "auto", threads: int | None = None) -> Measured:
    """Measure an installed model (name or path) and keep the result. Takes seconds to a minute."""
    from engine import store

    path = store.find(model)
    command = [sys.executable, "-m", "dictation.calibrate", str(path), device, str(threads or 0)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise CalibrationError(f"{model} took more than {LIMIT_S:.0f} s; it is too slow for this computer.") from error
    if ran.returncode != 0:
        last = ran.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise CalibrationError(f"{model} could not be measured: {last[0]}")
    result = Measured(**json.loads(ran.stdout.splitlines()[-1]))
    _keep(path, result)
    return result


def kept(path: Path) -> Measured | None:
    """The kept measurement of this file, if the file is still the same."""
    entry = _all().get(_key(path))
    try:
        return Measured(**entry) if entry else None
    except TypeError:  # written by another version
        return None


def _key(path: Path) -> str:
    status = path.stat()
    return f"{path.resolve()}|{status.st_size}|{int(status.st_mtime)}"


def _all() -> dict[str, dict[str, Any]]:
    try:
        content = json.loads(_file().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _keep(path: Path, result: Measured) -> None:
    with locked(_file()):
        entries = _all() | {_key(path): asdict(result)}
        write_text(_file(), json.dumps(entries, indent=1))


def _file() -> Path:
    return paths.data_dir() / "measured.json"


def _measure_here(path: str, device: str, threads: int) -> Measured:
    import engine
    import resources
    from engine import audio
    from engine.evaluate import peak_memory_bytes

    began = time.perf_counter()
    transcriber = engine.load(path, device=device, threads=threads or None)
    load_ms = (time.perf_counter() - began) * 1e3
    samples = audio.read_clip(resources.path("sample.wav"))
    text, times = "", []
    for _ in range(RUNS + 1):  # the first one warms up
        began = time.perf_counter()
        text = transcriber.transcribe(samples).text
        times.append(time.perf_counter() - began)
    wrong, words = words_wrong(text)
    duration_s = len(samples) / audio.SAMPLE_RATE_HZ
    speed = duration_s / median(times[1:])
    return Measured(speed, peak_memory_bytes(), load_ms, wrong, words, transcriber.device, time.time())


def words_wrong(text: str) -> tuple[int, int]:
    """Substitutions, deletions and insertions against the sample's words, and how many words it has."""
    from rapidfuzz.distance import Levenshtein

    heard = "".join(c for c in text.lower() if c.isalnum() or c.isspace()).split()
    said = SAMPLE_TEXT.lower().split()
    return int(Levenshtein.distance(said, heard)), len(said)


if __name__ == "__main__":
    print(json.dumps(asdict(_measure_here(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
