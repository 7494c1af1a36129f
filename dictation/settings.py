"""The settings: one table that the dialog, the command line, validation and migration all read.

Invariant: a bad value never costs more than itself. A field that can't be used falls back to its default alone, a
damaged line is skipped, an unknown field is kept for the newer version that wrote it, and the file as it was before
the last save lies beside it.
"""

from __future__ import annotations

import codecs
import errno
import glob
import re
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import tomli_w

from dictation.errors import SettingError
from engine.errors import OptionError
from engine.files import write_text
from engine.languages import language_code

SCHEMA_VERSION = 1
KEPT_DAMAGED = 3
Kind = Literal["switch", "whole", "number", "choice", "text", "list", "table"]
Page = Literal[
    "general", "microphone", "hotkeys", "recognition", "rewrite", "insertion", "privacy", "server", "advanced"
]


@dataclass(frozen=True)
class Setting:
    """One row of the table. `kind` says which values there are, `widget` may name a special editor for the dialog."""

    key: str  # "page.name"; the page is the table's name in the file
    kind: Kind
    default: Any
    label: str  # what people see, sentence case
    help: str  # one sentence
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    unit: str = ""
    widget: str = ""  # "microphone", "model", "hotkey", "languages", "replacements", "program_rules", ...
    renamed_from: tuple[str, ...] = ()
    advanced: bool = False
    hidden: bool = False  # kept here, but not for people to edit

    @property
    def page(self) -> str:
        return self.key.partition(".")[0]

    def check(self, value: Any) -> Any:
        """The value in its proper type, or SettingError with a sentence that says what is allowed."""
        checked = _CHECKS[self.kind](value)
        if checked is None:
            raise SettingError(f"{self.key} takes {self.allowed()}, not {value!r}.")
        if self.kind == "choice" and checked not in self.choices:
            raise SettingError(f"{self.key} takes {self.allowed()}, not {value!r}.")
        if self.kind in ("whole", "number") and not self._in_range(checked):
            raise SettingError(f"{self.key} takes {self.allowed()}, not {value!r}.")
        if self.widget in ("language", "languages"):
            return self._codes(checked)
        return checked

    def _codes(self, words: str | tuple[str, ...]) -> str | tuple[str, ...]:
        """Languages by their codes, however they are written."""
        try:
            if isinstance(words, str):
                return words if words == "auto" else language_code(words)
            return tuple(language_code(word) for word in words)
        except OptionError as error:
            raise SettingError(f"{self.key}: {error}") from error

    def _in_range(self, value: float) -> bool:
        return not ((self.least is not None and value < self.least) or (self.most is not None and value > self.most))

    def allowed(self) -> str:
        """What the setting takes, in words."""
        if self.kind == "choice":
            return "one of " + ", ".join(self.choices)
        if self.kind in ("whole", "number"):
            what = "a whole number" if self.kind == "whole" else "a number"
            unit = f" {self.unit}" if self.unit else ""
            return f"{what} from {self.least:g} to {self.most:g}{unit}"
        return {"switch": "true or false", "text": "a text", "list": "a list of texts", "table": "a list of tables"}[
            self.kind
        ]


def _whole(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and value == value else None


def _list(value: Any) -> tuple[str, ...] | None:
    return tuple(value) if isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value) else None


def _table(value: Any) -> tuple[dict[str, Any], ...] | None:
    ok = isinstance(value, (list, tuple)) and all(isinstance(v, Mapping) for v in value)
    return tuple(dict(v) for v in value) if ok else None


_CHECKS: dict[str, Any] = {
    "switch": lambda v: v if isinstance(v, bool) else None,
    "whole": _whole,
    "number": _number,
    "choice": lambda v: v if isinstance(v, str) else None,
    "text": lambda v: v if isinstance(v, str) else None,
    "list": _list,
    "table": _table,
}


def _switch(key: str, default: bool, label: str, help: str, **more: Any) -> Setting:
    return Setting(key, "switch", default, label, help, **more)


def _choice(key: str, choices: str, label: str, help: str, **more: Any) -> Setting:
    """The first choice is the default."""
    words = tuple(choices.split())
    return Setting(key, "choice", words[0], label, help, choices=words, **more)


