"""Pulls model files from a Hugging Face Hub, or a mirror of it, into the cache that other tools share.

The huggingface_hub package asks the questions (what is there, which commit, which hash) and owns the cache's layout.
The bytes are fetched here, because that package throws a half file away when a download ends early: ours stays beside
the cache and goes on after a lost connection, a killed process or a restart. A file enters the cache only when its
SHA-256 is right, so that a half or wrong file can never be taken for a model.
"""

from __future__ import annotations

import enum
import errno
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from engine.errors import AccessError, DamagedDownloadError, DiskSpaceError, HubError, NotOnHubError, OfflineError
from engine.files import atomic

if TYPE_CHECKING:
    from concurrent.futures import Future

    import httpx2
    from huggingface_hub.hf_api import RepoFile

STALL_S = 30.0  # no byte for so long counts as a lost connection
TRIES_WITHOUT_PROGRESS = 5
SPARE_BYTES = 64 << 20  # left free on the disk beside the download
CHUNK_BYTES = 256 << 10
MOST_WAITING = 16  # chunks that wait for the disk
KEEP_PARTIAL_DAYS = 30
MOST_FILES = 20_000  # of a repository; a Hub that lists more, or goes on for ever, is cut off

_QUANT_WORD = re.compile(
    r"(?:^|[-_.])(f32|f16|bf16|q8_0|q80|q6_k|q6k|q5_k_[sml]|q5_k|q5k|q5_[01]|q4_k_[sml]|q4_k|q4k|q4_[01]|q40|"
    r"q3_k_[sml]|q3_k|q2_k)$",
    re.IGNORECASE,
)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_SHORT_WORDS = {"Q80": "Q8_0", "Q40": "Q4_0", "Q6K": "Q6_K", "Q5K": "Q5_K", "Q4K": "Q4_K"}


@dataclass(frozen=True)
class ModelRef:
    """What a person asked for: `owner/name`, `owner/name:Q8_0`, `owner/name:gguf:Q8_0`, `owner/name:file.gguf`."""

    repo: str
    quant: str | None = None
    filename: str | None = None


@dataclass(frozen=True)
class RemoteFile:
    """A model file on a Hub, at one commit."""

    repo: str
    commit: str
    path: str
    size_bytes: int
    sha256: str | None  # None for files outside LFS, which are checked by size alone
    quant: str | None  # as the name says


@dataclass(frozen=True)
class Progress:
    done_bytes: int
    total_bytes: int
    bytes_per_s: float  # over the last seconds; 0 before the first byte
    left_s: float | None


class Wish(enum.Enum):
    """What the person who waits wants, asked for several times a second."""

    GO_ON = "go on"
    PAUSE = "pause"  # keep what is there
    CANCEL = "cancel"  # drop what is there


@dataclass(frozen=True)
class Pulled:
    outcome: Literal["installed", "already there", "paused", "cancelled"]
    path: Path | None = None  # of the file in the cache, when it is there


def parse_ref(text: str) -> ModelRef:
    """Read a reference to a model; raises HubError with a hint at the right form."""
    repo, *rest = text.strip().split(":")
    rest = [word for word in rest if word.lower() != "gguf"]
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", repo) or len(rest) > 1:
        raise HubError(f"“{text}” is not a model on the Hub; write owner/name or owner/name:Q8_0.")
    if not rest or not rest[0]:
        return ModelRef(repo)
    if rest[0].lower().endswith((".gguf", ".bin")):
        return ModelRef(repo, filename=rest[0])
    return ModelRef(repo, quant=rest[0].upper())


def quant_in_name(filename: str) -> str | None:
    """The quant that a file's name ends in, in ggml's spelling, or None: `ggml-base-q5_1.bin` is Q5_1."""
    path = PurePosixPath(filename)
    found = _QUANT_WORD.search(path.stem)
    if found:
        word = found[1].upper()
        return _SHORT_WORDS.get(word, word)
    return "F16" if path.name.startswith("ggml-") and path.suffix == ".bin" else None


def is_model_file(path: str) -> bool:
    return path.endswith(".gguf") or (path.endswith(".bin") and PurePosixPath(path).name.startswith("ggml-"))


