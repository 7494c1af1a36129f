"""Bodies and connections of every bad kind: one clear error each, bounded memory and time, nothing left on disk."""

import json
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import soundfile
from websockets.sync.client import connect

from tests.fakes import sounds
from tests.fakes.caller import form, pcm, wav

SPEECH = wav(sounds.clip("en/gcp-mountain-view"))
CUT, CUT_TYPE = form(SPEECH)
UPLOADS = ("/v1/audio/transcriptions", "/v1/audio/translations", "/dictate")


def left(fake):
    return [path for path in fake.folder.rglob("*") if path.is_file()]


def head(fake, path, *lines, method="POST"):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {fake.token}", *lines, "", ""]
    return "\r\n".join(lines).encode()


# ---- too large -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", UPLOADS)
def test_an_upload_that_is_too_large_is_refused_by_its_length_or_by_its_bytes(serve, path):
    fake = serve(upload_bytes=100_000)
    body, kind = form(bytes(200_000))
    refused = fake.post(path, body, headers={"Content-Type": kind})
    assert (refused.status, refused.code) == (413, "too_large")
    parts = (body[start : start + 10_000] for start in range(0, len(body), 10_000))
    refused = fake.call("POST", path, parts, headers={"Content-Type": kind})  # chunked
    assert (refused.status, refused.code) == (413, "too_large")
    assert fake.form(path, SPEECH[:90_000]).status == 200
    assert left(fake) == []


def test_a_chunk_and_an_object_that_are_too_large_are_refused(fake):
    place = fake.session()
    assert fake.post(f"{place}/audio", bytes((2 << 20) + 1)).code == "too_large"
    assert fake.post("/sessions", b" " * ((1 << 20) + 1)).code == "too_large"
    assert fake.get(place).json["audio_s"] == 0.0
    fake.call("DELETE", place)


def test_audio_that_is_longer_than_it_looks_is_refused(serve, tmp_path):
    fake = serve(audio_s=60.0)
    soundfile.write(tmp_path / "hour.flac", np.zeros(3600 * 8_000, np.int16), 8_000)  # a few kilobytes
    data = (tmp_path / "hour.flac").read_bytes()
    assert len(data) < 1_000_000
    for path in UPLOADS:
        refused = fake.form(path, data)
        assert (refused.status, refused.code) == (413, "audio_too_long")
    assert left(fake) == []


def test_recordings_that_take_long_to_read_hold_up_no_session_and_are_given_up_with_their_client(serve, monkeypatch):
    from dictation.server import desk, sound

    read, is_enough = [], threading.Event()

    def endless(file):
        while not is_enough.wait(0.005):  # as slow as large files of many channels
            read.append(file)
            yield np.zeros((8_000, 1), np.float32), 16_000

    fake = serve()
    place, (body, kind) = fake.session(), form(SPEECH)
    request = head(fake, UPLOADS[0], f"Content-Type: {kind}", f"Content-Length: {len(body)}") + body
    monkeypatch.setattr(sound, "blocks", endless)
    try:
        with (
            socket.create_connection((fake.host, fake.port)) as one,
            socket.create_connection(one.getpeername()) as two,
        ):
            one.sendall(request)
            two.sendall(request)
            while len(set(read)) < desk.POOL_THREADS:
                time.sleep(0.01)
            assert fake.post(f"{place}/audio", pcm(np.zeros(1600)), timeout=30).status == 200
        deadline_s, before = time.monotonic() + 10, -1
        while len(read) != before:
            assert time.monotonic() < deadline_s
            before = len(read)
            time.sleep(0.3)  # sixty blocks
    finally:
        is_enough.set()


def test_a_field_that_is_too_large_or_too_many_of_them_are_refused(fake):
    assert fake.form("/dictate", SPEECH, options=" " * 200_000).status == 400
    assert fake.form("/dictate", SPEECH, **{f"field{n}": "x" for n in range(100)}).status == 400
    assert fake.form("/v1/audio/transcriptions", SPEECH, prompt="x" * 20_000).code == "invalid_value"


