"""Clips with known texts through a model: word or character error rate with its interval, speed, per-clip differences.

Runs over parts of a corpus (`shard`) on several machines give, put together, the figures of one run over all of it.
Needs the `eval` extra: jiwer and whisper-normalizer.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from engine.audio import SAMPLE_RATE_HZ, read_clip
from engine.errors import AudioError, ManifestError, MissingExtraError, OptionError
from engine.languages import language_code
from engine.runtime import F32
from engine.transcript import Transcript

# Counted in characters: no spaces between words, or none that writers agree on
CHARACTER_LANGUAGES = frozenset({"zh", "yue", "ja", "ko", "th"})
CLIP_LISTS = ("transcripts.tsv", "manifest.jsonl")
BOOTSTRAP_ROUNDS, BOOTSTRAP_SEED = 1000, 42


def require_extra() -> None:
    """Raises MissingExtraError where the packages that count errors are not installed."""
    if any(importlib.util.find_spec(package) is None for package in ("jiwer", "whisper_normalizer")):
        raise MissingExtraError("Counting errors needs two more packages: run `pip install 'sayso[eval]'`.")


def peak_memory_bytes() -> int:
    """Largest resident size of this process so far. Memory of a discrete GPU does not count."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent held before it started this process
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        import psutil

        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


@dataclass(frozen=True)
class LabelledClip:
    id: str
    path: Path
    text: str  # what is said in it
    language: str


class Counted:
    """What follows from counted edits, for dataclasses that have these fields."""

    hits: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions

    @property
    def length(self) -> int:
        return self.hits + self.substitutions + self.deletions


@dataclass(frozen=True)
class Result(Counted):
    """One clip, decoded and counted. `hits` + `substitutions` + `deletions` is the length of the reference."""

    id: str
    language: str
    reference: str
    hypothesis: str
    detected_language: str
    duration_s: float
    hits: int
    substitutions: int
    deletions: int
    insertions: int
    mel_ms: float = 0.0
    encode_ms: float = 0.0
    prompt_ms: float = 0.0
    decode_ms: float = 0.0
    wall_ms: float = 0.0
    tokens: int = 0
    full_window_redos: int = 0


@dataclass(frozen=True)
class Score:
    """Figures over many clips. Rates are fractions; low and high bound the 95 % bootstrap interval."""

    clips: int
    length: int  # words, or characters in CHARACTER_LANGUAGES
    error_rate: float
    low: float
    high: float
    substitutions: int
    deletions: int
    insertions: int
    duration_s: float
    real_time_factor: float  # seconds of work per second of audio
    mel_ms: float
    encode_ms: float
    prompt_ms: float
    decode_ms: float
    full_window_redos: int


