"""Live recognition against the clock: clips fed as a microphone would, then how long the text takes after release.

    python tests/measure_streaming.py --model base [--peer base] [--part 1/3] [--reading] [--json FILE]
    python tests/measure_streaming.py --sum FILE...

Each clip is fed in real time; whenever the engine is free it looks at what was heard (a partial), and a look that is
under way when the last sample comes is given up, as when the key goes up. Printed: word error rate live and offline
on the same clips, release-to-text (last sample in to final text out) by length, the first partial after the end of the
first word, partials per second, processor time per second of speech, and what the drafts saved. --peer runs
faster-whisper int8 (greedy) on the same clips in the same run, after release. --part splits the set, so that one run
stays short; --sum adds the parts up. --reading takes lj001-0001 to 0032, joined with 0.3 s between them (3 min 51 s),
in place of the set; --unpaced feeds as fast as the engine looks, in steps of half a second.
"""

from __future__ import annotations

import argparse
import csv
import importlib.resources
import json
import os
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import engine
from engine.audio import SAMPLE_RATE_HZ, read_clip
from engine.decode import DecodingOptions
from engine.runtime import F32
from engine.store import STARTERS
from engine.streaming import LiveOptions, LiveTranscriber
from engine.transcriber import Transcriber

SPEECH = Path(__file__).parent / "data" / "speech"
GAP_S = 0.3
STAGES = ("mel", "encode", "prompt", "decode")
LENGTHS_S = ((0.0, 2.0), (2.0, 6.0), (6.0, 9.0), (9.0, 17.0))


@dataclass
class Take:
    """What one clip gave."""

    file: str
    seconds: float
    reference: str
    live: str = ""
    offline: str = ""
    peer: str = ""
    release_ms: float = 0.0
    offline_ms: float = 0.0
    peer_ms: float = 0.0
    cpu_s: float = 0.0
    first_partial_s: float | None = None  # after the clip began
    first_word_end_s: float | None = None
    partial_at_s: list[float] = field(default_factory=list)
    drafted: int = 0
    accepted: int = 0
    tokens: int = 0
    passes: int = 0
    decode_ms: float = 0.0  # of all looks
    positions: int = 0
    redos: int = 0
    firm_wrong: int = 0
    given_up: int = 0
    parts_ms: dict[str, float] = field(default_factory=dict)  # what the time after release went into


def play(model: Transcriber, samples: F32, options: LiveOptions, take: Take, paced: bool) -> None:
    """Feed one clip, paced by the clock or as fast as the engine takes half-second steps."""
    live = LiveTranscriber(model.runtime, model.tokenizer, options, model.mel_filters)
    cpu = time.process_time()
    begun = time.perf_counter()
    fed = 0
    while fed < len(samples):
        clock_s = time.perf_counter() - begun
        due = min(len(samples), int(clock_s * SAMPLE_RATE_HZ)) if paced else min(len(samples), fed + 8000)
        live.append(samples[fed:due])
        fed = due
        if fed == len(samples):
            break
        partial = live.partial((lambda: time.perf_counter() - begun >= take.seconds) if paced else None)
        if partial is not None:
            take.partial_at_s.append(time.perf_counter() - begun)
            if take.first_partial_s is None and (partial.firm + partial.tentative).strip():
                take.first_partial_s = take.partial_at_s[-1]
        elif paced:
            time.sleep(0.01)
    released = begun + take.seconds if paced else time.perf_counter()
    timings, metrics = live.timings, live.metrics
    take.parts_ms = {"wait": (time.perf_counter() - released) * 1000}
    before = {stage: getattr(timings, f"{stage}_ms") for stage in STAGES}
    take.live = live.finish().text
    take.release_ms = (time.perf_counter() - released) * 1000
    take.parts_ms |= {stage: getattr(timings, f"{stage}_ms") - before[stage] for stage in STAGES}
    take.cpu_s = time.process_time() - cpu
    take.drafted, take.accepted, take.redos = timings.draft_tokens, timings.draft_accepted, timings.full_window_redos
    take.tokens, take.passes, take.decode_ms = metrics.tokens_decoded, timings.passes, timings.decode_ms
    take.positions, take.firm_wrong, take.given_up = (
        metrics.positions_encoded,
        metrics.firm_words_wrong,
        metrics.given_up,
    )


