"""Model downloads as jobs: several at once, paused and resumed, alive after the window closes and after a restart.

Threads: each running job has one of its own; everything else is called on any thread. `publish` gets `events.Download`
from the job's thread. What is not finished stands in `downloads.json` in the data folder, and the bytes that have
arrived lie beside the Hub's cache (`engine/hub.py`).
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dictation import paths
from dictation.events import Download
from engine import hub
from engine.catalog import CatalogModel
from engine.errors import EngineError
from engine.files import write_text
from engine.hub import RemoteFile, Wish
from engine.install import install

REPORT_S = 0.1  # at most ten progress events a second and job
Status = Literal["queued", "running", "paused", "verifying", "done", "cancelled", "failed"]
_ENDED: frozenset[Status] = frozenset({"done", "cancelled", "failed"})


@dataclass
class Job:
    """One file on its way, or waiting to be."""

    name: str  # model and quant as `engine.store` will know them: "base:Q8_0"
    file: RemoteFile
    status: Status = "queued"
    received_bytes: int = 0
    bytes_per_s: float = 0.0
    message: str = ""
    wish: Wish = Wish.GO_ON
    thread: threading.Thread | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        return f"{self.file.repo}/{self.file.path}"

    def event(self) -> Download:
        received = min(self.received_bytes, self.file.size_bytes)
        return Download(self.id, self.name, self.status, received, self.file.size_bytes, self.bytes_per_s, self.message)


class Downloads:
    """All downloads of this Sayso.

    on_installed: called with the label of a model that has just become usable, on the job's thread.
    endpoint, cache_dir: another Hub, another cache; None takes the environment's.
    """

    def __init__(
        self,
        publish: Callable[[Download], None],
        on_installed: Callable[[str], None] = lambda label: None,
        endpoint: str | None = None,
        cache_dir: Path | None = None,
    ) -> None:
        self._publish, self._on_installed = publish, on_installed
        self.endpoint, self._cache_dir = endpoint, cache_dir
        self._lock = threading.Lock()
        self._jobs: dict[str, Job] = {}
        for job in _saved():
            self._jobs[job.id] = job

    def jobs(self) -> list[Job]:
        """Copies of all jobs, in the order in which they were asked for."""
        with self._lock:
            return [replace(job, thread=None) for job in self._jobs.values()]

    def start(self, name: str, file: RemoteFile) -> str:
        """Fetch `file`, or go on with it; returns the job's id. One that runs already goes on running."""
        with self._lock:
            job = self._jobs.setdefault(f"{file.repo}/{file.path}", Job(name, file))
            self._run(job)
        self._save()
        return job.id

    def start_catalogued(self, model: CatalogModel, quant: str) -> str:
        """Fetch a model of the catalogue. Asks the Hub first where the catalogue knows no hash."""
        file = model.remote(quant)
        if file.sha256 is None:
            listed = hub.list_files(model.repo, endpoint=self.endpoint)
            file = hub.choose(listed, hub.ModelRef(model.repo, filename=file.path))
        return self.start(f"{model.name}:{quant}", file)

    def resume(self, job_id: str) -> None:
        with self._lock:
            if job := self._jobs.get(job_id):
                self._run(job)

    def pause(self, job_id: str) -> None:
        """Stop and keep what has arrived."""
        self._wish(job_id, Wish.PAUSE)

    def cancel(self, job_id: str) -> None:
        """Stop and drop what has arrived."""
        job = self._wish(job_id, Wish.CANCEL)
        if job is not None and job.thread is None:  # paused or failed: nobody else drops it
            hub.drop_partial(job.file, self._cache_dir)
            self._end(job, "cancelled")

    def close(self) -> None:
        """Pause all, and wait for their threads."""
        for job in self.jobs():
            self.pause(job.id)
        threads = [job.thread for job in self._jobs.values() if job.thread]
        for thread in threads:
            thread.join(hub.STALL_S)

    def _wish(self, job_id: str, wish: Wish) -> Job | None:
        with self._lock:
            job = self._jobs.get(job_id)
            if job is not None and job.status not in _ENDED:
                job.wish = wish
            return job

    def _run(self, job: Job) -> None:
        """Give the job a thread, with the lock held."""
        if job.thread is not None:
            job.wish = Wish.GO_ON
            return
        job.wish, job.status, job.message = Wish.GO_ON, "running", ""
        job.thread = threading.Thread(target=self._fetch, args=(job,), name="download", daemon=True)
        job.thread.start()

    def _fetch(self, job: Job) -> None:
        last = [0.0]

        def progress(now: hub.Progress) -> None:
            job.received_bytes, job.bytes_per_s = now.done_bytes, now.bytes_per_s
            if time.monotonic() - last[0] >= REPORT_S:
                last[0] = time.monotonic()
                self._publish(job.event())

        def checking() -> None:
            job.status = "verifying"
            self._publish(job.event())

        self._publish(job.event())
        try:
            pulled = install(
                job.file,
                job.name.partition(":")[0],
                on_progress=progress,
                on_checking=checking,
                wish=lambda: job.wish,
                endpoint=self.endpoint,
                cache_dir=self._cache_dir,
            )
            if pulled.path is not None:
                job.received_bytes = job.file.size_bytes
                self._end(job, "done")
                self._on_installed(job.name)
            else:
                self._end(job, "paused" if pulled.outcome == "paused" else "cancelled")
        except EngineError as error:
            self._end(job, "failed", str(error))
        except OSError as error:
            self._end(job, "failed", f"The download can't be written: {error.strerror or error}.")
        except Exception as error:  # noqa: BLE001 - top of the thread; else it would look as if it went on
            self._end(job, "failed", f"A fault in Sayso: {type(error).__name__}: {error}")

    def _end(self, job: Job, status: Status, message: str = "") -> None:
        with self._lock:
            job.status, job.message, job.bytes_per_s, job.thread = status, message, 0.0, None
            if status in ("done", "cancelled"):
                self._jobs.pop(job.id, None)
        self._save()
        self._publish(job.event())

    def _save(self) -> None:
        """As far as the disk lets it: a full one must not cost the download itself."""
        with self._lock, suppress(OSError):
            open_jobs = [{"name": job.name, "file": hub.plan(job.file)} for job in self._jobs.values()]
            write_text(_file(), json.dumps(open_jobs, indent=1))


def _file() -> Path:
    return paths.data_dir() / "downloads.json"


def _saved() -> list[Job]:
    """Downloads that an earlier run left, as paused; a damaged file is as good as none."""
    try:
        return [Job(j["name"], hub.from_plan(j["file"]), "paused") for j in json.loads(_file().read_text("utf-8"))]
    except (OSError, ValueError, TypeError, KeyError):
        return []
