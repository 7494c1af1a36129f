"""What Linux is told about Sayso, read by the programs that Linux itself reads it with."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
import yaml

from dictation.version import version
from shipping import deb, plists, stage
from shipping.inventory import Part

ROOT = Path(__file__).parents[2]
LINUX = ROOT / "packaging/linux"


def run(*command: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_desktop_file_is_valid() -> None:
    assert run("desktop-file-validate", LINUX / "sayso.desktop") == ""


def test_software_centres_accept_the_description_with_this_release(tmp_path: Path) -> None:
    file = tmp_path / stage.METAINFO
    file.write_text(stage.metainfo(version(), time.gmtime(1_796_000_000)), "utf-8")
    assert f'<release version="{version()}" date="2026-11-30"/>' in file.read_text("utf-8")
    said = run("appstreamcli", "validate", "--no-net", file)
    assert "successful" in said


def test_flatpak_builder_reads_the_manifest_and_it_fits_the_other_files() -> None:
    file = ROOT / "packaging/flatpak" / f"{plists.IDENTIFIER}.yml"
    shown = yaml.safe_load(run("flatpak-builder", "--show-manifest", file))
    assert shown["id"] == plists.IDENTIFIER
    assert (LINUX / shown["rename-desktop-file"]).is_file()
    source = (file.parent / shown["modules"][0]["sources"][0]["path"]).resolve()
    assert source == ROOT / "build/package/stage", "where package.sh puts it"


def test_scripts_pass_the_shell_linter() -> None:
    scripts = [*ROOT.glob("packaging/*.sh"), *ROOT.glob("packaging/*/*.sh"), LINUX / "AppRun"]
    assert len(scripts) >= 7
    run("shellcheck", "-S", "warning", *scripts)


@pytest.mark.parametrize(
    ("earlier", "later"), [("0.1.0", "0.2.0"), ("0.2.0.dev1", "0.2.0rc1"), ("0.2.0rc1", "0.2.0"), ("0.9.0", "0.10.0")]
)
def test_debian_orders_versions_as_python_does(earlier: str, later: str) -> None:
    run("dpkg", "--compare-versions", deb.debian_version(earlier), "lt", deb.debian_version(later))


def test_the_packages_hold_what_was_staged_and_say_what_they_need(tmp_path: Path) -> None:
    """With a program of the system's in the place of the real build, which takes minutes to make."""
    staged, made = tmp_path / "stage", tmp_path / "made"
    inside = staged / deb.INSIDE
    (inside / "resources").mkdir(parents=True)
    (inside / "resources/THIRD-PARTY-NOTICES.txt").write_text("licences\n")
    (inside / "libportaudio.so.2").write_bytes(Path("/bin/true").read_bytes())
    (inside.parent / "sayso").write_bytes(Path("/bin/true").read_bytes())
    (inside.parent / "sayso").chmod(0o755)
    parts = [Part("debian", "libportaudio2", "1", ("libportaudio.so.2",)), Part("sayso", "sayso", "1", ("sayso",))]
    packages = {p.name.partition("_")[0]: p for p in deb.build(staged, parts, made)}
    assert deb.build(staged, parts, made), "a second time, over the first"
    assert sorted(p.name for p in made.iterdir()) == sorted(p.name for p in packages.values())
    fields = run("dpkg-deb", "--field", packages["sayso"])
    assert f"Version: {deb.debian_version(version())}\n" in fields
    assert "libc6 (>= " in fields and "libportaudio2" in fields
    listed = run("dpkg-deb", "--contents", packages["sayso"])
    assert "./usr/lib/sayso/sayso\n" in listed and "libportaudio.so" not in listed
    assert all("root/root" in line for line in listed.splitlines())
    assert "THIRD-PARTY-NOTICES.txt.gz" in listed and "copyright" in listed
    optional = run("dpkg-deb", "--contents", packages["sayso-uinput"])
    assert "udev/rules.d/70-sayso-uinput.rules" in optional and "modules-load.d" in optional
    assert "uinput" not in listed, "opening /dev/uinput is for people to choose"


def test_the_permission_is_given_before_logind_looks_for_it() -> None:
    rule = next((LINUX / "uinput").glob("*.rules"))
    assert rule.name < "73-seat-late.rules" and 'TAG+="uaccess"' in rule.read_text()