# ---- not what it should be -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", UPLOADS)
@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "", 415),
        (SPEECH, "audio/wav", 415),
        (b"{}", "application/json", 415),
        (b"file=x", "application/x-www-form-urlencoded", 415),
        (b"", "multipart/form-data", 400),
        (b"", "multipart/form-data; boundary=x", 400),
        (b"no boundary in it", "multipart/form-data; boundary=x", 400),
        (b"--x\r\nContent-Disposition: form-data\r\n\r\n\r\n--x--\r\n", "multipart/form-data; boundary=x", 400),
        (CUT[:-30], CUT_TYPE, 400),
        (form(None, file="text")[0], "", 415),
        (*form(None, file="text"), 400),
        (*form(None, model="whisper-1"), 400),
        (*form(b""), 422),
        (*form(b"\0" * 1000), 422),
        (*form(SPEECH[:30]), 422),
        (*form(b"\x1a\x45\xdf\xa3" + b"\xff" * 1000), 422),
        (*form(b"\0\0\0\x18ftypisom" + b"\xff" * 1000), 422),
        (*form(b"#EXTM3U\nfile:///etc/passwd\n"), 422),
        (*form(b"ffconcat version 1.0\nfile /etc/passwd\n"), 422),
    ],
)  # fmt: skip
def test_a_malformed_upload_is_one_clear_error(fake, path, body, kind, status):
    refused = fake.post(path, body, headers={"Content-Type": kind} if kind else {})
    assert refused.status == status, refused.body
    assert refused.code
    assert left(fake) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 422),
        (b'{"options":' * 50_000, 422),
        (b"[]", 422),
        (b"null", 422),
        (b'{"unknown": 1}', 422),
        (b'{"format": {"rate_hz": 1e400}}', 422),
        (b'{"format": {"rate_hz": 0}}', 422),
        (b'{"format": {"channels": 9}}', 422),
        (b'{"end_after_silence_s": -1}', 422),
        (b'{"options": {"language": "klingon"}}', 422),
        (b'{"options": {"rules": {"replacements": [{"find": "", "replace": ""}]}}}', 422),
    ],
)
def test_a_malformed_object_is_one_clear_error(fake, body, status):
    refused = fake.post("/sessions", body)
    assert refused.status == status, refused.body
    assert refused.code in ("not_json", "invalid_value")


@pytest.mark.parametrize("path", UPLOADS)
@pytest.mark.parametrize(
    ("rate_hz", "channels", "why"),
    [(1, 1, "1 samples a second"), (200_000, 1, "200000 samples a second"), (16_000, 9, "9 channels")],
)
def test_rates_and_channels_that_are_not_taken_are_named(fake, path, rate_hz, channels, why):
    """At one sample a second these bytes would be hours."""
    refused = fake.form(path, wav(np.zeros((9_000, channels)), rate_hz))
    assert (refused.status, refused.code) == (422, "not_audio") and why in refused.json["error"]["message"]


def test_rules_that_can_not_work_are_named_and_endless_ones_are_left_out(fake):
    fake.words.text = "a" * 40
    rules = [
        {"find": "(", "replace": "", "is_pattern": True},
        {"find": "(a+)+$|(a|a)*b", "replace": "x", "is_pattern": True},
    ]
    answer = fake.form("/dictate", SPEECH, options=json.dumps({"rules": {"replacements": rules}}))
    fake.words.text = None
    assert answer.status == 200 and "not a regular expression" in answer.json["notices"][0]


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTPP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 60_000,
        b"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_what_is_no_http_gets_an_error_of_the_same_shape(fake, data):
    got_head, _, body = fake.raw(data).partition(b"\r\n\r\n")
    assert got_head.startswith(b"HTTP/1.1 400 ") and json.loads(body)["error"]["code"] == "not_http"


def test_there_is_nothing_at_other_addresses_and_no_other_method(fake):
    assert fake.get("/").code == fake.get("/../etc/passwd").code == fake.get("/v1/audio").code == "not_found"
    refused = fake.call("PUT", "/dictate")
    assert (refused.status, refused.code, refused.headers["allow"]) == (405, "method_not_allowed", "POST")


# ---- slow, gone, too many --------------------------------------------------------------------------------------------


def test_a_body_that_stops_coming_is_not_waited_for_and_a_silent_connection_is_closed(serve, monkeypatch):
    from dictation.server import serving

    monkeypatch.setattr(serving._Patience, "read_s", 0.3)
    fake = serve(read_s=0.3)
    answer = fake.raw(head(fake, "/sessions", "Content-Length: 100", "Connection: close") + b"{")
    assert answer.startswith(b"HTTP/1.1 408 ") and b'"too_slow"' in answer
    assert fake.raw(b"") == b""
    assert fake.raw(b"GET /health HTT") == b""


