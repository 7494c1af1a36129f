"""Mixed load on the local API beside a microphone, for as long as one likes: memory, and what the microphone notices.

    python -m tests.load_api --minutes 60                 # memory under load
    python -m tests.load_api --minutes 3 --alternate 30   # idle and loaded in turn: latency of the microphone, paired

A server with a microphone (a clip in its place, in real time, again and again) runs in a process of its own; this one
is its clients: OpenAI requests in every format, dictations, sessions over HTTP and WebSockets in real time, and clients
that go away, send nonsense or do not read.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

SPEECH = Path(__file__).parent / "data" / "speech"
CLIPS = ("en/gcp-mountain-view.flac", "en/gcp-today.flac", "en/jfk.flac", "en/lj001-0008.flac")
CHUNK_S = 0.25
FORMATS = ("json", "text", "srt", "vtt", "verbose_json")


# ---- the server, and somebody who dictates ---------------------------------------------------------------------------


def serve(model: str, takes: Path) -> None:
    """Serve, and dictate the same clip into the microphone until stdin ends; a line per take in `takes`."""
    from dictation import events as e
    from dictation.app import App, Wiring
    from dictation.clip_source import ClipSource
    from dictation.server.serving import Server

    idle = threading.Event()
    final: list[e.FinalText] = []

    def note(event: e.Event) -> None:
        if isinstance(event, e.FinalText):
            final.append(event)
        if isinstance(event, e.StateChanged) and event.state is e.State.IDLE:
            idle.set()

    clip = SPEECH / CLIPS[0]
    wiring = Wiring(
        desktop=False,
        control=False,
        keep_history=False,
        changes={"recognition.model": model},
        make_source=lambda post: ClipSource(post, [clip], realtime=True),
    )
    with App(wiring) as app:
        app.loop.subscribe(note)
        server = Server(app.loop, port=0)
        print(json.dumps({"url": server.url, "pid": os.getpid()}), flush=True)
        ended = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
        with takes.open("w") as out:
            while not ended.is_set():
                idle.clear()
                final.clear()
                app.loop.send(e.Start("replay", output="none"))
                # in short waits: a process that is stopped for a while, for the sake of other measurements, is not slow
                if not any(idle.wait(1) for _ in range(120)):
                    print(json.dumps({"at": time.time(), "text": None}), file=out, flush=True)
                    break
                said = final[0] if final else None
                take = {"at": time.time(), "text": said and said.text, "ms": said and said.release_to_text_ms}
                print(json.dumps(take), file=out, flush=True)
        server.close()


# ---- clients ---------------------------------------------------------------------------------------------------------


class Clients:
    """A crowd that comes and goes."""

    def __init__(self, url: str, token: str, people: int, realtime: int, seed: int = 0) -> None:
        import openai

        self.url, self.token = url, token
        self.count: Counter[str] = Counter()
        self.strange: Counter[str] = Counter()
        self.active = asyncio.Event()
        self._random = random.Random(seed)
        self._people, self._realtime = people, realtime
        self._openai = openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=token, max_retries=0, timeout=600)
        self._sounds = [(SPEECH / name).read_bytes() for name in CLIPS]
        self._pcm = [_pcm(SPEECH / name) for name in CLIPS]

    async def run(self, until_s: float) -> None:
        whole = (self._transcribe, self._stream, self._dictate, self._nonsense, self._go_away, self._do_not_read)
        live = (self._session, self._socket, self._abandon)
        jobs = [self._live(whole, until_s) for _ in range(self._people)]
        jobs += [self._live(live, until_s) for _ in range(self._realtime)]
        await asyncio.gather(*jobs)
        await self._openai.close()

    async def _live(self, ways: tuple, until_s: float) -> None:
        while time.time() < until_s:
            await self.active.wait()
            way = self._random.choice(ways)
            try:
                await way()
                self.count[way.__name__.strip("_")] += 1
            except Exception as error:  # noqa: BLE001 - counted and shown
                self.strange[f"{way.__name__.strip('_')}: {type(error).__name__}: {str(error)[:120]}"] += 1
            await asyncio.sleep(self._random.uniform(0, 1.0))

    async def _transcribe(self) -> None:
        await self._openai.audio.transcriptions.create(
            model="whisper-1",
            file=("clip.flac", self._random.choice(self._sounds)),
            response_format=self._random.choice(FORMATS),
        )

    async def _stream(self) -> None:
        events = await self._openai.audio.transcriptions.create(
            model="whisper-1", file=("clip.flac", self._random.choice(self._sounds)), stream=True
        )
        kinds = [event.type async for event in events]
        assert kinds[-1] == "transcript.text.done"

    async def _dictate(self) -> None:
        status, _ = await self._post("/dictate", *_form(self._random.choice(self._sounds)))
        assert status == 200, status

    async def _nonsense(self) -> None:
        data = self._random.randbytes(self._random.choice((0, 10, 100_000)))
        status, _ = await self._post("/v1/audio/transcriptions", *_form(data))
        assert status == 422, status

    async def _go_away(self) -> None:
        """Leaves in the middle of the upload, or while the answer is awaited."""
        body, kind = _form(self._random.choice(self._sounds))
        _, writer = await self._connect()
        writer.write(self._head("POST", "/v1/audio/transcriptions", kind, len(body)))
        writer.write(body[: self._random.choice((1000, len(body)))])
        await writer.drain()
        await asyncio.sleep(self._random.uniform(0, 0.5))
        writer.close()

    async def _do_not_read(self) -> None:
        """Opens a session, follows it, and reads nothing of it."""
        id = (await self._json("POST", "/sessions", b"{}"))["id"]
        _, deaf = await self._connect()
        deaf.write(self._head("GET", f"/sessions/{id}/events", "", 0))
        await self._json("POST", f"/sessions/{id}/audio", self._random.choice(self._pcm))
        await self._json("POST", f"/sessions/{id}/finish", b"")
        deaf.close()

    async def _session(self) -> None:
        id = (await self._json("POST", "/sessions", b'{"format": {"encoding": "pcm_s16le"}}'))["id"]
        for chunk in _chunks(self._random.choice(self._pcm)):
            await self._json("POST", f"/sessions/{id}/audio", chunk)
            await asyncio.sleep(CHUNK_S)
        final = await self._json("POST", f"/sessions/{id}/finish", b"")
        assert final["text"], final
        await self._request("DELETE", f"/sessions/{id}", b"")

    async def _abandon(self) -> None:
        """A session that nobody ends."""
        id = (await self._json("POST", "/sessions", b"{}"))["id"]
        await self._json("POST", f"/sessions/{id}/audio", self._random.choice(self._pcm))

    async def _socket(self) -> None:
        from websockets.asyncio.client import connect

        headers = {"Authorization": f"Bearer {self.token}"}
        place = self.url.replace("http", "ws") + "/sessions/socket"
        async with connect(place, additional_headers=headers, open_timeout=60) as socket_:
            await socket_.send("{}")
            for chunk in _chunks(self._random.choice(self._pcm)):
                await socket_.send(chunk)
                await asyncio.sleep(CHUNK_S)
            await socket_.send('{"type": "finish"}')
            events = [json.loads(message) async for message in socket_]
        assert events[-1]["type"] == "final", events[-1]

    # -- plain HTTP

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = self.url.removeprefix("http://").split(":")
        return await asyncio.open_connection(host, int(port))

    def _head(self, method: str, path: str, kind: str, length: int) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self.token}"]
        lines += [f"Content-Type: {kind}" if kind else "Accept: */*", f"Content-Length: {length}", "", ""]
        return "\r\n".join(lines).encode()

    async def _request(self, method: str, path: str, body: bytes, kind: str = "") -> tuple[int, bytes]:
        reader, writer = await self._connect()
        try:
            writer.write(self._head(method, path, kind, len(body)) + body)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            found = re.search(rb"content-length: (\d+)", head)
            return int(head.split()[1]), await reader.readexactly(int(found[1])) if found else b""
        finally:
            writer.close()

    async def _post(self, path: str, body: bytes, kind: str) -> tuple[int, bytes]:
        return await self._request("POST", path, body, kind)

    async def _json(self, method: str, path: str, body: bytes) -> dict:
        status, answer = await self._request(method, path, body)
        while status == 429:
            self.count["busy"] += 1
            await asyncio.sleep(2.0)
            status, answer = await self._request(method, path, body)
        assert status < 300, (status, answer)
        return json.loads(answer)


def _pcm(clip: Path) -> bytes:
    from engine.audio import read_clip

    return (read_clip(clip).clip(-1, 1) * 32767).astype("<i2").tobytes()


def _chunks(pcm: bytes) -> list[bytes]:
    step = int(CHUNK_S * 16_000) * 2
    return [pcm[start : start + step] for start in range(0, len(pcm), step)]


def _form(data: bytes) -> tuple[bytes, str]:
    edge = b"edge-of-the-form"
    head = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n' % edge
    return head + data + b"\r\n--%b--\r\n" % edge, f"multipart/form-data; boundary={edge.decode()}"


# ---- the measurement -------------------------------------------------------------------------------------------------


async def measure(arguments: argparse.Namespace, server: subprocess.Popen, url: str, home: Path) -> dict:
    import psutil

    token = (home / "config" / "api-token").read_text().strip()
    clients = Clients(url, token, arguments.people, arguments.realtime)
    process, memory, loaded = psutil.Process(server.pid), [], []
    started_s = time.time()
    until_s = started_s + 60 * arguments.minutes
    crowd = asyncio.create_task(clients.run(until_s))
    await asyncio.sleep(arguments.alternate or 20)  # the microphone alone, at first
    while time.time() < until_s:
        period = [time.time(), 0.0]
        loaded.append(period)
        clients.active.set()
        end_s = time.time() + arguments.alternate if arguments.alternate else until_s
        while time.time() < min(end_s, until_s):
            await asyncio.sleep(5)
            memory.append((time.time() - started_s, process.memory_info().rss / 1e6, process.num_fds()))
        period[1] = time.time()
        if arguments.alternate:
            clients.active.clear()
            await asyncio.sleep(max(0.0, min(arguments.alternate, until_s - time.time())))
    clients.active.set()
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(crowd, 120)
    return {"memory": memory, "loaded": loaded, "done": clients.count, "strange": clients.strange}


def report(found: dict, takes: list[dict]) -> None:
    def is_loaded(at: float) -> bool:
        return any(start + 5 < at < end for start, end in found["loaded"])

    def is_idle(at: float) -> bool:
        return not any(start < at < end + 10 for start, end in found["loaded"])

    print("requests done:", dict(found["done"]))
    print("strange:", dict(found["strange"]) or "nothing")
    print("takes without a text:", sum(not take["text"] for take in takes), "of", len(takes))
    print("texts:", dict(Counter(take["text"] for take in takes)))
    for name, chosen in (("alone", is_idle), ("under load", is_loaded)):
        ms = sorted(take["ms"] for take in takes if take.get("ms") and chosen(take["at"]))
        if ms:
            high = ms[min(len(ms) - 1, int(0.95 * len(ms)))]
            print(
                f"release to text, {name}: median {statistics.median(ms):.0f} ms, 95% {high:.0f} ms ({len(ms)} takes)"
            )
    rows = found["memory"]
    for at_s, rss_mb, n_fds in rows[:: max(1, len(rows) // 20)] + rows[-1:]:
        print(f"{at_s / 60:6.1f} min {rss_mb:7.0f} MB {n_fds:4d} open files")
    print(f"highest: {max(row[1] for row in rows):.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument(
        "--alternate", type=float, default=0, metavar="S", help="idle and loaded for so many seconds each"
    )
    parser.add_argument("--people", type=int, default=4, help="clients with whole recordings")
    parser.add_argument("--realtime", type=int, default=4, help="clients with sessions")
    parser.add_argument("--model", default="tiny.en")
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.model, arguments.serve)
        return
    with tempfile.TemporaryDirectory(prefix="sayso-load-") as folder:
        takes, home = Path(folder) / "takes", Path(folder) / "home"
        command = [sys.executable, "-m", "tests.load_api", "--serve", str(takes), "--model", arguments.model]
        environment = os.environ | {"SAYSO_HOME": str(home)}
        with subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as server:
            url = json.loads(server.stdout.readline())["url"]
            found = asyncio.run(measure(arguments, server, url, home))
            server.stdin.close()
            server.wait(90)
        left = [path.name for path in (home / "data" / "api").rglob("*") if path.is_file()]
        report(found, [json.loads(line) for line in takes.read_text().splitlines()])
        print("left on disk:", left or "nothing")


if __name__ == "__main__":
    main()
