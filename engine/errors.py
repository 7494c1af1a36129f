"""Everything that can go wrong in the engine, each with one sentence for the person at the keyboard.

`str(error)` is that sentence: what happened and what to do. Details for a developer go in `__cause__`.
"""

from __future__ import annotations


class EngineError(Exception):
    """Root of the engine's errors."""


class AudioError(EngineError):
    """A clip that can't be read: missing, a directory, not audio, damaged."""


class ModelFileError(EngineError):
    """A model file that can't be used: truncated, foreign, hostile, not Whisper."""


class ModelNotFoundError(EngineError):
    """No model of that name is installed."""


class DeviceError(EngineError):
    """The wanted device is not there, or lacks a library."""


class OptionError(EngineError):
    """A decoding option that the model or Whisper does not allow."""


class Cancelled(EngineError):
    """The caller asked to stop; not a fault."""
