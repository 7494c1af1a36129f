"""`sayso eval`: models on clips with known texts, side by side; `sayso eval merge` puts shards of a run together."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dictation.children import out_of_reach_of_ctrl_c
from dictation.cli import DONE, FAILED, say, wrong_use
from dictation.commands.recognition import add_audio_context_option, add_device_option
from dictation.scratch import scratch_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from engine.checkpoint import Checkpoint
    from engine.evaluate import LabelledClip, Result
    from engine.report import Evaluation, EvaluationFile, Run

MERGE = "merge"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "sayso eval MODEL [MODEL ...] --clips LIST [--report DIR] [--shard I/N] [options]\n"
        "       sayso eval merge REPORT [REPORT ...] [--report DIR] [--json]"
    )
    parser.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="an installed model (base, base:Q8_0) or a model file; after `merge`: report folders or .jsonl files",
    )
    parser.add_argument(
        "--clips", type=Path, metavar="LIST", help="a transcripts.tsv, a manifest.jsonl, or a folder with one of them"
    )
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="keep results and report.html here; a stopped run goes on",
    )
    parser.add_argument("--shard", type=_shard, default=(1, 1), metavar="I/N", help="only part I of N of the clips")
    parser.add_argument("--detect-language", action="store_true", help="let the model find out the language")
    parser.add_argument("--all", action="store_true", help="also clips that transcripts.tsv marks as not to be scored")
    add_audio_context_option(parser)
    add_device_option(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per model, for scripts")


def run(arguments: argparse.Namespace) -> int:
    from engine import evaluate, report
    from engine.report import EvaluationFile

    evaluate.require_extra()
    if arguments.models[0] == MERGE:
        if not arguments.models[1:]:
            return wrong_use("name the reports to merge: sayso eval merge REPORT...")
        evaluations = report.gather(report.files_in(Path(path) for path in arguments.models[1:]))
        _show(evaluations, arguments, write=arguments.report)
        return DONE
    if arguments.clips is None:
        return wrong_use("which clips? Name a transcripts.tsv, a manifest.jsonl or a folder with --clips")
    if arguments.report and arguments.report.exists() and not arguments.report.is_dir():
        return wrong_use(f"--report names a folder, and {arguments.report} is a file.")
    with scratch_folder() as temporary:
        jobs = _jobs(arguments, arguments.report or temporary)
        unread = 0
        for job in jobs:
            with EvaluationFile(job.results).alone():
                try:
                    unread += _in_own_process(job)
                except KeyboardInterrupt:
                    if arguments.report:
                        say("stopped; what is done is kept, and the same command goes on from there.")
                    raise
        # of a shard the results are kept for `merge`; shards may share the folder
        evaluations = report.gather([EvaluationFile(job.results) for job in jobs])
        _show(evaluations, arguments, write=arguments.report if arguments.shard == (1, 1) else None)
    return FAILED if unread else DONE


@dataclass(frozen=True)
class _Job:
    """One model to evaluate; goes to another process."""

    model: Path
    results: Path
    clips: tuple[LabelledClip, ...]
    shard: tuple[int, int]
    device: str
    audio_context: str | float
    detect_language: bool
    show_bar: bool


def _jobs(arguments: argparse.Namespace, folder: Path) -> list[_Job]:
    from engine import store
    from engine.errors import ManifestError, ReportError
    from engine.evaluate import read_clips
    from engine.formats.sniff import main_file

    clips = read_clips(arguments.clips.expanduser(), scored_only=not arguments.all)
    if not clips:
        raise ManifestError(f"{arguments.clips} lists no clips.")
    index, count = arguments.shard
    suffix = "" if count == 1 else f".{index}-of-{count}"
    jobs: list[_Job] = []
    for text in arguments.models:
        path = Path(text).expanduser()
        model = main_file(path if path.exists() else store.find(text))
        # a folder's file is called model.safetensors or so: the folder has the name
        stem = store.plain_name(path.name if path.is_dir() else model.stem)
        results = folder / f"{stem}{suffix}.jsonl"
        if twin := next((job.model for job in jobs if job.results == results and job.model != model), None):
            raise ReportError(f"{twin} and {model} would have one name in the report; give one of them another.")
        jobs.append(
            _Job(
                model=model,
                results=results,
                clips=tuple(clips),
                shard=arguments.shard,
                device=arguments.device,
                audio_context=arguments.audio_context,
                detect_language=arguments.detect_language,
                show_bar=sys.stderr.isatty(),
            )
        )
    return jobs


def _in_own_process(job: _Job) -> int:
    """So that the memory measured is this model's alone. Returns how many clips can't be read."""
    from engine.errors import ReportError

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            with out_of_reach_of_ctrl_c():
                evaluated = pool.submit(_evaluate, job)  # starts the process
            left_out, unread = evaluated.result()
        except BrokenProcessPool as error:
            raise ReportError(
                f"The process that ran {job.model.name} ended early; perhaps memory was full. What it had done is kept."
            ) from error
        except KeyboardInterrupt:  # or asked to end: that process would go on to its last clip
            for process in multiprocessing.active_children():
                process.terminate()
            raise
    if left_out:
        say(f"{job.model.name} knows English only; clips left out for their language: {left_out}.")
    for sentence in unread:
        say(f"{job.model.name}: {sentence}")
    return len(unread)


def _evaluate(job: _Job) -> tuple[int, list[str]]:
    """Decode what has no result yet. Returns how many clips the model has no language for, and which can't be read."""
    from engine.evaluate import shard
    from engine.formats.load import load_named
    from engine.report import EvaluationFile

    checkpoint = load_named(job.model)
    clips = [clip for clip in job.clips if checkpoint.is_multilingual or clip.language == "en"]
    file = EvaluationFile(job.results)
    file.begin(_conditions(job, checkpoint, clips))
    missing = file.missing(shard(clips, *job.shard))
    unread = _decode(job, missing, file) if missing else []
    return len(job.clips) - len(clips), unread


