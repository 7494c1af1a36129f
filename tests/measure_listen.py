"""The scored English clips through a virtual microphone and `sayso listen`, in real time: are the words the same?

    python -m tests.measure_listen --model base [--part 1/4] [--json FILE]      # needs PulseAudio
    python -m tests.measure_listen --sum FILE...

Each clip is a take of its own: the key goes down, the clip is played, the key goes up as its last sample has been
played. Printed: word error rate of what `listen` gave and of the offline transcriber on the same files, takes whose
first or last word is missing though offline has it, and the time from the key's release to the final text.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

import engine
from engine.agreement import words
from engine.audio import read_clip
from engine.decode import DecodingOptions
from tests.conftest import starter_bundle
from tests.e2e.audio import VirtualMicrophone
from tests.measure_streaming import SPEECH, clips, quantile, word_error_rate

ROOT = Path(__file__).parents[1]
MOST_LETTERS = 16  # of an end in which its word is looked for
ALIKE_PERCENT = 75


class Listening:
    """A running `sayso listen` whose takes are begun and ended through its control socket."""

    def __init__(self, microphone: VirtualMicrophone, folder: Path, model: str) -> None:
        os.environ["SAYSO_HOME"] = str(folder)
        environment = os.environ | microphone.environment
        command = [sys.executable, "-m", "dictation.cli", "listen", "--json", "--model", model, "--language", "en"]
        self.process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        self.events: list[tuple[float, dict[str, Any]]] = []
        self._news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def be_ready(self) -> None:
        """The model is loaded, and the take that `listen` begins by itself is given up."""
        self.until(0, "model_changed", status="ready")
        self.do("cancel")
        self.until(0, "state_changed", state="idle")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.events.append((time.monotonic(), json.loads(line)))
                self._news.notify_all()

    def until(self, since: int, *kinds: str, **fields: str) -> tuple[float, dict[str, Any]]:
        """The first event of these kinds behind the first `since` ones."""

        def found() -> tuple[float, dict[str, Any]] | None:
            for at_s, event in self.events[since:]:
                if event["kind"] in kinds and all(event[key] == value for key, value in fields.items()):
                    return at_s, event
            return None

        with self._news:
            assert self._news.wait_for(found, 60), f"no {kinds} {fields}"
            event = found()
        assert event is not None
        return event

    def do(self, what: str) -> None:
        from dictation.control import ask

        ask({"do": what, "output": "none"})

    def take(self, microphone: VirtualMicrophone, clip: Path) -> tuple[str, float]:
        """What was understood, and milliseconds from release to text."""
        since = len(self.events)
        self.do("start")
        self.until(since, "state_changed", state="listening")
        microphone.play(clip)
        released_s = time.monotonic()
        self.do("stop")
        at_s, event = self.until(since, "final_text", "nothing_heard", "failed")
        self.until(since, "state_changed", state="idle")
        return event.get("text", "") if event["kind"] == "final_text" else "", (at_s - released_s) * 1000


def missing(heard: str, offline: str) -> str:
    """Which of the first and last word is not there, by its letters: "there for" has "therefore", and names are spelt
    otherwise."""
    mine, theirs = [[w.key for w in words(text)] for text in (heard, offline)]
    ends = [("first", theirs[:1], "".join(mine)[:MOST_LETTERS]), ("last", theirs[-1:], "".join(mine)[-MOST_LETTERS:])]
    lost = [end for end, word, letters in ends if word and fuzz.partial_ratio(word[0], letters) < ALIKE_PERCENT]
    return " and ".join(lost)


def report(takes: list[dict[str, Any]]) -> str:
    texts = [take["reference"] for take in takes]
    rates = {kind: word_error_rate(texts, [take[kind] for take in takes]) for kind in ("listen", "offline")}
    release = [take["release_ms"] for take in takes]
    lines = [
        f"{len(takes)} takes, {sum(take['seconds'] for take in takes):.0f} s",
        "word error rate %: " + ", ".join(f"{kind} {rate:.2f}" for kind, rate in rates.items()),
        f"release to text: p50 {quantile(release, 0.5):.0f} ms, p95 {quantile(release, 0.95):.0f} ms (the tail that is "
        "still recorded after release included)",
    ]
    for take in takes:
        if lost := missing(take["listen"], take["offline"]):
            lines.append(f"{take['file']}: {lost} word of offline's is not in it")
        if take["listen"] != take["offline"]:
            lines.append(
                f"  {take['file']}: listen  {take['listen']!r}\n  {'':{len(take['file'])}}  offline {take['offline']!r}"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="base")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sum", type=Path, nargs="+", help="only sum up files that --json wrote")
    args = parser.parse_args()
    if args.sum:
        print(report([take for path in args.sum for take in json.loads(path.read_text("utf-8"))]))
        return
    done = []
    with tempfile.TemporaryDirectory(prefix="sayso-") as folder, VirtualMicrophone(Path(folder)) as microphone:
        microphone.hum()  # a real one never sends exact zeros, and `listening` waits for sound
        bundle = starter_bundle(args.model, "Q8_0")
        listening = Listening(microphone, Path(folder) / "home", str(bundle))
        try:
            listening.be_ready()
            for take, _ in clips(args.part):
                text, release_ms = listening.take(microphone, SPEECH / take.file)
                done.append(
                    {"file": take.file, "seconds": take.seconds, "reference": take.reference, "listen": text,
                     "release_ms": release_ms}
                )  # fmt: skip
        finally:
            listening.process.terminate()
            listening.process.wait()
    model = engine.load(bundle, device="cpu")
    for one in done:
        one["offline"] = model.transcribe(read_clip(SPEECH / one["file"]), DecodingOptions(language="en")).text
    if args.json:
        args.json.write_text(json.dumps(done, indent=1), encoding="utf-8")
    print(report(done))


if __name__ == "__main__":
    main()