def _amount(
    key: str, default: float, least: float, most: float, unit: str, label: str, help: str, **more: Any
) -> Setting:
    kind: Kind = "whole" if isinstance(default, int) else "number"
    return Setting(key, kind, default, label, help, least=least, most=most, unit=unit, **more)


TABLE: tuple[Setting, ...] = (
    _switch("general.start_at_login", False, "Start with the computer", "Sayso waits in the tray after you log in."),
    _switch(
        "general.check_for_updates",
        False,
        "Look for a newer Sayso once a day",
        "Reads one small signed file and tells you; it downloads nothing and sends nothing about you.",
    ),
    _choice(
        "general.interface_language",
        "system en de",
        "Language of the interface",
        "Your desktop's, unless you choose one.",
    ),
    _choice("general.theme", "system light dark", "Appearance", "Your desktop's, unless you choose one."),
    _switch("general.show_overlay", True, "Show words while you speak", "A small panel that never takes the focus."),
    _choice(
        "general.overlay_place",
        "bottom top bottom_left bottom_right top_left top_right caret",
        "Place of the panel",
        "The text cursor's place is not known in every program; the bottom is taken there.",
    ),
    _switch("general.sound_ready", True, "Sound when listening", "Played when the microphone really hears."),
    _switch("general.sound_done", False, "Sound when done", "Played when the text has arrived."),
    _switch("general.sound_problem", True, "Sound when held or failed", "Tells you to look at the screen."),
    _amount(
        "general.welcome_step", 0, 0, 5, "", "First steps", "How far the introduction got; 5 is its end.", hidden=True
    ),
    Setting(
        "microphone.device",
        "text",
        "",
        "Microphone",
        "The system's default, unless you choose one.",
        widget="microphone",
    ),
    _amount(
        "microphone.channel", 0, 0, 64, "", "Channel", "0 takes the loudest; a number takes that input of the device."
    ),
    _switch(
        "microphone.keep_warm",
        False,
        "Keep the microphone open between dictations",
        "Catches words spoken just before the key; the microphone light stays on and half a second is kept in memory.",
    ),
    _amount(
        "microphone.tail_ms",
        300,
        200,
        500,
        "ms",
        "Listen on after release",
        "Keeps the end of your last word.",
        advanced=True,
    ),
    Setting("hotkeys.dictate", "text", "Right Ctrl", "Dictate", "Hold it and speak.", widget="hotkey"),
    _choice(
        "hotkeys.mode",
        "tap_or_hold hold toggle",
        "How the key works",
        "Tap or hold: hold to dictate, or tap to start and tap again to stop.",
    ),
    _switch("hotkeys.double_tap_lock", True, "Double tap goes on without holding", "Tap once more to stop."),
    Setting("hotkeys.cancel", "text", "Escape", "Cancel", "Works only while dictating.", widget="hotkey"),
    Setting(
        "hotkeys.insert_again",
        "text",
        "",
        "Insert the last text again",
        "No key, unless you choose one.",
        widget="hotkey",
    ),
    Setting("recognition.model", "text", "", "Model", "The speech model in use.", widget="model"),
    Setting(
        "recognition.language", "text", "auto", "Language", "Auto, or the one you always speak.", widget="language"
    ),
    Setting(
        "recognition.my_languages", "list", (), "My languages", "Auto chooses among these only.", widget="languages"
    ),
    _choice("recognition.task", "transcribe translate", "Task", "Translate writes English whatever you speak."),
    Setting(
        "recognition.vocabulary",
        "list",
        (),
        "Words to know",
        "Names and terms that should be spelled your way.",
        widget="words",
    ),
    _switch("recognition.live_text", True, "Understand while you speak", "Off saves work until you let go."),
    _choice("recognition.device", "auto cpu gpu", "Compute on", "Auto takes the fastest that works here."),
    _amount("recognition.hands_free_silence_s", 1.5, 0.5, 10.0, "s", "End after silence", "For hands-free dictation."),
    _amount(
        "recognition.max_length_min",
        30,
        1,
        240,
        "min",
        "Longest dictation",
        "Then it stops by itself; the text is kept.",
    ),
    _amount(
        "recognition.unload_after_min",
        0,
        0,
        1440,
        "min",
        "Free the model's memory when idle",
        "0 keeps it ready until memory is short.",
    ),
    _switch("rewrite.remove_fillers", True, "Leave out filler sounds", "“Um” and “uh”, where they are no words."),
    _switch(
        "rewrite.spoken_commands", True, "Spoken commands", "“New line”, “new paragraph”, “scratch that”, “all caps”."
    ),
    _switch("rewrite.spoken_punctuation", False, "Spoken punctuation", "“Comma”, “question mark” become marks."),
    _choice("rewrite.numbers", "as_recognised digits", "Numbers", "Digits writes “twenty-five” as 25."),
    Setting(
        "rewrite.replacements",
        "table",
        (),
        "Replacements",
        "Your spellings, applied to every text.",
        widget="replacements",
    ),
    _choice(
        "rewrite.casing", "as_recognised lower_case upper_case", "Letter case", "As the model writes it, or one case."
    ),
    _switch("rewrite.final_stop", True, "Full stop at the end", "Off suits chats: a single sentence ends without one."),
    _switch("rewrite.smart_leading_space", True, "Space between dictations", "Put in where the last text just ended."),
    Setting("rewrite.trailing_text", "text", "", "Put after each text", "For example a space or a line break."),
    _choice("insertion.method", "auto paste keys", "Insert by", "Auto pastes where that is safe and types elsewhere."),
    _switch(
        "insertion.hold_on_doubt", True, "Hold the text when the window changed", "It waits on the clipboard instead."
    ),
    _switch(
        "insertion.newline_is_enter", False, "A new line presses Enter", "Off inserts a line break without sending."
    ),
    Setting(
        "insertion.programs",
        "table",
        (),
        "Rules per program",
        "Paste or type, and what follows the text.",
        widget="program_rules",
    ),
    _switch("privacy.keep_history", True, "Keep a history of texts", "On this computer only."),
    _amount("privacy.history_days", 30, 0, 3650, "days", "Keep texts for", "0 keeps them until you delete them."),
    _switch("privacy.keep_audio", False, "Keep the audio of dictations", "To listen again or to recognise it again."),
    _amount("privacy.audio_days", 7, 0, 3650, "days", "Keep audio for", "0 keeps it until you delete it."),
    _amount("privacy.audio_count", 100, 0, 100000, "", "Keep at most so many recordings", "0 sets no limit."),
    _switch(
        "server.enabled", False, "Let other programs dictate", "Programs of yours that know the token; no web page."
    ),
    _amount("server.port", 7296, 1024, 65535, "", "Port", "Where it listens on this computer."),
    Setting("server.host", "text", "127.0.0.1", "Address", "127.0.0.1: this computer only.", advanced=True),
    Setting("server.names", "list", (), "Names of this computer", "That others reach it by, beside its address."),
    _choice("advanced.log_level", "info warning debug", "Log", "What was said is never in it.", advanced=True),
    Setting("advanced.hub_endpoint", "text", "", "Model hub address", "Empty: huggingface.co.", advanced=True),
)
_NOT_OF_THE_TEXT = frozenset({"recognition.model", "recognition.device", "recognition.live_text"})
BY_KEY: dict[str, Setting] = {setting.key: setting for setting in TABLE}


