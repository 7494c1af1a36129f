"""The first steps: microphone, permissions, model, hotkey, a try. Can be left at any step and goes on there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from dictation import events, model_facts
from dictation.doctor import Finding
from dictation.events import Level
from dictation.glance import LOUD_DBFS, QUIET_DBFS
from dictation.settings import BY_KEY
from engine import store
from engine.catalog import CatalogModel, Recommendation
from ui import keynames, theme
from ui.bridge import to_main
from ui.core import Core
from ui.sentences import say
from ui.settings import editors
from ui.settings.editors import ChoiceEditor
from ui.settings.hotkey import HotkeyEditor
from ui.settings.models import DownloadRow, ModelActions
from ui.settings.quant_picker import QuantPicker, megabytes
from ui.welcome import STEP_KEY, STEPS
from ui.widgets import Card, button, heading, side_by_side

CHECKS = ("display", "typing", "microphone", "runtime")
SIZE = QSize(680, 560)


class Advice(Protocol):
    """Asks the doctor and says what it recommends; another one stands in for a test's computer."""

    def examine(self) -> list[Finding]: ...
    def recommendation(self) -> tuple[CatalogModel, Recommendation]: ...


class ThisComputer:
    def examine(self) -> list[Finding]:
        from dictation import doctor

        return doctor.examine(CHECKS)

    def recommendation(self) -> tuple[CatalogModel, Recommendation]:
        return model_facts.recommendation()


