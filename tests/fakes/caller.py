"""A plain client of the local API: what it sends is what a test says, right or wrong."""

from __future__ import annotations

import http.client
import json
import socket
import uuid
from contextlib import closing
from dataclasses import dataclass

import numpy as np


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """Of a fault; every fault has all of these."""
        error = self.json["error"]
        assert set(error) == {"message", "type", "param", "code"} and error["message"].endswith((".", ")"))
        return error["code"]


class Caller:
    def __init__(self, port, token):
        self.host, self.port, self.token = "127.0.0.1", port, token

    @property
    def headers(self):
        return {"Authorization": f"Bearer {self.token}"}

    def call(self, method, path, body=b"", headers=None, token=True, timeout=60):
        sent = self.headers if token else {}
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        with closing(connection):
            connection.request(method, path, body, sent | (headers or {}))
            got = connection.getresponse()
            return Answer(got.status, {k.lower(): v for k, v in got.getheaders()}, got.read())

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body=b"", **more):
        return self.call("POST", path, body, **more)

    def form(self, path, upload=None, **fields):
        body, kind = form(upload, **fields)
        return self.post(path, body, headers={"Content-Type": kind})

    def session(self, **request):
        """A new session's address."""
        answer = self.post("/sessions", json.dumps(request).encode())
        assert answer.status == 201, answer.body
        return answer.headers["location"]

    def raw(self, data, timeout=10):
        """Send bytes as they are and return all that comes back until the end."""
        with socket.create_connection((self.host, self.port), timeout=timeout) as connection:
            connection.sendall(data)
            got = b""
            while part := connection.recv(65536):
                got += part
        return got

    def follow(self, path, timeout=60):
        """The events of a session as they come: (name, data)."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        with closing(connection):
            connection.request("GET", path, headers=self.headers)
            got = connection.getresponse()
            assert got.status == 200, got.read()
            fields = {}
            for line in got:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name:
                    fields[name] = value
                elif "data" in fields:
                    yield fields["event"], json.loads(fields["data"])
                    fields = {}


def form(upload=None, **fields):
    """A multipart body and its content type. Underscores at a field's end stand for []."""
    edge = uuid.uuid4().hex
    parts = []
    for name, value in fields.items():
        name = name[:-1] + "[]" if name.endswith("_") else name
        parts.append(f'--{edge}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode())
    if upload is not None:
        head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="clip"\r\n\r\n'
        parts.append(head.encode() + upload + b"\r\n")
    return b"".join(parts) + f"--{edge}--\r\n".encode(), f"multipart/form-data; boundary={edge}"


def pcm(samples):
    """Mono float samples as pcm_s16le."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def wav(samples, rate_hz=16_000):
    import io

    import soundfile

    out = io.BytesIO()
    soundfile.write(out, samples, rate_hz, format="WAV", subtype="PCM_16")
    return out.getvalue()


def ogg_opus(samples, rate_hz=16_000):
    import io

    import soundfile
    import soxr

    out = io.BytesIO()
    samples = samples if rate_hz == 48_000 else soxr.resample(samples, rate_hz, 48_000)
    soundfile.write(out, samples, 48_000, format="OGG", subtype="OPUS")
    return out.getvalue()