_UNREADABLE = (tomllib.TOMLDecodeError, RecursionError)  # the latter by thousands of nested brackets


class Settings(Mapping[str, Any]):
    """Checked values by key, immutable; `changed` gives a copy. Unknown fields of the file ride along."""

    def __init__(self, values: Mapping[str, Any] | None = None, unknown: Mapping[str, Any] | None = None) -> None:
        self._values = {s.key: s.default for s in TABLE} | dict(values or {})
        self.unknown = dict(unknown or {})

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """A copy with these values. Raises SettingError at the first key or value that is not allowed."""
        checked = {}
        for key, value in changes.items():
            if key not in BY_KEY:
                raise SettingError(f"There is no setting {key}.")
            checked[key] = BY_KEY[key].check(value)
        return Settings(self._values | checked, self.unknown)

    def of_the_text(self) -> dict[str, Any]:
        """What decides a text and is not as by default; not the model, the device and how the text is shown."""
        rows = (row for row in TABLE if row.page in ("recognition", "rewrite") and row.key not in _NOT_OF_THE_TEXT)
        return {row.key: self[row.key] for row in rows if self[row.key] != row.default}

    def page(self, page: str) -> dict[str, Any]:
        """One page's values by plain name, for example as keyword arguments of an options class."""
        return {s.key.partition(".")[2]: self[s.key] for s in TABLE if s.page == page}


