"""The models page: the one in use, installed ones, and all that can be had, each opening into its quant picker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QInputDialog,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dictation import events, model_facts
from dictation.events import Download
from engine import catalog, store
from engine.catalog import CatalogModel
from ui import theme
from ui.sentences import say
from ui.settings.quant_picker import QuantPicker, megabytes
from ui.widgets import Card, Reflow, button, heading, side_by_side

# how a model can be, for a reason that is shown with it; a failure's is all there is to show
EXPLAINED = (events.ModelStatus.LOADING, events.ModelStatus.WARMING, events.ModelStatus.UNLOADED)


class ModelActions(Protocol):
    """What the page asks for; `dictation/models.py` and `dictation/downloads.py` do it."""

    def download(self, model: CatalogModel, quant: str) -> None: ...
    def pull(self, reference: str) -> None: ...
    def pause(self, job: str) -> None: ...
    def resume(self, job: str) -> None: ...
    def cancel(self, job: str) -> None: ...
    def use(self, label: str) -> None: ...
    def delete(self, label: str) -> None: ...
    def undo_delete(self) -> None: ...
    def import_file(self, path: Path) -> None: ...
    def calibrate(self, label: str) -> None: ...
    def unload(self) -> None: ...
    def waiting(self) -> list[Download]: ...


def _languages(count: int) -> str:
    if count == 1:
        return QCoreApplication.translate("models", "English only")
    return QCoreApplication.translate("models", "{count} languages").format(count=count)


def choose_file(over: QWidget, actions: ModelActions) -> None:
    """Ask for a model file, and import it."""
    title = QCoreApplication.translate("models", "Add a model file")
    name, _ = QFileDialog.getOpenFileName(over, title, "", "*.gguf *.bin *.safetensors *.pt")
    if name:
        actions.import_file(Path(name))


class InUse(Card):
    """The model that dictation uses now."""

    def __init__(self, actions: ModelActions) -> None:
        super().__init__("card:in_use")
        self._actions = actions
        self._label = ""
        self._title, self._state = heading(self.tr("No model in use")), theme.Quiet("")
        calibrate = button(self.tr("Calibrate"), lambda: self._actions.calibrate(self._label))
        unload = button(self.tr("Unload"), self._actions.unload)
        self.column.addWidget(self._title)
        self.column.addWidget(self._state)
        self.column.addLayout(side_by_side(calibrate, unload))

    def show_model(self, event: events.ModelChanged) -> None:
        self._label = event.name
        words = {
            events.ModelStatus.MISSING: self.tr("Not installed: choose one below"),
            events.ModelStatus.LOADING: self.tr("Loading"),
            events.ModelStatus.WARMING: self.tr("Warming up"),
            events.ModelStatus.READY: self.tr("Ready"),
            events.ModelStatus.UNLOADED: self.tr("Unloaded; loads again when you dictate"),
            events.ModelStatus.FAILED: say(event.message),
        }
        self._title.setText(event.name or self.tr("No model in use"))
        parts = [
            words[event.status],
            self.tr("computes on {device}").format(device=event.device) if event.device else "",
            say(event.message) if event.message and event.status in EXPLAINED else "",
        ]
        self._state.setText(" · ".join(p for p in parts if p))


class DownloadRow(QFrame):
    """One download: bar, MB of MB, MB/s, time left, pause and cancel."""

    def __init__(self, event: Download, actions: ModelActions) -> None:
        super().__init__()
        self.setObjectName(f"download:{event.job}")
        self._job, self._actions = event.job, actions
        self._bar, self._words = QProgressBar(), theme.Label()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, 1000)
        self._words.setWordWrap(True)
        self._pause = button(self.tr("Pause"), self._toggle)
        cancel = button(self.tr("Cancel"), lambda: actions.cancel(event.job))
        self._file = button(self.tr("Use a file instead…"), lambda: choose_file(self, actions))
        self._file.setObjectName("download:file")
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._pause)
        row.addWidget(cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(Reflow(self._words, self._file))
        column.addWidget(Reflow(self._bar, buttons))
        self.show_event(event)

    def show_event(self, event: Download) -> None:
        self._running = event.status in ("queued", "running", "verifying")
        if event.total_bytes:
            self._bar.setValue(int(1000 * event.received_bytes / event.total_bytes))
        self._bar.setAccessibleName(self.tr("Download of {name}").format(name=event.name))
        self._words.setText(f"{event.name}: {self._state(event)}")
        self._pause.setText(self.tr("Pause") if self._running else self.tr("Resume"))
        self._file.setVisible(event.status == "failed")

    def _state(self, event: Download) -> str:
        total = event.total_bytes or 0
        of = self.tr("{done} of {total}").format(done=megabytes(event.received_bytes), total=megabytes(total))
        if event.status == "failed":
            return say(event.message)
        if event.status == "paused":
            return self.tr("paused, {of} are kept").format(of=of)
        if event.status == "verifying":
            return self.tr("checking")
        if not event.bytes_per_s:
            return of
        left = (total - event.received_bytes) / event.bytes_per_s
        minutes, seconds = divmod(int(left), 60)
        speed = f"{theme.number(event.bytes_per_s / 1e6, 1)} MB/s"
        return f"{of}, {speed}, " + self.tr("{m}:{s:02d} left").format(m=minutes, s=seconds)

    def _toggle(self) -> None:
        (self._actions.pause if self._running else self._actions.resume)(self._job)


class ModelCard(Card):
    """A catalogued model: one line, opens into its quant picker. Signals: delete(label)."""

    delete = Signal(str)

    def __init__(self, model: CatalogModel, actions: ModelActions) -> None:
        super().__init__(f"card:{model.name}")
        self._model, self._actions = model, actions
        self._picker: QuantPicker | None = None
        self._open = QToolButton()
        self._open.setText(model.name)
        self._open.setCheckable(True)
        self._open.setArrowType(Qt.ArrowType.RightArrow)
        self._open.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._open.setAutoRaise(True)
        self._open.setMinimumHeight(theme.CONTROL_HEIGHT)
        self._open.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # mirrored, Qt draws the arrow over the name
        self._open.setAccessibleName(self.tr("Quants of {model}").format(model=model.name))
        self._open.toggled.connect(self._toggle)
        facts = [model.parameters, _languages(model.languages), model.licence]
        if model.translate:
            facts.append(self.tr("translates to English"))
        top = QHBoxLayout()
        top.addWidget(self._open)
        about = theme.Quiet(" · ".join(facts), trailing=True)
        policy = about.sizePolicy()  # which knows that its height goes by its width
        policy.setHorizontalPolicy(QSizePolicy.Policy.Expanding)
        about.setSizePolicy(policy)
        top.addWidget(about, 1)
        self.column.addLayout(top)
        self.column.addWidget(theme.Quiet(say(model.sentence)))

    def _toggle(self, opened: bool) -> None:
        self._open.setArrowType(Qt.ArrowType.DownArrow if opened else Qt.ArrowType.RightArrow)
        if opened and self._picker is None:
            picker = QuantPicker(model_facts.rows(self._model))
            picker.download.connect(lambda quant: self._actions.download(self._model, quant))
            picker.use.connect(lambda quant: self._actions.use(f"{self._model.name}:{quant}"))
            picker.delete.connect(lambda quant: self.delete.emit(f"{self._model.name}:{quant}"))
            self.column.addWidget(picker)
            self._picker = picker
        if self._picker is not None:
            self._picker.setVisible(opened)

    def open(self) -> None:
        self._open.setChecked(True)

    def refresh(self) -> None:
        """New facts after an installation, a deletion or a calibration."""
        if self._picker is not None:
            self._picker.show_rows(model_facts.rows(self._model))


class ModelsPage(QScrollArea):
    """Everything about models; `see` keeps it up to date."""

    def __init__(self, actions: ModelActions, models: Sequence[CatalogModel] | None = None) -> None:
        super().__init__()
        self.setObjectName("page:models")
        self.setAccessibleName(self.tr("Models"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAcceptDrops(True)
        self._actions = actions
        self._rows: dict[str, DownloadRow] = {}
        self._installed = QVBoxLayout()
        self._downloads = QVBoxLayout()
        self._in_use = InUse(actions)
        self._undo = button(self.tr("Undo"), self._undo_delete)
        self._deleted = theme.Label()
        self._cards = [ModelCard(m, actions) for m in models or catalog.models()]
        self._build()
        self.refresh()
        for job in actions.waiting():
            self._see_download(job)

    def _build(self) -> None:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP)
        column.setSpacing(theme.WIDE_GAP)
        column.addWidget(heading(self.tr("Models"), 1.4))
        column.addWidget(self._in_use)
        column.addLayout(self._downloads)
        undo = QHBoxLayout()
        undo.addWidget(self._deleted, 1)
        undo.addWidget(self._undo)
        column.addLayout(undo)
        self._undo.hide()
        column.addWidget(heading(self.tr("Installed")))
        column.addLayout(self._installed)
        column.addWidget(heading(self.tr("Available")))
        for card in self._cards:
            column.addWidget(card)
            card.delete.connect(self._delete)
        from_hub = button(self.tr("Add from the Hub…"), self._add_from_hub)
        from_file = button(self.tr("Add a file…"), lambda: choose_file(self, self._actions))
        column.addLayout(side_by_side(from_hub, from_file))
        column.addWidget(theme.Quiet(self.tr("Or drop a GGUF or ggml file here, or a folder of models.")))
        column.addStretch(1)
        self.setWidget(holder)

    def refresh(self) -> None:
        """Read again what is installed."""
        while (item := self._installed.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        models = store.installed()
        if not models:
            self._installed.addWidget(theme.Quiet(self.tr("None yet. “base” is a good start.")))
        for model in models:
            self._installed.addWidget(self._installed_row(model))
        for card in self._cards:
            card.refresh()

    def _installed_row(self, model: store.InstalledModel) -> QWidget:
        buttons = QWidget()
        line = QHBoxLayout(buttons)
        line.setContentsMargins(0, 0, 0, 0)
        acts = (
            (self.tr("Use now"), self.tr("Use {model} now"), self._actions.use),
            (self.tr("Calibrate"), self.tr("Calibrate {model}"), self._actions.calibrate),
            (self.tr("Delete"), self.tr("Delete {model}"), self._delete),
        )
        for text, name, act in acts:
            made = button(text, partial(act, model.label))
            made.setAccessibleName(name.format(model=model.label))  # a list of buttons tells them apart
            line.addWidget(made)
        line.addStretch(1)
        words = theme.Label(f"{model.name} {model.quant} · {megabytes(model.size_bytes)}")
        words.setWordWrap(True)
        row = Reflow(words, buttons)
        row.setObjectName(f"installed:{model.label}")
        return row

    def card(self, name: str) -> ModelCard:
        return next(c for c in self._cards if c.objectName() == f"card:{name}")

    def see(self, event: events.Event) -> None:
        if isinstance(event, events.ModelChanged):
            self._in_use.show_model(event)
        elif isinstance(event, Download):
            self._see_download(event)

    def _see_download(self, event: Download) -> None:
        row = self._rows.get(event.job)
        if event.status in ("done", "cancelled"):
            if row is not None:
                self._downloads.removeWidget(row)
                self._rows.pop(event.job).deleteLater()
            self.refresh()
        elif row is None:
            self._rows[event.job] = DownloadRow(event, self._actions)
            self._downloads.addWidget(self._rows[event.job])
        else:
            row.show_event(event)

    def _delete(self, label: str) -> None:
        self._actions.delete(label)
        self._deleted.setText(self.tr("{model} is deleted.").format(model=label))
        self._undo.show()
        self.refresh()

    def _undo_delete(self) -> None:
        self._actions.undo_delete()
        self._undo.hide()
        self._deleted.clear()
        self.refresh()

    def _add_from_hub(self) -> None:
        text, ok = QInputDialog.getText(self, self.tr("Add from the Hub"), self.tr("owner/name, or owner/name:Q8_0"))
        if ok and text.strip():
            self._actions.pull(text.strip())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self._actions.import_file(Path(url.toLocalFile()))
