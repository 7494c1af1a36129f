"""The tray icon and its menu. Shows a `Glance`, sends commands; where there is no tray, `ui/main.py` shows a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from dictation import events
from dictation.events import Microphone
from dictation.glance import Face, Glance
from engine import store
from ui import theme
from ui.core import Core
from ui.sentences import say

FIRST_WORDS = 32  # characters of a text that a menu shows
LAST_TEXTS = 5


class TrayMenu(QMenu):
    """Its own class, so that `theme.show_edges` reaches it and no other menu."""


class Tray(QObject):
    """Owns the icon and the menu.

    open_window: called with "settings", "history", "models" or "main".
    languages: (code, name) pairs for the language menu.
    """

    def __init__(
        self,
        core: Core,
        open_window: Callable[[str], None],
        languages: Sequence[tuple[str, str]],
        quit_app: Callable[[], None],
    ) -> None:
        super().__init__()
        self._core, self._open, self._languages, self._quit = core, open_window, languages, quit_app
        self._glance = Glance()
        self._texts: list[str] = []
        self._microphones: tuple[Microphone, ...] = ()
        self.icon = QSystemTrayIcon(theme.icon(Face.IDLE.value))
        self.menu = TrayMenu()
        self._build()
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self.see(self._glance)

    def speak_anew(self) -> None:
        """Everything in the language that is in force now."""
        _empty(self.menu)
        self._build()
        self.see(self._glance)

    def _build(self) -> None:
        self._dictate = self._action(self.tr("Dictate"), self._toggle)
        self._cancel = self._action(self.tr("Cancel"), lambda: self._core.send(events.Cancel()))
        self.menu.addSeparator()
        self._again = self._action(self.tr("Insert again"), lambda: self._core.send(events.InsertAgain()))
        self._last = self._submenu(self.tr("Last texts"), self._fill_texts)
        self.menu.addSeparator()
        self._model = self._submenu(self.tr("Model"), self._fill_models)
        self._language = self._submenu(self.tr("Language"), self._fill_languages)
        self._microphone = self._submenu(self.tr("Microphone"), self._fill_microphones)
        self._pause = self._action(self.tr("Pause hotkeys"), self._toggle_hotkeys)
        self._pause.setCheckable(True)
        self.menu.addSeparator()
        self._action(self.tr("History…"), lambda: self._open("history"))
        self._action(self.tr("Settings…"), lambda: self._open("settings"))
        self.menu.addSeparator()
        self._action(self.tr("Quit"), self._quit)

    def _action(self, text: str, act: Callable[[], Any]) -> QAction:
        action = QAction(text, self.menu)
        action.triggered.connect(lambda checked=False: act())
        self.menu.addAction(action)
        return action

    def _submenu(self, text: str, fill: Callable[[QMenu], None]) -> QMenu:
        """A menu that is filled when it opens, so that it costs nothing before."""
        menu = QMenu(text, self.menu)
        menu.aboutToShow.connect(lambda: (_empty(menu), fill(menu)))
        self.menu.addMenu(menu)
        return menu

    # ------------------------------------------------------------------------------------------------------ what shows

    def see(self, glance: Glance) -> None:
        """Show this state; an icon is drawn anew only when its shape changes."""
        changed = glance.face is not self._glance.face or self.icon.toolTip() == ""
        self._glance = glance
        if changed:
            self.refresh_icon()
        self.icon.setToolTip(f"Sayso: {say(glance.words)}")
        recording = glance.face in (Face.OPENING, Face.LISTENING)
        self._dictate.setText(self.tr("Stop") if recording else self.tr("Dictate"))
        self._cancel.setEnabled(recording or glance.face is Face.WORKING)
        self._pause.setChecked(glance.hotkeys_paused)
        text = glance.last_text
        self._again.setEnabled(bool(text))
        self._again.setText(
            self.tr("Insert again: {words}").format(words=_short(text)) if text else self.tr("Insert again")
        )

    def refresh_icon(self) -> None:
        """Draw the icon in the colour that the theme wants: after a change of shape or of theme."""
        self.icon.setIcon(face_icon(Face.IDLE if self._glance.face is Face.DONE else self._glance.face))

    def heard(self, event: events.Event) -> None:
        """What the menus need to know."""
        if isinstance(event, events.TextDelivered) and event.text:
            self._texts = [event.text, *self._texts][:LAST_TEXTS]
        elif isinstance(event, events.MicrophonesListed):
            self._microphones = event.microphones

    def notify(self, title: str, message: str) -> None:
        """A notification of the desktop, for what must be seen when nothing of ours is on screen."""
        self.icon.showMessage(title, message, theme.app_icon(), 8000)

    # ------------------------------------------------------------------------------------------------------- the menus

    def _fill_texts(self, menu: QMenu) -> None:
        for text in self._texts:
            action = menu.addAction(theme.icon("copy"), _short(text))
            action.triggered.connect(lambda checked=False, t=text: QGuiApplication.clipboard().setText(t))
        if not self._texts:
            menu.addAction(self.tr("Nothing yet")).setEnabled(False)

    def _fill_models(self, menu: QMenu) -> None:
        group = QActionGroup(menu)
        models = store.installed()
        in_use = next((m for m in models if self._glance.model in (m.label, m.name, str(m.path))), None)
        for model in models:
            action = menu.addAction(f"{model.name} {model.quant}")
            action.setCheckable(True)
            action.setChecked(model is in_use)
            action.setActionGroup(group)
            action.triggered.connect(lambda checked=False, m=model.label: self._core.send(events.UseModel(m)))
        menu.addSeparator()
        menu.addAction(self.tr("Get more…")).triggered.connect(lambda: self._open("models"))

    def _fill_languages(self, menu: QMenu) -> None:
        chosen = self._core.settings["recognition.language"]
        mine = set(self._core.settings["recognition.my_languages"])

        def add(where: QMenu, group: QActionGroup, code: str, name: str) -> None:
            action = where.addAction(name)
            action.setCheckable(True)
            action.setChecked(code == chosen)
            action.setActionGroup(group)
            change = events.ChangeSettings({"recognition.language": code})
            action.triggered.connect(lambda checked=False: self._core.send(change))

        group = QActionGroup(menu)
        add(menu, group, "auto", self.tr("Automatic, among mine") if mine else self.tr("Automatic"))
        menu.addSeparator()
        for code, name in self._languages:
            if code in mine or code == chosen:
                add(menu, group, code, name)
        every = menu.addMenu(self.tr("All"))
        group = QActionGroup(every)
        for code, name in self._languages:
            add(every, group, code, name)

    def _fill_microphones(self, menu: QMenu) -> None:
        self._core.send(events.ListMicrophones())  # for the next opening; the menu shows what is known
        chosen = self._core.settings["microphone.device"]
        group = QActionGroup(menu)
        for name, label in [("", self.tr("The system's default")), *((m.name, m.label) for m in self._microphones)]:
            action = menu.addAction(label)
            action.setCheckable(True)
            action.setChecked(name == chosen)
            action.setActionGroup(group)
            change = events.ChangeSettings({"microphone.device": name})
            action.triggered.connect(lambda checked=False, c=change: self._core.send(c))

    # ---------------------------------------------------------------------------------------------------------- actions

    def _toggle(self) -> None:
        self._core.send(events.Toggle("tray"))

    def _toggle_hotkeys(self) -> None:
        self._core.send(events.PauseHotkeys(not self._glance.hotkeys_paused))

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.Trigger:
            self._open("main")


def face_icon(face: Face) -> QIcon:
    """A state's icon in the colour that the theme wants. Drawn at its first use, which takes some milliseconds."""
    return theme.icon(face.value, theme.face_colour(face, QGuiApplication.palette()))


def _empty(menu: QMenu) -> None:
    """Take all out, with what `clear` leaves behind."""
    menu.clear()
    for left in (*menu.findChildren(QMenu), *menu.findChildren(QActionGroup)):
        left.deleteLater()


def _short(text: str) -> str:
    """The first words of a text on one line, with “&” kept from being a shortcut."""
    line = " ".join(text.split())
    short = line if len(line) <= FIRST_WORDS else line[: FIRST_WORDS - 1].rstrip() + "…"
    return short.replace("&", "&&")
