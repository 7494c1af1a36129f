"""`sayso replay SET`: many clips, many ways, with figures; `commands/replay.py` is for one clip."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dictation.cli import DONE, FAILED, say, wrong_use
from dictation.scratch import scratch_folder

if TYPE_CHECKING:
    from dictation.bench.figures import BenchRun
    from dictation.bench.plan import Plan
    from dictation.bench.results import Measured

SETS = frozenset({".jsonl", ".tsv", ".sayso-clip"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What only a set takes; a single clip becomes a set by any of them."""
    group = parser.add_argument_group("many clips, or one many times")
    group.add_argument("--fast", action="store_true", help="as fast as it is understood, block by block (default)")
    group.add_argument("--offline", action="store_true", help="write each clip down at once, as `sayso eval` does")
    group.add_argument("--models", metavar="A,B", type=_models, help="installed models or files, compared")
    group.add_argument("--repeat", metavar="N", type=_count, help="so many times each")
    group.add_argument("--jobs", metavar="N", type=_count, help="so many processes at once")
    group.add_argument(
        "--settings", metavar="KEY=VALUE", action="append", default=[], help="a setting for this run; again for others"
    )
    group.add_argument(
        "--degrade",
        metavar="STEPS",
        action="append",
        default=[],
        help="a variant of each clip, as noise:10+telephone; again for others; none: as recorded; all: one of each",
    )
    group.add_argument("--seed", metavar="N", type=int, help="of the degradations' random numbers (default 0)")
    group.add_argument("--detect-language", action="store_true", help="let the model find out the language")
    group.add_argument("--report", metavar="DIR", type=Path, help="keep results and report.html; a stopped run goes on")
    group.add_argument("--baseline", metavar="REPORT", type=Path, help="an earlier report to compare with")
    group.add_argument(
        "--fail-if",
        metavar="LIMIT",
        action="append",
        default=[],
        help="exit with 1 beyond a limit: 'error>5%%', 'p95>400ms'; with a baseline 'error>+0.5', 'p50>+20%%'",
    )


def is_wanted(arguments: argparse.Namespace) -> bool:
    """Whether the call means the bench: a set, or an option that only the bench has."""
    names = ("fast", "offline", "models", "repeat", "jobs", "settings", "degrade", "report", "baseline", "fail_if")
    clip: Path = arguments.clip
    return clip.is_dir() or clip.suffix in SETS or any(getattr(arguments, name) for name in names)


def run(arguments: argparse.Namespace) -> int:
    from dictation.bench import gate, table
    from dictation.bench.clips import read_set
    from dictation.bench.plan import carry_out, gather
    from dictation.bench.results import files_in
    from engine import evaluate

    if arguments.language or arguments.translate or arguments.json:
        return wrong_use("--language, --translate and --json are for a single clip; --settings sets them for a set.")
    if arguments.report and arguments.report.exists() and not arguments.report.is_dir():
        return wrong_use(f"--report names a folder, and {arguments.report} is a file.")
    if arguments.report and arguments.baseline and _is_inside(arguments.baseline, arguments.report):
        return wrong_use("--baseline and --report name the same report: an earlier one is needed to compare with.")
    evaluate.require_extra()
    plan = _plan(arguments)
    limits = [gate.parse(text) for text in arguments.fail_if]
    baseline = gather(files_in(arguments.baseline)) if arguments.baseline else None
    if baseline is not None and not limits:
        limits = [gate.parse(text) for text in gate.DEFAULT]
    if baseline is None and (relative := next((limit for limit in limits if limit.relative), None)):
        return wrong_use(f"{relative} compares with an earlier report: name it with --baseline.")
    with scratch_folder() as temporary:
        clips = read_set(arguments.clip.expanduser(), temporary)
        for problem in clips.problems:
            say(problem)
        if not clips.clips:
            say(f"{arguments.clip} has no clip that can be replayed.")
            return FAILED
        folder = arguments.report or temporary / "report"
        bars = _Bars()
        try:
            files = carry_out(plan, clips, folder, bars)
        except KeyboardInterrupt:
            kept = "; the same command goes on from there" if arguments.report else ""
            say(f"stopped; {bars.done} replays are done{kept}.")
            raise
        runs = gather(files)
        if not runs:
            return FAILED
        print(table.table(runs))
        verdicts = gate.judge(runs, limits, baseline)
        code = _told(runs, verdicts)
        if arguments.report:
            from dictation.bench.page import write

            say(f"{write(folder, files_in(folder), clips.clips, verdicts)} is written.")
    return FAILED if clips.problems else code


def _is_inside(baseline: Path, report: Path) -> bool:
    return report.resolve() in (baseline.resolve(), baseline.resolve().parent)


def _told(runs: list[BenchRun], verdicts: list[Any]) -> int:
    from dictation.bench import table

    warnings = [sentence for run in runs for sentence in table.warnings(run)]
    for sentence in warnings:
        say(sentence)
    failed = [verdict for verdict in verdicts if verdict.failed]
    for verdict in failed:
        say(verdict.sentence())
        for line in verdict.clips:
            say(f"    {line}")
    if verdicts:
        say(f"gates: {len(verdicts) - len(failed)} of {len(verdicts)} passed.")
    return FAILED if failed or (warnings and not verdicts) else DONE


def _plan(arguments: argparse.Namespace) -> Plan:
    from dictation import settings
    from dictation.bench import degrade
    from dictation.bench.plan import Plan
    from dictation.errors import SettingError
    from dictation.models import active_model
    from dictation.replay import Mode

    wanted: list[tuple[bool, Mode]] = [
        (arguments.realtime, "realtime"),
        (arguments.fast, "fast"),
        (arguments.offline, "offline"),
    ]
    changes = {}
    for text in arguments.settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"{text!r} is no setting; write rewrite.numbers=digits.")
        if key == "recognition.model":
            raise SettingError("A set is replayed with the models of --models.")
        changes[key] = settings.parse(key, value)
    variants: list[str] = []
    for text in arguments.degrade:
        variants += degrade.FAMILY if text == "all" else [degrade.written(degrade.parse(text))]
    return Plan(
        models=arguments.models or (arguments.model or active_model(),),
        modes=tuple(mode for is_wanted, mode in wanted if is_wanted) or ("fast",),
        variants=tuple(dict.fromkeys(variants)) or ("",),
        repeats=arguments.repeat or 1,
        jobs=1 if arguments.type else arguments.jobs or 1,
        typed=arguments.type,
        detect_language=arguments.detect_language,
        settings=changes,
        seed=arguments.seed or 0,
        device=arguments.device,
        threads=arguments.threads,
    )


class _Bars:
    """`plan.Watch` on stderr: a bar per run where somebody watches."""

    def __init__(self) -> None:
        self.done = 0
        self._bar: Any = None
        self._failed = 0

    def say(self, sentence: str) -> None:
        say(sentence)

    def begin(self, label: str, total: int, done: int) -> None:
        from tqdm import tqdm

        self._failed = 0
        hidden = not sys.stderr.isatty()
        self._bar = tqdm(desc=label, total=total, initial=done, unit="clip", leave=False, disable=hidden)

    def advance(self, measured: Measured) -> None:
        self.done += 1
        self._failed += bool(measured.failure)
        if self._failed:
            self._bar.set_postfix_str(f"{self._failed} failed", refresh=False)
        self._bar.update()

    def end(self) -> None:
        self._bar.close()


def _models(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise argparse.ArgumentTypeError("name at least one model")
    return names


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)