@dataclass(frozen=True)
class Loaded:
    settings: Settings
    problems: tuple[str, ...] = ()  # one sentence per value that could not be used


def parse(key: str, text: str) -> Any:
    """A setting's value from what is typed on a command line; SettingError when it can't be one."""
    if key not in BY_KEY:
        raise SettingError(f"There is no setting {key}.")
    setting = BY_KEY[key]
    if setting.kind in ("text", "choice"):
        return setting.check(text)
    if setting.kind == "list":
        return setting.check([word.strip() for word in text.split(",") if word.strip()])
    if setting.kind == "switch" and text.lower() in ("on", "yes", "off", "no"):
        return text.lower() in ("on", "yes")
    try:
        return setting.check(tomllib.loads(f"value = {text}")["value"])
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{key} takes {setting.allowed()}, not {text!r}.") from error


def load(path: Path) -> Loaded:
    """Read the settings; whatever can't be used falls back alone and is named in `problems`. Never raises."""
    try:
        text = _read(path)
    except FileNotFoundError:
        return Loaded(Settings())
    except OSError as error:
        return Loaded(Settings(), (f"The settings can't be read ({error.strerror}); defaults are in use.",))
    problems: list[str] = []
    try:
        document = tomllib.loads(text)
    except _UNREADABLE:
        document, skipped = _salvage(text)
        if kept := _keep_damaged(path, text):
            problems.append(f"The settings file is damaged; {skipped} line(s) were left out. A copy is kept as {kept}.")
        else:
            problems.append(f"The settings file is damaged; {skipped} line(s) are lost when the settings are saved.")
    return _from_document(document, problems)


def _read(path: Path) -> str:
    """The file's text. Editors on Windows mark what they write by its first bytes."""
    if path.exists() and not path.is_file():  # reading a pipe would wait for ever
        raise OSError(errno.EINVAL, "it is no plain file", str(path))
    content = path.read_bytes()
    by_mark = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if by_mark else "utf-8-sig", errors="replace")


def _keep_damaged(path: Path, text: str) -> str:
    """Keep a damaged file beside the settings, once and not more than KEPT_DAMAGED; its name, "" where it can't be."""
    kept = sorted(path.parent.glob(f"{glob.escape(path.stem)}.damaged-*.toml"))
    try:
        if kept and kept[-1].read_text("utf-8") == text:
            return kept[-1].name
        copy = path.with_name(f"{path.stem}.damaged-{time.strftime('%Y%m%d-%H%M%S')}.toml")
        write_text(copy, text, private=True)
        for old in kept[: 1 - KEPT_DAMAGED]:
            old.unlink(missing_ok=True)
    except (OSError, ValueError):
        return ""
    return copy.name


def _from_document(document: dict[str, Any], problems: list[str]) -> Loaded:
    values, refused, unknown = _checked(document)
    problems += [f"{error} Its default is in use." for error in refused.values()]
    if "schema_version" in unknown:
        problems.append("The settings were written by a newer Sayso; what this one does not know is kept.")
    return Loaded(Settings(values, unknown), tuple(problems))


