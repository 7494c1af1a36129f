"""Whether a newer Sayso is out. Off until asked for; one small signed file is read, nothing is ever downloaded.

The file, at the address in `resources/updates.json`, is JSON: {"release": TEXT, "signature": BASE64}. TEXT is itself
JSON and is what was signed, byte for byte, so that there is nothing to canonicalise:

    {"product": "sayso", "version": "0.2.0", "released": "2026-12-01", "expires": "2027-06-01", "page": "https://..."}

The signature is Ed25519 over `CONTEXT` and TEXT; the public keys travel with Sayso, the private one never lies in the
repository (`packaging/shipping/signing.py`). Who can change the file on its server, or on the way, can neither invent
a release nor, because of `expires`, hide one for ever. The request carries no cookie, no version and no name.
"""

from __future__ import annotations

import base64
import binascii
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

import resources
from dictation import log, paths
from dictation.errors import UpdateError
from dictation.events import Notice
from dictation.version import version

CONTEXT = b"sayso release v1\n"
MAX_BYTES = 16 << 10
TIMEOUT_S = 10.0
EVERY_S = 24 * 3600.0


@dataclass(frozen=True)
class Source:
    """Where releases are announced, and whose signatures count."""

    url: str  # https, or http on this computer
    keys: tuple[str, ...]  # Ed25519 public keys in base64; several, so that a key can be replaced


@dataclass(frozen=True)
class Release:
    version: str
    released: date
    page: str  # where people read about it and fetch it themselves


def source() -> Source:
    """The source that this build came with. Raises UpdateError where it has none, as in a checkout."""
    known = json.loads(resources.path("updates.json").read_text("utf-8"))
    if not known["url"] or not known["keys"]:
        raise UpdateError("This Sayso was built without an address for updates: ask where you got it from.")
    return Source(str(known["url"]), tuple(map(str, known["keys"])))


def newer(of: Source | None = None, today: date | None = None) -> Release | None:
    """The release that is newer than this Sayso, or None. Asks the network; raises UpdateError."""
    of = of or source()
    release = signed_release(_fetch(of.url), of.keys, today or date.today())
    return release if _order(release.version) > _order(version()) else None


def signed_release(document: bytes, keys: tuple[str, ...], today: date) -> Release:
    """The release that `document` announces, if one of `keys` signed it and it has not expired.

    Nothing in the document is looked at before its signature is right. Raises UpdateError.
    """
    envelope = _json_object(document)
    text, signature = envelope.get("release"), envelope.get("signature")
    if not isinstance(text, str) or not isinstance(signature, str):
        raise UpdateError("The answer about updates is no announcement of Sayso's; nothing was changed.")
    try:
        signed = text.encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can spell
        signed = b""
    if not any(_is_signed(signed, signature, key) for key in keys):
        raise UpdateError("The announcement of an update is not signed by Sayso's makers; nothing was changed.")
    told = _json_object(signed)
    try:
        release = Release(told["version"], date.fromisoformat(told["released"]), told["page"])
        expires = date.fromisoformat(told["expires"])
        _order(release.version)
        is_ours = told["product"] == "sayso" and urlsplit(release.page).scheme == "https"
    except (KeyError, TypeError, ValueError, AttributeError):
        is_ours = False
    if not is_ours:
        raise UpdateError("The announcement of an update can't be read by this Sayso; look at its web site.")
    if today > expires:
        raise UpdateError("The announcement of updates is out of date, so there may be a newer Sayso than it says.")
    return release


class Daily:
    """Asks at most once a day, on a thread of its own, while the setting wants it.

    publish: gets one Notice per newer release found. A failure is logged and tried again the next day: nobody needs to
    be told that a question which they did not ask just now went unanswered.
    """

    def __init__(self, publish: Callable[[Notice], None], ask: Callable[[], Release | None] = newer) -> None:
        self._publish, self._ask = publish, ask
        self._lock = threading.Lock()

    def look(self, wanted: bool) -> threading.Thread | None:
        """Ask if it is time to; call as often as you like. The thread that asks, for those who wait for it."""
        if not wanted or not self._is_due():
            return None
        thread = threading.Thread(target=self._run, name="updates", daemon=True)
        thread.start()
        return thread

    def _is_due(self) -> bool:
        stamp = paths.state_dir() / "updates-asked"
        with self._lock:
            try:
                age_s = time.time() - stamp.stat().st_mtime
            except OSError:
                age_s = EVERY_S
            if 0 <= age_s < EVERY_S:
                return False
            try:
                paths.private_dir(stamp.parent)
                stamp.touch()
            except OSError:
                return False  # asking at every look would be worse than never
            return True

    def _run(self) -> None:
        try:
            release = self._ask()
        except UpdateError as error:
            log.get("updates").info("no answer: %s", error)
        else:
            if release is not None:
                self._publish(Notice("update_available", sentence(release)))


def sentence(release: Release | None) -> str:
    """What to tell people about an answer."""
    if release is None:
        return f"This is the newest Sayso, {version()}."
    return f"Sayso {release.version} is out; this is {version()}. What is new, and where to get it: {release.page}"


def _order(text: str) -> Any:
    from packaging.version import Version

    return Version(text)


def _json_object(data: bytes) -> dict[str, Any]:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        content = None
    return content if isinstance(content, dict) else {}


def _is_signed(text: bytes, signature: str, key: str) -> bool:
    from nacl.exceptions import CryptoError
    from nacl.signing import VerifyKey

    try:
        raw_key, raw_signature = (base64.b64decode(part, validate=True) for part in (key, signature))
        VerifyKey(raw_key).verify(CONTEXT + text, raw_signature)
    except (CryptoError, binascii.Error, ValueError, TypeError):
        return False
    return True


def _fetch(url: str) -> bytes:
    """At most MAX_BYTES from `url`, over a safe connection all the way."""
    import httpx2

    def check(request: httpx2.Request) -> None:
        if request.url.scheme != "https" and request.url.host not in ("127.0.0.1", "::1", "localhost"):
            raise UpdateError("The address for updates is not a safe one (https); nothing was asked.")

    deadline = time.monotonic() + 2 * TIMEOUT_S
    client = httpx2.Client(headers={"User-Agent": "Sayso"}, timeout=TIMEOUT_S, event_hooks={"request": [check]})
    data = bytearray()
    try:
        with client, client.stream("GET", url, follow_redirects=True) as response:
            response.raise_for_status()
            for block in response.iter_bytes():
                data += block
                if len(data) > MAX_BYTES or time.monotonic() > deadline:
                    raise UpdateError("The answer about updates is no announcement of Sayso's; nothing was changed.")
    except httpx2.HTTPStatusError as error:
        raise UpdateError(f"The server for updates answered {error.response.status_code}; try again later.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise UpdateError("The server for updates can't be reached: are you online?") from error
    return bytes(data)
