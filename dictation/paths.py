"""Where Sayso keeps its files. `SAYSO_HOME` puts everything under one folder: portable use, tests, a second profile."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import platformdirs

APP = "sayso"


def _place(kind: str, standard: str) -> Path:
    home = os.environ.get("SAYSO_HOME")
    return Path(home).expanduser() / kind if home else Path(standard)


def config_dir() -> Path:
    return _place("config", platformdirs.user_config_dir(APP, appauthor=False))


def data_dir() -> Path:
    return _place("data", platformdirs.user_data_dir(APP, appauthor=False))


def state_dir() -> Path:
    return _place("state", platformdirs.user_state_dir(APP, appauthor=False))


def runtime_dir() -> Path:
    """For the control socket: private to the user and gone after a restart."""
    if sys.platform.startswith("linux") and not os.environ.get("XDG_RUNTIME_DIR"):
        return state_dir() / "run"  # no login session: a service, a container
    return _place("run", platformdirs.user_runtime_dir(APP, appauthor=False))


def settings_file() -> Path:
    return config_dir() / "settings.toml"


def history_file() -> Path:
    return data_dir() / "history.db"


def vocabulary_file() -> Path:
    """When each of the user's own words was last said."""
    return data_dir() / "vocabulary.json"


def remote_desktop_file() -> Path:
    """The desktop's token for the permission to press keys (Wayland)."""
    return data_dir() / "remote-desktop"


def spool_dir() -> Path:
    """Audio of takes that are not delivered yet."""
    return data_dir() / "spool"


def audio_dir() -> Path:
    """Audio that the user chose to keep with the history."""
    return data_dir() / "audio"


def models_dir() -> Path:
    """Our own bundles: imports and exports. Pulled models stay in the Hugging Face cache."""
    return data_dir() / "models"


def token_file() -> Path:
    """What other programs show to the local API."""
    return config_dir() / "api-token"


def api_dir() -> Path:
    """Audio that the local API is working on."""
    return data_dir() / "api"


def log_file() -> Path:
    return state_dir() / "sayso.log"


def private_dir(path: Path) -> Path:
    """Make a folder that only its owner can enter, and return it."""
    path.mkdir(parents=True, exist_ok=True)
    if os.name == "posix":
        path.chmod(0o700)
    return path
