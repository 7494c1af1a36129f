"""The Debian package in a Debian that has nothing: installed, dictated with, removed; nothing but user data is left."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.audio import VirtualMicrophone
from tests.e2e.desktop import VirtualDesktop
from tests.e2e.processes import Processes, until
from tests.e2e.programs import Xterm
from tests.fakes import sounds
from tests.packaging.conftest import ROOT, Built
from tests.shell import JFK

pytestmark = [
    pytest.mark.slow,
    pytest.mark.desktop,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a Debian to install into: sudo make test-all"),
]
SUITE = "bookworm"
USER = "speaker"
HOME = f"home/{USER}"
SOUND = ("libasound2-plugins", "libpulse0")
# what package managers and the test itself write
NOT_COMPARED = ("dev", "proc", "sys", "srv", "tmp", HOME, "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log")


class Debian:
    """A fresh Debian in a folder. Each command runs in a mount namespace of its own, so that nothing stays mounted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        pristine = ROOT / f"build/debian-{SUITE}.tar"  # made once
        if not pristine.is_file():
            part = pristine.with_suffix(".part")
            pristine.parent.mkdir(exist_ok=True)
            _run("debootstrap", "--variant=minbase", SUITE, root)
            _run("tar", "--numeric-owner", "-C", root, "-cf", part, ".")
            part.replace(pristine)
        else:
            _run("tar", "--numeric-owner", "-C", root, "-xf", pristine)
        root.chmod(0o755)  # mkdtemp's folder is the test's own, but here it is everybody's "/"
        self.run("useradd", "--create-home", USER)
        self.run("apt-get", "update", "-q")

    def command(self, *command: object, user: str = "root", **environment: str) -> list[str]:
        """What runs a command inside."""
        home = f"/home/{user}" if user != "root" else "/root"
        inside = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": home, "LANG": "C.UTF-8", **environment}
        variables = [f"{name}={value}" for name, value in inside.items()]
        line = ["chroot", f"--userspec={user}", str(self.root), "env", "-i", *variables, *map(str, command)]
        script = f"mount -t proc proc {shlex.quote(f'{self.root}/proc')} && exec {shlex.join(line)}"
        return ["unshare", "--mount", "sh", "-c", script]

    def run(self, *command: object, user: str = "root", **environment: str) -> str:
        return _run(*self.command(*command, user=user, **environment))

    def apt(self, *arguments: object) -> None:
        self.run(
            "apt-get",
            "-y",
            "-q",
            "-o",
            "Dpkg::Options::=--force-unsafe-io",
            *arguments,
            DEBIAN_FRONTEND="noninteractive",
        )

    def paths(self) -> set[str]:
        """Every file and folder that a package may have left, by its path inside."""
        found = set()
        for folder, folders, files in os.walk(self.root):
            place = Path(folder).relative_to(self.root)
            folders[:] = [name for name in folders if str(place / name) not in NOT_COMPARED]
            found |= {str(place / name) for name in [*folders, *files]}
        return found


def _run(*command: object) -> str:
    done = subprocess.run(
        list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture
def debian() -> Iterator[Debian]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-debian-", dir="/var/tmp"))
    yield Debian(folder)
    shutil.rmtree(folder)


@pytest.fixture
def desktop() -> Iterator[VirtualDesktop]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-"))
    with VirtualDesktop(folder) as made:
        yield made
    shutil.rmtree(folder, ignore_errors=True)


def words(text: str) -> list[str]:
    return [word.strip(".,;:!?\"'").lower() for word in text.split()]


def test_from_an_empty_debian_to_typed_words_and_back_to_an_empty_debian(
    debian: Debian, built: Built, tiny_en_q8: Path, desktop: VirtualDesktop
) -> None:
    assert not list(debian.root.glob("usr/bin/python*")), "it has no Python of its own"
    before = debian.paths()
    shutil.copy(built.one("sayso_*.deb"), debian.root / "tmp")
    # of what is recommended only what has to do with sound: the rest is drivers of video cards
    debian.apt("install", "--no-install-recommends", f"/tmp/{built.one('sayso_*.deb').name}", *SOUND)
    assert not list(debian.root.glob("usr/bin/python*")), "and needs none"
    shutil.copy(tiny_en_q8, debian.root / HOME)

    _dictate(debian, f"/{HOME}/{tiny_en_q8.name}", desktop)

    debian.apt("purge", "--autoremove", "sayso", *SOUND)
    assert debian.paths() - before == set()
    assert list((debian.root / HOME).rglob("sayso/history.db")), "user data stays"


def _dictate(debian: Debian, model: str, desktop: VirtualDesktop) -> None:
    """Hold the key, let a clip be heard, let go, and read the window."""
    with VirtualMicrophone(debian.root / "srv") as microphone:
        microphone.folder.chmod(0o755)  # for the user inside
        inside = {
            "user": USER,
            "DISPLAY": desktop.environment["DISPLAY"],
            "PULSE_SERVER": "unix:/srv/pulse/native",
            "XDG_SESSION_TYPE": "x11",
        }
        debian.run("sayso", "models", "import", model, **inside)
        processes = Processes(Path(tempfile.mkdtemp(prefix="sayso-")))
        app = processes.start("sayso", debian.command("sayso-app", **inside), dict(os.environ))
        try:

            def is_ready() -> bool:
                assert app.poll() is None, processes.log("sayso")
                asked = subprocess.run(
                    debian.command("sayso", "status", **inside), capture_output=True, text=True, check=False
                )
                return asked.stdout.startswith("idle") and "(ready)" in asked.stdout

            until("Sayso, ready", is_ready, 60)
            window = desktop.reuse(Xterm)
            with desktop.person.holding("Control_R"):
                until("the microphone open", microphone.recorders, 15)
                microphone.play(JFK)
            until("a text in the window", lambda: words(window.peek())[-1:] == ["country"], 60)
            said = words(sounds.transcript("en/jfk"))
            typed = words(window.text())
            assert typed[:4] == said[:4] and typed[-4:] == said[-4:]
            print(debian.run("sayso", "doctor", "typing", "microphone", "runtime", **inside))
        finally:
            processes.end_all()
            shutil.rmtree(processes.folder, ignore_errors=True)
