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


class ManifestError(EngineError):
    """A list of clips to evaluate on that can't be read."""


class MissingExtraError(EngineError):
    """An optional part of Sayso is not installed."""


class ReportError(EngineError):
    """Results of an evaluation that can't be read, or that belong to another one."""


class PublishError(EngineError):
    """A folder of models that contradicts itself, or that the Hub does not take."""


class Cancelled(EngineError):
    """The caller asked to stop; not a fault."""


class HubError(EngineError):
    """A model could not be fetched from the Hub."""


class OfflineError(HubError):
    """The Hub can't be reached, or not for long enough."""


class NotOnHubError(HubError):
    """The Hub has no such repository, file or quant."""


class AccessError(HubError):
    """The Hub, or something in between, refuses."""


class DiskSpaceError(HubError):
    """The rest of a download does not fit on its disk."""


class DamagedDownloadError(HubError):
    """What arrived is not what was asked for."""