def test_a_connection_that_only_drips_after_its_first_answer_is_closed(serve, monkeypatch):
    """A byte now and then, of a request that never ends, or of a body that nobody waits for."""
    from dictation.server import serving

    monkeypatch.setattr(serving._Patience, "read_s", 0.3)
    fake = serve(read_s=0.3)
    unread = b"POST /sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n"  # without the token
    for start, status in ((head(fake, "/health", method="GET") + b"GET /health HTTP/1.1\r\nX: ", 200), (unread, 401)):
        with socket.create_connection((fake.host, fake.port), timeout=10) as dripping:
            dripping.sendall(start)
            assert f" {status} ".encode() in dripping.recv(65536)
            deadline_s, is_open = time.monotonic() + 10, True
            while is_open:
                assert time.monotonic() < deadline_s
                time.sleep(0.05)
                try:
                    dripping.sendall(b"x")
                except (BrokenPipeError, ConnectionResetError):
                    is_open = False
    with connect(f"ws://127.0.0.1:{fake.port}/sessions/socket", additional_headers=fake.headers) as opened:
        opened.send("{}")
        assert "opened" in opened.recv()
        time.sleep(1.0)  # several looks: a WebSocket is another matter
        opened.send('{"type": "finish"}')
        assert '"final"' in list(opened)[-1]


def test_a_reader_that_takes_nothing_is_left_and_the_others_are_not_held_up(serve, monkeypatch):
    from dictation.server import serving

    monkeypatch.setattr(serving._Patience, "write_s", 0.3)
    fake = serve()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((fake.host, fake.port))
        deaf.setblocking(False)
        request = head(fake, "/openapi.json", method="GET")
        deadline_s, is_ended = time.monotonic() + 20, False
        while not is_ended:  # many answers are asked for and none is read
            assert time.monotonic() < deadline_s
            assert fake.get("/health").status == 200
            try:
                deaf.send(request)
            except BlockingIOError:
                time.sleep(0.01)
            except (BrokenPipeError, ConnectionResetError):
                is_ended = True


@pytest.mark.parametrize(("path", "more"), [*((path, {}) for path in UPLOADS), (UPLOADS[0], {"stream": "true"})])
def test_a_client_that_goes_away_frees_its_place_and_the_engine(serve, path, more):
    fake = serve(recordings=1)
    fake.words.gate.clear()
    body, kind = form(SPEECH, **more)
    with socket.create_connection((fake.host, fake.port)) as gone:
        gone.sendall(head(fake, path, f"Content-Type: {kind}", f"Content-Length: {len(body)}") + body)
        while "sayso_recordings 1.0" not in fake.get("/metrics").body.decode() or not fake.words.requests:
            time.sleep(0.01)
        busy = fake.form(path, SPEECH)
        assert (busy.status, busy.code) == (429, "too_many_recordings")
    deadline_s = time.monotonic() + 10
    while "sayso_recordings 0.0" not in fake.get("/metrics").body.decode() or left(fake):
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    fake.words.gate.set()
    assert fake.form(path, SPEECH).status == 200


def test_an_upload_that_is_cut_off_leaves_nothing(fake):
    body, kind = form(SPEECH)
    for n in (0, 10, 300, len(body) - 5):
        with socket.create_connection((fake.host, fake.port)) as gone:
            gone.sendall(head(fake, "/dictate", f"Content-Type: {kind}", f"Content-Length: {len(body)}") + body[:n])
    deadline_s = time.monotonic() + 10
    while left(fake) or "sayso_recordings 0.0" not in fake.get("/metrics").body.decode():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def test_a_model_that_fails_is_an_error_and_the_next_request_works(fake):
    from engine.errors import EngineError

    fake.words.error = EngineError("The model file is damaged.")
    for path in UPLOADS:
        failed = fake.form(path, SPEECH)
        assert (failed.status, failed.code) == (503, "recognition_failed") and "damaged" in str(failed.json)
    fake.words.error = RuntimeError("what was said")
    assert "what was said" not in str(fake.form("/dictate", SPEECH).json)
    fake.words.error = None
    assert fake.form("/dictate", SPEECH).status == 200


def test_many_connections_at_once_are_served_or_told_to_wait(serve):
    fake = serve(connections=20)
    held = [socket.create_connection((fake.host, fake.port)) for _ in range(30)]
    answer = fake.raw(head(fake, "/health", "Connection: close", method="GET"))
    assert answer.startswith(b"HTTP/1.1 503 ")
    for connection in held:
        connection.close()
    deadline_s = time.monotonic() + 10
    while fake.get("/health").status != 200:
        assert time.monotonic() < deadline_s