def read_clips(source: Path, *, scored_only: bool = True) -> list[LabelledClip]:
    """Clips of a `transcripts.tsv`, a `manifest.jsonl` or a folder that holds one of them, in their order.

    transcripts.tsv: columns file, lang, text and, if there, wer ("n": left out when `scored_only`).
    manifest.jsonl: objects {"id", "audio", "ref_text", "language"}; audio is relative to the manifest.
    Raises ManifestError, with the line: figures over a list that is only half understood would be figures of another.
    """
    table = source
    if source.is_dir():
        table = next((path for name in CLIP_LISTS if (path := source / name).exists()), source / CLIP_LISTS[0])
    try:
        with table.open(encoding="utf-8-sig", newline="") as lines:
            clips = list(_rows(table, lines, scored_only) if table.suffix == ".tsv" else _items(table, lines))
    except FileNotFoundError as error:
        raise ManifestError(
            f"There is no list of clips {table}; it is a transcripts.tsv or a manifest.jsonl."
        ) from error
    except OSError as error:
        raise ManifestError(f"{table} can't be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ManifestError(f"{table} is not UTF-8. Save it as UTF-8.") from error
    seen: set[str] = set()
    for clip in clips:
        if clip.id in seen:
            raise ManifestError(f"{table} has two clips {clip.id!r}; each needs a name of its own.")
        seen.add(clip.id)
    return clips


def _rows(table: Path, lines: Iterable[str], scored_only: bool) -> Iterator[LabelledClip]:
    rows = csv.DictReader(lines, delimiter="\t")
    try:
        if missing := {"file", "lang", "text"} - set(rows.fieldnames or ()):
            raise ManifestError(f"{table}: its first line must name the columns {', '.join(sorted(missing))}.")
        for row in rows:
            if row.get("wer") != "n" or not scored_only:
                yield _clip(table, rows.line_num, row["file"], row["file"], row["text"], row["lang"])
    except csv.Error as error:
        raise ManifestError(f"{table}, line {rows.line_num}: a quotation mark before it is not closed.") from error


def _items(table: Path, lines: Iterable[str]) -> Iterator[LabelledClip]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
        except (ValueError, RecursionError):
            item = None
        if not isinstance(item, dict):
            raise ManifestError(f"{table}, line {number}: this is no JSON object.")
        id_ = str(item["id"]) if isinstance(item.get("id"), int) else item.get("id")
        yield _clip(table, number, id_, item.get("audio"), item.get("ref_text"), item.get("language"))


def _clip(table: Path, line: int, id_: object, audio: object, text: object, language: object) -> LabelledClip:
    named = {"id": id_, "audio": audio, "text": text, "language": language}
    if wrong := [name for name, value in named.items() if not isinstance(value, str) or "\0" in value]:
        raise ManifestError(f"{table}, line {line}: {' and '.join(wrong)} must be there, and a text.")
    try:
        return LabelledClip(str(id_), table.parent / str(audio), str(text), language_code(str(language)))
    except OptionError as error:
        raise ManifestError(f"{table}, line {line}: {error}") from error


def shard(clips: Sequence[LabelledClip], index: int, count: int) -> list[LabelledClip]:
    """Part `index` (from 1) of `count` parts of about equal size."""
    if not 1 <= index <= count:
        raise ManifestError(f"There is no part {index} of {count}: parts count from 1.")
    return list(clips[index - 1 :: count])


def evaluate(
    clips: Iterable[LabelledClip],
    transcribe: Callable[[F32, LabelledClip], Transcript],
    change: Callable[[F32, LabelledClip], F32] = lambda samples, _: samples,
    unreadable: Callable[[LabelledClip, AudioError], None] | None = None,
) -> Iterator[Result]:
    """Decode and count clip after clip.

    change: applied to the samples first: to mix noise in, for example. unreadable: told of a clip whose sound can't be
    read, which then is passed over; None: the AudioError is raised.
    """
    for clip in clips:
        try:
            samples = read_clip(clip.path)
        except AudioError as error:
            if unreadable is None:
                raise
            unreadable(clip, error)
            continue
        samples = change(samples, clip)
        start = time.perf_counter()
        transcript = transcribe(samples, clip)
        wall_ms = (time.perf_counter() - start) * 1000
        yield count(clip, transcript, len(samples) / SAMPLE_RATE_HZ, wall_ms)


def count(clip: LabelledClip, transcript: Transcript, duration_s: float, wall_ms: float = 0.0) -> Result:
    """Compare a transcript with what is said, both normalised."""
    hits, substitutions, deletions, insertions = edits(clip.text, transcript.text, clip.language)
    spent = transcript.timings
    return Result(
        id=clip.id,
        language=clip.language,
        reference=clip.text,
        hypothesis=transcript.text,
        detected_language=transcript.language,
        duration_s=duration_s,
        hits=hits,
        substitutions=substitutions,
        deletions=deletions,
        insertions=insertions,
        mel_ms=spent.mel_ms,
        encode_ms=spent.encode_ms,
        prompt_ms=spent.prompt_ms,
        decode_ms=spent.decode_ms,
        wall_ms=wall_ms,
        tokens=spent.tokens,
        full_window_redos=spent.full_window_redos,
    )


def edits(reference: str, hypothesis: str, language: str) -> tuple[int, int, int, int]:
    """(hits, substitutions, deletions, insertions) in words, or characters, of the normalised texts."""
    import jiwer

    said, heard = normalise(reference, language), normalise(hypothesis, language)
    if not said:  # jiwer refuses it; noise with no speech in it
        return 0, 0, 0, len(heard.split())
    found = jiwer.process_words(said, heard)
    return found.hits, found.substitutions, found.deletions, found.insertions


def character_edits(reference: str, hypothesis: str, language: str) -> tuple[int, int, int, int]:
    """As `edits`, in characters whatever the language; spaces count where words are written apart."""
    import jiwer

    said, heard = normalise(reference, language), normalise(hypothesis, language)
    if language in CHARACTER_LANGUAGES:
        said, heard = said.replace(" ", ""), heard.replace(" ", "")
    if not said:
        return 0, 0, 0, len(heard)
    found = jiwer.process_characters(said, heard)
    return found.hits, found.substitutions, found.deletions, found.insertions


def normalise(text: str, language: str) -> str:
    """OpenAI's normaliser for English, the basic one else; characters apart where those are counted."""
    return str(_normaliser(language)(text)).strip()


@cache
def _normaliser(language: str) -> Callable[[str], str]:
    from whisper_normalizer.basic import BasicTextNormalizer
    from whisper_normalizer.english import EnglishTextNormalizer

    normaliser: Callable[[str], str]
    if language == "en":
        normaliser = EnglishTextNormalizer()
    else:
        normaliser = BasicTextNormalizer(split_letters=language in CHARACTER_LANGUAGES)
    return normaliser


def score(results: Iterable[Result]) -> Score:
    """Figures over all results, whatever the order they come in. At least one."""
    ordered = sorted(results, key=lambda result: result.id)
    errors = np.array([result.errors for result in ordered])
    lengths = np.array([result.length for result in ordered])
    picks = np.random.default_rng(BOOTSTRAP_SEED).integers(len(ordered), size=(BOOTSTRAP_ROUNDS, len(ordered)))
    rates = errors[picks].sum(axis=1) / np.maximum(1, lengths[picks].sum(axis=1))
    low, high = np.percentile(rates, [2.5, 97.5])
    duration_s = sum(result.duration_s for result in ordered)

    def total(name: str) -> float:
        return float(sum(getattr(result, name) for result in ordered))

    return Score(
        clips=len(ordered),
        length=int(lengths.sum()),
        error_rate=float(errors.sum() / max(1, lengths.sum())),
        low=float(low),
        high=float(high),
        substitutions=int(total("substitutions")),
        deletions=int(total("deletions")),
        insertions=int(total("insertions")),
        duration_s=duration_s,
        real_time_factor=total("wall_ms") / 1000 / duration_s if duration_s else 0.0,
        mel_ms=total("mel_ms"),
        encode_ms=total("encode_ms"),
        prompt_ms=total("prompt_ms"),
        decode_ms=total("decode_ms"),
        full_window_redos=int(total("full_window_redos")),
    )


def difference(result: Result) -> str:
    """Reference and hypothesis above each other, with the edits marked; for people."""
    import jiwer

    said, heard = normalise(result.reference, result.language), normalise(result.hypothesis, result.language)
    if not said:
        return f"REF: \nHYP: {heard}"
    return str(jiwer.visualize_alignment(jiwer.process_words(said, heard), show_measures=False, skip_correct=False))


def marked_difference(result: Result) -> list[tuple[str, str, str]]:
    """Stretches of the normalised texts: ("equal", "substitute", "delete" or "insert", said, heard)."""
    import jiwer

    said, heard = normalise(result.reference, result.language), normalise(result.hypothesis, result.language)
    if not said:
        return [("insert", "", heard)]
    found = jiwer.process_words(said, heard)
    words, others = found.references[0], found.hypotheses[0]
    return [
        (
            chunk.type,
            " ".join(words[chunk.ref_start_idx : chunk.ref_end_idx]),
            " ".join(others[chunk.hyp_start_idx : chunk.hyp_end_idx]),
        )
        for chunk in found.alignments[0]
    ]


def with_noise(samples: F32, snr_db: float, seed: int) -> F32:
    """Room noise mixed in: seeded, falling by 3 dB an octave as air and fans do, at `snr_db` below the speech."""
    noise = np.fft.rfft(np.random.default_rng(seed).standard_normal(len(samples)))
    noise /= np.sqrt(np.arange(len(noise)) + 1)
    room = np.fft.irfft(noise, len(samples))
    gain = np.sqrt(np.square(samples).mean() / np.square(room).mean()) * 10 ** (-snr_db / 20)
    mixed: F32 = (samples + gain * room).astype(np.float32)
    return mixed