class Meter(QWidget):
    """A bar as long as the voice is loud."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(12)
        self.level = 0.0
        self.setAccessibleName(self.tr("Loudness"))

    def show_level(self, rms_dbfs: float) -> None:
        self.level = min(1.0, max(0.0, (rms_dbfs - QUIET_DBFS) / (LOUD_DBFS - QUIET_DBFS)))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        accent = theme.colour("accent", self.palette())
        painter.setBrush(theme.faded(accent, 0.2))
        painter.drawRoundedRect(QRectF(self.rect()), 6, 6)
        painter.setBrush(accent)
        bar = QRectF(0, 0, max(12.0, self.width() * self.level), 12)
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            bar.moveRight(self.width())
        painter.drawRoundedRect(bar, 6, 6)
        painter.end()


class Step(QWidget):
    """One step: its title, why it is there in one line, and its content."""

    def __init__(self, name: str, title: str, why: str) -> None:
        super().__init__()
        self.setObjectName(f"step:{name}")
        self.title = title
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(theme.PAGE_GAP, theme.PAGE_GAP, theme.PAGE_GAP, theme.WIDE_GAP)
        self.column.setSpacing(theme.WIDE_GAP)
        self.column.addWidget(heading(title, 1.4))
        self.column.addWidget(theme.Quiet(why))

    def enter(self) -> None:
        """The step comes to the front."""

    def leave(self) -> None:
        """It goes, for another step or with the window."""

    def see(self, event: events.Event) -> None: ...


class MicrophoneStep(Step):
    def __init__(self, core: Core) -> None:
        super().__init__(
            "microphone",
            self.tr("Can Sayso hear you?"),
            self.tr("Say something: the bar should move. Then listen whether it is you. Nothing of it is kept."),
        )
        self._core = core
        self._devices = ChoiceEditor(BY_KEY["microphone.device"], [("", self.tr("The system's default"))])
        self._devices.set_value(core.settings["microphone.device"])
        self._devices.edited.connect(self._chosen)
        self.meter = Meter()
        self._words = theme.Label(self.tr("Waiting for your voice…"))
        self._words.setObjectName("heard")
        self._words.setWordWrap(True)
        self.column.addWidget(self._devices)
        self.column.addWidget(self.meter)
        self._listen = button(self.tr("Is this you? Play it back"), lambda: core.send(events.PlayTest()))
        self._listen.setObjectName("microphone:play")
        self._listen.setEnabled(False)
        self.column.addWidget(self._words)
        self.column.addLayout(side_by_side(self._listen))
        self.column.addStretch(1)

    def enter(self) -> None:
        self._core.send(events.ListMicrophones())
        self._core.send(events.TestMicrophone(True))

    def leave(self) -> None:
        self._core.send(events.TestMicrophone(False))

    def _chosen(self) -> None:
        self._core.send(events.ChangeSettings({"microphone.device": self._devices.value()}))

    def see(self, event: events.Event) -> None:
        if isinstance(event, Level) and event.take == 0:
            self.meter.show_level(event.rms_dbfs)
            if event.speech or self.meter.level > 0.4:
                self._words.setText(self.tr("Sayso hears you."))
                self._listen.setEnabled(True)
        elif isinstance(event, events.MicrophonesListed):
            pairs = [("", self.tr("The system's default")), *((m.name, m.label) for m in event.microphones)]
            self._devices.set_pairs(pairs)
        elif isinstance(event, events.Notice) and event.code.startswith("microphone"):
            self._words.setText(say(event.message))


class PermissionsStep(Step):
    """What the doctor finds; asked anew each time the step comes up, on a thread of its own."""

    def __init__(self, advice: Advice) -> None:
        super().__init__(
            "permissions",
            self.tr("What this computer allows"),
            self.tr("Sayso listens to a key, to the microphone, and types into other windows. This is what works."),
        )
        self._advice = advice
        self._found = to_main(self.show_findings)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(theme.GAP)
        self._rows.addWidget(theme.Quiet(self.tr("Looking…")))
        self.column.addLayout(self._rows)
        self.column.addLayout(side_by_side(button(self.tr("Check again"), self.enter)))
        self.column.addStretch(1)

    def enter(self) -> None:
        found, examine = self._found, self._advice.examine
        threading.Thread(target=lambda: found(examine()), name="doctor", daemon=True).start()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        for finding in findings:
            self._rows.addWidget(_FindingRow(finding))


class _FindingRow(QWidget):
    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.setObjectName(f"finding:{finding.check}")
        title = QCoreApplication.translate("doctor", finding.check.capitalize())
        state = {"ok": self.tr("works"), "warning": self.tr("works in part"), "problem": self.tr("does not work")}
        self._face, self._status = QLabel(), finding.status
        self._face.setFixedWidth(24)
        self._face.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._draw()
        words = theme.Label(f"{title}: {state[finding.status]}")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._face)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(words)
        column.addWidget(theme.Quiet(_detail(finding)))
        row.addLayout(column, 1)

    def _draw(self) -> None:
        name, colour = {"ok": ("tick", "good"), "warning": ("held", "amber"), "problem": ("error", "red")}[self._status]
        self._face.setPixmap(theme.icon(name, theme.colour(colour, self.palette())).pixmap(20, 20))


def _detail(finding: Finding) -> str:
    """What to do, else what is there; how typing works is for the diagnostics."""
    return say(finding.advice or ("" if finding.status == "ok" and finding.check == "typing" else finding.found))


class ModelStep(Step):
    """The recommended model with its reason, and all quants of it one click away."""

    def __init__(self, core: Core, actions: ModelActions, advice: Advice) -> None:
        super().__init__(
            "model",
            self.tr("Choose a model"),
            self.tr("The model turns sound into words, on this computer only. You can change it at any time."),
        )
        self._core, self._actions = core, actions
        self.model, self._pick = advice.recommendation()
        self._state = theme.Label()
        self._state.setObjectName("model:state")
        self._state.setWordWrap(True)
        card = Card("recommended")
        file = self.model.file(self._pick.quant)
        card.column.addWidget(heading(f"{self.model.name} {self._pick.quant}"))
        card.column.addWidget(theme.Quiet(f"{megabytes(file.size_bytes)}. {say(self.model.sentence)}"))
        card.column.addWidget(theme.Quiet(say(self._pick.reason)))
        self._get = button(self.tr("Download"), self._take)
        self._get.setObjectName("model:get")
        self._more = button(self.tr("Other quants"), self._open)
        self._more.setObjectName("model:more")
        card.column.addLayout(side_by_side(self._get, self._more))
        self._downloads = QVBoxLayout()
        self._row: DownloadRow | None = None
        self.picker: QuantPicker | None = None
        self.column.addWidget(self._state)
        self.column.addWidget(card)
        self.column.addLayout(self._downloads)
        self.column.addStretch(1)

    def enter(self) -> None:
        labels = [m.label for m in store.installed()]
        label = f"{self.model.name}:{self._pick.quant}"
        self._get.setText(self.tr("Use now") if label in labels else self.tr("Download"))
        if labels:
            self._state.setText(self.tr("Installed: {models}.").format(models=", ".join(labels)))
        else:
            self._state.setText(self.tr("No model is installed yet."))
        if self.picker is not None:
            self.picker.show_rows(model_facts.rows(self.model))

    refresh = enter

    def _take(self) -> None:
        label = f"{self.model.name}:{self._pick.quant}"
        if label in [m.label for m in store.installed()]:
            self._actions.use(label)
        else:
            self._actions.download(self.model, self._pick.quant)

    def _open(self) -> None:
        if self.picker is None:
            picker = QuantPicker(model_facts.rows(self.model))
            picker.download.connect(lambda quant: self._actions.download(self.model, quant))
            picker.use.connect(lambda quant: self._actions.use(f"{self.model.name}:{quant}"))
            picker.delete.connect(lambda quant: self._actions.delete(f"{self.model.name}:{quant}"))
            self.column.insertWidget(self.column.count() - 1, picker)
            self.picker = picker
        self._more.hide()

    def see(self, event: events.Event) -> None:
        if not isinstance(event, events.Download):
            return
        if event.status in ("done", "cancelled"):
            if self._row is not None:
                self._downloads.removeWidget(self._row)
                self._row.deleteLater()
                self._row = None
            if event.status == "done" and not self._core.settings["recognition.model"]:
                self._actions.use(event.name)
            self.enter()
        elif self._row is None:
            self._row = DownloadRow(event, self._actions)
            self._downloads.addWidget(self._row)
        else:
            self._row.show_event(event)


class HotkeyStep(Step):
    def __init__(self, core: Core) -> None:
        super().__init__(
            "hotkey",
            self.tr("Choose a key"),
            self.tr("Hold it while you speak, in any window. Click the button and press the key you want."),
        )
        self._core = core
        self.editor = HotkeyEditor(BY_KEY["hotkeys.dictate"], self._others)
        self.editor.set_value(core.settings["hotkeys.dictate"])
        self.editor.edited.connect(self._edited)
        self.editor.recording.connect(lambda on: core.send(events.PauseHotkeys(on)))
        row = QHBoxLayout()
        row.addWidget(self.editor, 1)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addStretch(1)

    def _others(self) -> dict[str, str]:
        return {
            editors.say(BY_KEY[key].label): self._core.settings[key]
            for key in ("hotkeys.cancel", "hotkeys.insert_again")
        }

    def _edited(self) -> None:
        self._core.send(events.ChangeSettings({"hotkeys.dictate": self.editor.value()}))


class TryStep(Step):
    """A text box to dictate into; tells the time between letting go and the text."""

    def __init__(self, core: Core) -> None:
        super().__init__(
            "try", self.tr("Try it"), self.tr("Your words appear in this box, as they will in every other window.")
        )
        self._core = core
        self._ms: float | None = None
        self._how = theme.Label()
        self._how.setWordWrap(True)
        self._box = QPlainTextEdit()
        self._box.setAccessibleName(self.tr("Dictate here"))
        self._box.setTabChangesFocus(True)
        self._time = theme.Label()
        self._time.setObjectName("time")
        self._time.setWordWrap(True)
        self.column.addWidget(self._how)
        self.column.addWidget(self._box, 1)
        self.column.addWidget(self._time)

    def enter(self) -> None:
        key = self._core.settings["hotkeys.dictate"]
        self._how.setText(self.tr("Hold {key}, say a sentence, let go.").format(key=keynames.shown(key)))
        self._box.setFocus()

    def see(self, event: events.Event) -> None:
        match event:
            case events.FinalText():
                self._ms = event.release_to_text_ms
            case events.TextDelivered() if self._ms is not None:
                seconds = (self._ms + event.deliver_ms) / 1000
                if event.outcome == "delivered":
                    self._time.setText(
                        self.tr("Typed {seconds} s after you let go.").format(seconds=theme.number(seconds, 2))
                    )
                else:
                    self._time.setText(self.tr("Not typed: {why}").format(why=say(event.evidence)))
            case events.NothingHeard() | events.Failed():
                self._time.setText(say(event.message))


class Dots(QWidget):
    """How far one is."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(STEPS * 16, 12)
        self.step = 0

    def show_step(self, step: int) -> None:
        self.step = step
        self.setAccessibleName(self.tr("Step {step} of {steps}").format(step=step + 1, steps=STEPS))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        ink = self.palette().color(QPalette.ColorRole.WindowText)
        for i in range(STEPS):
            painter.setPen(theme.faded(ink, 0.6))
            painter.setBrush(theme.colour("accent", self.palette()) if i <= self.step else Qt.BrushStyle.NoBrush)
            mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            painter.drawEllipse(QRectF((STEPS - 1 - i if mirrored else i) * 16 + 4, 2, 8, 8))
        painter.end()


