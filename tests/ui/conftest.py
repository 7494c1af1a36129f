"""Fixtures for the windows: Qt without a screen, a core that remembers, a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.core import Core


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    return ["sayso", "-platform", "offscreen"]


@pytest.fixture
def core(qapp: object) -> Core:
    return Core()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, history and models of this test alone."""
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    return tmp_path
