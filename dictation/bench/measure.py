"""One clip, once, through the app: everything about it as one `Measured`."""

from __future__ import annotations

import base64
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dictation import events as e
from dictation.bench import degrade
from dictation.bench.clips import Clip
from dictation.bench.kept import KeptModel
from dictation.bench.results import Measured
from dictation.errors import DictationError
from dictation.replay import Mode, Replayed, Sound, play
from dictation.scratch import scratch_folder
from engine import evaluate
from engine.audio import check_whole, open_sound
from engine.errors import EngineError

F32 = NDArray[np.float32]

N_PEAKS = 240  # of a drawn wave
DETAILS = ("code", "reason", "outcome", "state", "stage", "status", "cue")  # what `expect` may name after the colon


class Window(Protocol):
    """Where texts are typed: `scratch.ScratchWindow`."""

    def clear(self) -> None:
        """Empty it, and give it the keyboard."""
        ...

    def text(self, expected: str) -> str:
        """What it holds, once it holds `expected` or has not changed for a while."""
        ...


@dataclass(frozen=True)
class Task:
    clip: Clip
    variant: str = ""
    repeat: int = 0
    mode: Mode = "fast"
    language: str = ""  # "" lets the model find out
    settings: Mapping[str, Any] = field(default_factory=dict)  # go before the clip's
    seed: int = 0

    @property
    def steps(self) -> tuple[degrade.Step, ...]:
        return (*degrade.parse(self.clip.degrade), *degrade.parse(self.variant))


def measure(task: Task, model: KeptModel, window: Window | None = None) -> Measured:
    """Never raises for a clip: what went wrong with it is its `failure`."""
    clip = task.clip
    measured = Measured(
        clip.id, task.variant, task.repeat, task.language, clip.scored, clip.text if clip.scored else ""
    )
    try:
        with _sound(task) as (sound, duration_s, wave):
            measured = replace(measured, duration_s=duration_s, wave=wave)
            if window is not None:
                window.clear()
            began_s, cpu_s = time.perf_counter(), time.process_time()
            changes = _changes(task)
            replayed = play(sound, model.build, mode=task.mode, type_it=window is not None, changes=changes)
            wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - cpu_s
            if window is not None:
                measured = replace(measured, window_text=window.text(replayed.text))
    except (EngineError, DictationError, MemoryError) as error:
        return replace(measured, failure=str(error) or "There is not enough memory for this clip.")
    measured = replace(
        _told(measured, replayed, model),
        wall_s=round(wall_s, 4),
        cpu_s=round(cpu_s, 4),
        rss_bytes=_resident_bytes(),
        peak_bytes=evaluate.peak_memory_bytes(),
    )
    return replace(_counted(measured), unmet=list(_unmet(task, measured)))


def _changes(task: Task) -> dict[str, object]:
    return {
        "recognition.model": "under test",  # the kept one, whatever the settings say
        "recognition.language": task.language or "auto",
        **task.clip.settings,
        **task.settings,
    }


# ---- the sound ------------------------------------------------------------------------------------------------------


@contextmanager
def _sound(task: Task) -> Iterator[tuple[Sound, float, str]]:
    """(sound, seconds, drawn wave); a clip that is not degraded is read block by block. Raises AudioError."""
    path, steps = task.clip.path, task.steps
    check_whole(path)
    if not steps:
        with open_sound(path) as file:
            seconds = file.frames / file.samplerate
            yield path, seconds, drawn(file.blocks(file.samplerate, dtype="float32", always_2d=True), file.frames)
        return
    samples, rate_hz = degraded(task)
    seconds, wave = len(samples) / rate_hz, drawn([samples], len(samples))
    if task.mode != "offline":
        yield (samples, rate_hz), seconds, wave
        return
    import soundfile

    with scratch_folder() as folder:
        file = folder / "clip.wav"
        soundfile.write(file, samples, rate_hz, subtype="FLOAT")
        yield file, seconds, wave


def degraded(task: Task) -> tuple[F32, int]:
    """The whole clip, (n, channels), as it is heard. Raises AudioError."""
    with open_sound(task.clip.path) as file:
        samples = np.nan_to_num(file.read(dtype="float32", always_2d=True), nan=0.0, posinf=0.0, neginf=0.0)
        return degrade.apply(samples, file.samplerate, task.steps, task.clip.id, task.seed)


def drawn(blocks: Any, n_samples: int) -> str:
    """The loudest sample of each of N_PEAKS stretches, as base64 of bytes."""
    peaks = np.zeros(N_PEAKS)
    at = 0
    for block in blocks:
        places = (at + np.arange(len(block))) * N_PEAKS // max(1, n_samples)
        np.maximum.at(peaks, np.minimum(places, N_PEAKS - 1), np.abs(np.nan_to_num(block)).max(axis=1))
        at += len(block)
    return base64.b64encode((np.clip(peaks, 0, 1) * 255).astype(np.uint8).tobytes()).decode()


# ---- what was told --------------------------------------------------------------------------------------------------


