"""Downloads as people meet them in the settings panel: against the Hub stand-in, with a real bundle of tiny.en."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dictation.downloads import Downloads
from dictation.events import Download
from engine import hub, store
from engine.hub import RemoteFile
from tests.fakes.hub_server import Fault, Hub, serve

REPO = "some/whisper-tiny.en-gguf"
NAME = "whisper-tiny.en-Q8_0.gguf"


@pytest.fixture
def server() -> Iterator[Hub]:
    with serve() as state:
        yield state


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    return tmp_path


class Panel:
    """What the settings panel sees."""

    def __init__(self, server: Hub, home: Path) -> None:
        self.events: queue.Queue[Download] = queue.Queue()
        self.installed: list[str] = []
        self.downloads = Downloads(self.events.put, self.installed.append, server.url, home / "cache" / "hub")

    def until(self, wanted: Callable[[Download], bool]) -> Download:
        while True:
            event = self.events.get(timeout=20)
            if wanted(event):
                return event

    def until_status(self, status: str) -> Download:
        return self.until(lambda event: event.status == status)


def listed(server: Hub, data: bytes) -> RemoteFile:
    server.add(REPO, NAME, data)
    return hub.list_files(REPO, endpoint=server.url)[0]


def test_a_pulled_model_is_installed_under_its_name(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    panel = Panel(server, home)
    panel.downloads.start("tiny.en:Q8_0", listed(server, tiny_en_q8.read_bytes()))
    done = panel.until_status("done")
    assert done.received_bytes == done.total_bytes
    assert panel.installed == ["tiny.en:Q8_0"]
    assert store.find("tiny.en").read_bytes() == tiny_en_q8.read_bytes()
    assert panel.downloads.jobs() == []


def test_what_is_no_whisper_is_refused_after_its_hash(server: Hub, home: Path) -> None:
    panel = Panel(server, home)
    panel.downloads.start("odd", listed(server, b"GGUF" + bytes(200_000)))
    failed = panel.until_status("failed")
    assert failed.message and panel.installed == [] and store.installed() == []


def test_a_paused_download_goes_on_after_a_restart(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    server.chunk_pause_s = 0.005
    panel = Panel(server, home)
    job = panel.downloads.start("tiny.en:Q8_0", listed(server, tiny_en_q8.read_bytes()))
    panel.until(lambda event: event.received_bytes > 2_000_000)
    panel.downloads.pause(job)
    assert panel.until_status("paused").received_bytes > 2_000_000
    panel.downloads.close()

    server.chunk_pause_s, server.bytes_sent = 0.0, 0
    again = Panel(server, home)
    (waiting,) = again.downloads.jobs()
    assert (waiting.id, waiting.status) == (job, "paused")
    again.downloads.resume(job)
    again.until_status("done")
    assert server.bytes_sent < waiting.file.size_bytes - 1_500_000


def test_cancelling_drops_what_arrived(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    server.chunk_pause_s = 0.005
    panel = Panel(server, home)
    job = panel.downloads.start("tiny.en:Q8_0", listed(server, tiny_en_q8.read_bytes()))
    panel.until(lambda event: event.received_bytes > 1_000_000)
    panel.downloads.cancel(job)
    panel.until_status("cancelled")
    assert not list(home.rglob("*.part")) and panel.downloads.jobs() == []


def test_a_paused_one_can_be_cancelled(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    server.chunk_pause_s = 0.005
    panel = Panel(server, home)
    job = panel.downloads.start("tiny.en:Q8_0", listed(server, tiny_en_q8.read_bytes()))
    panel.until(lambda event: event.received_bytes > 1_000_000)
    panel.downloads.pause(job)
    panel.until_status("paused")
    panel.downloads.cancel(job)
    panel.until_status("cancelled")
    assert not list(home.rglob("*.part"))


def test_a_failed_one_says_why_and_can_be_tried_again(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    panel = Panel(server, home)
    file = listed(server, tiny_en_q8.read_bytes())
    server.fail(NAME, Fault("html"))
    job = panel.downloads.start("tiny.en:Q8_0", file)
    assert "web page" in panel.until_status("failed").message
    panel.downloads.resume(job)
    panel.until_status("done")
    assert store.find("tiny.en:Q8_0").is_file()


def test_a_disk_that_takes_no_list_of_downloads_does_not_stop_them(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    (home / "data" / "downloads.json").mkdir(parents=True)
    panel = Panel(server, home)
    panel.downloads.start("tiny.en:Q8_0", listed(server, tiny_en_q8.read_bytes()))
    panel.until_status("done")
    assert panel.installed == ["tiny.en:Q8_0"]


def test_a_fault_of_ours_ends_a_download_visibly(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    file = listed(server, tiny_en_q8.read_bytes())
    panel = Panel(server, home)
    panel.downloads.start("tiny.en:Q8_0", RemoteFile(**(file.__dict__ | {"path": 5})))
    assert "A fault in Sayso" in panel.until_status("failed").message


def test_two_at_once(server: Hub, home: Path, tiny_en_q8: Path) -> None:
    panel = Panel(server, home)
    data = tiny_en_q8.read_bytes()
    for name in ("a-Q8_0.gguf", "b-Q8_0.gguf"):
        server.add(REPO, name, data if name[0] == "a" else data + bytes(32))
    for file in hub.list_files(REPO, endpoint=server.url):
        panel.downloads.start(f"{file.path[0]}:Q8_0", file)
    assert {panel.until_status("done").name, panel.until_status("done").name} == {"a:Q8_0", "b:Q8_0"}


def test_a_damaged_list_of_downloads_is_as_good_as_none(server: Hub, home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "downloads.json").write_text("[{]")
    assert Panel(server, home).downloads.jobs() == []
