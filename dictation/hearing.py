"""The sound side of the session loop: which opening of the source is heard, frames, the warm half second, levels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dictation import events as e
from dictation.frames import SAMPLE_RATE_HZ, Framer, peak_dbfs, rms_dbfs
from dictation.settings import Settings
from dictation.source import Block, ClipEnded, MicrophonesSeen, Source, SourceLost, SourceOpened

F32 = NDArray[np.float32]

WARM_S = 0.5  # kept in memory between takes when the microphone stays open
TEST_S = 4.0  # of a test, to be played back
LEVEL_S = 1 / 30  # between two levels


@dataclass(frozen=True)
class Frames:
    """What a block came to."""

    samples: F32 = field(repr=False)
    zeros: bool  # every sample of the block was exactly 0, on all channels


class Hearing:
    """Owned by the session loop. Reports of earlier openings are old and dropped."""

    def __init__(
        self, source: Source, settings: Settings, publish: Callable[[e.Event], None], clock: Callable[[], float]
    ) -> None:
        self._source = source
        self._settings = settings
        self._publish = publish
        self._clock = clock
        self._framer: Framer | None = None
        self._opening = 0
        self._framed = 0  # opening that the framer belongs to
        self._is_open = False
        self._warm = np.zeros(0, np.float32)
        self._level_s = 0.0
        self.testing = False  # the user looks at the meter
        self._tested = np.zeros(0, np.float32)
        source.choose(str(settings["microphone.device"]))

    def change(self, settings: Settings, recording: bool) -> None:
        """New settings: another device is opened at once, where one is open."""
        before, self._settings = self._settings, settings
        if settings["microphone.device"] != before["microphone.device"]:
            self._source.choose(str(settings["microphone.device"]))
            if self._is_open:
                self.open(again=True)
        if settings["microphone.channel"] != before["microphone.channel"]:
            self._framer = None
        if settings["microphone.keep_warm"] and not self._is_open:
            self.open()
        elif not recording:
            self.rest()

    def open(self, again: bool = False) -> None:
        if self._is_open and not again:
            return
        self._is_open = True
        self._opening += 1
        self._source.open(self._opening, again)

    def rest(self) -> None:
        """No take needs the source: close it, unless it stays warm or is being tested."""
        if self._is_open and not self._settings["microphone.keep_warm"] and not self.testing:
            self._is_open = False
            self._opening += 1  # blocks that are still on their way are old
            self._source.close()
            self._framer = None
            self._warm = self._warm[:0]
            self._publish(e.MicrophoneChanged(None, "closed"))

    def quit(self) -> None:
        self._source.quit()

    def list_microphones(self) -> None:
        self._source.list_microphones()

    def frames(self, block: Block) -> Frames | None:
        """The frames of a block; None when it is an old one."""
        if block.opening != self._opening:
            return None
        held = np.zeros(0, np.float32)
        if self._framer is None or self._framed != block.opening:
            held = self.flush()  # of the device before
            self._framer = Framer(block.rate_hz, block.samples.shape[1], int(self._settings["microphone.channel"]))
            self._framed = block.opening
        frames = self._framer.push(block.samples)
        return Frames(np.concatenate([held, frames]) if len(held) else frames, not block.samples.any())

    def flush(self) -> F32:
        """What the resampler still holds, at the end of a take."""
        framer, self._framer = self._framer, None
        return framer.flush() if framer is not None else np.zeros(0, np.float32)

    def test(self, on: bool) -> None:
        """The user looks at the meter, or no longer does; what was heard then is forgotten."""
        self.testing = on
        self._tested = self._tested[:0]

    def tested(self) -> F32:
        """The last seconds of the test, at SAMPLE_RATE_HZ."""
        return self._tested

    def keep_warm(self, frames: Frames) -> None:
        """Sound between takes: only the last half second is kept, in memory; of a test some more."""
        if self.testing:
            self._tested = np.concatenate([self._tested, frames.samples])[-int(TEST_S * SAMPLE_RATE_HZ) :]
        self._warm = np.concatenate([self._warm, frames.samples])[-int(WARM_S * SAMPLE_RATE_HZ) :]

    def take_warm(self) -> F32:
        """The sound from just before the take; empty unless the microphone was open."""
        warm, self._warm = self._warm, np.zeros(0, np.float32)
        return warm

    def level(self, take: int, frames: Frames, speech: bool) -> None:
        """Publish a level, at a bounded rate. Take 0: the meter of a test."""
        now_s = self._clock()
        if len(frames.samples) and now_s - self._level_s >= LEVEL_S and (take or self.testing):
            self._level_s = now_s
            self._publish(e.Level(take, rms_dbfs(frames.samples), peak_dbfs(frames.samples), speech, now_s))

    def said(self, report: SourceOpened | SourceLost | ClipEnded | MicrophonesSeen) -> bool:
        """Publish what the source reports; whether the session must know it (it is new, and not only news)."""
        if isinstance(report, MicrophonesSeen):
            self._publish(e.MicrophonesListed(report.microphones))
            return False
        if report.opening != self._opening:
            return False
        if isinstance(report, SourceOpened):
            self._publish(e.MicrophoneChanged(report.microphone, report.reason))
            if report.reason == "fell_back":
                text = f"Your microphone is not there; {report.microphone.label} is used until it is back."
                self._publish(e.Notice("microphone_fell_back", text, "warning", ("choose_microphone",)))
            return False
        return True

    def is_lost(self) -> None:
        """The source ended, and no take needs it any more."""
        if self._is_open:
            self._is_open = False
            self._publish(e.MicrophoneChanged(None, "closed"))