def choose(files: list[RemoteFile], ref: ModelRef) -> RemoteFile:
    """The file that `ref` names among `files`; the quant matches a whole word, so Q4_K is never Q4_K_M."""
    if not files:
        raise NotOnHubError(f"{ref.repo} holds no GGUF or ggml file; look for a repository with “gguf” in its name.")
    if ref.filename:
        found = [f for f in files if f.path == ref.filename]
    elif ref.quant:
        found = [f for f in files if f.quant == ref.quant]
    else:
        found = [f for f in files if f.quant == "Q8_0"] or files
    if not found:
        there = ", ".join(sorted({f.quant or f.path for f in files}))
        raise NotOnHubError(f"{ref.repo} has no {ref.quant or ref.filename}; it has {there}.")
    return min(found, key=lambda f: len(f.path))


def list_all(repo: str, revision: str = "main", endpoint: str | None = None) -> list[RemoteFile]:
    """All files of a repository, with size and hash, without downloading any."""
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    with plain_words(repo), _readable_answers(repo):
        api = HfApi(endpoint=endpoint)
        commit = _word(api.model_info(repo, revision=revision).sha or revision)
        entries = islice(api.list_repo_tree(repo, recursive=True, revision=commit), MOST_FILES)
        files = [_listed(repo, commit, e) for e in entries if isinstance(e, RepoFile)]
    return [file for file in files if file.path.isprintable()]  # others could steer a terminal


def _listed(repo: str, commit: str, entry: RepoFile) -> RemoteFile:
    """Raises ValueError for what would lead out of the cache, or is no number of bytes: a mirror may say anything."""
    sha256 = entry.lfs.sha256 if entry.lfs else None
    parts = entry.path.split("/")
    if (
        (sha256 is not None and not _SHA256.fullmatch(sha256))
        or any(part in ("", ".", "..") or "\\" in part or "\0" in part for part in parts)
        or not isinstance(entry.size, int)
        or entry.size < 0
    ):
        raise ValueError(f"the listing of {repo} holds {entry!r}")
    return RemoteFile(repo, commit, entry.path, entry.size, sha256, quant_in_name(entry.path))


@contextmanager
def _readable_answers(repo: str) -> Iterator[None]:
    """What stumbles over a Hub's answer while it reads it, in plain words."""
    from huggingface_hub import errors

    try:
        yield
    except (errors.HFValidationError, errors.HfHubHTTPError):
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DamagedDownloadError(
            f"The server does not answer about {repo} as a model Hub does; a network log-in page, a proxy or a wrong "
            "mirror (HF_ENDPOINT) may be in the way."
        ) from error


def list_files(repo: str, revision: str = "main", endpoint: str | None = None) -> list[RemoteFile]:
    """The GGUF and ggml files among them."""
    return [file for file in list_all(repo, revision, endpoint) if is_model_file(file.path)]


def read_start(file: RemoteFile, n_bytes: int = 1 << 16, endpoint: str | None = None) -> bytes:
    """The first bytes of a remote file, by a ranged read: enough for the header's first keys."""
    if not file.size_bytes:
        return b""  # a range of nothing is an error 416
    with plain_words(file.repo):
        url, headers, _ = _locate(file, endpoint)
        with _get(url, headers | {"Range": f"bytes=0-{n_bytes - 1}"}) as response:
            _raise_for_status(response)
            start = b""
            for chunk in response.iter_bytes(CHUNK_BYTES):
                start += chunk
                if len(start) >= n_bytes:
                    break
    return start[:n_bytes]


