"""Downloads survive real life: the real huggingface_hub client against a Hub on this computer that misbehaves."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import hub
from engine.errors import AccessError, DamagedDownloadError, DiskSpaceError, HubError, NotOnHubError, OfflineError
from engine.hub import ModelRef, Pulled, RemoteFile, Wish
from tests.fakes.hub_server import Fault, Hub, serve

REPO = "some/whisper-gguf"
NAME = "whisper-base-Q8_0.gguf"


@pytest.fixture
def server() -> Iterator[Hub]:
    with serve() as state:
        yield state


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "hub"


def model_bytes(size: int = 3_000_000, seed: int = 1) -> bytes:
    return b"GGUF" + random.Random(seed).randbytes(size - 4)


def add(server: Hub, data: bytes | None = None, name: str = NAME) -> RemoteFile:
    server.add(REPO, name, model_bytes() if data is None else data)
    return next(f for f in hub.list_files(REPO, endpoint=server.url) if f.path == name)


def pull(file: RemoteFile, server: Hub, cache: Path, **more: object) -> Pulled:
    settings: dict[str, object] = {"stall_s": 0.5, "pause_s": lambda s: None} | more
    return hub.pull(file, cache_dir=cache, endpoint=server.url, **settings)  # type: ignore[arg-type]


def assert_nothing_counts(file: RemoteFile, cache: Path) -> None:
    assert hub.cached(file, cache) is None
    assert not list(cache.rglob("*.gguf"))


def test_the_hub_of_these_tests_takes_its_threads_and_files_along_when_it_ends() -> None:
    """Its clients keep their connections, or the process of the tests would grow by a model for each."""
    threads = set(threading.enumerate())
    with serve() as state:
        add(state)
        files = weakref.ref(state)
    del state
    assert set(threading.enumerate()) <= threads
    assert files() is None


@pytest.mark.parametrize(
    "text, ref",
    [
        ("a/b", ModelRef("a/b")),
        ("a/b:Q8_0", ModelRef("a/b", "Q8_0")),
        ("a/b:gguf:q4_k_m", ModelRef("a/b", "Q4_K_M")),
        ("a/b:gguf", ModelRef("a/b")),
        ("a/b:x-F16.gguf", ModelRef("a/b", filename="x-F16.gguf")),
    ],
)
def test_reads_the_forms_people_write(text: str, ref: ModelRef) -> None:
    assert hub.parse_ref(text) == ref


@pytest.mark.parametrize("text", ["", "base", "a/b/c", "a/b:Q8_0:more", "https://example.org/a/b"])
def test_says_how_to_write_a_reference(text: str) -> None:
    with pytest.raises(HubError, match="owner/name"):
        hub.parse_ref(text)


@pytest.mark.parametrize(
    "name, quant",
    [
        ("whisper-base-Q4_K_M.gguf", "Q4_K_M"),
        ("whisper-base-Q4_K.gguf", "Q4_K"),
        ("model-tiny-q80.gguf", "Q8_0"),
        ("tiny_q8_0.gguf", "Q8_0"),
        ("ggml-base-q5_1.bin", "Q5_1"),
        ("ggml-base.bin", "F16"),
        ("model.gguf", None),
    ],
)
def test_reads_the_quant_in_a_name(name: str, quant: str | None) -> None:
    assert hub.quant_in_name(name) == quant


def test_a_quant_word_matches_whole(server: Hub) -> None:
    for quant in ("Q4_K_M", "Q4_K", "Q8_0"):
        server.add(REPO, f"whisper-base-{quant}.gguf", model_bytes(100))
    server.add(REPO, "README.md", b"# hi")
    files = hub.list_files(REPO, endpoint=server.url)
    assert len(files) == 3
    assert hub.choose(files, ModelRef(REPO, "Q4_K")).path == "whisper-base-Q4_K.gguf"
    assert hub.choose(files, ModelRef(REPO)).quant == "Q8_0"
    with pytest.raises(NotOnHubError, match=r"has no Q5_K; it has Q4_K, Q4_K_M, Q8_0"):
        hub.choose(files, ModelRef(REPO, "Q5_K"))


def test_the_start_is_read_without_the_rest(server: Hub) -> None:
    file = add(server)
    assert hub.read_start(file, 1000, endpoint=server.url) == server.files[REPO, NAME][:1000]


def test_pulls_verifies_and_shares_the_cache(server: Hub, cache: Path) -> None:
    file = add(server)
    seen: list[hub.Progress] = []
    result = pull(file, server, cache, on_progress=seen.append)
    assert result.outcome == "installed"
    assert result.path is not None and result.path.read_bytes() == server.files[REPO, NAME]
    assert seen[-1].done_bytes == file.size_bytes
    from huggingface_hub import hf_hub_download

    assert hf_hub_download(REPO, NAME, cache_dir=cache, endpoint=server.url) == str(result.path)
    assert pull(file, server, cache).outcome == "already there"
    assert not list(cache.parent.glob("sayso-partial/*"))


@pytest.mark.parametrize(
    "faults",
    [
        [Fault("drop", after=1_000_000)],
        [Fault("drop", after=1_000_000), Fault("drop", after=500_000), Fault("status", code=503)],
        [Fault("stall", after=1_000_000, seconds=1.5)],
        [Fault("short", after=2_000_000)],
        [Fault("drop", after=1_000_000), Fault("ignore_range")],
        [Fault("drop", after=1_000_000), Fault("wrong_range")],
        [Fault("status", code=429), Fault("status", code=502)],
        [Fault("damage")],
    ],
    ids=lambda faults: "+".join(f.kind for f in faults),
)
def test_goes_on_after_a_fault(server: Hub, cache: Path, faults: list[Fault]) -> None:
    file = add(server)
    server.fail(NAME, *faults)
    result = pull(file, server, cache)
    assert result.path is not None and result.path.read_bytes() == server.files[REPO, NAME]


def test_a_dropped_connection_costs_only_the_rest(server: Hub, cache: Path) -> None:
    file = add(server)
    server.fail(NAME, Fault("drop", after=2_000_000))
    pull(file, server, cache)
    assert server.bytes_sent < file.size_bytes + 300_000


def test_a_part_longer_than_the_file_starts_over(server: Hub, cache: Path) -> None:
    file = add(server)
    part = cache.parent / "sayso-partial" / f"{file.sha256}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * (file.size_bytes + 1))
    assert pull(file, server, cache).outcome == "installed"


def test_a_whole_part_is_used_without_asking_for_bytes(server: Hub, cache: Path) -> None:
    file = add(server)
    part = cache.parent / "sayso-partial" / f"{file.sha256}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(server.files[REPO, NAME])
    assert pull(file, server, cache).outcome == "installed"
    assert server.bytes_sent == 0


def test_a_wrong_part_of_full_size_is_fetched_again(server: Hub, cache: Path) -> None:
    file = add(server)
    part = cache.parent / "sayso-partial" / f"{file.sha256}.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"GGUF" + bytes(file.size_bytes - 4))
    result = pull(file, server, cache)
    assert result.path is not None and result.path.read_bytes() == server.files[REPO, NAME]


def test_damage_twice_is_said_and_nothing_counts(server: Hub, cache: Path) -> None:
    file = add(server)
    server.fail(NAME, Fault("damage"), Fault("damage"))
    with pytest.raises(DamagedDownloadError, match="checksum"):
        pull(file, server, cache)
    assert_nothing_counts(file, cache)
    assert not list(cache.parent.glob("sayso-partial/*"))


def test_a_login_page_is_not_a_model(server: Hub, cache: Path) -> None:
    file = add(server)
    server.fail(NAME, Fault("html"))
    with pytest.raises(DamagedDownloadError, match="web page"):
        pull(file, server, cache)
    server.captive = True
    with pytest.raises(DamagedDownloadError, match="log-in page"):
        pull(file, server, cache)
    assert_nothing_counts(file, cache)


def test_a_line_that_stays_dead_keeps_what_arrived(server: Hub, cache: Path) -> None:
    file = add(server)
    server.fail(NAME, Fault("drop", after=1_000_000), *[Fault("drop", after=0)] * 10)
    with pytest.raises(OfflineError, match="pull again to go on"):
        pull(file, server, cache)
    server.faults.clear()
    sent = server.bytes_sent
    assert pull(file, server, cache).outcome == "installed"
    assert server.bytes_sent - sent < file.size_bytes - 900_000


@pytest.mark.parametrize(
    "status, code, kind, words",
    [
        (401, "", AccessError, "log in"),
        (401, "RepoNotFound", NotOnHubError, "check the name"),
        (403, "GatedRepo", AccessError, "terms"),
        (403, "", AccessError, "mirror"),
        (404, "RepoNotFound", NotOnHubError, "check the name"),
        (500, "", HubError, "500"),
    ],
)
def test_refusals_are_told_apart(server: Hub, status: int, code: str, kind: type[HubError], words: str) -> None:
    server.repo_status[REPO] = (status, code)
    with pytest.raises(kind, match=words):
        hub.list_files(REPO, endpoint=server.url)


def test_a_name_that_the_hub_can_not_have_is_said_without_asking(server: Hub) -> None:
    with pytest.raises(HubError, match="owner/name"):
        hub.list_files("../../x", endpoint=server.url)
    assert server.requests == []


def test_no_server_is_offline() -> None:
    with pytest.raises(OfflineError, match="import a file"):
        hub.list_files(REPO, endpoint="http://127.0.0.1:9")


def test_a_file_that_went_away_is_said(server: Hub, cache: Path) -> None:
    file = add(server)
    server.add(REPO, "other.gguf", b"GGUF")
    del server.files[REPO, NAME]
    with pytest.raises(NotOnHubError, match="no longer"):
        pull(file, server, cache)


def test_pause_keeps_and_cancel_drops(server: Hub, cache: Path) -> None:
    file = add(server)
    wishes = iter([Wish.GO_ON] * 4)
    assert pull(file, server, cache, wish=lambda: next(wishes, Wish.PAUSE)).outcome == "paused"
    (part,) = cache.parent.glob("sayso-partial/*.part")
    assert 0 < part.stat().st_size < file.size_bytes
    assert_nothing_counts(file, cache)
    assert pull(file, server, cache, wish=lambda: Wish.CANCEL).outcome == "cancelled"
    assert not list(cache.parent.glob("sayso-partial/*"))


def test_a_full_disk_is_said_before_it_is_full(server: Hub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = add(server)
    monkeypatch.setattr(hub, "SPARE_BYTES", 1 << 60)
    with pytest.raises(DiskSpaceError, match="HF_HOME"):
        pull(file, server, cache)


def test_what_is_no_model_never_enters_the_cache(server: Hub, cache: Path) -> None:
    file = add(server)

    def refuse(path: Path) -> None:
        raise DamagedDownloadError("not a model")

    with pytest.raises(DamagedDownloadError, match="not a model"):
        pull(file, server, cache, check=refuse)
    assert_nothing_counts(file, cache)


def test_an_update_that_fails_leaves_the_old_file(server: Hub, cache: Path) -> None:
    old = add(server)
    kept = pull(old, server, cache).path
    new = add(server, model_bytes(seed=2))
    server.fail(NAME, Fault("damage"), Fault("damage"))
    with pytest.raises(DamagedDownloadError):
        pull(RemoteFile(**(new.__dict__ | {"commit": "f" * 40})), server, cache)
    assert kept is not None and hashlib.sha256(kept.read_bytes()).hexdigest() == old.sha256


def test_the_token_stays_on_the_hub(server: Hub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    pull(add(server), server, cache)
    asked = [headers for _, path, headers in server.requests if path.startswith("/cdn/")]
    assert asked and not any("authorization" in {k.lower() for k in headers} for headers in asked)


def test_two_pulls_of_one_file_fetch_it_once(server: Hub, cache: Path) -> None:
    file = add(server, model_bytes(10_000_000))
    server.chunk_pause_s = 0.002
    results: list[Pulled] = []
    threads = [threading.Thread(target=lambda: results.append(pull(file, server, cache))) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(r.outcome for r in results) == ["already there", "installed"]
    assert server.bytes_sent < 1.1 * file.size_bytes


def test_kill_9_in_the_middle_costs_only_the_rest(server: Hub, cache: Path) -> None:
    file = add(server, model_bytes(50_000_000))
    server.chunk_pause_s = 0.002
    code = f"from engine import hub; hub.pull(hub.from_plan('''{hub.plan(file)}'''), cache_dir={str(cache)!r})"
    env = os.environ | {"HF_ENDPOINT": server.url, "PYTHONPATH": os.getcwd()}
    process = subprocess.Popen([sys.executable, "-c", code], env=env)
    part = cache.parent / "sayso-partial" / f"{file.sha256}.part"
    deadline = time.monotonic() + 20
    while not (part.exists() and part.stat().st_size > 20_000_000):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert_nothing_counts(file, cache)
    arrived, server.bytes_sent, server.chunk_pause_s = part.stat().st_size, 0, 0.0
    assert pull(file, server, cache).outcome == "installed"
    assert server.bytes_sent <= file.size_bytes - arrived + (1 << 16)


@pytest.mark.parametrize("seed", range(4))
def test_random_faults_never_install_a_wrong_file(server: Hub, tmp_path: Path, seed: int) -> None:
    """50 pulls a seed, 200 in all."""
    rng = random.Random(seed)
    kinds = ["drop", "status", "damage", "ignore_range", "wrong_range", "short", "html"]
    file = add(server, model_bytes(700_000, seed))
    for i in range(50):
        server.faults.clear()
        cache = tmp_path / f"cache{i}" / "hub"
        for _ in range(rng.randint(0, 4)):
            server.fail(NAME, Fault(rng.choice(kinds), code=rng.choice([429, 500, 503]), after=rng.randrange(700_000)))
        try:
            result = pull(file, server, cache)
        except HubError:
            assert_nothing_counts(file, cache)
            continue
        assert result.path is not None and hashlib.sha256(result.path.read_bytes()).hexdigest() == file.sha256
        assert not list(cache.parent.glob("sayso-partial/*"))
        assert not list(cache.rglob("*.incomplete"))
