"""The program of a self-contained build: the command `sayso`, and the tray where its name is `sayso-app`."""

from __future__ import annotations

import multiprocessing
import os
import runpy
import sys
from pathlib import Path

# Sayso runs these as programs of their own with `sys.executable -m`, which is this file in a self-contained build
HELPERS = ("dictation.calibrate", "dictation.desktop.x11.keeper", "ui.scratch")


def main() -> int:
    """Do what a Python with Sayso installed would do under this name and with these arguments."""
    multiprocessing.freeze_support()
    _leave_other_programs_their_own()
    if sys.argv[1:2] == ["-m"] and sys.argv[2:3] and sys.argv[2] in HELPERS:
        module = sys.argv[2]
        sys.argv = sys.argv[2:]
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        return 0
    if Path(sys.argv[0]).stem.endswith("-app"):
        from ui.main import main as app

        return app()
    from dictation.cli import main as command

    return command()


def _leave_other_programs_their_own() -> None:
    """PyInstaller points variables at our own libraries and Qt plugins, and what we start would load those too.

    This process has no more need of them: the system's loader has read its one, and Qt finds plugins beside itself.
    """
    if getattr(sys, "frozen", False):
        for variable in ("QT_PLUGIN_PATH", "QML2_IMPORT_PATH"):
            os.environ.pop(variable, None)
    original = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if original is not None:
        os.environ["LD_LIBRARY_PATH"] = original
    elif getattr(sys, "frozen", False):
        os.environ.pop("LD_LIBRARY_PATH", None)


if __name__ == "__main__":
    sys.exit(main())
