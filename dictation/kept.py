"""Recordings that were kept: offered after a failure, recognised again, or discarded; and files to write down.

Their jobs go through the engine worker behind the takes, under negative numbers.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dictation import events as e
from dictation import spool as spool_module
from dictation.errors import DictationError, SpoolError
from dictation.frames import SAMPLE_RATE_HZ
from dictation.history import Entry
from dictation.results import Results, timings_of
from dictation.spool import Spool
from dictation.worker.lane import Lane
from dictation.worker.reports import FailureReport, FinalReport
from engine.errors import EngineError
from engine.transcript import Transcript

F32 = NDArray[np.float32]


@dataclass(frozen=True)
class FileRead:
    """A file that was to be written down has been read, on a thread of its own."""

    command: e.TranscribeFile
    samples: F32 | None = field(repr=False, default=None)
    message: str = ""


@dataclass
class _Job:
    command: e.Retry | e.TranscribeFile
    samples: int


class Kept:
    """Owned by the session loop."""

    def __init__(
        self,
        spool: Spool | None,
        lane: Lane,
        results: Results,
        publish: Callable[[e.Event], None],
        send: Callable[[Any], None],
    ) -> None:
        self._spool = spool
        self._lane = lane
        self._results = results
        self._publish = publish
        self._send = send  # puts a command or a FileRead into the loop's inbox
        self._jobs: dict[int, _Job] = {}
        self._next = -1

    def offer(self) -> None:
        """Say what earlier takes have left, if anything."""
        found = self._spool.recordings() if self._spool is not None else ()
        if found:
            self._publish(e.RecordingsFound(found))

    def handle(self, command: e.Retry | e.Discard | e.TranscribeFile) -> None:
        if isinstance(command, e.TranscribeFile):
            threading.Thread(target=self._read_file, args=(command,), name="read-file", daemon=True).start()
            return
        try:
            if self._spool is None:
                raise SpoolError("No recordings are kept here.")
            if isinstance(command, e.Discard):
                self._spool.remove(command.recording)
            else:
                samples = spool_module.read(self._spool.path(command.recording))
                self._begin(command, samples)
        except (DictationError, OSError) as error:
            self._publish(e.Notice("recording", str(error), "warning"))

    def file_read(self, read: FileRead) -> None:
        if read.samples is None:
            self._publish(e.FileTranscribed(read.command.path, "", message=read.message))
        else:
            self._begin(read.command, read.samples)

    def recognised(self, report: FinalReport | FailureReport) -> None:
        """The answer to a job of ours."""
        job = self._jobs.pop(report.take, None)
        if job is None:
            return
        if isinstance(report, FailureReport):
            self._failed(job, report.message)
            return
        text = self._results.rewritten(report.transcript).text
        entry = self._write(job, text, report.transcript, report.model)
        if isinstance(job.command, e.TranscribeFile):
            self._publish(e.FileTranscribed(job.command.path, text, entry=entry))
            return
        now_s = time.monotonic()
        audio_s = job.samples / SAMPLE_RATE_HZ
        t = report.transcript
        final = e.FinalText(
            0, text, t.text, t.language, t.language_probability, audio_s, model=report.model, at_s=now_s
        )
        self._publish(dataclasses.replace(final, timings=t.timings))
        if not text:
            self._publish(e.NothingHeard(0, "no_speech", "No words were heard in the recording.", now_s))
        elif job.command.output in ("type", "copy"):
            again = e.InsertAgain(entry) if job.command.output == "type" else e.CopyText(entry)
            self._send(again)
        if self._spool is not None and (entry is not None or job.command.output == "print"):
            self._spool.remove(job.command.recording)  # the text is safe: the audio is not needed any more
            self._publish(e.RecordingsFound(self._spool.recordings()))

    def _failed(self, job: _Job, message: str) -> None:
        if isinstance(job.command, e.TranscribeFile):
            self._publish(e.FileTranscribed(job.command.path, "", message=message))
        else:
            actions: tuple[e.Action, ...] = ("retry", "choose_model", "discard")
            self._publish(e.Failed(0, "finishing", message, job.command.recording, actions, time.monotonic()))

    def worker_was_replaced(self) -> None:
        """Jobs of the old worker are lost."""
        jobs, self._jobs = self._jobs, {}
        for job in jobs.values():
            self._failed(job, "Recognition did not come to an end. Try it again, or with another model.")

    def _begin(self, command: e.Retry | e.TranscribeFile, samples: F32) -> None:
        number, self._next = self._next, self._next - 1
        self._jobs[number] = _Job(command, len(samples))
        self._lane.transcribe(number, samples, self._results.request(model=command.model))

    def _write(self, job: _Job, text: str, transcript: Transcript, model: str) -> int | None:
        if not text:
            return None
        entry = Entry(
            time.time(),
            text,
            transcript.text,
            "none",
            transcript.language,
            model,
            job.samples / SAMPLE_RATE_HZ,
            timings=timings_of(transcript.timings),
        )
        return self._results.keep(entry, None)

    def _read_file(self, command: e.TranscribeFile) -> None:
        from engine.audio import read_clip

        try:
            read = FileRead(command, read_clip(command.path))
        except EngineError as error:
            read = FileRead(command, message=str(error))
        except Exception as error:  # noqa: BLE001 - top of the thread
            read = FileRead(command, message=f"{command.path.name} can't be read ({type(error).__name__}).")
        self._send(read)
