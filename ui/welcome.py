"""Whether a start shows the first steps (`ui/onboarding.py`), told without building them."""

from __future__ import annotations

from engine import store
from ui.core import Core

STEPS = 5
STEP_KEY = "general.welcome_step"


def is_wanted(core: Core) -> bool:
    """At a start: whether the first steps were never finished, or no model is there."""
    return int(core.settings[STEP_KEY]) < STEPS or not store.installed()
