"""Clip sets: what is to be replayed, and what should come of it.

A set is a folder or a file:

- `manifest.jsonl`: one object per line: id, audio (relative to the manifest), ref_text, language; and, if wanted,
  settings ({"rewrite.numbers": "digits"}), expect (["notice:microphone_silent", "!failed"]), expect_text (what should
  be typed), degrade ("noise:10+telephone"), scored (false: `ref_text` is not for sure what is said);
- `transcripts.tsv`: columns file, lang, text and, if there, wer ("n": not scored);
- sound files, each with its text beside it (talk.wav, talk.txt or talk.de.txt), or without one;
- `.sayso-clip` (`archive.py`): the first kind as one file; a folder may hold some beside anything else.

Whatever is damaged costs itself and one sentence in `ClipSet.problems`.
"""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dictation import events as e
from dictation.bench import archive, degrade
from dictation.bench.errors import ClipError
from dictation.errors import DictationError
from dictation.settings import Settings
from engine.errors import OptionError
from engine.evaluate import LabelledClip
from engine.languages import language_code

MANIFEST, TABLE = "manifest.jsonl", "transcripts.tsv"
SOUNDS = frozenset({".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".w64", ".caf"})
SETTABLE = ("recognition.", "rewrite.")  # by a clip, which may come from a stranger
NOT_SETTABLE = ("recognition.model", "recognition.device")
MOST_ID_CHARS = 200


@dataclass(frozen=True)
class Clip(LabelledClip):
    """language: "" where nobody said: the model finds out. text: "" and not scored where nobody wrote it down."""

    scored: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    expect: tuple[str, ...] = ()  # events: "kind", "kind:detail", "!kind" for one that must not come
    expect_text: str | None = None  # what should be typed, to the letter
    degrade: str = ""


@dataclass
class ClipSet:
    name: str
    clips: list[Clip] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)  # one sentence each


def read_set(source: Path, unpacked: Path) -> ClipSet:
    """The clips of a set. unpacked: a folder for what archives hold. Raises ClipError where there is no set at all."""
    found = ClipSet(source.resolve().name)
    seen: set[str] = set()
    for item in _items(source, unpacked):
        if isinstance(item, str):
            found.problems.append(item)
        elif item.id in seen:
            found.problems.append(f"{source}: two clips are called {item.id}; the second is left out.")
        else:
            seen.add(item.id)
            found.clips.append(item)
    return found


def _items(source: Path, unpacked: Path) -> Iterator[Clip | str]:
    """Clips, and a sentence for each that can't be used."""
    if source.is_dir():
        if (source / MANIFEST).exists():
            yield from _manifest(source / MANIFEST)
        elif (source / TABLE).exists():
            yield from _table(source / TABLE)
        else:
            yield from _sounds(source)
        for file in sorted(source.glob(f"*{archive.SUFFIX}")):
            yield from _archive(file, unpacked)
    elif not source.exists():
        raise ClipError(f"{source} is not there. Name a folder of clips, a manifest.jsonl or a sound file.")
    elif source.suffix == archive.SUFFIX:
        yield from _archive(source, unpacked)
    elif source.suffix == ".tsv":
        yield from _table(source)
    elif source.suffix in (".jsonl", ".json"):
        yield from _manifest(source)
    elif source.suffix.lower() in SOUNDS:
        yield _beside(source, source.parent)
    else:
        raise ClipError(f"{source} is no set of clips: name a folder, a manifest.jsonl, a transcripts.tsv or a sound.")


def _archive(file: Path, unpacked: Path) -> Iterator[Clip | str]:
    try:
        folder = archive.unpack(file, unpacked)
    except ClipError as error:
        yield str(error)
        return
    yield from _manifest(folder / MANIFEST, str(file), inside=folder)


# ---- manifest.jsonl -------------------------------------------------------------------------------------------------


def _manifest(path: Path, name: str = "", inside: Path | None = None) -> Iterator[Clip | str]:
    """inside: the folder that audio must lie in, where the manifest is a stranger's."""
    name = name or str(path)
    data = _bytes(path)
    if isinstance(data, str):
        yield data
        return
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            yield clip_of(_object(line), path.parent, inside)
        except (DictationError, OptionError) as error:
            yield f"{name}, line {number}: {error}"


def _bytes(path: Path) -> bytes | str:
    try:
        data = path.read_bytes()
    except OSError as error:
        return f"{path} can't be read: {error.strerror}."
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{path} is in UTF-16. Save it as UTF-8."
    return data.removeprefix(b"\xef\xbb\xbf")


def _object(line: bytes) -> dict[str, Any]:
    try:
        item = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ClipError("this is not UTF-8. Save the file as UTF-8.") from error
    except (ValueError, RecursionError) as error:
        raise ClipError('this is no JSON object like {"id": "one", "audio": "one.wav", "ref_text": "..."}.') from error
    if not isinstance(item, dict):
        raise ClipError("this is JSON, but no object.")
    return item


def clip_of(item: Mapping[str, Any], folder: Path, inside: Path | None = None) -> Clip:
    """A clip from a manifest's object. Raises ClipError, SettingError or OptionError with a sentence."""
    audio = _text(item, "audio")
    if item.get("without_audio"):
        raise ClipError("it was made without its sound; ask whoever made it for one with it.")
    if not audio:
        raise ClipError("it names no audio.")
    path = folder / audio
    if inside is not None and not path.resolve().is_relative_to(inside.resolve()):
        raise ClipError(f"its audio {audio} lies outside of it.")
    if not path.is_file():
        raise ClipError(f"the audio {audio} is not there.")
    text, scored = item.get("ref_text"), item.get("scored", True)
    if text is not None and not isinstance(text, str):
        raise ClipError("ref_text must be a text.")
    return Clip(
        id=_text(item, "id") or Path(audio).stem,
        path=path,
        text=text or "",
        language=_language(_text(item, "language")),
        scored=text is not None and scored is not False,
        settings=_settings(item.get("settings", {})),
        expect=tuple(_expectation(word) for word in _list(item, "expect")),
        expect_text=_text(item, "expect_text") if "expect_text" in item else None,
        degrade=degrade.written(degrade.parse(_text(item, "degrade"))),
    )


def _text(item: Mapping[str, Any], key: str) -> str:
    value = item.get(key, "")
    if isinstance(value, int) and key == "id":
        value = str(value)
    if not isinstance(value, str) or "\0" in value:
        raise ClipError(f"{key} must be a text.")
    if key == "id" and (len(value) > MOST_ID_CHARS or any(unicodedata.category(c) == "Cc" for c in value)):
        raise ClipError(f"its id must be one line of at most {MOST_ID_CHARS} characters.")
    return value


def _list(item: Mapping[str, Any], key: str) -> list[Any]:
    value = item.get(key, [])
    if not isinstance(value, list):
        raise ClipError(f"{key} must be a list.")
    return value


def _language(code: str) -> str:
    return "" if code in ("", "auto") else language_code(code)


def _settings(changes: Any) -> dict[str, Any]:
    if not isinstance(changes, dict):
        raise ClipError("settings must be an object.")
    for key in changes:
        if not key.startswith(SETTABLE) or key in NOT_SETTABLE:
            raise ClipError(f"a clip can't set {key}, only what begins with {' or '.join(SETTABLE)}")
    Settings().changed(changes)
    return changes


def _expectation(word: Any) -> str:
    kind = word.removeprefix("!").partition(":")[0] if isinstance(word, str) else ""
    if kind not in _EVENT_KINDS:
        raise ClipError(f"there is no event {word!r} to expect. As in: final_text, notice:microphone_silent, !failed.")
    return str(word)


_EVENT_KINDS = frozenset(e.kind_of(event) for event in e.Event.__subclasses__())


# ---- transcripts.tsv, and texts beside sounds -----------------------------------------------------------------------


def _table(path: Path) -> Iterator[Clip | str]:
    data = _bytes(path)
    if isinstance(data, str):
        yield data
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        yield f"{path} is not UTF-8. Save it as UTF-8."
        return
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t")
    missing = {"file", "text"} - set(rows.fieldnames or ())
    if missing:
        yield f"{path} has no column {' and no column '.join(sorted(missing))}: its first line names the columns."
        return
    for row in _read(rows, path):
        if isinstance(row, str):
            yield row
            return
        if "\n" in (row["text"] or ""):
            yield f"{path}, line {rows.line_num}: a quotation mark before it is not closed."
            continue
        item = {
            "id": row["file"] or "",
            "audio": row["file"] or "",
            "ref_text": row["text"] or "",
            "language": row.get("lang") or "",
            "scored": row.get("wer") != "n",
        }
        try:
            yield clip_of(item, path.parent)
        except (DictationError, OptionError) as error:
            yield f"{path}, line {rows.line_num}: {error}"


def _read(rows: csv.DictReader[str], path: Path) -> Iterator[dict[str, str] | str]:
    """The rows, or a sentence where the rest can't be read as such."""
    try:
        yield from rows
    except csv.Error:
        yield f"{path}, line {rows.line_num}: a quotation mark before it is not closed."


def _sounds(folder: Path) -> Iterator[Clip | str]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SOUNDS and path.is_file():
            yield _beside(path, folder)


def _beside(sound: Path, folder: Path) -> Clip | str:
    """A sound with the text beside it: talk.txt, or talk.de.txt; else the folder's name may be the language."""
    texts = [sound.with_suffix(".txt"), *sorted(sound.parent.glob(f"{_escaped(sound.stem)}.*.txt"))]
    text = next((path for path in texts if path.is_file()), None)
    code = text.suffixes[-2].removeprefix(".") if text is not None and text != texts[0] else sound.parent.name
    try:
        language = _language(code)
    except OptionError:
        language = ""
    try:
        said = text.read_bytes().decode("utf-8-sig").strip() if text is not None else ""
    except (OSError, UnicodeDecodeError):
        return f"{text} can't be read as UTF-8; its clip is left out."
    name = sound.relative_to(folder).as_posix() if sound.is_relative_to(folder) else sound.name
    return Clip(name, sound, said, language, scored=text is not None)


def _escaped(stem: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in stem)


# ---- writing --------------------------------------------------------------------------------------------------------


def item_of(clip: Clip, audio: str) -> dict[str, Any]:
    """A clip as a manifest's object, without what is as by default."""
    item: dict[str, Any] = {"id": clip.id, "audio": audio, "language": clip.language}
    if clip.scored or clip.text:
        item["ref_text"] = clip.text
    if not clip.scored and clip.text:
        item["scored"] = False
    for name in ("settings", "expect", "expect_text", "degrade"):
        value = getattr(clip, name)
        if value:
            item[name] = list(value) if isinstance(value, tuple) else value
    return item