def cached(file: RemoteFile, cache_dir: Path | None = None) -> Path | None:
    """Where the file lies in the cache, whole by its size, or None. `installed` hashes are not checked again here."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(file.repo, file.path, cache_dir=cache_dir, revision=file.commit)
    if isinstance(found, str) and Path(found).is_file() and Path(found).stat().st_size == file.size_bytes:
        return Path(found)
    return None


def is_right(path: Path, file: RemoteFile) -> bool:
    """Whether a file in the cache has the checksum that the Hub has for it, or no such is known."""
    if file.sha256 is None:
        return True
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest() == file.sha256


def pull(
    file: RemoteFile,
    *,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    wish: Callable[[], Wish] = lambda: Wish.GO_ON,
    check: Callable[[Path], None] = lambda path: None,
    cache_dir: Path | None = None,
    endpoint: str | None = None,
    stall_s: float = STALL_S,
    pause_s: Callable[[float], None] = time.sleep,
) -> Pulled:
    """Bring `file` into the cache, going on where an earlier attempt ended.

    check: called with the finished, hashed file before it counts; raises ModelFileError for what is not a model.
    pause_s: waits between tries (tests hand in their own).
    Errors: HubError and its kinds. The part that has arrived is kept for the next attempt, unless it was wrong.
    """
    part = _part_path(file, cache_dir)
    try:
        if (path := cached(file, cache_dir)) is not None:
            return Pulled("already there", path)
        part.parent.mkdir(parents=True, exist_ok=True)
        return _pull_locked(
            file,
            part,
            _Transfer(file, part, endpoint, stall_s, pause_s, on_progress, wish),
            check,
            cache_dir,
        )
    except OSError as error:
        raise _disk_fault(error, part.parent) from error


def _pull_locked(
    file: RemoteFile, part: Path, transfer: _Transfer, check: Callable[[Path], None], cache_dir: Path | None
) -> Pulled:
    """`pull`, one process at a time for a file."""
    import filelock

    wish = transfer.wish
    _drop_stale(part.parent)
    lock = filelock.FileLock(part.with_suffix(".lock"))
    while True:  # somebody else may be fetching the same file; then theirs is ours
        try:
            lock.acquire(timeout=0.2)
            break
        except filelock.Timeout:
            if wish() is not Wish.GO_ON:
                return Pulled("cancelled" if wish() is Wish.CANCEL else "paused")
    try:
        if (path := cached(file, cache_dir)) is not None:
            return Pulled("already there", path)
        with plain_words(file.repo):
            ended = transfer.run()
            if ended is Wish.PAUSE:
                return Pulled("paused")
            if ended is Wish.CANCEL:
                part.unlink(missing_ok=True)
                return Pulled("cancelled")
            try:
                check(part)
            except Exception:
                part.unlink(missing_ok=True)  # the right bytes of a file that is no model: nothing to go on with
                raise
            return Pulled("installed", _install(file, part, transfer.etag, cache_dir, transfer.endpoint))
    finally:
        with suppress(OSError):  # while it is ours: whoever waits for it looks whether it is still there
            part.with_suffix(".lock").unlink()
        lock.release()


def _disk_fault(error: OSError, folder: Path) -> HubError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskSpaceError(
            f"The disk that holds {folder} is full. What has arrived is kept: free some space, or set HF_HOME to "
            "another disk, then pull again."
        )
    return HubError(
        f"The model can't be stored: {error.filename or folder}: {error.strerror or error}. "
        "Set HF_HOME to a folder that can be written to."
    )


def drop_partial(file: RemoteFile, cache_dir: Path | None = None) -> None:
    """Forget what has arrived of a paused download."""
    _part_path(file, cache_dir).unlink(missing_ok=True)


def forget(path: Path) -> None:
    """Take a file out of the cache: its snapshot entry and the bytes behind it."""
    blob = path.resolve()
    path.unlink(missing_ok=True)
    if blob.parent.name == "blobs":
        blob.unlink(missing_ok=True)


class _Transfer:
    """One file on its way: a growing part file, its running hash, tries, speed."""

    def __init__(
        self,
        file: RemoteFile,
        part: Path,
        endpoint: str | None,
        stall_s: float,
        pause_s: Callable[[float], None],
        on_progress: Callable[[Progress], None],
        wish: Callable[[], Wish],
    ) -> None:
        self.file, self.part, self.endpoint = file, part, endpoint
        self.stall_s, self.pause_s, self.on_progress, self.wish = stall_s, pause_s, on_progress, wish
        self.etag = ""
        self.done = 0
        self.hash = hashlib.sha256()
        self._speed = _Speed()

    def run(self) -> Wish:
        """Fetch until whole and right; returns GO_ON then, or the wish that ended it."""
        import httpx2

        tries, wrong = 0, 0
        self._take_up()
        most = self.done  # what arrives a second time, after a new start, is no progress
        while True:
            try:
                ended = self._fetch_rest()
                if ended is not Wish.GO_ON:
                    return ended
                if self._is_right():
                    return Wish.GO_ON
                wrong += 1
                self._start_over()
                if wrong == 2:  # the same wrong bytes twice: the server's fault, not the line's
                    raise DamagedDownloadError(
                        f"{self.file.path} arrived damaged twice (wrong checksum); try another mirror or network."
                    )
                continue
            except (httpx2.TransportError, _Retry) as error:
                tries = 1 if self.done > most else tries + 1
                most = max(most, self.done)
                if tries >= TRIES_WITHOUT_PROGRESS:
                    raise self._out_of_reach() from error
            self.pause_s(min(2.0 ** (tries - 1), 16.0))
            if self.wish() is not Wish.GO_ON:
                return self.wish()

    def _take_up(self) -> None:
        """Hash what an earlier attempt left."""
        self.hash, self.done = hashlib.sha256(), 0
        if self.part.exists():
            if self.part.stat().st_size > self.file.size_bytes:
                self.part.unlink()
                return
            with self.part.open("rb") as f:
                while chunk := f.read(1 << 20):
                    self.hash.update(chunk)
                    self.done += len(chunk)

    def _start_over(self) -> None:
        self.part.unlink(missing_ok=True)
        self.hash, self.done = hashlib.sha256(), 0

    def _is_right(self) -> bool:
        if self.done != self.file.size_bytes:
            return False
        return self.file.sha256 is None or self.hash.hexdigest() == self.file.sha256

    def _fetch_rest(self) -> Wish:
        url, headers, self.etag = _locate(self.file, self.endpoint)
        if self.done == self.file.size_bytes:
            return Wish.GO_ON
        self._check_space()
        if self.done:
            headers["Range"] = f"bytes={self.done}-"
        with _get(url, headers, self.stall_s) as response:
            if response.status_code == 416:  # the server's file is shorter than our part: ours is wrong
                self._start_over()
                raise _Retry("416")
            if response.status_code in (408, 429, 500, 502, 503, 504):
                raise _Retry(str(response.status_code))
            _raise_for_status(response)
            self._check_kind(response)
            with self._open_part(response) as f:
                return self._copy(response, f)

    def _check_kind(self, response: httpx2.Response) -> None:
        if response.headers.get("content-type", "").startswith("text/html"):
            raise DamagedDownloadError(
                f"{self._host()} sent a web page instead of the model; a network log-in page may be in the way: "
                "open a browser, sign in to the network, then pull again."
            )

    def _open_part(self, response: httpx2.Response) -> IO[bytes]:
        """Append where the server goes on; start over where it sends the whole file or another stretch."""
        if response.status_code == 206:
            found = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("content-range", ""))
            if found and int(found[1]) == self.done and found[2] in ("*", str(self.file.size_bytes)):
                return self.part.open("ab")
            self._start_over()
            raise _Retry("another range than asked for")
        self._start_over()
        length = response.headers.get("content-length", "")
        packed = "content-encoding" in response.headers  # by a proxy that does as it likes
        if length.isdecimal() and int(length) != self.file.size_bytes and not packed:
            raise DamagedDownloadError(
                f"{self.file.path} on the server has {int(length)} bytes, and not {self.file.size_bytes} as it was "
                "listed; list the repository again, or try another mirror."
            )
        return self.part.open("wb")

    def _copy(self, response: httpx2.Response, f: IO[bytes]) -> Wish:
        """What arrives while the writer is at work waits for it, so that a fast line is used all the time."""
        from concurrent.futures import ThreadPoolExecutor

        kept: Future[None] | None = None
        waiting: list[bytes] = []
        with ThreadPoolExecutor(1, "download") as writer:
            try:
                for chunk in response.iter_bytes(CHUNK_BYTES):
                    if self.done + len(chunk) > self.file.size_bytes:
                        raise _Retry("more bytes than the file has")
                    waiting.append(chunk)
                    self.done += len(chunk)
                    if kept is None or kept.done() or len(waiting) >= MOST_WAITING:
                        if kept is not None:
                            kept.result()
                        kept = writer.submit(self._keep, f, waiting)
                        waiting = []
                    self.on_progress(self._speed.progress(self.done, self.file.size_bytes))
                    if (wish := self.wish()) is not Wish.GO_ON:
                        return wish
            finally:
                if kept is not None:
                    kept.result()
                self._keep(f, waiting)
        if self.done < self.file.size_bytes:
            raise _Retry("the connection ended early")
        return Wish.GO_ON

    def _keep(self, f: IO[bytes], chunks: list[bytes]) -> None:
        together = b"".join(chunks)
        f.write(together)
        self.hash.update(together)

    def _check_space(self) -> None:
        rest = self.file.size_bytes - self.done
        free = shutil.disk_usage(self.part.parent).free
        if free < rest + SPARE_BYTES:
            raise DiskSpaceError(
                f"{rest >> 20} MB are still to come and {SPARE_BYTES >> 20} MB should stay free, but the disk that "
                f"holds {self.part.parent} has only {free >> 20} MB; free some space or set HF_HOME to another disk."
            )

    def _out_of_reach(self) -> OfflineError:
        if not self.done:
            return OfflineError(f"{self._host()} can't be reached; check the network and pull again, or import a file.")
        return OfflineError(
            f"The connection to {self._host()} keeps failing; {self.done >> 20} MB are kept, pull again to go on."
        )

    def _host(self) -> str:
        from huggingface_hub import constants

        return urlsplit(self.endpoint or constants.ENDPOINT).netloc


class _Retry(Exception):
    """Worth another try after a pause."""


class _Speed:
    """Bytes per second over the last five seconds."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []

    def progress(self, done: int, total: int) -> Progress:
        now = time.monotonic()
        if not self._marks or now - self._marks[-1][0] >= 0.1:  # not for each of a fast line's thousands of chunks
            self._marks = [mark for mark in self._marks if now - mark[0] < 5] + [(now, done)]
        since, before = self._marks[0]
        speed = (done - before) / (now - since) if now > since else 0.0
        return Progress(done, total, speed, (total - done) / speed if speed else None)