class Onboarding(QWidget):
    """The window."""

    def __init__(self, core: Core, actions: ModelActions, advice: Advice | None = None) -> None:
        super().__init__()
        advice = advice or ThisComputer()
        self._core = core
        self.setObjectName("onboarding")
        self.setWindowTitle(self.tr("Welcome to Sayso"))
        self.setWindowIcon(theme.app_icon())
        self.resize(SIZE)
        self.steps: list[Step] = [
            MicrophoneStep(core),
            PermissionsStep(advice),
            ModelStep(core, actions, advice),
            HotkeyStep(core),
            TryStep(core),
        ]
        self._stack = QStackedWidget()
        for step in self.steps:
            self._stack.addWidget(_scrolling(step))
        self._dots = Dots()
        self._back = button(self.tr("Back"), lambda: self.go(self.step - 1))
        self._skip = button(self.tr("Skip all"), self._finish)
        self._next = button("", self._forward)
        for name, made in (("back", self._back), ("skip", self._skip), ("next", self._next)):
            made.setObjectName(f"onboarding:{name}")
        self._next.setDefault(True)
        self._skip.setFlat(True)
        self._build()
        self.step = -1
        self.go(min(int(core.settings[STEP_KEY]), STEPS - 1), save=False)

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setContentsMargins(theme.PAGE_GAP, 0, theme.PAGE_GAP, theme.WIDE_GAP)
        row.addWidget(self._dots)
        row.addStretch(1)
        row.addWidget(self._skip)
        row.addWidget(self._back)
        row.addWidget(self._next)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._stack, 1)
        column.addLayout(row)

    def go(self, step: int, save: bool = True) -> None:
        """Bring a step to the front; how far one got is kept."""
        if self.isVisible():
            self.steps[self.step].leave()
        self.step = step
        self._stack.setCurrentIndex(step)
        self._dots.show_step(step)
        self._back.setEnabled(step > 0)
        self._skip.setVisible(step < STEPS - 1)  # on the last one it would do what “Done” does
        self._next.setText(self.tr("Done") if step == STEPS - 1 else self.tr("Next"))
        if save:
            self._core.send(events.ChangeSettings({STEP_KEY: step}))
        if self.isVisible():
            self.steps[step].enter()

    def _forward(self) -> None:
        if self.step == STEPS - 1:
            self._finish()
        else:
            self.go(self.step + 1)

    def _finish(self) -> None:
        self._core.send(events.ChangeSettings({STEP_KEY: STEPS}))
        self.close()

    def see(self, event: events.Event) -> None:
        if self.isVisible():
            self.steps[self.step].see(event)
            if isinstance(event, events.Download) and not isinstance(self.steps[self.step], ModelStep):
                self.steps[2].see(event)

    def refresh(self) -> None:
        """Models came or went."""
        model = self.steps[2]
        if isinstance(model, ModelStep):
            model.refresh()

    def showEvent(self, event: object) -> None:
        self.steps[self.step].enter()

    def hideEvent(self, event: object) -> None:
        self.steps[self.step].leave()


def _scrolling(step: Step) -> QScrollArea:
    area = QScrollArea()
    area.setAccessibleName(step.title)  # it takes the focus, for the keys that scroll
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(step)
    return area
