"""Which model dictation uses."""

from __future__ import annotations

from dictation import paths, settings
from engine import store

STARTER = "base"


def active_model() -> str:
    """The model of the settings, else the starter, else whatever is installed, as `engine.load` takes it."""
    chosen = str(settings.load(paths.settings_file()).settings["recognition.model"])
    if chosen:
        return chosen
    names = [model.name for model in store.installed()]
    return STARTER if STARTER in names or not names else names[0]
