"""Word error rates side by side: runtimes, encoder windows, noise, and faster-whisper on the same weights.

    python -m tests.accuracy base-Q8_0 tiny.en-F16 --ways full auto blocks:4+1 faster-whisper:float32 --noise 20

Models are the starter ones under any preset; their bundles are made into .models/ where missing. All is greedy, at
temperature 0, language given. The table compares every way with the first.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

import numpy as np

import engine
from engine import audio, store
from engine.decode import DecodingOptions, WindowDecoder
from engine.evaluate import LabelledClip, Result, evaluate, read_clips, score, with_noise
from engine.runtime import F32
from engine.transcriber import Transcriber
from engine.transcript import Timings, Transcript
from tests.conftest import starter_bundle

SPEECH = Path(__file__).parent / "data" / "speech"
Transcribe = Callable[[F32, LabelledClip], Transcript]


def sayso(model: Transcriber, way: str) -> Transcribe:
    """way: "full", "auto", seconds to encode after the clip's end ("margin:1"), or "blocks:4+1"."""
    kind, _, argument = way.partition(":")

    def transcribe(samples: F32, clip: LabelledClip) -> Transcript:
        context: str | float = kind
        if kind == "margin":
            context = len(samples) / audio.SAMPLE_RATE_HZ + float(argument)
        options = DecodingOptions(language=clip.language, temperatures=(0.0,), audio_context=context)
        return model.transcribe(samples, options)

    def transcribe_blocks(samples: F32, clip: LabelledClip) -> Transcript:
        return in_blocks(model, samples, clip.language, *(float(s) for s in argument.split("+")))

    return transcribe_blocks if kind == "blocks" else transcribe


def in_blocks(model: Transcriber, samples: F32, language: str, block_s: float, look_ahead_s: float) -> Transcript:
    """Encode as if the clip were being spoken: each block once, `look_ahead_s` after its end is heard."""
    log_power = audio.log_power(samples, model.mel_filters)
    stream = model.runtime.encoder_stream()
    block, look_ahead = (round(s * audio.POSITIONS_PER_S) for s in (block_s, look_ahead_s))
    kept = 0
    while (end := (kept + block + look_ahead) * audio.FRAMES_PER_POSITION) < len(log_power):
        stream.append(log_power[stream.n_heard * audio.FRAMES_PER_POSITION : end])
        stream.state(keep=kept)
        kept += block
    stream.append(log_power[stream.n_heard * audio.FRAMES_PER_POSITION :])
    timings = Timings()
    options = DecodingOptions(language=language, temperatures=(0.0,))
    duration_s = len(samples) / audio.SAMPLE_RATE_HZ
    state = stream.state(keep=kept)
    window = WindowDecoder(model.runtime.decoder(state), model.tokenizer, options, duration_s, timings=timings)
    window.prefill()
    return Transcript(window.decode().text.strip(), language, duration_s=duration_s, timings=timings)


def faster_whisper(name: str, argument: str) -> Transcribe:
    """The same weights in faster-whisper. argument: a compute type, and "+padded" to pad the audio with zeros.

    On its own it pads the mel with zeros, a value in the middle of the range; OpenAI pads the audio.
    """
    compute_type, _, padded = argument.partition("+")
    from faster_whisper import WhisperModel

    starter = next(s for s in store.STARTERS if s.name == name)
    folders = []
    for package in starter.packages:
        spec = importlib.util.find_spec(package)
        assert spec is not None and spec.submodule_search_locations
        folders.append(Path(next(iter(spec.submodule_search_locations))))
    with TemporaryDirectory() as made:
        folder = Path(made)
        shutil.copytree(folders[-1] / starter.folder, folder, dirs_exist_ok=True)
        with (folder / "model.bin").open("wb") as joined:
            for package_folder, part in zip(folders, starter.parts, strict=True):
                joined.write((package_folder / part).read_bytes())
        model = WhisperModel(str(folder), device="cpu", compute_type=compute_type)

    def transcribe(samples: F32, clip: LabelledClip) -> Transcript:
        if padded:
            samples = np.pad(samples, (0, audio.N_SAMPLES - len(samples)))
        segments, _ = model.transcribe(
            samples,
            language=clip.language,
            beam_size=1,
            temperature=0.0,
            without_timestamps=True,
            condition_on_previous_text=False,
        )
        return Transcript("".join(segment.text for segment in segments).strip(), clip.language)

    return transcribe


def table(
    bundle: str, ways: list[str], noises: list[float | None], draws: int, device: str, clips: list[LabelledClip]
) -> None:
    name, _, preset = bundle.rpartition("-")
    model = engine.load(starter_bundle(name, preset), device=device)
    for noise_db in noises:
        first: list[Result] = []
        for way in ways:
            kind, _, argument = way.partition(":")
            transcribe = faster_whisper(name, argument or "float32") if kind == "faster-whisper" else sayso(model, way)
            results = []
            for draw in range(draws if noise_db else 1):
                mixed = partial(noisy, snr_db=noise_db, draw=draw)
                results += evaluate(clips, transcribe, mixed)
            first = first or results
            total = score(results)
            same = sum(a.hypothesis == b.hypothesis for a, b in zip(results, first, strict=True))
            runaways = sum(result.tokens >= 200 for result in results)
            empty = sum(not result.hypothesis for result in results)
            print(
                f"{bundle:14} {model.device:8} {f'{noise_db:.0f} dB' if noise_db else 'clean':6} {way:24}"
                f" WER {100 * total.error_rate:5.2f} % ({100 * total.low:.2f}-{100 * total.high:.2f})"
                f" errors {total.substitutions + total.deletions + total.insertions:3} of {total.length}"
                f" same {same}/{total.clips} runaway {runaways} empty {empty} redone {total.full_window_redos}",
                flush=True,
            )
    model.close()


def noisy(samples: F32, clip: LabelledClip, snr_db: float | None, draw: int) -> F32:
    return samples if snr_db is None else with_noise(samples, snr_db, seed=crc32(clip.id.encode()) + draw)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="base-Q8_0, tiny.en-F16, ...")
    parser.add_argument("--ways", nargs="+", default=["full", "auto", "blocks:4+1", "faster-whisper:float32"])
    parser.add_argument("--noise", nargs="*", type=float, default=[], help="signal to noise ratios in dB to add")
    parser.add_argument("--draws", type=int, default=1, help="of the noise, for each clip: a single one is chance")
    parser.add_argument("--device", default="numpy")
    parser.add_argument("--clips", type=Path, default=SPEECH)
    parser.add_argument("--language", default="en")
    args = parser.parse_args()
    clips = [clip for clip in read_clips(args.clips) if clip.language == args.language]
    for bundle in args.models:
        table(bundle, args.ways, [None, *args.noise], args.draws, args.device, clips)


if __name__ == "__main__":
    main()