def _checked(document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, SettingError], dict[str, Any]]:
    """Values that can be used, what is wrong with others, and what only a newer version knows; all by key."""
    flat = dict(_flatten(document))
    version = flat.pop("schema_version", SCHEMA_VERSION)
    values: dict[str, Any] = {}
    refused: dict[str, SettingError] = {}
    for setting in TABLE:
        key = next((k for k in (setting.key, *setting.renamed_from) if k in flat), None)
        if key is None:
            continue
        try:
            values[setting.key] = setting.check(flat[key])
        except SettingError as error:
            refused[setting.key] = error
        for used in (setting.key, *setting.renamed_from):
            flat.pop(used, None)
    if isinstance(version, int) and version > SCHEMA_VERSION:
        flat["schema_version"] = version
    return values, refused, flat


def _flatten(document: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for page, content in document.items():
        if isinstance(content, Mapping):
            yield from ((f"{page}.{name}", value) for name, value in content.items())
        else:
            yield page, content


def _salvage(text: str) -> tuple[dict[str, Any], int]:
    """What a damaged file still says: statement by statement, under the last good table header."""
    document: dict[str, Any] = {}
    header, skipped = "", 0
    for statement in re.split(r"\n(?=\s*(?:\[|[A-Za-z_][\w.-]*\s*=))", text):
        statement = statement.strip()
        if not statement or statement.startswith("#"):
            continue
        if re.fullmatch(r"\[[\w.]+\]", statement):
            header = statement
            continue
        try:
            piece = tomllib.loads(f"{header}\n{statement}")
        except _UNREADABLE:
            skipped += 1
            continue
        for page, content in piece.items():
            if isinstance(content, dict) and isinstance(document.get(page), dict):
                for name, value in content.items():
                    old = document[page].get(name)
                    document[page][name] = old + value if isinstance(old, list) and isinstance(value, list) else value
            else:
                document[page] = content
    return document, skipped


def save(settings: Settings, path: Path) -> None:
    """Write what differs from the defaults, atomically, with the file as it was before beside it (`.bak`)."""
    document: dict[str, Any] = {"schema_version": settings.unknown.get("schema_version", SCHEMA_VERSION)}
    differing = {s.key: settings[s.key] for s in TABLE if settings[s.key] != s.default}
    for key, value in (settings.unknown | differing).items():
        page, dot, name = key.partition(".")
        if dot:
            document.setdefault(page, {})[name] = list(value) if isinstance(value, tuple) else value
        elif key != "schema_version":
            document[key] = value
    text = tomli_w.dumps(document)
    with suppress(FileNotFoundError):
        write_text(path.with_suffix(".toml.bak"), _read(path), private=True)
    write_text(path, text, private=True)


class SettingsFile:
    """The settings file of a Sayso that runs. People may edit it meanwhile; what only they have changed stays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._text = ""  # as it was last read or written
        self._settings = Settings()  # what was in it then

    def load(self) -> Loaded:
        loaded = load(self.path)
        self._note(loaded.settings)
        return loaded

    def save(self, settings: Settings) -> Loaded:
        """Write `settings`, and return what is in force now: with what others have changed in the file, and `settings`
        has not. What of that can't be used is named in `problems`, and stays as it was. Raises OSError.
        """
        merged = self._merged(settings)
        save(merged.settings, self.path)
        self._note(merged.settings)
        return merged

    def _note(self, settings: Settings) -> None:
        self._settings = settings
        with suppress(OSError):
            self._text = _read(self.path)

    def _merged(self, ours: Settings) -> Loaded:
        try:
            text = _read(self.path)
        except FileNotFoundError:
            return Loaded(ours)
        if text == self._text:
            return Loaded(ours)
        try:
            values, refused, unknown = _checked(tomllib.loads(text))
        except _UNREADABLE:
            kept = _keep_damaged(self.path, text)
            told = f"The settings file was damaged meanwhile; a copy is kept as {kept}."
            return Loaded(ours, (told if kept else "The settings file was damaged meanwhile, and is written anew.",))
        theirs = Settings(values)
        by_hand = {
            key: theirs[key]
            for key, before in self._settings.items()
            if theirs[key] != before and ours[key] == before and key not in refused
        }
        problems = tuple(f"{error} It stays as it was." for error in refused.values())
        return Loaded(Settings({**ours, **by_hand}, unknown), problems)
