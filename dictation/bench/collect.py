"""Making and keeping clip sets: add recordings, check a set, turn a real dictation into a clip for someone else."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dictation.bench import archive, clips
from dictation.bench.clips import MANIFEST, TABLE, Clip, ClipSet, read_set
from dictation.bench.errors import ClipError
from dictation.frames import SAMPLE_RATE_HZ, rms_dbfs
from dictation.history import Entry
from dictation.scratch import scratch_folder
from dictation.version import version
from engine.audio import Clip as SoundFile
from engine.errors import AudioError
from engine.files import atomic
from engine.store import plain_name

SHORTEST_S, LONGEST_S = 0.1, 1800.0
QUIET_DBFS = -60.0


def add(folder: Path, sources: Sequence[Path], *, id_: str = "", **given: Any) -> list[str]:
    """Copy recordings, or what is in a `.sayso-clip`, into a set; the ids they got. given: keys of the manifest.

    Raises ClipError, or AudioError for a recording that can't be read; then nothing is added.
    """
    if (folder / TABLE).exists() and not (folder / MANIFEST).exists():
        raise ClipError(f"{folder} has a {TABLE}: add a row there, or choose another folder.")
    added: dict[str, tuple[Path, dict[str, Any]]] = {}
    with scratch_folder() as unpacked:
        there = {clip.id for clip in read_set(folder, unpacked).clips} if folder.exists() else set()
        for clip in _incoming(sources, unpacked):
            name = plain_name(id_ or clip.id)
            if name in there or name in added:
                raise ClipError(f"{folder} has a clip {name} already; give this one another --id.")
            audio = f"audio/{name}{clip.path.suffix.lower()}"
            item = clips.item_of(replace(clip, id=name), audio) | given
            clips.clip_of(item | {"audio": str(clip.path.resolve())}, folder)  # raises for what can't be read back
            added[name] = clip.path, item
        if not added:
            raise ClipError(f"There is no recording in {', '.join(map(str, sources))}.")
        for source, item in added.values():
            with atomic(folder / item["audio"], fault=ClipError) as part:
                shutil.copyfile(source, part)
        _append(folder / MANIFEST, [item for _, item in added.values()])
    return list(added)


def _incoming(sources: Sequence[Path], unpacked: Path) -> Iterator[Clip]:
    """The clips of the sources, each read to its end."""
    for source in sources:
        found = read_set(source, unpacked)
        if found.problems:
            raise ClipError(found.problems[0])
        for clip in found.clips:
            _listen(clip.path)
            yield replace(clip, id=Path(clip.id).stem if clip.path.name == clip.id else clip.id)


def _append(manifest: Path, items: Sequence[Mapping[str, Any]]) -> None:
    before = manifest.read_bytes() if manifest.exists() else b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    lines = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)
    with atomic(manifest, fault=ClipError) as part:
        part.write_bytes(before + lines.encode())


def pack(found: ClipSet, ids: Sequence[str], file: Path) -> int:
    """Put clips of a set, or all of them, into a `.sayso-clip`; how many. Raises ClipError."""
    unknown = set(ids) - {clip.id for clip in found.clips}
    if unknown:
        raise ClipError(f"There is no clip {sorted(unknown)[0]} in {found.name}.")
    chosen = [clip for clip in found.clips if not ids or clip.id in ids]
    names = [f"audio/{place:04}{clip.path.suffix.lower()}" for place, clip in enumerate(chosen, start=1)]
    items = [clips.item_of(clip, name) for clip, name in zip(chosen, names, strict=True)]
    archive.pack(file, items, {name: clip.path for clip, name in zip(chosen, names, strict=True)})
    return len(chosen)


# ---- checking -------------------------------------------------------------------------------------------------------


def check(found: ClipSet) -> Iterator[str]:
    """A sentence for everything that would spoil a replay: what can't be read, silence, texts that say nothing."""
    yield from found.problems
    seen: dict[bytes, str] = {}
    for clip in found.clips:
        try:
            seconds, loudest_dbfs, digest = _listen(clip.path)
        except AudioError as error:
            yield f"{clip.id}: {error}"
            continue
        if digest in seen:
            yield f"{clip.id}: this is the same sound as {seen[digest]}."
        seen.setdefault(digest, clip.id)
        if seconds < SHORTEST_S:
            yield f"{clip.id}: {seconds:.2f} s are shorter than any word."
        if seconds > LONGEST_S:
            yield f"{clip.id}: {seconds / 60:.0f} minutes are longer than the longest dictation."
        if loudest_dbfs < QUIET_DBFS and clip.text:
            yield f"{clip.id}: there is a text, but nothing to hear (at most {loudest_dbfs:.0f} dBFS)."
        if clip.scored and clip.text and not _says_something(clip):
            yield f"{clip.id}: the text has no words to compare with."


def _says_something(clip: Clip) -> bool:
    from engine.evaluate import normalise

    return bool(normalise(clip.text, clip.language or "en"))


def _listen(path: Path) -> tuple[float, float, bytes]:
    """(seconds, loudest tenth of a second in dBFS, digest of the samples). Raises AudioError."""
    digest, n, loudest = hashlib.sha256(), 0, -120.0
    step = SAMPLE_RATE_HZ // 10
    with SoundFile(path) as sound:
        while len(block := sound.window(n, SAMPLE_RATE_HZ)):
            digest.update(np.ascontiguousarray(block).tobytes())
            loudest = max(loudest, *(rms_dbfs(block[i : i + step]) for i in range(0, len(block), step)))
            n += len(block)
    return n / SAMPLE_RATE_HZ, loudest, digest.digest()


# ---- a dictation for someone else -----------------------------------------------------------------------------------


def from_entry(entry: Entry, audio: Path | None, file: Path, said: str | None = None) -> None:
    """Write a dictation as a `.sayso-clip`: what was heard and typed, how, under which settings, and its sound.

    audio: the recording, where the user wants it included. said: what was really said, where the user wrote it down.
    """
    item: dict[str, Any] = {
        "id": f"dictation-{entry.id}",
        "language": entry.language,
        "ref_text": entry.raw_text if said is None else said,
        "scored": said is not None,
        # "auto" is said too: whoever replays this may always speak one language
        "settings": {"recognition.language": "auto"} | entry.settings,
        "then": {
            "text": entry.text,
            "raw_text": entry.raw_text,
            "model": Path(entry.model).name,
            "audio_s": entry.audio_s,
            "release_to_text_ms": entry.release_to_text_ms,
            "timings": entry.timings,
            "status": entry.status,
            "method": entry.method,
            "evidence": entry.evidence,
            "program": entry.program,
            "sayso": version(),
        },
    }
    if audio is None:
        archive.pack(file, [item | {"without_audio": True}], {})
        return
    import soundfile

    with scratch_folder() as folder:
        packed = folder / "sound.flac"
        with SoundFile(audio) as sound, soundfile.SoundFile(packed, "w", SAMPLE_RATE_HZ, 1) as flac:
            at = 0
            while len(block := sound.window(at, SAMPLE_RATE_HZ)):
                flac.write(block)
                at += len(block)
        archive.pack(file, [item | {"audio": "sound.flac"}], {"sound.flac": packed})