def _told(measured: Measured, replayed: Replayed, model: KeptModel) -> Measured:
    """What the events and the engine say."""
    timed = list(zip(replayed.times_s, replayed.events, strict=True))
    partials = [(at_s, p) for at_s, p in timed if isinstance(p, e.PartialText) and (p.firm + p.tentative).strip()]
    speech_s = next((at_s for at_s, event in timed if isinstance(event, e.Level) and event.speech), None)
    transcript, final, delivered = model.heard.transcript, replayed.final, replayed.delivered
    # a text that is dropped (no words but a ghost's) counts as none
    raw_text = transcript.text if transcript is not None and (final is not None or replayed.written) else ""
    shown, revised = revisions([p.firm + p.tentative for _, p in partials], raw_text)
    failure = replayed.failed.message if replayed.failed else replayed.written.message if replayed.written else ""
    measured = replace(
        measured,
        raw_text=raw_text,
        text=replayed.text,
        detected_language=transcript.language if transcript is not None else "",
        speech_s=final.speech_s if final is not None else 0.0,
        release_to_text_ms=_release_ms(replayed, model),
        first_partial_s=partials[0][0] - speech_s if partials and speech_s is not None else None,
        partials=len(partials),
        shown_words=shown,
        revised_words=revised,
        firm_wrong=firm_wrong(partials[-1][1].firm if partials else "", raw_text),
        look_ms=float(np.median(model.heard.looks_ms)) if model.heard.looks_ms else None,
        failure=failure,
        notices=list(replayed.notices),
        events=[_as_dict(at_s, event) for at_s, event in timed if not isinstance(event, e.Level)],
    )
    if delivered is not None:
        measured = replace(
            measured,
            outcome=delivered.outcome,
            method=delivered.method,
            evidence=delivered.evidence,
            deliver_ms=delivered.deliver_ms if delivered.outcome != "none" else None,
        )
    if transcript is not None:
        spent = transcript.timings
        names = ("mel_ms", "encode_ms", "prompt_ms", "decode_ms", "tokens", "full_window_redos")
        measured = replace(measured, **{name: getattr(spent, name) for name in names})
    return measured


def _release_ms(replayed: Replayed, model: KeptModel) -> float | None:
    """Last sample in to text out; offline, how long writing the clip down took."""
    if replayed.final is not None:
        return replayed.final.release_to_text_ms
    return model.heard.finish_ms if replayed.written is not None and replayed.written.text else None


def _as_dict(at_s: float, event: e.Event) -> dict[str, Any]:
    told = e.as_dict(event)
    told.pop("at_s", None)
    told.pop("path", None)
    return {"t_s": round(at_s, 4), **told}


def _words(text: str) -> list[str]:
    """For comparing what was shown: a comma that comes or goes is no other word."""
    stripped = ("".join(c for c in word.casefold() if c.isalnum()) for word in text.split())
    return [word for word in stripped if word]


def revisions(shown: Sequence[str], final: str) -> tuple[int, int]:
    """(words that came on screen while it was spoken, those of them that were taken back or changed later).

    A word that only moves, because one before it came, went or changed, stays the same word.
    """
    from rapidfuzz.distance import LCSseq

    before: list[str] = []
    appeared = revised = 0
    for place, text in enumerate([*shown, final]):
        words = _words(text)
        same = int(LCSseq.similarity(before, words))
        revised += len(before) - same
        appeared += len(words) - same if place < len(shown) else 0
        before = words
    return appeared, revised


def firm_wrong(firm: str, final: str) -> int:
    """Words shown as firm that the final text does not have in this order."""
    from rapidfuzz.distance import LCSseq

    words = _words(firm)
    return len(words) - int(LCSseq.similarity(words, _words(final)))


def _counted(measured: Measured) -> Measured:
    """With errors counted, where there is a text to compare with."""
    if not measured.scored or measured.failure:
        return measured
    language = measured.language or measured.detected_language
    words = evaluate.edits(measured.reference, measured.raw_text, language)
    characters = evaluate.character_edits(measured.reference, measured.raw_text, language)
    names = ("hits", "substitutions", "deletions", "insertions")
    counts = dict(zip(names, words, strict=True)) | dict(zip((f"char_{n}" for n in names), characters, strict=True))
    return replace(measured, **counts)  # type: ignore[arg-type]


def _unmet(task: Task, measured: Measured) -> Iterator[str]:
    """A sentence for each expectation that did not come true. Offline nobody dictates, so no such event can come."""
    clip = task.clip
    for wanted in clip.expect if task.mode != "offline" else ():
        kind, _, detail = wanted.removeprefix("!").partition(":")
        came = any(
            event["kind"] == kind and (not detail or detail in (event.get(name) for name in DETAILS))
            for event in measured.events
        )
        if came and wanted.startswith("!"):
            yield f"{wanted.removeprefix('!')} came and should not."
        elif not came and not wanted.startswith("!"):
            yield f"{wanted} did not come."
    if clip.expect_text is not None and clip.expect_text != measured.text:
        yield f"“{clip.expect_text}” should be typed, and “{measured.text}” was."


def _resident_bytes() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)