def _locate(file: RemoteFile, endpoint: str | None) -> tuple[str, dict[str, str], str]:
    """Where the bytes are now, headers to ask for them, and the etag that the cache files them under.

    The Hub's address is asked for each time, because the CDN addresses that it hands out run out.
    """
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.utils._headers import build_hf_headers

    url = hf_hub_url(file.repo, file.path, revision=file.commit, endpoint=endpoint)
    with _readable_answers(file.repo):
        found = get_hf_file_metadata(url, endpoint=endpoint, timeout=constants.HF_HUB_ETAG_TIMEOUT)
        _word(found.etag or "none")  # it becomes the name of a file
    if found.commit_hash is None or found.etag is None:
        raise DamagedDownloadError(
            f"{urlsplit(url).netloc} does not answer like a model Hub; a network log-in page or a proxy may be in the "
            "way: open a browser, sign in to the network, then pull again."
        )
    if file.sha256 and _SHA256.fullmatch(found.etag) and found.etag != file.sha256:
        raise DamagedDownloadError(f"{file.path} on the server is not the file that was asked for (another checksum).")
    headers = build_hf_headers() | {"Accept-Encoding": "identity"}
    if urlsplit(found.location).netloc != urlsplit(url).netloc:
        headers.pop("authorization", None)  # a CDN's address carries its own permission; the token is not its business
    return found.location, headers, found.etag