def clips(part: str) -> list[tuple[Take, F32]]:
    which, of = (int(n) for n in part.split("/"))
    with (SPEECH / "transcripts.tsv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if r["lang"] == "en"]
    rows = [r for r in rows if r["wer"] == "y"][which - 1 :: of]
    found = [(r, read_clip(SPEECH / r["file"])) for r in rows]
    return [(Take(r["file"], len(samples) / SAMPLE_RATE_HZ, r["text"]), samples) for r, samples in found]


def reading() -> list[tuple[Take, F32]]:
    """The 32 sentences as one dictation."""
    with (SPEECH / "transcripts.tsv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE) if "lj001-00" in r["file"]]
    gap = np.zeros(int(GAP_S * SAMPLE_RATE_HZ), np.float32)
    parts = [part for r in rows for part in (read_clip(SPEECH / r["file"]), gap)]
    samples = np.concatenate(parts)
    return [(Take("reading", len(samples) / SAMPLE_RATE_HZ, " ".join(r["text"] for r in rows)), samples)]


def word_error_rate(references: list[str], texts: list[str]) -> float:
    import jiwer
    from whisper_normalizer.english import EnglishTextNormalizer

    plain = EnglishTextNormalizer()
    return 100 * float(jiwer.wer([plain(text) for text in references], [plain(text) for text in texts]))


class Peer:
    """faster-whisper int8, greedy, the language given, on as many threads."""

    def __init__(self, name: str, threads: int) -> None:
        from faster_whisper import WhisperModel

        starter = next(starter for starter in STARTERS if starter.name == name)
        roots = [importlib.resources.files(package) for package in starter.packages]
        with tempfile.TemporaryDirectory() as folder:
            with (Path(folder) / "model.bin").open("wb") as whole:
                for root, part in zip(roots, starter.parts, strict=True):
                    whole.write((root / part).read_bytes())
            for file in (roots[-1] / starter.folder).iterdir():
                if file.name.endswith((".json", ".txt")):
                    (Path(folder) / file.name).write_bytes(file.read_bytes())
            self._model = WhisperModel(folder, "cpu", compute_type="int8", cpu_threads=threads)

    def run(self, samples: F32, take: Take) -> None:
        begun = time.perf_counter()
        segments, _ = self._model.transcribe(
            samples, language="en", beam_size=1, without_timestamps=True, condition_on_previous_text=False
        )
        take.peer = " ".join(segment.text.strip() for segment in segments)
        take.peer_ms = (time.perf_counter() - begun) * 1000

    def first_word_end_s(self, samples: F32) -> float | None:
        segments, _ = self._model.transcribe(samples, language="en", beam_size=1, word_timestamps=True)
        return next((word.end for segment in segments for word in segment.words or ()), None)


def quantile(values: list[float], q: float) -> float:
    return float(np.quantile(values, q)) if values else float("nan")


def report(title: str, takes: list[Take]) -> str:
    peer = all(take.peer_ms for take in takes)
    texts = [take.reference for take in takes]
    lines = [f"{title}: {len(takes)} clips, {sum(t.seconds for t in takes):.0f} s"]
    rates = {"live": [t.live for t in takes], "offline": [t.offline for t in takes]}
    if peer:
        rates["faster-whisper int8"] = [t.peer for t in takes]
    lines.append("word error rate %: " + ", ".join(f"{n} {word_error_rate(texts, t):.2f}" for n, t in rates.items()))
    lines.append("| length s | clips | release-to-text p50 ms | p95 ms | offline p50 ms | faster-whisper p50 ms |")
    lines.append("|---|---|---|---|---|---|")
    for low, high in (*LENGTHS_S, (2.0, 17.0), (0.0, 1e9)):
        group = [t for t in takes if low <= t.seconds < high]
        if group:
            release = [t.release_ms for t in group]
            name = "all" if high > 1e8 else f"{low:.0f} to {high:.0f}"
            lines.append(
                f"| {name} | {len(group)} | {quantile(release, 0.5):.0f} | {quantile(release, 0.95):.0f} | "
                f"{statistics.median(t.offline_ms for t in group):.0f} | "
                + (f"{statistics.median(t.peer_ms for t in group):.0f} |" if peer else "– |")
            )
    medians = {part: quantile([t.parts_ms.get(part, 0.0) for t in takes], 0.5) for part in ("wait", *STAGES)}
    lines.append("after release, p50 ms: " + ", ".join(f"{part} {ms:.0f}" for part, ms in medians.items())
                 + " (wait: until a look under way is given up)")  # fmt: skip
    spoken = sum(t.seconds for t in takes)
    firsts = [
        t.first_partial_s - t.first_word_end_s
        for t in takes
        if t.first_partial_s is not None and t.first_word_end_s is not None
    ]
    if firsts:
        lines.append(f"first partial after the first word's end: p50 {quantile(firsts, 0.5):.2f} s, p95 "
                     f"{quantile(firsts, 0.95):.2f} s")  # fmt: skip
    gaps = [b - a for t in takes for a, b in pairwise(t.partial_at_s)]
    lines.append(
        f"partials per s: {sum(len(t.partial_at_s) for t in takes) / spoken:.2f}; between two: p50 "
        f"{quantile(gaps, 0.5):.2f} s, p95 {quantile(gaps, 0.95):.2f} s; given up {sum(t.given_up for t in takes)}"
    )
    drafted, accepted = sum(t.drafted for t in takes), sum(t.accepted for t in takes)
    tokens, passes = sum(t.tokens for t in takes), sum(t.passes for t in takes)
    lines.append(
        f"drafts: {drafted} tokens, {accepted} accepted ({100 * accepted / max(1, drafted):.0f} %); "
        f"{tokens} tokens in {passes} passes ({100 - 100 * passes / max(1, tokens):.0f} % saved), "
        f"{sum(t.decode_ms for t in takes) / spoken:.0f} ms of decoding per s of speech"
    )
    lines.append(
        f"encoder positions per position of speech: {sum(t.positions for t in takes) / (spoken * 50):.2f}; full-window "
        f"redos {sum(t.redos for t in takes)}; firm words the final text lacks {sum(t.firm_wrong for t in takes)}"
    )
    lines.append(f"processor s per s of speech: {sum(t.cpu_s for t in takes) / spoken:.2f}; "
                 f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")  # fmt: skip
    lines += [f"  {t.file}: live {t.live!r}\n  {'':{len(t.file)}}  offline {t.offline!r}"
              for t in takes if word_error_rate([t.offline], [t.live]) > 0]  # fmt: skip
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="base")
    parser.add_argument("--device", default="cpu")
    parser.add_argument(
        "--peer", metavar="STARTER", help="also faster-whisper int8 on the starter weights of this name"
    )
    parser.add_argument(
        "--first-word", action="store_true", help="with --peer: when the first word ended, by its times"
    )
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--reading", action="store_true")
    parser.add_argument("--unpaced", action="store_true")
    parser.add_argument("--no-draft", action="store_true", help="decode every look from scratch: the same text, later")
    parser.add_argument("--look-ahead", type=float, default=LiveOptions.look_ahead_s)
    parser.add_argument("--final", type=float, default=LiveOptions.final_s)
    parser.add_argument("--json", type=Path, help="write every take to this file")
    parser.add_argument("--sum", type=Path, nargs="+", help="only sum up files that --json wrote")
    args = parser.parse_args()
    if args.sum:
        files = [json.loads(path.read_text(encoding="utf-8")) for path in args.sum]
        print(report(files[0]["title"], [Take(**take) for file in files for take in file["takes"]]))
        return
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    model = engine.load(args.model, device=args.device)
    model.warm_up()
    while model.prepare():
        pass
    peer = Peer(args.peer, threads) if args.peer else None
    options = LiveOptions(
        DecodingOptions(language="en"),
        look_ahead_s=args.look_ahead,
        final_s=args.final,
        use_draft=not args.no_draft,
    )
    takes = reading() if args.reading else clips(args.part)
    play(model, takes[0][1][: 3 * SAMPLE_RATE_HZ], options, Take("", 3.0, ""), paced=False)
    title = f"{model.name} {model.quant} on {model.device}"
    done: list[Take] = []
    for take, samples in takes:
        play(model, samples, options, take, not args.unpaced)
        begun = time.perf_counter()
        take.offline = model.transcribe(samples, options.decoding).text
        take.offline_ms = (time.perf_counter() - begun) * 1000
        if peer is not None:
            peer.run(samples, take)
            if args.first_word:
                take.first_word_end_s = peer.first_word_end_s(samples)
        done.append(take)
        if args.json:
            content = {"title": title, "takes": [asdict(take) for take in done]}
            args.json.write_text(json.dumps(content, indent=1), encoding="utf-8")
    print(report(title, done))


if __name__ == "__main__":
    main()
