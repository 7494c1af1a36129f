"""A core for windows under test: remembers the commands, and applies changes of settings as the real one does."""

from __future__ import annotations

from dictation.events import ChangeSettings, Command
from dictation.settings import Settings


class Core:
    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.sent: list[Command] = []

    def send(self, command: Command) -> None:
        self.sent.append(command)
        if isinstance(command, ChangeSettings):
            self.settings = self.settings.changed(command.changes)

    def last(self) -> Command:
        return self.sent[-1]
