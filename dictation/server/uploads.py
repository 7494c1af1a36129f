"""The bodies of requests: no more bytes than allowed, no waiting without end, files on disk and gone afterwards."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from dictation.server.desk import Desk
from dictation.server.faults import Fault

MAX_FIELDS = 64
FIELD_BYTES = 128 * 1024
FILE = "file"
T = TypeVar("T")


def bounded(request: Request, most_bytes: int, read_s: float) -> Request:
    """The same request, whose body raises Fault when it grows too large or stops coming."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most_bytes:
        raise _too_large(most_bytes)
    return Request(request.scope, _bounded(request.receive, most_bytes, read_s))


def _bounded(receive: Receive, most_bytes: int, read_s: float) -> Receive:
    n_bytes, is_whole = 0, False

    async def read() -> Message:
        nonlocal n_bytes, is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout(read_s):
                message = await receive()
        except TimeoutError as error:
            raise Fault(408, "too_slow", f"Nothing came for {read_s:g} s in the middle of the request.") from error
        if message["type"] == "http.request":
            n_bytes += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
        if n_bytes > most_bytes:
            raise _too_large(most_bytes)
        return message

    return read


def _too_large(most_bytes: int) -> Fault:
    size = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes} bytes"
    return Fault(413, "too_large", f"A request may have {size} here. Send the audio compressed, or in parts.")


async def body(request: Request, desk: Desk, most_bytes: int) -> bytes:
    """A whole body. Raises Fault."""
    try:
        return await bounded(request, most_bytes, desk.limits.read_s).body()
    except ClientDisconnect as error:
        raise Fault(400, "cut_off", "The request was cut off.") from error


@asynccontextmanager
async def form(request: Request, desk: Desk, folder: Path) -> AsyncIterator[tuple[dict[str, Any], Path]]:
    """A form's fields, and its file on disk for as long as this lasts. Raises Fault."""
    if not request.headers.get("content-type", "").casefold().startswith("multipart/form-data"):
        raise Fault(415, "not_a_form", "Send a form (multipart/form-data) with the audio in its field `file`.")
    whole = bounded(request, desk.limits.upload_bytes, desk.limits.read_s)
    try:
        async with whole.form(max_files=2, max_fields=MAX_FIELDS, max_part_size=FIELD_BYTES) as parsed:
            upload, fields = _parts(parsed)
            with tempfile.TemporaryDirectory(dir=folder, prefix="upload-") as place:
                file = Path(place) / "upload"
                await desk.work(lambda: _copy(upload, file))
                yield fields, file
    except ClientDisconnect as error:
        raise Fault(400, "cut_off", "The request was cut off.") from error


def _parts(parsed: FormData) -> tuple[UploadFile, dict[str, Any]]:
    files = [value for name, value in parsed.multi_items() if name == FILE]
    if len(files) != 1 or not isinstance(files[0], UploadFile):
        raise Fault(400, "no_file", "The form needs one file, in its field `file`.", param=FILE)
    fields: dict[str, Any] = {}
    for name, value in parsed.multi_items():
        if name == FILE or isinstance(value, UploadFile):
            continue
        if name.endswith("[]"):
            fields.setdefault(name.removesuffix("[]"), []).append(value)
        else:
            fields[name] = value
    return files[0], fields


def _copy(upload: UploadFile, file: Path) -> None:
    upload.file.seek(0)
    with file.open("wb") as out:
        shutil.copyfileobj(upload.file, out, 1 << 20)
    if not file.stat().st_size:
        raise Fault(422, "not_audio", "The file is empty.", param=FILE)


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """Await `work`, and give it up when the client goes away. The body must have been read."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Fault(499, "gone", "The client went away.")
    finally:
        for left in (task, gone):
            left.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await left


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
