"""Memory over many utterances of mixed length, and what an idle model costs.

    python -m tests.measure_memory --model tiny.en --utterances 1000 [--idle-s 60]

Each utterance is a random stretch of 0.5 to 12 s of the English clips, fed live (a look every second) or transcribed
whole, by turns. Printed: resident memory on the way, and processor time of a loaded model while nobody speaks.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import psutil

import engine
from engine.audio import SAMPLE_RATE_HZ, read_clip
from engine.decode import DecodingOptions
from engine.streaming import LiveOptions, LiveTranscriber
from tests.measure_streaming import SPEECH


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="tiny.en")
    parser.add_argument("--utterances", type=int, default=1000)
    parser.add_argument("--idle-s", type=float, default=60)
    args = parser.parse_args()
    random = np.random.default_rng(0)
    speech = np.concatenate([read_clip(path) for path in sorted((SPEECH / "en").glob("lj*.flac"))])
    model = engine.load(args.model, device="cpu")
    model.warm_up()
    while model.prepare():
        pass
    options = DecodingOptions(language="en")
    process = psutil.Process()
    for n in range(1, args.utterances + 1):
        length = int(random.uniform(0.5, 12) * SAMPLE_RATE_HZ)
        start = random.integers(0, len(speech) - length)
        samples = speech[start : start + length]
        if n % 2:
            model.transcribe(samples, options)
        else:
            live = LiveTranscriber(model.runtime, model.tokenizer, LiveOptions(options), model.mel_filters)
            for at in range(0, length, SAMPLE_RATE_HZ):
                live.append(samples[at : at + SAMPLE_RATE_HZ])
                live.partial()
            live.finish()
        if n in (10, 50, 100, 200, 300, 500, 700, 1000) or n == args.utterances:
            print(f"{n:5} utterances: {process.memory_info().rss / 2**20:.1f} MB", flush=True)
    before = time.process_time()
    time.sleep(args.idle_s)
    print(f"idle for {args.idle_s:.0f} s: {time.process_time() - before:.3f} s of processor time")


if __name__ == "__main__":
    main()
