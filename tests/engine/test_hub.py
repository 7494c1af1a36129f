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
from tests.fakes.hub_server import COMMIT, Fault, Hub, serve

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


@pytest.mark.parametrize("kind", ["loop", "gzip"])
def test_an_answer_that_makes_no_sense_is_a_sentence(server: Hub, cache: Path, kind: str) -> None:
    file = add(server)
    server.fail(NAME, Fault(kind))
    with pytest.raises(DamagedDownloadError, match="makes no sense"):
        pull(file, server, cache)
    server.faults.clear()
    assert pull(file, server, cache).outcome == "installed"


def test_a_login_page_is_not_a_model(server: Hub, cache: Path) -> None:
    file = add(server)
    server.fail(NAME, Fault("html"))
    with pytest.raises(DamagedDownloadError, match="web page"):
        pull(file, server, cache)
    server.captive = True
    with pytest.raises(DamagedDownloadError, match="log-in page"):
        pull(file, server, cache)
    assert_nothing_counts(file, cache)


def test_where_nothing_comes_nothing_is_said_to_be_kept(server: Hub, cache: Path) -> None:
    file = add(server)
    server.fail(NAME, *[Fault("drop", after=0)] * 10)
    with pytest.raises(OfflineError, match="check the network and pull again"):
        pull(file, server, cache)


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


def test_a_disk_that_fills_up_on_the_way_is_a_sentence_and_keeps_what_arrived(server: Hub, tmp_path: Path) -> None:
    """A limit on file sizes stands for the full disk: the system refuses to write on."""
    file = add(server)
    code = (
        "import resource, signal\n"
        "from engine import hub\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
        f"try: hub.pull(hub.from_plan({hub.plan(file)!r}))\n"
        "except hub.HubError as error: print(error)\n"
    )
    env = os.environ | {"HF_ENDPOINT": server.url, "PYTHONPATH": os.getcwd(), "HF_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert "can't be stored" in done.stdout and "HF_HOME" in done.stdout, done.stderr
    server.bytes_sent = 0
    assert pull(file, server, tmp_path / "hub").outcome == "installed"
    assert server.bytes_sent < file.size_bytes - 900_000


def test_what_can_not_be_written_is_a_sentence(server: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HubError, match=r"can't be stored.*Set HF_HOME"):
        pull(add(server), server, tmp_path / "file" / "hub")


@pytest.mark.parametrize("listed", [1_500_000, 2_999_999, 3_000_001, 6_000_000])
@pytest.mark.parametrize("checked", [True, False])
def test_a_hub_that_lies_about_the_size_is_found_out(server: Hub, cache: Path, listed: int, checked: bool) -> None:
    file = add(server)
    lied = RemoteFile(**(file.__dict__ | {"size_bytes": listed, "sha256": file.sha256 if checked else None}))
    with pytest.raises(DamagedDownloadError, match="3000000 bytes"):
        pull(lied, server, cache)
    assert server.bytes_sent <= 2 * file.size_bytes
    assert_nothing_counts(lied, cache)


def test_starting_over_again_and_again_is_no_progress(server: Hub, cache: Path) -> None:
    """Its first answer is short, and for the rest it has none: that could go on for ever."""
    file = add(server)
    server.fail(NAME, *[Fault("drop", after=2_000_000), Fault("status", code=416)] * 50)
    with pytest.raises(OfflineError, match="keeps failing"):
        pull(file, server, cache)
    assert len(server.faults[NAME]) > 80


@pytest.mark.parametrize(
    "path, answer",
    [
        ("", b"[]"),
        ("", b"null"),
        ("", b"nonsense"),
        ("", b'{"id": 7, "sha": "../../../x", "siblings": []}'),
        ("tree", b'[{"type": "file", "path": "a.gguf"}]'),
        ("tree", b'[{"type": "file", "oid": "0", "size": -5, "path": "a.gguf"}]'),
        ("tree", b'[{"type": "file", "oid": "0", "size": "many", "path": "a.gguf"}]'),
        ("tree", b'[{"type": "file", "oid": "0", "size": 5, "path": "../../a.gguf"}]'),
        ("tree", b'[{"type": "file", "oid": "0", "size": 5, "path": "/etc/a.gguf"}]'),
        ("tree", b'[{"type": "file", "oid": "0", "size": 5, "path": "a\\u0000.gguf"}]'),
        (
            "tree",
            b'[{"type": "file", "oid": "0", "size": 5, "path": "a.gguf", '
            b'"lfs": {"oid": "../../../../x", "size": 5, "pointerSize": 1}}]',
        ),
    ],
)
def test_an_answer_that_is_none_of_a_hub_s_is_a_sentence(server: Hub, path: str, answer: bytes) -> None:
    add(server)
    base = f"/api/models/{REPO}"
    server.answers[f"{base}/tree/{COMMIT}" if path else f"{base}/revision/main"] = answer
    with pytest.raises(DamagedDownloadError, match="as a model Hub does"):
        hub.list_files(REPO, endpoint=server.url)


def test_names_that_steer_a_terminal_are_not_listed(server: Hub) -> None:
    add(server)
    server.add(REPO, "\x1b]0;title\x07-Q8_0.gguf", b"GGUF")
    assert [file.path for file in hub.list_files(REPO, endpoint=server.url)] == [NAME]


def test_a_hub_that_goes_away_at_the_end_costs_nothing_again(server: Hub, cache: Path) -> None:
    file = add(server)
    with pytest.raises(NotOnHubError):
        pull(file, server, cache, check=lambda path: server.repo_status.update({REPO: (404, "RepoNotFound")}))
    assert_nothing_counts(file, cache)
    server.repo_status.clear()
    assert pull(file, server, cache).outcome == "installed"
    assert server.bytes_sent == file.size_bytes
    assert not list(cache.parent.glob("sayso-partial/*"))


@pytest.mark.parametrize("name", ["a model, ünïcödé 模型.gguf", "sub folder/100 % #1?.gguf"])
def test_names_that_need_quoting_arrive(server: Hub, cache: Path, name: str) -> None:
    path = pull(add(server, name=name), server, cache).path
    assert path is not None and path.name == name.rpartition("/")[2] and path.read_bytes() == model_bytes()


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