def _decode(job: _Job, missing: Sequence[LabelledClip], file: EvaluationFile) -> list[str]:
    """Returns a sentence for each clip that can't be read."""
    import time

    import engine
    from engine.decode import DecodingOptions
    from engine.evaluate import evaluate, peak_memory_bytes
    from engine.report import Session
    from engine.runtime import F32
    from engine.transcript import Transcript

    unread: list[str] = []
    began = time.perf_counter()
    transcriber = engine.load(job.model, job.device)
    transcriber.warm_up()
    load_ms = (time.perf_counter() - began) * 1e3

    def transcribe(samples: F32, clip: LabelledClip) -> Transcript:
        language = None if job.detect_language else clip.language
        options = DecodingOptions(language=language, temperatures=(0.0,), audio_context=job.audio_context)
        return transcriber.transcribe(samples, options)

    try:
        results = evaluate(missing, transcribe, unreadable=lambda _, error: unread.append(str(error)))
        for result in _with_bar(results, job, len(missing)):
            file.append(result)
    finally:
        file.end(Session(transcriber.device, load_ms, peak_memory_bytes()))
        transcriber.close()
    return unread


def _conditions(job: _Job, checkpoint: Checkpoint, clips: Sequence[LabelledClip]) -> Run:
    import hashlib

    from engine.report import Run, corpus_digest

    with job.model.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Run(
        file=job.model.name,
        sha256=sha256,
        size_bytes=job.model.stat().st_size,
        name=checkpoint.name,
        quant=checkpoint.quant,
        audio_context=str(job.audio_context),
        language="detected" if job.detect_language else "given",
        clips=len(clips),
        corpus=corpus_digest(clips),
    )


def _with_bar(results: Iterator[Result], job: _Job, total: int) -> Iterable[Result]:
    from threading import RLock

    from tqdm import tqdm

    tqdm.set_lock(RLock())  # its own lock is one between processes, which would be missed when this one is ended
    bar: Iterable[Result] = tqdm(
        results, desc=job.results.stem, total=total, unit="clip", leave=False, disable=not job.show_bar
    )
    return bar


def _show(evaluations: list[Evaluation], arguments: argparse.Namespace, *, write: Path | None) -> None:
    import json

    from engine import report, report_page

    for e in evaluations:
        if arguments.models[0] == MERGE and e.score.clips < e.run.clips:
            say(f"{e.run.label}: {e.run.clips - e.score.clips} of {e.run.clips} clips have no result yet.")
    if arguments.json:
        for e in evaluations:
            print(json.dumps(e.as_dict(), ensure_ascii=False))
    elif evaluations:
        print(report.table(evaluations))
    if write is not None and evaluations:
        for path in report_page.write(write, evaluations):
            say(f"{path} is written.")


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part like 1/4")
    return int(index), int(count)
