"""Puts the self-contained build where Linux has its programs: one `usr` that .deb, AppDir and Flatpak share.

python -m shipping.stage dist/sayso build/icons build/stage
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

from dictation.version import version
from shipping import plists

HERE = Path(__file__).parents[1]
METAINFO = f"{plists.IDENTIFIER}.metainfo.xml"


def stage(built: Path, icons: Path, target: Path) -> None:
    """Make `target`/usr anew, with programs, desktop file, icons and AppStream data."""
    shutil.rmtree(target, ignore_errors=True)
    usr = target / "usr"
    (usr / "lib").mkdir(parents=True)
    shutil.copytree(built, usr / "lib/sayso", symlinks=True)
    (usr / "lib/sayso/sayso-app").symlink_to("sayso")
    (usr / "bin").mkdir()
    for program in ("sayso", "sayso-app"):
        (usr / "bin" / program).symlink_to(f"../lib/sayso/{program}")
    shutil.copytree(icons / "hicolor", usr / "share/icons/hicolor")
    (usr / "share/applications").mkdir()
    shutil.copy(HERE / "linux/sayso.desktop", usr / "share/applications")
    (usr / "share/metainfo").mkdir()
    (usr / "share/metainfo" / METAINFO).write_text(metainfo(version(), source_date()), "utf-8")
    os.umask(0o022)
    for path in target.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def metainfo(version: str, when: time.struct_time) -> str:
    """The AppStream data of this release."""
    text = (HERE / "linux" / METAINFO).read_text("utf-8")
    return text.replace("@VERSION@", version).replace("@DATE@", time.strftime("%Y-%m-%d", when))


def source_date() -> time.struct_time:
    """When the sources were last changed, as reproducible builds are told it; else now. UTC."""
    return time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()))


if __name__ == "__main__":
    stage(*map(Path, sys.argv[1:4]))
