"""The audio side of one take: frames go to the spool and, cut into pieces, to the recogniser.

Owned by the session loop. What was fed is remembered by place, not by samples, so that a replaced recogniser can be fed
again from the spool, and memory does not grow with the length of the take.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from dictation.desktop.contract import Target
from dictation.errors import SpoolError
from dictation.events import FinalText, Start
from dictation.frames import SAMPLE_RATE_HZ
from dictation.segmenter import Cut, Heard, Segmenter
from dictation.spool import MemoryFile, Spool, SpoolFile
from dictation.vad import SpeechDetector
from dictation.worker.lane import Lane
from dictation.worker.model import Request

F32 = NDArray[np.float32]

CHUNK_AGAIN = 16_000 * 30  # samples read back from the spool at once


class Take:
    """`problem` holds a sentence when the audio could not be written to disk."""

    def __init__(
        self,
        number: int,
        start: Start,
        request: Request,
        lane: Lane,
        spool: Spool | None,
        detector: SpeechDetector | None = None,
    ) -> None:
        self.number = number
        self.start = start
        self.request = request
        self.started_unix_s = time.time()
        self.problem = ""
        self.file: SpoolFile | MemoryFile = MemoryFile()
        if spool is not None:
            try:
                self.file = spool.begin(number)
            except SpoolError as error:
                self.problem = str(error)
        self.heard: Heard | None = None  # once it has ended
        self.last_sample_s = 0.0  # when the last block came in, on the loop's clock
        self.target: Target | None = None  # the window at key-down
        self.final: FinalText | None = None
        self.undo_previous = False
        self.has_gaps = False  # its text marks speech that was not understood
        self.failed = False  # the recogniser gave this take up while it was spoken
        self._lane = lane
        self._segmenter = Segmenter(detector)
        self._fed: list[tuple[int, int] | int] = []  # (start, stop), or a cut
        self._everything = False
        lane.begin(number, request)

    @property
    def speaking(self) -> bool:
        return self._segmenter.speaking

    @property
    def audio_s(self) -> float:
        return self._segmenter.samples / SAMPLE_RATE_HZ

    @property
    def spoke(self) -> bool:
        return self._segmenter.speech_chunks > 0

    @property
    def pause_s(self) -> float:
        return self._segmenter.pause_s

    def hear(self, frames: F32) -> None:
        """Take frames."""
        if not len(frames):
            return
        try:
            self.file.write(frames)
        except SpoolError as error:
            self.problem = str(error)
        for step in self._segmenter.push(frames):
            if isinstance(step, Cut):
                self._fed.append(step.at)
                self._lane.cut(self.number, step.at)
            else:
                self._fed.append((step.start, step.start + len(step.samples)))
                self._lane.feed(self.number, step.samples, step.start)

    def hurry(self) -> None:
        self._lane.hurry(self.number)

    def end(self) -> Heard:
        """Nothing more comes. The recogniser is told to finish, unless there was nothing to recognise."""
        self.heard = self._segmenter.finish()
        if self.heard.silent:
            self._lane.drop(self.number)
        else:
            self._everything = self.heard.decode_everything
            if self._everything or self.failed:
                self._lane.drop(self.number)
                self.feed_again()
            else:
                self._finish()
        return self.heard

    def feed_again(self) -> None:
        """Give the recogniser all of this again, from the spool; the end too, if it has come."""
        self._lane.begin(self.number, self.request)
        if self._everything:
            self._feed_everything()
        else:
            for item in self._fed:
                if isinstance(item, int):
                    self._lane.cut(self.number, item)
                else:
                    self._lane.feed(self.number, self.file.read(*item), item[0])
        if self.heard is not None:
            self._finish()

    def _finish(self) -> None:
        assert self.heard is not None
        spoke = self.heard.speech_s > 0
        # where the detector found too little, it is no witness for any piece
        self._lane.finish(self.number, None if self._everything and spoke else spoke)

    def _feed_everything(self) -> None:
        for start in range(0, self.file.samples, CHUNK_AGAIN):
            self._lane.feed(self.number, self.file.read(start, start + CHUNK_AGAIN), start)

    def keep(self, reason: str) -> str | None:
        """Leave the audio in the spool; the name to ask for it by."""
        self._lane.drop(self.number)
        if self.file.samples == 0:
            self.file.remove()
            return None
        kept = self.file.keep(reason)
        return kept.name if kept is not None else None

    def drop(self) -> None:
        """Forget the take and its audio."""
        self._lane.drop(self.number)
        self.file.remove()
