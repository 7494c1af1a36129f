"""A whole bench run: every model in every mode over one set, into the files of a report; and these files as runs."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from dictation import paths
from dictation import settings as settings_module
from dictation.bench import crew
from dictation.bench.clips import Clip, ClipSet
from dictation.bench.errors import BenchError
from dictation.bench.figures import BenchRun
from dictation.bench.measure import Task
from dictation.bench.results import BenchFile, Conditions, Measured, Sitting
from dictation.replay import Mode
from dictation.version import version
from engine import store
from engine.formats.load import load_named
from engine.formats.sniff import main_file
from engine.report import corpus_digest


@dataclass(frozen=True)
class Plan:
    models: tuple[str, ...]  # as `engine.load` takes them
    modes: tuple[Mode, ...] = ("fast",)
    variants: tuple[str, ...] = ("",)  # degradations; "": as recorded
    repeats: int = 1
    jobs: int = 1
    typed: bool = False
    detect_language: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)  # before the clips' own and the user's
    seed: int = 0
    device: str = "auto"
    threads: int | None = None


class Watch(Protocol):
    """Who is told how it goes."""

    def say(self, sentence: str) -> None: ...

    def begin(self, label: str, total: int, done: int) -> None:
        """A run begins, or goes on after `done` replays."""
        ...

    def advance(self, measured: Measured) -> None: ...

    def end(self) -> None: ...


def carry_out(plan: Plan, clips: ClipSet, folder: Path, watch: Watch) -> list[BenchFile]:
    """Replay what has no result in `folder` yet. Returns the files of the plan's runs.

    Raises BenchError, and EngineError for a model that can't be used.
    """
    files: list[BenchFile] = []
    models: dict[str, Path] = {}  # by the names that they have in the report
    for name in plan.models:
        given = Path(name).expanduser()
        model = main_file(given if given.exists() else store.find(name))
        # a folder's file is called model.safetensors or so: the folder has the name
        file_name = given.name if given.is_dir() else model.name
        if models.setdefault(file_name, model) != model:
            raise BenchError(f"{models[file_name]} and {model} would have one name in the report; rename one of them.")
        checkpoint = load_named(model)
        usable = [clip for clip in clips.clips if checkpoint.is_multilingual or clip.language in ("en", "")]
        if left_out := len(clips.clips) - len(usable):
            watch.say(f"{file_name} knows English only; clips left out for their language: {left_out}.")
        if not usable:
            continue
        conditions = Conditions(
            set=clips.name,
            corpus=corpus_digest(usable),
            clips=len(usable),
            file=file_name,
            sha256=_sha256(model),
            name=checkpoint.name,
            quant=checkpoint.quant,
            mode="",
            typed=plan.typed,
            language="detected" if plan.detect_language else "given",
            seed=plan.seed,
            settings=_settings(plan.settings),
        )
        job = crew.Job(str(model), plan.device, plan.threads, plan.typed)
        for mode in plan.modes:
            stem = store.plain_name(conditions.model)
            file = BenchFile(folder / f"{stem}.{mode}{'.typed' if plan.typed else ''}.jsonl")
            with file.alone():
                file.begin(replace(conditions, mode=mode))
                _replay(plan, mode, usable, file, job, watch)
            files.append(file)
    return files


def _replay(plan: Plan, mode: Mode, clips: Sequence[Clip], file: BenchFile, job: crew.Job, watch: Watch) -> None:
    done = file.done()
    tasks = list(_tasks(plan, mode, clips))
    missing = [task for task in tasks if (task.clip.id, task.variant, task.repeat) not in done]
    conditions = file.conditions()
    assert conditions is not None
    began_unix_s = time.time()

    def started(device: str) -> None:
        file.sit_down(Sitting(device, _computer(), version(), plan.jobs, began_unix_s))

    watch.begin(conditions.label, len(tasks), len(tasks) - len(missing))
    try:
        for measured in crew.run(job, missing, min(plan.jobs, max(1, len(missing))), started):
            file.add(measured)
            watch.advance(measured)
    finally:
        watch.end()


def _tasks(plan: Plan, mode: Mode, clips: Sequence[Clip]) -> Iterator[Task]:
    for repeat in range(plan.repeats):
        for variant in plan.variants:
            for clip in clips:
                language = "" if plan.detect_language else clip.language
                yield Task(clip, variant, repeat, mode, language, plan.settings, plan.seed)


def gather(files: Sequence[BenchFile]) -> list[BenchRun]:
    """The runs of a report, in the order of its files. Raises BenchError for a file of another kind."""
    runs = []
    for file in files:
        conditions = file.conditions()
        if conditions is None:
            raise BenchError(f"{file.path} holds no results of `sayso replay`.")
        variants: dict[str, list[Measured]] = {}
        for measured in file.last().values():
            variants.setdefault(measured.variant, []).append(measured)
        for variant, found in variants.items():
            ordered = tuple(sorted(found, key=lambda measured: (measured.clip, measured.repeat)))
            runs.append(BenchRun(conditions, tuple(file.sittings()), variant, ordered))
    return runs


def _settings(changes: Mapping[str, Any]) -> str:
    """What differs from the defaults, and matters for the text."""
    told = settings_module.load(paths.settings_file()).settings.changed(changes).of_the_text()
    if "recognition.language" not in changes:
        told.pop("recognition.language", None)  # each clip has its own
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _computer() -> str:
    from engine.cpu.cores import physical_cores

    return f"{platform.system()} {platform.machine()}, {physical_cores()} cores"
