"""What macOS and Windows are told about Sayso. Neither system is here: the files are read as their formats say."""

from __future__ import annotations

import ast
import plistlib
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from shipping import icons, plists, windows

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("icons")
    icons.write(folder)
    return folder


def test_linux_gets_the_icon_in_every_size_and_as_a_drawing(drawn: Path) -> None:
    for size in icons.LINUX_SIZES:
        with Image.open(drawn / f"hicolor/{size}x{size}/apps/sayso.png") as image:
            assert image.size == (size, size) and image.mode == "RGBA"
            assert image.getpixel((0, 0))[3] == 0, "round corners"
            assert image.getpixel((size // 2, size // 8))[1] > image.getpixel((size // 2, size // 8))[0], "green"
    assert (drawn / "hicolor/scalable/apps/sayso.svg").read_bytes().startswith(b"<svg")


def test_windows_gets_all_its_sizes_in_one_file(drawn: Path) -> None:
    data = (drawn / "sayso.ico").read_bytes()
    reserved, kind, count = struct.unpack_from("<3H", data)
    sizes = {data[6 + 16 * i] or 256 for i in range(count)}
    assert (reserved, kind) == (0, 1) and sizes == set(icons.WINDOWS_SIZES)


def test_macos_gets_all_its_sizes_with_the_margin_of_apples_grid(drawn: Path) -> None:
    data = (drawn / "sayso.icns").read_bytes()
    assert data[:4] == b"icns" and struct.unpack(">I", data[4:8])[0] == len(data)
    kinds, at = set(), 8
    while at < len(data):
        kinds.add(data[at : at + 4])
        at += struct.unpack(">I", data[at + 4 : at + 8])[0]
    assert {b"ic07", b"ic08", b"ic09", b"ic10", b"ic11", b"ic12", b"ic13", b"ic14"} <= kinds, "16 to 1024 pixels"
    with Image.open(drawn / "sayso.icns") as image:
        image.load()
        left, top, right, _ = image.getchannel("A").getbbox()
        assert (right - left) / image.width == pytest.approx(icons.MAC_SHARE, abs=0.08)
        assert left == pytest.approx(image.width - right, abs=2) and top == pytest.approx(left, abs=2)


def test_the_mac_app_says_why_it_wants_the_microphone_and_has_no_place_in_the_dock() -> None:
    info = plistlib.loads(plistlib.dumps(plists.info("1.2.3")))
    assert info["CFBundleShortVersionString"] == "1.2.3" and info["LSUIElement"] is True
    for permission in ("Microphone", "Accessibility", "InputMonitoring"):
        assert info[f"NS{permission}UsageDescription"].startswith("Sayso ")


def test_the_hardened_runtime_lets_the_microphone_through_and_qt_be_replaced(tmp_path: Path) -> None:
    file = tmp_path / "entitlements.plist"
    environment = {"PYTHONPATH": f"{ROOT / 'packaging'}", "PATH": ""}
    subprocess.run([sys.executable, "-m", "shipping.plists", file], check=True, cwd=ROOT, env=environment)
    allowed = plistlib.loads(file.read_bytes())
    assert allowed["com.apple.security.device.audio-input"] is True
    assert allowed["com.apple.security.cs.disable-library-validation"] is True


@pytest.mark.parametrize(
    ("version", "numbers"), [("0.1.0", (0, 1, 0, 0)), ("1.2rc1", (1, 2, 0, 0)), ("1.2.3.4.5", (1, 2, 3, 4))]
)
def test_windows_gets_four_numbers_and_the_whole_version_as_text(version: str, numbers: tuple[int, ...]) -> None:
    tree = ast.parse(windows.version_info(version), mode="eval")
    fixed = next(n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") == "FixedFileInfo")
    said = {word.arg: ast.literal_eval(word.value) for word in fixed.keywords}
    assert said["filevers"] == said["prodvers"] == numbers
    texts = [n.args[1].value for n in ast.walk(tree) if getattr(getattr(n, "func", None), "id", "") == "StringStruct"]
    assert texts.count(version) == 2


def test_the_installer_names_files_that_the_build_makes_and_its_sections_are_whole() -> None:
    text = (ROOT / "packaging/windows/sayso.iss").read_text("utf-8")
    sections = re.findall(r"^\[(\w+)\]$", text, re.MULTILINE)
    assert sections == ["Setup", "Languages", "Tasks", "Files", "Icons", "Registry", "Run", "Code"]
    declared = set(re.findall(r'^Name: "(\w+)"; Description', text, re.MULTILINE))
    assert set(re.findall(r"Tasks: (\w+)", text)) == declared
    spec = (ROOT / "packaging/sayso.spec").read_text("utf-8")
    for program in set(re.findall(r"\{app\}\\([\w-]+)\.exe", text)):
        assert f'name="{program}"' in spec
    from dictation.autostart import RUN_KEY

    assert f'Subkey: "{RUN_KEY}"' in text, "uninstalling removes what the setting made"
    assert all(line.count('"') % 2 == 0 for line in text.partition("[Code]")[0].splitlines() if line[:1] != ";")
