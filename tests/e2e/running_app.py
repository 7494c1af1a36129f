"""The tray app as a user starts it, on a virtual desktop with a virtual microphone; its events come by the socket."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dictation import control
from dictation.settings import Settings, save
from engine import store
from tests.e2e.audio import VirtualMicrophone
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import listens, until
from tests.e2e.screen_reader import ScreenReader
from ui.welcome import STEP_KEY, STEPS

ROOT = Path(__file__).parents[2]


class RunningApp:
    """`home`: its settings and history. Models are the tests' own. `settings` on top of finished first steps."""

    def __init__(
        self,
        desktop: VirtualDesktop,
        microphone: VirtualMicrophone,
        home: Path,
        settings: dict[str, Any],
        module: str = "ui.main",
    ) -> None:
        self._desktop, self._microphone = desktop, microphone
        save(Settings().changed({STEP_KEY: STEPS} | settings), home / "config" / "settings.toml")
        self.environment = (
            desktop.environment
            | microphone.environment
            | {
                "SAYSO_HOME": str(home),
                "SAYSO_MODELS": str(store.models_dir()),
                "PYTHONPATH": str(ROOT),
                "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            }
        )
        self.events: list[dict[str, Any]] = []
        self._news = threading.Condition()
        self._log = home / "output.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._address = str(_address(self.environment))
        until("the control socket", self._answers, 60)
        threading.Thread(target=self._follow, name="follow", daemon=True).start()

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.output()
        return listens(Path(self._address))

    def _follow(self) -> None:
        for event in control.follow(self._address):
            with self._news:
                self.events.append(event | {"heard_s": time.monotonic()})
                self._news.notify_all()

    def until(self, kind: str, timeout_s: float = 60.0, since: int = 0, **fields: object) -> dict[str, Any]:
        """The first event of this kind with these fields, from the `since`-th on."""

        def found() -> dict[str, Any] | None:
            wanted = {"kind": kind} | fields
            return next((e for e in self.events[since:] if all(e.get(k) == v for k, v in wanted.items())), None)

        with self._news:
            event = self._news.wait_for(found, timeout_s)
        seen = [e.get("kind") for e in self.events[since:]]
        assert event is not None, f"no {kind} {fields} among {seen}\n{self.output()}"
        return event

    def dictate(self, clip: Path, while_held: Callable[[], None] = lambda: None) -> tuple[str, dict[str, Any]]:
        """Hold the key, play the clip, let go, wait for the end: the text, and how it was delivered."""
        since = len(self.events)
        with self._desktop.person.holding("Control_R"):
            self.until("microphone_changed", since=since)  # "opened", or "restarted" on a busy machine
            self._microphone.play(clip)
            while_held()
        final = self.until("final_text", since=since)
        delivered = self.until("text_delivered", since=since)
        self.until("state_changed", since=since, state="idle")
        return str(final["text"]), delivered | {"model": final["model"]}

    def output(self) -> str:
        return self._log.read_text("utf-8", "replace")

    def reader(self) -> ScreenReader:
        return ScreenReader(self.environment["DBUS_SESSION_BUS_ADDRESS"], self.process.pid)

    def end(self) -> int:
        """Ask it to end, as the session does; its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


def _address(environment: dict[str, str]) -> str:
    """Where this Sayso listens; asked of its own code, in its own environment."""
    code = "from dictation import control; print(control.address())"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout.strip()
