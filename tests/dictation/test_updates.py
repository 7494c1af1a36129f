"""The update check against a server on this computer and keys made here: what is believed and what is asked."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.signing import SigningKey

from dictation import updates
from dictation.errors import UpdateError
from dictation.updates import Daily, Release, Source, newer, signed_release
from dictation.version import version
from tests.fakes.http_server import QuietHandler, QuietServer
from tests.shell import complaints, sayso

KEY, OTHER = SigningKey(b"k" * 32), SigningKey(b"o" * 32)
TODAY = date(2026, 12, 1)
TOLD = {
    "product": "sayso",
    "version": "9.1.0",
    "released": "2026-11-30",
    "expires": "2027-06-01",
    "page": "https://sayso.example/9.1.0",
}


def public(key: SigningKey) -> str:
    return base64.b64encode(bytes(key.verify_key)).decode()


def document(told: object = TOLD, key: SigningKey = KEY, context: bytes = updates.CONTEXT) -> bytes:
    text = json.dumps(told)
    signature = base64.b64encode(key.sign(context + text.encode()).signature).decode()
    return json.dumps({"release": text, "signature": signature}).encode()


class Server(QuietServer):
    """Answers every request with `answer`; remembers what was asked."""

    answer, status, location = b"", 200, ""

    def __init__(self) -> None:
        super().__init__(Handler)
        self.asked: list[tuple[str, dict[str, str]]] = []

    @property
    def source(self) -> Source:
        return Source(f"{self.url}/sayso-release.json", (public(OTHER), public(KEY)))


class Handler(QuietHandler):
    server: Server
    protocol_version = "HTTP/1.0"  # an answer ends with its connection

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        self.send_response(302 if self.server.location else self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.wfile.write(self.server.answer)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


def test_a_newer_release_is_told_with_the_page_to_get_it_from_and_nothing_else_is_asked_for(server: Server) -> None:
    server.answer = document()
    found = newer(server.source, TODAY)
    assert found == Release("9.1.0", date(2026, 11, 30), "https://sayso.example/9.1.0")
    ((path, headers),) = server.asked
    assert path == "/sayso-release.json"
    assert headers["User-Agent"] == "Sayso" and "Cookie" not in headers
    assert version() not in json.dumps(headers)


@pytest.mark.parametrize("same_or_older", [version(), "0.0.9", "0.1.0.dev3"])
def test_the_same_or_an_older_release_is_none(server: Server, same_or_older: str) -> None:
    server.answer = document(TOLD | {"version": same_or_older})
    assert newer(server.source, TODAY) is None


@pytest.mark.parametrize(
    ("forged", "why"),
    [
        (document(key=OTHER), "not signed"),
        (document(context=b""), "not signed"),
        (document().replace(b"9.1.0", b"9.2.0"), "not signed"),
        (json.dumps({"release": json.dumps(TOLD), "signature": ""}).encode(), "not signed"),
        (json.dumps({"release": "\ud800", "signature": "AAAA"}).encode(), "not signed"),
        (json.dumps({"release": TOLD, "signature": "AAAA"}).encode(), "no announcement"),
        (b"<html>Log in to the network</html>", "no announcement"),
        (b"", "no announcement"),
        (b"[" * 10_000, "no announcement"),
        (document(TOLD | {"page": "http://sayso.example"}), "can't be read"),
        (document(TOLD | {"page": "javascript:alert(1)"}), "can't be read"),
        (document(TOLD | {"page": None}), "can't be read"),
        (document(TOLD | {"product": "other"}), "can't be read"),
        (document(TOLD | {"version": "newest"}), "can't be read"),
        (document(TOLD | {"version": 9}), "can't be read"),
        (document(TOLD | {"expires": "soon"}), "can't be read"),
        (document([]), "can't be read"),
        (document(TOLD | {"expires": "2026-11-30"}), "out of date"),
    ],
)
def test_what_is_not_signed_by_us_or_makes_no_sense_is_refused_in_a_sentence(forged: bytes, why: str) -> None:
    with pytest.raises(UpdateError, match=why):
        signed_release(forged, (public(KEY), "not a key", ""), TODAY)


@given(st.binary(max_size=400))
def test_no_answer_of_a_server_is_more_than_a_sentence(answer: bytes) -> None:
    with pytest.raises(UpdateError):
        signed_release(answer, (public(KEY),), TODAY)


def test_a_server_that_is_away_broken_endless_or_unsafe_is_a_sentence(server: Server) -> None:
    server.status = 503
    with pytest.raises(UpdateError, match="503"):
        newer(server.source, TODAY)
    server.status, server.answer = 200, b" " * (updates.MAX_BYTES + 1)
    with pytest.raises(UpdateError, match="no announcement"):
        newer(server.source, TODAY)
    server.location = "http://sayso.example/elsewhere"
    with pytest.raises(UpdateError, match="not a safe one"):
        newer(server.source, TODAY)
    for url in ("http://sayso.example/x", "ftp://sayso.example/x", "file:///etc/passwd", "", "https://["):
        with pytest.raises(UpdateError):
            newer(Source(url, (public(KEY),)), TODAY)
    server.server_close()
    with pytest.raises(UpdateError, match="can't be reached"):
        newer(server.source, TODAY)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    return tmp_path


def test_nobody_is_asked_until_the_setting_wants_it_and_then_once_a_day(home: Path) -> None:
    asked, told = [], []
    release = Release("9.1.0", TODAY, "https://sayso.example")

    def ask() -> Release:
        asked.append(1)
        return release

    daily = Daily(told.append, ask)
    assert daily.look(wanted=False) is None and not asked
    first = daily.look(wanted=True)
    assert first is not None
    first.join(5)
    assert [notice.code for notice in told] == ["update_available"] and "https://sayso.example" in told[0].message
    assert daily.look(wanted=True) is None, "not twice a day"
    assert Daily(told.append, ask).look(wanted=True) is None, "nor after a restart"
    stamp = home / "state" / "updates-asked"
    for days, due in ((1.1, True), (-3, True), (0.5, False)):  # -3: the clock went back
        then = time.time() - timedelta(days=days).total_seconds()
        os.utime(stamp, (then, then))
        thread = daily.look(wanted=True)
        assert (thread is not None) == due
        if thread is not None:
            thread.join(5)


def test_an_unanswered_daily_question_troubles_nobody(home: Path) -> None:
    told: list[object] = []

    def ask() -> None:
        raise UpdateError("away")

    thread = Daily(told.append, ask).look(wanted=True)
    assert thread is not None
    thread.join(5)
    assert told == []


def test_the_command_says_that_a_checkout_has_no_address_to_ask() -> None:
    done = sayso("updates")
    assert done.returncode == 1
    assert complaints(done) == ["This Sayso was built without an address for updates: ask where you got it from."]
