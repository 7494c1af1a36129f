"""A recorded clip in the microphone's place: blocks -> frames -> engine -> rewrite -> typist.

The clip enters where the microphone's blocks do, at its own rate and with all of its channels, and from there takes
the way that speech takes. The caller's thread does all of the work.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import soundfile

from dictation.desktop.contract import Delivery
from dictation.frames import F32, Framer
from dictation.rewrite import RewriteOptions, Situation, rewrite
from engine.audio import open_sound
from engine.errors import AudioError
from engine.transcript import Transcript

if TYPE_CHECKING:
    from dictation.typist import Typist
    from engine.decode import DecodingOptions
    from engine.transcriber import Transcriber

BLOCK_S = 0.032  # as the microphone's


@dataclass(frozen=True)
class Replayed:
    transcript: Transcript
    text: str  # after the rewrite rules: what is typed
    notices: tuple[str, ...]  # a sentence per rewrite rule that could not be applied
    release_to_text_ms: float  # from the last sample to the text, before delivery
    delivery: Delivery | None  # None when nothing was to be typed


def replay(
    clip: Path,
    transcriber: Transcriber,
    options: DecodingOptions,
    rules: RewriteOptions,
    *,
    typist: Typist | None = None,
    realtime: bool = False,
) -> Replayed:
    """Dictate `clip`; with a typist into the window that has the keyboard when it begins.

    realtime: take as long to hear it as it took to say it. Raises AudioError for a clip that can't be read.
    """
    target = typist.target() if typist else None
    frames = hear(clip, realtime=realtime)
    released_s = time.perf_counter()
    transcript = transcriber.transcribe(frames, options)
    rewritten = rewrite(transcript.text, rules, Situation(transcript.language, transcript.language_probability))
    release_to_text_ms = (time.perf_counter() - released_s) * 1000
    delivery = typist.deliver(rewritten.text, target) if typist and rewritten.text else None
    return Replayed(transcript, rewritten.text, rewritten.notices, release_to_text_ms, delivery)


def hear(clip: Path, *, realtime: bool = False) -> F32:
    """The clip through the microphone's framer: mono, 16 kHz."""
    with open_sound(clip) as sound:
        framer = Framer(sound.samplerate, sound.channels)
        pace = _realtime if realtime else _at_once
        frames = [framer.push(block) for block in pace(_blocks(sound, clip), sound.samplerate)]
    return np.concatenate([*frames, framer.flush()])


def _blocks(sound: soundfile.SoundFile, clip: Path) -> Iterator[F32]:
    """(n, channels), as PortAudio gives them."""
    n = round(BLOCK_S * sound.samplerate)
    try:
        while len(block := sound.read(n, dtype="float32", always_2d=True)):
            yield block
    except soundfile.SoundFileError as error:
        raise AudioError(f"{clip} is damaged: it could be read in part only.") from error


def _at_once(blocks: Iterator[F32], rate_hz: int) -> Iterator[F32]:
    return blocks


def _realtime(blocks: Iterator[F32], rate_hz: int) -> Iterator[F32]:
    """Each block when its last sample would have been spoken."""
    due_s = time.monotonic()
    for block in blocks:
        due_s += len(block) / rate_hz
        time.sleep(max(0.0, due_s - time.monotonic()))
        yield block