def test_the_end_of_sayso_is_told_to_whoever_follows_a_session(serve):
    fake = serve()
    place, told = fake.session(), []
    reader = threading.Thread(target=lambda: told.extend(fake.follow(f"{place}/events")))
    reader.start()
    while not told:  # a partial text
        fake.post(f"{place}/audio", pcm(sounds.clip("en/gcp-today")))
    fake.server.close()
    reader.join(10)
    assert not reader.is_alive()
    assert told[-1] == ("error", {"type": "error", "code": "ending", "message": "Sayso is ending."})
    assert not fake.folder.exists() or left(fake) == []


def test_the_end_of_sayso_is_told_to_whoever_waits_for_an_answer_at_once(serve):
    from dictation.server import serving

    fake = serve()
    fake.words.gate.clear()  # the engine is busy
    answers = {}

    def ask(name, call):
        asking.append(threading.Thread(target=lambda: answers.update({name: call()})))
        asking[-1].start()

    asking = []
    for path in UPLOADS:
        ask(path, lambda path=path: fake.form(path, SPEECH))
    while "sayso_recordings 3.0" not in fake.get("/metrics").body.decode() or not fake.words.requests:
        time.sleep(0.01)
    with (
        socket.create_connection((fake.host, fake.port), timeout=10) as half,
        connect(f"ws://127.0.0.1:{fake.port}/sessions/socket", additional_headers=fake.headers) as opened,
    ):
        half.sendall(head(fake, "/dictate", f"Content-Type: {CUT_TYPE}", "Content-Length: 100000") + CUT[:1000])
        opened.send("{}")
        assert "opened" in opened.recv()
        while "sayso_recordings 4.0" not in fake.get("/metrics").body.decode():
            time.sleep(0.01)
        began_s = time.monotonic()
        fake.server.close()
        took_s = time.monotonic() - began_s
        assert '"ending"' in list(opened)[-1] and opened.close_code == 1000
        assert half.recv(65536).startswith(b"HTTP/1.1 503 ")
    for thread in asking:
        thread.join(10)
    assert {path: (answer.status, answer.code) for path, answer in answers.items()} == dict.fromkeys(
        UPLOADS, (503, "ending")
    )
    assert took_s < serving.STOP_S


def test_a_port_that_is_taken_is_said_in_one_sentence(fake):
    from dictation.server.serving import Server, ServerError

    with pytest.raises(ServerError, match=f"port {fake.port} .* Choose another port"):
        Server(fake.dictation.loop, port=fake.port)


@pytest.mark.parametrize("host", ["192.0.2.1", "fe80::1"])
def test_an_address_that_is_not_this_computers_is_said_in_one_sentence(fake, host):
    from dictation.server.serving import Server, ServerError

    with pytest.raises(ServerError, match="Choose another address"):
        Server(fake.dictation.loop, host, port=0)


@pytest.mark.parametrize("format", ["mp4", "webm"])
def test_files_that_phones_and_browsers_make_are_read(fake, tmp_path, format):
    import av

    speech = (np.tile(sounds.clip("en/gcp-mountain-view"), 2) * 32767).astype(np.int16)
    with av.open(str(tmp_path / f"clip.{format}"), "w") as container:
        stream = container.add_stream("aac" if format == "mp4" else "libopus", rate=48_000, layout="mono")
        resampler = av.AudioResampler("fltp" if format == "mp4" else "s16", "mono", 48_000, frame_size=None)
        frame = av.AudioFrame.from_ndarray(speech[None], "s16", "mono")
        frame.sample_rate = 16_000
        for made in (*resampler.resample(frame), *resampler.resample(None)):
            container.mux(stream.encode(made))
        container.mux(stream.encode(None))
    answer = fake.form("/v1/audio/transcriptions", (tmp_path / f"clip.{format}").read_bytes())
    assert answer.status == 200, answer.body
    assert answer.json["usage"]["seconds"] == pytest.approx(len(speech) / 16_000, abs=0.1)


def test_importing_the_app_imports_none_of_the_servers_libraries():
    code = (
        "import dictation.app, sys; print([n for n in ('starlette', 'uvicorn', 'av', 'msgspec') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