def _word(text: str) -> str:
    """`text`, if it can be the name of one file or folder. Raises ValueError."""
    if not re.fullmatch(r"\w[\w.-]*", text):
        raise ValueError(f"{text!r} is no name")
    return text


@contextmanager
def _get(url: str, headers: dict[str, str], stall_s: float = STALL_S) -> Iterator[httpx2.Response]:
    """Stream through the Hub package's own session, which knows the proxy and the certificates."""
    import httpx2
    from huggingface_hub import get_session

    timeout = httpx2.Timeout(10.0, read=stall_s)
    with get_session().stream("GET", url, headers=headers, timeout=timeout, follow_redirects=True) as response:
        yield response


def _raise_for_status(response: httpx2.Response) -> None:
    from huggingface_hub import hf_raise_for_status

    if response.status_code >= 400:
        response.read()
        hf_raise_for_status(response)


@contextmanager
def plain_words(repo: str) -> Iterator[None]:
    """Turn what the network and the Hub package raise into one sentence that says what to do."""
    import httpx2
    from huggingface_hub import errors

    try:
        yield
    except errors.HFValidationError as error:
        raise HubError(f"“{repo}” is no name on the Hub; write owner/name.") from error
    except errors.GatedRepoError as error:
        raise AccessError(
            f"{repo} wants its terms accepted first: accept them on its page on the Hub, then log in with "
            "`hf auth login`."
        ) from error
    except (errors.RemoteEntryNotFoundError, errors.RevisionNotFoundError) as error:
        raise NotOnHubError(f"{repo} no longer has that file; list the repository again.") from error
    except errors.RepositoryNotFoundError as error:
        raise NotOnHubError(
            f"There is no {repo} on the Hub, or it is private: check the name, or log in with `hf auth login`."
        ) from error
    except errors.OfflineModeIsEnabled as error:
        raise OfflineError("HF_HUB_OFFLINE is set, so nothing is fetched; unset it, or import a file.") from error
    except (errors.LocalEntryNotFoundError, errors.FileMetadataError) as error:
        raise OfflineError("The Hub stopped answering; what has arrived is kept, pull again to go on.") from error
    except errors.HfHubHTTPError as error:
        code = error.response.status_code if error.response is not None else 0
        if code in (401, 403):
            raise AccessError(
                f"The server refuses access to {repo} (error {code}); log in with `hf auth login`, or try a mirror "
                "(HF_ENDPOINT) if your network blocks the Hub."
            ) from error
        raise HubError(f"The Hub answers with error {code}; try again later, or set a mirror (HF_ENDPOINT).") from error
    except httpx2.ProxyError as error:
        raise OfflineError("The proxy can't be reached; check HTTPS_PROXY.") from error
    except httpx2.TransportError as error:
        reason = (
            "its certificate is not trusted (set SSL_CERT_FILE)" if "CERTIFICATE" in str(error) else "no connection"
        )
        raise OfflineError(f"The Hub can't be reached: {reason}. Check the network, or import a file.") from error
    except (httpx2.RequestError, httpx2.InvalidURL) as error:  # redirects in a circle, packed in no way that we know
        raise DamagedDownloadError(
            "The server's answer makes no sense; a proxy or a wrong mirror (HF_ENDPOINT) may be in the way."
        ) from error


