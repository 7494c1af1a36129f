"""`sayso` for accounts without a usable home: services, containers, a full or read-only disk."""

import os

import pytest

from tests.shell import JFK, SPEECH, complaints, environment, sayso

MOUNTAIN_VIEW = SPEECH / "en/gcp-mountain-view.flac"
CAPABILITIES = "-dac_override,-dac_read_search"
# root may write anywhere; without these it is like anybody
ANYBODY = ("setpriv", "--bounding-set", CAPABILITIES, "--inh-caps", CAPABILITIES) if os.geteuid() == 0 else ()


@pytest.fixture(params=["read-only", "not there", "unset"])
def homeless(request, tmp_path, tiny_en_q8):
    """An environment whose home can't be written."""
    kept = environment(SAYSO_MODELS=str(tiny_en_q8.parent))
    for key in ("SAYSO_HOME", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        kept.pop(key, None)
    if request.param == "read-only":
        (tmp_path / "home").mkdir(mode=0o555)
    if request.param == "unset":  # then the account's own home counts; none of it is touched here
        kept |= {name: str(tmp_path / "none") for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")}
        tmp_path.chmod(0o555)
        yield kept
        tmp_path.chmod(0o755)
        return
    if request.param == "not there":
        tmp_path.chmod(0o555)
    yield kept | {"HOME": str(tmp_path / "home")}
    tmp_path.chmod(0o755)


def test_dictation_goes_on_and_says_what_is_not_kept(homeless):
    done = sayso("listen", "--once", "--clip", MOUNTAIN_VIEW, "--model", "tiny.en", env=homeless, before=ANYBODY)
    assert "mountain view" in done.stdout.lower()
    assert done.returncode == 0
    told = " ".join(complaints(done))
    for what in ("log", "history", "Recordings", "sayso toggle"):
        assert what in told


def test_commands_that_keep_nothing_are_unaffected(homeless):
    for arguments in (["transcribe", JFK, "--model", "tiny.en"], ["models", "list"], ["doctor", "settings"]):
        done = sayso(*arguments, env=homeless, before=ANYBODY)
        assert (done.returncode, done.stderr) == (0, ""), arguments


def test_what_must_be_kept_is_one_sentence(homeless):
    homeless.pop("SAYSO_MODELS")
    done = sayso("models", "import", "starter", env=homeless, before=ANYBODY)
    assert done.returncode == 1
    assert len(complaints(done)) == 1
