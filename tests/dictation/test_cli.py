"""The command `sayso` as a shell user or a script meets it: real processes, their output and exit codes."""

import json
import subprocess
import sys
from pathlib import Path

from dictation.cli import COMMANDS

ROOT = Path(__file__).parents[2]


def sayso(*arguments, **options):
    command = [sys.executable, "-m", "dictation.cli", *map(str, arguments)]
    defaults = {"capture_output": True, "text": True, "cwd": ROOT, "stdin": subprocess.DEVNULL, "timeout": 60}
    return subprocess.run(command, check=False, **(defaults | options))


def test_the_version_is_that_of_pyproject():
    done = sayso("--version")
    assert done.returncode == 0
    assert f'version = "{done.stdout.split()[1]}"' in (ROOT / "pyproject.toml").read_text()


def test_help_names_every_command_on_stdout():
    done = sayso("--help")
    assert done.returncode == 0
    assert all(f"    {name}" in done.stdout for name in COMMANDS)


def test_every_command_explains_itself():
    for name, command in COMMANDS.items():
        done = sayso(name, "--help")
        assert done.returncode == 0
        assert command.help[1:] in " ".join(done.stdout.split())


def test_without_a_command_the_help_goes_to_stderr_and_the_code_says_wrong_use():
    done = sayso()
    assert (done.returncode, done.stdout) == (2, "")
    assert "usage: sayso" in done.stderr


def test_an_unknown_command_or_option_is_wrong_use():
    for arguments in (["dictate"], ["--loud"], ["doctor", "--loud"], ["doctor", "spine"]):
        done = sayso(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert arguments[-1] in done.stderr


def test_a_reader_that_goes_away_ends_the_command_quietly():
    script = f"{sys.executable} -m dictation.cli doctor versions | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.stdout.strip() in {"0", "141"}
    assert done.stderr == ""


def test_the_doctor_says_what_to_do_about_a_missing_display():
    done = sayso("doctor", "--json", "display", env={"PATH": "/usr/bin"})
    finding = json.loads(done.stdout)
    assert (done.returncode, finding["status"], finding["found"]) == (1, "problem", "none")
    assert finding["advice"]


def test_the_doctor_notices_a_display_that_does_not_answer():
    done = sayso("doctor", "display", env={"PATH": "/usr/bin", "DISPLAY": ":9973"})
    assert done.returncode == 1
    assert ":9973 does not answer" in done.stdout
    assert "Traceback" not in done.stderr
