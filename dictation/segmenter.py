"""The utterance: which part of a take goes to the recogniser, and where long speech is cut.

    frames -> hold back silence -> piece 1 | cut | piece 2 | ... -> what was heard

A piece is a stretch of at most 28 s (Whisper's window is 30 s) that the recogniser takes as one utterance. It begins
shortly before its first speech (pre-roll) and ends in a pause, the shorter the longer the piece already is. Only where
somebody speaks for half a minute without a breath is it cut at the quietest place of the last seconds.

Invariant: the pieces are stretches of the take in order; what lies between them, or in two of them, held no speech by
the detector. When the detector found little although there was sound, `Heard.decode_everything` asks for the whole
take instead: whispered or noisy speech is not thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dictation.frames import FULL_SCALE_FLOOR_DBFS, SAMPLE_RATE_HZ
from dictation.vad import CHUNK, CHUNK_S, ONSET_CHUNKS, STAY_P, Chunk, SpeechDetector

F32 = NDArray[np.float32]

PRE_ROLL_S = 0.4  # kept before the onset
POST_ROLL_S = 0.5  # kept after the last speech: final consonants, and Whisper ends better on some silence
MAX_PIECE_S = 28.0
# A piece of at least so many seconds is cut at a pause of so many seconds.
PAUSES: tuple[tuple[float, float], ...] = ((22.0, 0.25), (16.0, 0.5), (8.0, 1.2), (0.0, 2.5))
HARD_CUT_S = 6.0  # the last stretch of a piece in which a place to cut is looked for when no pause came
ACTIVE_OVER_FLOOR_DB = 6.0
ACTIVE_LEAST_DBFS = -55.0
SILENCE_DBFS = -60.0  # a take that never gets louder holds nothing worth decoding, unless the detector says so
HINT_P = 0.2
KEPT_SHARE = 0.35  # less speech than this share of the active time means that the detector can't be trusted


@dataclass(frozen=True)
class Feed:
    """Samples for the piece that is open (the first one opens it)."""

    start: int  # of the samples, counted from the take's first one
    samples: F32


@dataclass(frozen=True)
class Cut:
    """The open piece ends before sample `at`. Audio that was fed beyond comes again in the next piece."""

    at: int


@dataclass(frozen=True)
class Heard:
    """What a take held, by the detector and by its energy."""

    audio_s: float
    speech_s: float
    active_s: float  # clearly louder than the take's own noise floor
    hint_s: float  # the detector was not sure
    loudest_dbfs: float  # loudest 32 ms

    @property
    def muted(self) -> bool:
        return self.loudest_dbfs <= FULL_SCALE_FLOOR_DBFS

    @property
    def silent(self) -> bool:
        """Nothing worth decoding."""
        return self.speech_s == 0.0 and (self.loudest_dbfs < SILENCE_DBFS or (self.active_s + self.hint_s) < 0.25)

    @property
    def decode_everything(self) -> bool:
        return not self.silent and self.speech_s < KEPT_SHARE * max(self.active_s, self.hint_s)


class Segmenter:
    """One take. `push` frames as they come, `finish` when the recording has ended."""

    def __init__(self, detector: SpeechDetector | None = None) -> None:
        self._detector = detector or SpeechDetector()
        self._detector.reset()
        self.samples = 0  # heard so far
        self.speech_chunks = 0
        self._rms: list[float] = []  # per chunk, for the noise floor: 31 numbers a second
        self._hints = 0
        self._held = np.zeros(0, np.float32)  # not fed (yet): pre-roll, or a pause
        self._piece_start: int | None = None
        self._piece: list[F32] = []  # fed samples of the open piece, for a hard cut
        self._piece_chunks: list[Chunk] = []
        self._last_speech = 0  # sample after the last chunk with speech

    @property
    def speaking(self) -> bool:
        return self._detector.speaking

    @property
    def pause_s(self) -> float:
        """Time since the last speech; since the beginning when there was none."""
        return (self.samples - self._last_speech) / SAMPLE_RATE_HZ

    def push(self, samples: F32) -> list[Feed | Cut]:
        """Take frames; returns what the recogniser should be told, in order."""
        out: list[Feed | Cut] = []
        self._held = np.concatenate([self._held, samples])
        done = self.samples // CHUNK * CHUNK  # the detector has seen so far
        self.samples += len(samples)
        for chunk in self._detector.push(samples):
            done += CHUNK
            self._note(chunk, done)
            if self._piece_start is None:
                if chunk.speech:
                    self._open(done)
                continue
            self._piece_chunks.append(chunk)
            if self._pause_is_due(done):
                out += self._feed(min(done, self._last_speech + int(POST_ROLL_S * SAMPLE_RATE_HZ)))
                out.append(self._close())
            elif done - self._piece_start >= MAX_PIECE_S * SAMPLE_RATE_HZ:
                out += self._feed(done)
                out += self._hard_cut()
        if self._piece_start is not None:
            # in a pause, only the post-roll is fed; the rest follows if speech does
            in_pause = self.pause_s > POST_ROLL_S and not self.speaking
            out += self._feed(self._last_speech + int(POST_ROLL_S * SAMPLE_RATE_HZ) if in_pause else self.samples)
        else:
            keep = int(PRE_ROLL_S * SAMPLE_RATE_HZ) + (ONSET_CHUNKS + 1) * CHUNK
            self._held = self._held[-keep:]
        return out

    def finish(self) -> Heard:
        """The recording has ended. An open piece ends here too."""
        self._piece_start = None
        self._piece = []
        return self.heard()

    def heard(self) -> Heard:
        """The sum of the take so far."""
        rms = np.array(self._rms) if self._rms else np.full(1, FULL_SCALE_FLOOR_DBFS)
        audible = rms[rms > FULL_SCALE_FLOOR_DBFS]
        floor = float(np.percentile(audible, 10)) if len(audible) else FULL_SCALE_FLOOR_DBFS
        active = int(np.sum(rms > max(floor + ACTIVE_OVER_FLOOR_DB, ACTIVE_LEAST_DBFS)))
        return Heard(
            audio_s=self.samples / SAMPLE_RATE_HZ,
            speech_s=self.speech_chunks * CHUNK_S,
            active_s=active * CHUNK_S,
            hint_s=self._hints * CHUNK_S,
            loudest_dbfs=float(rms.max()),
        )

    def _note(self, chunk: Chunk, done: int) -> None:
        self._rms.append(chunk.rms_dbfs)
        self._hints += chunk.probability >= HINT_P
        if chunk.speech:
            self.speech_chunks += 1
            if chunk.probability >= STAY_P:
                self._last_speech = done

    def _open(self, done: int) -> None:
        earliest = self.samples - len(self._held)
        onset = done - ONSET_CHUNKS * CHUNK - int(PRE_ROLL_S * SAMPLE_RATE_HZ)
        self._piece_start = max(earliest, onset)
        self._held = self._held[self._piece_start - earliest :]
        self._piece_chunks = []
        self._piece = []

    def _feed(self, until: int) -> list[Feed]:
        start = self.samples - len(self._held)
        n = min(until, self.samples) - start
        if n <= 0:
            return []
        samples, self._held = self._held[:n], self._held[n:]
        self._piece.append(samples)
        return [Feed(start, samples)]

    def _pause_is_due(self, done: int) -> bool:
        assert self._piece_start is not None
        length_s = (done - self._piece_start) / SAMPLE_RATE_HZ
        pause_s = (done - self._last_speech) / SAMPLE_RATE_HZ
        needed_s = next(pause for least, pause in PAUSES if length_s >= least)
        return pause_s >= needed_s

    def _close(self) -> Cut:
        """End the piece in a pause. The next one begins in that same pause, so that its first word has a pre-roll."""
        at = self.samples - len(self._held)
        back = min(at - self._last_speech, int(PRE_ROLL_S * SAMPLE_RATE_HZ))
        if back > 0:
            self._held = np.concatenate([np.concatenate(self._piece)[-back:], self._held])
        self._piece_start = None
        self._piece = []
        return Cut(at)

    def _hard_cut(self) -> list[Feed | Cut]:
        """Cut at the quietest of the last seconds, and give what follows it to the next piece."""
        assert self._piece_start is not None
        last = self._piece_chunks[-int(HARD_CUT_S / CHUNK_S) :]
        loud = np.array([c.probability + c.rms_dbfs / 20.0 for c in last])
        loud = np.convolve(loud, np.full(5, 0.2), mode="same")
        best = 5 + int(np.argmin(loud[5:-5]))
        piece = np.concatenate(self._piece)
        end = self._piece_start + len(piece)
        at = end - (len(last) - best) * CHUNK + CHUNK // 2
        rest = piece[at - self._piece_start :]
        self._piece_start = at
        self._piece = [rest]
        self._piece_chunks = self._piece_chunks[-(len(last) - best) :]
        return [Cut(at), Feed(at, rest)]
