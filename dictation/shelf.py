"""What can be done with models from the settings: pull, use, delete with a way back, import, calibrate.

Work that takes time runs on threads of its own; what comes of it is published as events.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dictation import calibrate, events
from dictation.downloads import Downloads
from dictation.errors import DictationError
from dictation.events import Command, Event
from dictation.model_facts import free_memory_bytes
from engine import catalog, hub, remote, store
from engine.adopt import import_any
from engine.catalog import CatalogModel
from engine.errors import EngineError
from engine.install import name_of

UNDO_S = 10.0
DELETED = ".deleted"  # behind the name of a file that can still come back


@dataclass(frozen=True)
class Deleted:
    """A deleted model that can still come back."""

    model: store.InstalledModel
    kept: Path | None  # where its file waits; None for a registered file, which was never touched


class Shelf:
    """send: the loop's; publish: gets events on any thread; changed: called when what is installed has changed."""

    def __init__(
        self,
        send: Callable[[Command], None],
        publish: Callable[[Event], None],
        changed: Callable[[], None] = lambda: None,
        downloads: Downloads | None = None,
        endpoint: str | None = None,
    ) -> None:
        self._send, self._publish, self._changed = send, publish, changed
        self.downloads = downloads or Downloads(publish, lambda label: changed(), endpoint)
        self._deleted: Deleted | None = None
        self._timer: threading.Timer | None = None
        _sweep()

    def download(self, model: CatalogModel, quant: str) -> None:
        self._in_background(lambda: self.downloads.start_catalogued(model, quant))

    def pull(self, reference: str) -> None:
        """Fetch by name: the catalogue's, or owner/name with or without a quant."""

        def work() -> None:
            known = catalog.find(reference.partition(":")[0])
            if known is not None:
                self.downloads.start_catalogued(known, reference.partition(":")[2] or "Q8_0")
                return
            file = remote.choose(hub.parse_ref(reference), self.downloads.endpoint, free_memory_bytes())
            name = name_of(file)
            self.downloads.start(f"{name}:{file.quant}" if file.quant else name, file)

        self._in_background(work)

    def pause(self, job: str) -> None:
        self.downloads.pause(job)

    def resume(self, job: str) -> None:
        self.downloads.resume(job)

    def cancel(self, job: str) -> None:
        self.downloads.cancel(job)

    def waiting(self) -> list[events.Download]:
        """Downloads that are not finished, from earlier runs too."""
        return [job.event() for job in self.downloads.jobs()]

    def use(self, label: str) -> None:
        self._send(events.ChangeSettings({"recognition.model": label}))

    def unload(self) -> None:
        self._send(events.UnloadModel())

    def delete(self, label: str) -> None:
        """Delete a model; it can come back for ten seconds."""
        self.forget()
        model = next((m for m in store.installed() if m.label == label), None)
        if model is None:
            self._publish(events.Notice("model", f"{label} is not installed any more.", "warning"))
            return
        kept = None
        try:
            if model.path.parent == store.models_dir():
                kept = model.path.with_name(f".{model.path.name}{DELETED}")
                model.path.rename(kept)
            else:
                store.remove(label)
        except (EngineError, OSError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            self._publish(events.Notice("model", f"{label} can't be deleted: {why}.", "error"))
            return
        self._deleted = Deleted(model, kept)
        self._timer = threading.Timer(UNDO_S, self.forget)
        self._timer.daemon = True
        self._timer.start()
        self._changed()

    def undo_delete(self) -> None:
        gone, self._deleted = self._deleted, None
        if gone is None:
            return
        if gone.kept is None:
            store.register(gone.model.path, gone.model.name, gone.model.quant)
        else:
            gone.kept.rename(gone.model.path)
        self._changed()

    def forget(self) -> None:
        """Undo is over."""
        gone, self._deleted = self._deleted, None
        if self._timer is not None:
            self._timer.cancel()
        if gone is not None and gone.kept is not None:
            gone.kept.unlink(missing_ok=True)

    def import_file(self, path: Path) -> None:
        """A file or the folder of a model, or a folder of many, as another app or the Hub's cache has them."""
        self._in_background(lambda: (import_any(path), self._changed()))

    def calibrate(self, label: str) -> None:
        self._in_background(lambda: (calibrate.measure(label), self._changed()))

    def close(self) -> None:
        self.forget()
        self.downloads.close()

    def _in_background(self, work: Callable[[], object]) -> None:
        def run() -> None:
            try:
                work()
            except (EngineError, DictationError, OSError) as error:
                self._publish(events.Notice("model", str(error), "error", ("choose_model",)))
            except Exception as error:  # noqa: BLE001 - top of the thread; else nothing would seem to happen
                fault = f"A fault in Sayso: {type(error).__name__}: {error}"
                self._publish(events.Notice("model", fault, "error"))

        threading.Thread(target=run, name="shelf", daemon=True).start()


def _sweep() -> None:
    """Remove what a Sayso that was killed could not forget any more."""
    for path in store.models_dir().glob(f".*{DELETED}"):
        with suppress(OSError):
            if time.time() - path.lstat().st_ctime >= UNDO_S:  # of its renaming
                path.unlink()
