"""Everything that can go wrong in the app's core, each with one sentence for the person at the keyboard."""

from __future__ import annotations


class DictationError(Exception):
    """Root of the core's errors. `str(error)` says what happened and what to do."""


class MicrophoneError(DictationError):
    """No microphone, one that can't be opened, or one that stopped giving sound."""


class SettingError(DictationError):
    """A value that a setting does not take."""


class SpoolError(DictationError):
    """Audio that can't be written to, or read back from, the disk."""


class WorkerError(DictationError):
    """The recogniser does not answer; it is replaced and the audio is kept."""


class ControlError(DictationError):
    """No Sayso is running here, or it can't be reached."""


class HistoryError(DictationError):
    """The history can't be written."""


class UpdateError(DictationError):
    """Whether there is a newer Sayso can't be told."""
