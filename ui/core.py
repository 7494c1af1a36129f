"""What the interface knows of the core: a place to send commands to, and things to read."""

from __future__ import annotations

from typing import Protocol

from dictation.events import Command
from dictation.settings import Settings


class Core(Protocol):
    def send(self, command: Command) -> None:
        """Hand a command to the session loop; returns at once. What comes of it is said in events."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        ...
