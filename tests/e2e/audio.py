"""A virtual microphone: a PulseAudio server of its own whose speaker's monitor is the default microphone.

    with VirtualMicrophone(folder) as microphone:
        ...                                # the program under test, run with microphone.environment added
        microphone.play(clip)              # returns when all of it has been heard

The verbs below `play` are what can happen to a real microphone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np

from tests.e2e.processes import Processes, until

SPEAKER, MICROPHONE = "test_speaker", "test_microphone"
HUM_S = 1800  # longer than whoever listens to a whole set of clips
CHANNELS = ("front-left", "front-right", "rear-left", "rear-right")


class VirtualMicrophone:
    """PulseAudio with a null sink. `environment` points programs at it and at no other sound server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "pulse"
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.processes = Processes(self.folder)
        self.environment = {
            "PULSE_SERVER": f"unix:{self.folder}/native",
            "PULSE_RUNTIME_PATH": str(self.folder),
            "PULSE_COOKIE": str(self.folder / "cookie"),
        }

    def __enter__(self) -> VirtualMicrophone:
        try:
            self.revive()
        except BaseException:
            self.processes.end_all()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.processes.end_all()

    def play(self, clip: Path, channel_map: str = "") -> None:
        """Play a WAV, FLAC or OGG clip into the microphone; returns when it has been heard."""
        layout = [f"--channel-map={channel_map}", "--no-remix"] if channel_map else []
        self._run("paplay", f"--device={SPEAKER}", *layout, str(clip), timeout_s=300)

    def hum(self, on: bool = True) -> None:
        """A room's noise, very low: a real microphone never sends exact zeros."""
        self.processes.end("hum")
        if on:
            low = np.random.default_rng(0).normal(0, 20, 16000 * HUM_S).astype(np.int16)
            path = self.folder / "hum.raw"
            path.write_bytes(low.tobytes())
            command = ["pacat", f"--device={SPEAKER}", "--raw", "--rate=16000", "--channels=1", str(path)]
            self.processes.start("hum", command, self._environment())

    def recorders(self) -> int:
        """Programs that record now, besides the listener of the harness."""
        return len(self._list("source-outputs").splitlines()) - ("keeper" in self.processes)

    def unplug(self) -> None:
        """The microphone goes; open recordings are moved to the speaker's monitor by the server."""
        self._unload(MICROPHONE)

    def lose(self) -> None:
        """Every source goes; open recordings end with an error."""
        self._unload(MICROPHONE)
        self._unload(SPEAKER)
        self.processes.end("keeper")

    def replace(self, rate_hz: int, channels: int) -> None:
        """Another microphone: what is played on a channel comes in on the same channel of it, unmixed."""
        self.lose()
        names = ",".join(CHANNELS[:channels])
        layout = (f"rate={rate_hz}", f"channels={channels}", f"channel_map={names}")
        self._pactl("load-module", "module-null-sink", f"sink_name={SPEAKER}", *layout)
        source = (f"source_name={MICROPHONE}", f"master={SPEAKER}.monitor", f"master_channel_map={names}", "remix=no")
        self._pactl("load-module", "module-remap-source", *source, *layout)
        self.plug()

    def plug(self) -> None:
        """All back as at the start, where it is not there."""
        if SPEAKER not in self._list("sinks"):
            self._pactl("load-module", "module-null-sink", f"sink_name={SPEAKER}", "rate=48000", "channels=2")
        if MICROPHONE not in self._list("sources"):
            source = (f"source_name={MICROPHONE}", f"master={SPEAKER}.monitor", "channels=1")
            self._pactl("load-module", "module-remap-source", *source)
        self._pactl("set-default-sink", SPEAKER)
        self._pactl("set-default-source", MICROPHONE)
        # A null sink without a quick listener works in steps of up to 2 s, so that a recording would begin late.
        self.processes.end("keeper")
        self._listen("keeper", Path("/dev/null"))
        first = self.folder / "first.raw"
        self._listen("probe", first)
        until("sound from the microphone", lambda: first.exists() and first.stat().st_size)
        self.processes.end("probe")

    def _listen(self, name: str, path: Path) -> None:
        command = ["parec", f"--device={MICROPHONE}", "--latency-msec=10", "--raw", "--file-format=raw", str(path)]
        self.processes.start(name, command, self._environment())

    def mute(self, muted: bool = True) -> None:
        """Zeros, and no error anywhere."""
        self._pactl("set-source-mute", MICROPHONE, "1" if muted else "0")

    def stall(self, stalled: bool = True) -> None:
        """Recordings stay open, but no block arrives any more."""
        self._pactl("suspend-source", MICROPHONE, "1" if stalled else "0")

    def level(self, decibels: float) -> None:
        self._pactl("set-source-volume", MICROPHONE, f"{decibels}dB")

    def switches(self) -> list[str]:
        """Mute and volume of every output and input."""
        listed = self._pactl("list", "sinks") + self._pactl("list", "sources")
        return [line.strip() for line in listed.splitlines() if line.strip().startswith(("Name:", "Mute:", "Volume:"))]

    def kill(self) -> None:
        """The sound server dies."""
        self.processes.end_all()

    def revive(self) -> None:
        for leftover in ("native", "pid"):
            (self.folder / leftover).unlink(missing_ok=True)
        script = self.folder / "server.pa"
        script.write_text(f"load-module module-native-protocol-unix socket={self.folder}/native auth-anonymous=1\n")
        options = [
            "-n",
            "--daemonize=no",
            "--use-pid-file=no",
            "--exit-idle-time=-1",
            "--high-priority=no",
            "--realtime=no",
        ]
        self.processes.start("pulseaudio", ["pulseaudio", *options, "-F", str(script)], self._environment())
        until("PulseAudio", lambda: self._try("info"))
        self.plug()

    def _environment(self) -> dict[str, str]:
        own = {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        return dict(os.environ) | own | self.environment

    def _run(self, *command: str, timeout_s: float = 10) -> str:
        done = subprocess.run(
            command, env=self._environment(), check=True, capture_output=True, text=True, timeout=timeout_s
        )
        return done.stdout

    def _pactl(self, *command: str) -> str:
        return self._run("pactl", *command)

    def _try(self, *command: str) -> bool:
        command = ("pactl", *command)
        done = subprocess.run(command, env=self._environment(), capture_output=True, timeout=10, check=False)
        return done.returncode == 0

    def _list(self, kind: str) -> str:
        return self._pactl("list", "short", kind)

    def _unload(self, name: str) -> None:
        for line in self._list("modules").splitlines():
            number, _, arguments = line.partition("\t")
            if f"_name={name}" in arguments:
                self._pactl("unload-module", number)
