"""The wheel in empty environments of every Python that Sayso says it runs on."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import Built
from tests.shell import ROOT

PYTHONS = ("3.11", "3.12", "3.13")


def python(version: str) -> str | None:
    """A Python of this version where pyenv and uv put theirs, or on the path."""
    places = [Path.home() / ".pyenv/versions", Path.home() / ".local/share/uv/python"]
    found = [str(p) for place in places for p in sorted(place.glob(f"*{version}.*/bin/python{version}"))]
    return next(iter(found), None) or shutil.which(f"python{version}")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", PYTHONS)
def test_pip_brings_all_that_transcribing_needs(built: Built, tiny_en_q8: Path, tmp_path: Path, version: str) -> None:
    interpreter = python(version)
    if interpreter is None:
        pytest.skip(f"no Python {version} on this computer")
    subprocess.run([interpreter, "-m", "venv", tmp_path / "env"], check=True)
    binaries = tmp_path / "env/bin"
    pip = [binaries / "python", "-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check"]
    subprocess.run([*pip, built.one("sayso-*.whl")], check=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}

    def sayso(*arguments: object) -> str:
        command = [str(binaries / "sayso"), *map(str, arguments)]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert f"Python {version}." in sayso("doctor", "versions")
    assert "native library" in sayso("doctor", "runtime")
    said = sayso("transcribe", ROOT / "resources/sample.wav", "--model", tiny_en_q8).lower().replace(",", "").split()
    assert said[:5] == ["and", "so", "my", "fellow", "americans"] and said[-1] == "country."
    assert (binaries / "sayso-app").is_file()


@pytest.mark.slow
def test_one_wheel_serves_every_python_and_holds_the_program_only(built: Built) -> None:
    wheel = built.one("sayso-*.whl")
    assert "-py3-none-manylinux_2_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    stem = "-".join(wheel.name.split("-")[:2])
    assert tops == {"dictation", "engine", "resources", "ui", f"{stem}.dist-info"}
    assert "engine/cpu/_native.so" in names and not any("engine/cpu/native/" in name for name in names)
    done = subprocess.run(["auditwheel", "show", wheel], capture_output=True, text=True, check=False,
                          env={"PATH": f"{ROOT}/build/package/env/bin:/usr/bin:/bin"})  # fmt: skip
    assert done.returncode == 0 and "manylinux_2_" in done.stdout, done.stderr


@pytest.mark.slow
def test_the_source_distribution_holds_what_building_needs(built: Built, tmp_path: Path) -> None:
    shutil.unpack_archive(built.one("sayso-*.tar.gz"), tmp_path)
    (tree,) = tmp_path.iterdir()
    for needed in ("pyproject.toml", "LICENSE", "engine/cpu/native/CMakeLists.txt", "resources/catalog.json"):
        assert (tree / needed).is_file(), needed
    assert sum(p.stat().st_size for p in tree.rglob("*") if p.is_file()) < 20e6