def _cache_root(cache_dir: Path | None) -> Path:
    from huggingface_hub import constants

    return Path(cache_dir or constants.HF_HUB_CACHE)


def _part_path(file: RemoteFile, cache_dir: Path | None) -> Path:
    """Beside the cache, not in it: other tools would take a half file there for damage."""
    key = file.sha256 or hashlib.sha256(f"{file.repo}@{file.commit}/{file.path}".encode()).hexdigest()
    return _cache_root(cache_dir).parent / "sayso-partial" / f"{key}.part"


def _drop_stale(folder: Path) -> None:
    """Parts that nobody went on with for a month, and locks of processes that are gone."""
    for path in folder.glob("*.part"):
        if time.time() - path.stat().st_mtime > KEEP_PARTIAL_DAYS * 86400:
            path.unlink(missing_ok=True)


def _install(file: RemoteFile, part: Path, etag: str, cache_dir: Path | None, endpoint: str | None) -> Path:
    """Move a verified file into the cache. The Hub package then makes the snapshot entry itself."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.file_download import repo_folder_name

    blob = _cache_root(cache_dir) / repo_folder_name(repo_id=file.repo, repo_type="model") / "blobs" / etag
    blob.parent.mkdir(parents=True, exist_ok=True)
    with part.open("rb") as f:
        os.fsync(f.fileno())
    try:
        part.replace(blob)
    except OSError:  # the cache is a disk of its own
        with atomic(blob) as copy:
            shutil.copyfile(part, copy)
        part.unlink()
    try:
        found = hf_hub_download(
            file.repo, file.path, revision=file.commit, cache_dir=cache_dir, endpoint=endpoint, library_name="sayso"
        )
    except BaseException:
        shutil.move(blob, part)  # nothing names it yet, so the next attempt would fetch all of it again
        raise
    return Path(found)


def plan(file: RemoteFile) -> str:
    """The file as JSON, to take a paused download up again after a restart."""
    return json.dumps(file.__dict__)


def from_plan(text: str) -> RemoteFile:
    return RemoteFile(**json.loads(text))
