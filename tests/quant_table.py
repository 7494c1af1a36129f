"""The table of docs/quantization.md: every format of the starter models, its size, error, time, and languages.

    python -m tests.quant_table tiny.en base --report .quants

Makes the bundles that are missing, evaluates with `sayso eval` (a stopped run goes on) and prints Markdown. base also
detects the language of every clip that is not English. `.quants/report.html` shows the first part with plots.
Exit code 1 where a format at or above Q5_K_M is more than 0.5 points worse than F16, or Q4_0 misses a language.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from dictation.cli import main as sayso
from engine import report
from engine.evaluate import read_clips
from engine.presets import PRESETS
from engine.report import Evaluation
from tests.conftest import starter_bundle

SPEECH = Path(__file__).parent / "data" / "speech"
SAFE = ("F32", "F16", "Q8_0", "Q6_K", "Q5_K_M")  # at or above Q5_K_M
LIMIT = 0.005  # of error rate over F16's


def evaluated(models: list[Path], clips: Path, folder: Path, *options: str) -> dict[str, Evaluation]:
    """By the file's stem, in the order of `models`."""
    command = ["eval", *map(str, models), "--clips", str(clips), "--report", str(folder), *options]
    if code := sayso(command):
        sys.exit(code)
    found = {e.run.label: e for e in report.gather(report.files_in([folder]))}
    if "cpu" in options and any(e.devices != "cpu" for e in found.values()):
        sys.exit("The native library is missing here, so NumPy was used: build it, or say --device numpy.")
    return {model.stem: found[model.stem] for model in models}


def foreign_clips(folder: Path) -> Path:
    """A manifest of the clips that are not in English."""
    path = folder / "foreign" / "manifest.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    clips = [clip for clip in read_clips(SPEECH, scored_only=False) if clip.language != "en"]
    items = [{"id": c.id, "audio": str(c.path.absolute()), "ref_text": c.text, "language": c.language} for c in clips]
    path.write_text("".join(json.dumps(item) + "\n" for item in items), "utf-8")
    return path


def row(name: str, preset: str, e: Evaluation, heard: Evaluation | None) -> str:
    s = e.score
    languages = f"{heard.languages_right} of {heard.score.clips}" if heard else "-"
    return (
        f"| {name} | {preset} | {e.run.size_bytes / 1e6:.1f} | {100 * s.error_rate:.2f}"
        f" ({100 * s.low:.2f}-{100 * s.high:.2f}) | {s.encode_ms / s.clips:.0f}"
        f" | {(s.prompt_ms + s.decode_ms) / s.clips:.0f} | {s.real_time_factor:.3f}"
        f" | {e.peak_bytes / 1e6:.0f} | {languages} |"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", choices=("tiny.en", "base"))
    parser.add_argument("--formats", nargs="+", choices=tuple(PRESETS), default=list(PRESETS))
    parser.add_argument("--report", type=Path, required=True, help="folder that keeps the results")
    parser.add_argument("--device", default="auto")
    args = parser.parse_args()
    bundles = {(name, preset): starter_bundle(name, preset) for name in args.models for preset in args.formats}
    scores = evaluated(list(bundles.values()), SPEECH, args.report, "--device", args.device)
    heard: dict[str, Evaluation] = {}
    if multilingual := [path for (name, _), path in bundles.items() if not name.endswith(".en")]:
        options = ("--detect-language", "--device", args.device)
        heard = evaluated(multilingual, foreign_clips(args.report), args.report / "languages", *options)
    lines, faults = [], []
    for (name, preset), path in bundles.items():
        found, languages = scores[path.stem], heard.get(path.stem)
        lines.append(row(name, preset, found, languages))
        f16 = scores.get(f"{name}-F16")
        if f16 and preset in SAFE and found.score.error_rate > f16.score.error_rate + LIMIT:
            faults.append(f"{path.stem} is more than {100 * LIMIT} points worse than F16.")
        if preset == "Q4_0" and languages and languages.languages_right < languages.score.clips:
            faults.append(f"{path.stem} takes a language for another.")
    print("\n| model | format | MB | WER, % | encode, ms a clip | decode, ms a clip | RTF | peak MB | languages |")
    print("|---|---|---|---|---|---|---|---|---|")
    print("\n".join(lines))
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
