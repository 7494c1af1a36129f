"""A Hub on this computer: speaks the Hub's HTTP as far as it is used, and misbehaves on demand.

Model info, tree with LFS hashes, resolve with a redirect to a "CDN" path, ETag, Range; new repositories, LFS uploads
and commits. Faults are queued per file: each request for the file's bytes takes the next one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from tests.fakes.http_server import QuietHandler, QuietServer

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Fault:
    """What the next request for a file's bytes meets.

    kind: status (answers `code`), drop (closes after `after` bytes), stall (stops for `seconds` after `after` bytes),
    html (a log-in page, status 200), damage (flips a byte), ignore_range (the whole file, status 200), wrong_range
    (another stretch than asked for), short (fewer bytes than announced, cleanly ended), loop (sends on to itself), gzip
    (says that it is packed, and is not).
    """

    kind: str
    code: int = 500
    after: int = 0
    seconds: float = 0.0


@dataclass
class Hub:
    """State of the stand-in: files per repository, queued faults, what was asked for."""

    files: dict[tuple[str, str], bytes] = field(default_factory=dict)
    sha256: dict[tuple[str, str], str] = field(default_factory=dict)
    faults: dict[str, list[Fault]] = field(default_factory=dict)
    repo_status: dict[str, tuple[int, str]] = field(default_factory=dict)  # (status, X-Error-Code)
    private: dict[str, bool] = field(default_factory=dict)  # repositories that were made by a request
    uploaded: dict[str, bytes] = field(default_factory=dict)  # LFS objects by SHA-256, not yet part of a commit
    upload_status: int = 200  # of the store that takes LFS objects
    captive: bool = False  # every answer is a network log-in page
    answers: dict[str, bytes] = field(default_factory=dict)  # by path: JSON in place of what would be answered
    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    bytes_sent: int = 0
    chunk_pause_s: float = 0.0
    url: str = ""
    port: int = 0

    def add(self, repo: str, name: str, data: bytes) -> None:
        self.files[repo, name] = data
        self.sha256[repo, name] = hashlib.sha256(data).hexdigest()

    def fail(self, name: str, *faults: Fault) -> None:
        self.faults.setdefault(name, []).extend(faults)


@contextmanager
def serve(tls: ssl.SSLContext | None = None) -> Iterator[Hub]:
    """tls: speak HTTPS with this certificate."""
    with _HubServer(_HubHandler, tls) as server:
        server.state = Hub(url=server.url, port=server.port)
        yield server.state


class _HubServer(QuietServer):
    state: Hub


class _HubHandler(QuietHandler):
    server: _HubServer

    @property
    def state(self) -> Hub:
        return self.server.state

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        self.state.requests.append(("POST", path, dict(self.headers)))
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []}, True)
        if path == "/api/repos/create":
            return self._create(json.loads(content))
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/preupload/main", path):
            files = json.loads(content)["files"]
            return self._json({"files": [self._upload_mode(file["path"]) for file in files]}, True)
        if found := re.fullmatch(r"/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            objects = [{**o, "actions": self._lfs_actions(o["oid"])} for o in json.loads(content)["objects"]]
            return self._json({"transfer": "basic", "objects": objects}, True)
        if path == "/lfs/verify":
            oid = json.loads(content)["oid"]
            return self._send(200 if oid in self.state.uploaded else 404, b"", {}, True)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/commit/main", path):
            return self._commit(found[1], [json.loads(line) for line in content.splitlines()])
        return self._send(404, b"", {}, True)

    def do_PUT(self) -> None:
        self.state.requests.append(("PUT", self.path, dict(self.headers)))
        content = self.rfile.read(int(self.headers["Content-Length"]))
        oid = self.path.removeprefix("/lfs/")
        if self.state.upload_status != 200:
            return self._send(self.state.upload_status, b"", {}, True)
        right = hashlib.sha256(content).hexdigest() == oid
        if right:
            self.state.uploaded[oid] = content
        return self._send(200 if right else 400, b"", {}, True)

    def _create(self, wish: dict[str, object]) -> None:
        repo = f"{wish['organization']}/{wish['name']}" if wish.get("organization") else str(wish["name"])
        there = repo in self.state.private or any(r == repo for r, _ in self.state.files)
        if not there:
            self.state.private[repo] = wish.get("private") is True or wish.get("visibility") == "private"
        body = json.dumps({"url": f"{self.state.url}/{repo}"}).encode()
        self._send(409 if there else 200, body, {"Content-Type": "application/json"}, True)

    def _upload_mode(self, path: str) -> dict[str, object]:
        return {"path": path, "uploadMode": "lfs" if path.endswith(".gguf") else "regular", "shouldIgnore": False}

    def _lfs_actions(self, oid: str) -> dict[str, object]:
        return {"upload": {"href": f"{self.state.url}/lfs/{oid}"}, "verify": {"href": f"{self.state.url}/lfs/verify"}}

    def _commit(self, repo: str, lines: list[dict[str, dict[str, str]]]) -> None:
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                self.state.add(repo, value["path"], base64.b64decode(value["content"]))
            elif line["key"] == "lfsFile":
                self.state.add(repo, value["path"], self.state.uploaded.pop(value["oid"]))
        url = f"{self.state.url}/{repo}/commit/{COMMIT}"
        self._json({"commitUrl": url, "commitOid": COMMIT, "pullRequestUrl": None}, True)

    def _answer(self, body: bool) -> None:
        path = unquote(self.path.split("?")[0])
        self.state.requests.append((self.command, path, dict(self.headers)))
        if self.state.captive:
            return self._send(200, b"<html>Please log in to this network</html>", {"Content-Type": "text/html"}, body)
        if path in self.state.answers:
            return self._send(200, self.state.answers[path], {"Content-Type": "application/json"}, body)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/[^/]+)?", path):
            return self._info(found[1], body)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/[^/]+", path):
            return self._tree(found[1], body)
        if found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/[^/]+/(.+)", path):
            return self._resolve(found[1], found[2], body)
        if found := re.fullmatch(r"/cdn/([^/]+/[^/]+)/(.+)", path):
            return self._bytes(found[1], found[2], body)
        return self._send(404, b"", {}, body)

    def _refused(self, repo: str, body: bool) -> bool:
        if repo in self.state.repo_status:
            status, code = self.state.repo_status[repo]
            self._send(status, b"{}", {"X-Error-Code": code} if code else {}, body)
            return True
        if repo not in self.state.private and not any(r == repo for r, _ in self.state.files):
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"}, body)
            return True
        return False

    def _info(self, repo: str, body: bool) -> None:
        if not self._refused(repo, body):
            names = [{"rfilename": n} for r, n in self.state.files if r == repo]
            private = self.state.private.get(repo, False)
            info = {"id": repo, "modelId": repo, "sha": COMMIT, "siblings": names, "tags": [], "private": private}
            self._json(info, body)

    def _tree(self, repo: str, body: bool) -> None:
        if self._refused(repo, body):
            return
        entries = []
        for (r, name), data in self.state.files.items():
            if r == repo:
                sha = self.state.sha256[r, name]
                lfs = {"oid": sha, "size": len(data), "pointerSize": 134}
                entries.append({"type": "file", "oid": sha[:40], "size": len(data), "path": name, "lfs": lfs})
        self._json(entries, body)

    def _resolve(self, repo: str, name: str, body: bool) -> None:
        if self._refused(repo, body):
            return None
        data = self.state.files.get((repo, name))
        if data is None:
            return self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, body)
        headers = {
            "X-Repo-Commit": COMMIT,
            "X-Linked-Etag": f'"{self.state.sha256[repo, name]}"',
            "X-Linked-Size": str(len(data)),
            "Location": f"{self.state.url.replace('127.0.0.1', 'localhost')}/cdn/{repo}/{quote(name)}",
        }
        self._send(302, b"", headers, body)

    def _bytes(self, repo: str, name: str, body: bool) -> None:
        data = self.state.files[repo, name]
        queue = self.state.faults.get(name, [])
        fault = queue.pop(0) if queue else Fault("none")
        if fault.kind == "status":
            return self._send(fault.code, b"", {}, body)
        if fault.kind == "html":
            return self._send(200, b"<html>log in</html>", {"Content-Type": "text/html"}, body)
        if fault.kind == "loop":
            self.state.fail(name, fault)
            return self._send(302, b"", {"Location": self.path}, body)
        if fault.kind == "gzip":
            return self._send(200, b"no gzip", {"Content-Encoding": "gzip"}, body)
        if fault.kind == "damage":
            data = data[:-1] + bytes([data[-1] ^ 1])
        asked, status = self._range(len(data), fault)
        if asked is None:
            return self._send(416, b"", {"Content-Range": f"bytes */{len(data)}"}, body)
        headers = {"Content-Type": "application/octet-stream", "ETag": '"x"', "Accept-Ranges": "bytes"}
        if status == 206:
            headers["Content-Range"] = f"bytes {asked.start}-{asked.stop - 1}/{len(data)}"
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(asked)))
        self.end_headers()
        if body:
            self._stream(memoryview(data)[asked.start : asked.stop], fault)

    def _range(self, size: int, fault: Fault) -> tuple[range | None, int]:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not asked or fault.kind == "ignore_range":
            return range(size), 200
        start, stop = int(asked[1]), min(int(asked[2]) + 1, size) if asked[2] else size
        if fault.kind == "wrong_range":
            start = max(0, start - 7)
        return (range(start, stop), 206) if start < size else (None, 416)

    def _stream(self, data: memoryview, fault: Fault) -> None:
        try:
            for at in range(0, len(data), 1 << 16):
                if fault.kind in ("drop", "short") and at >= fault.after:
                    self.close_connection = True
                    return
                if fault.kind == "stall" and at >= fault.after:
                    self.server.closing.wait(fault.seconds)
                    self.close_connection = True
                    return
                chunk = data[at : at + (1 << 16)]
                self.wfile.write(chunk)
                self.state.bytes_sent += len(chunk)
                if self.state.chunk_pause_s:
                    time.sleep(self.state.chunk_pause_s)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _json(self, value: object, body: bool) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"}, body)

    def _send(self, status: int, data: bytes, headers: dict[str, str], body: bool) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)
