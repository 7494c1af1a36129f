"""Fixtures for the windows: Qt without a screen, a core that remembers, a home of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from tests.fakes.core import Core
from ui import theme


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    return ["sayso", "-platform", "offscreen"]


@pytest.fixture(autouse=True)
def windows_end_with_their_test(qapp: QApplication) -> Iterator[None]:
    """They hold themselves by what their buttons are connected to, and Qt deletes later in a loop only."""
    before = set(qapp.topLevelWidgets())
    yield
    for window in qapp.topLevelWidgets():
        if window not in before and window.parent() is None:
            window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def core(qapp: object) -> Core:
    return Core()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, history and models of this test alone."""
    monkeypatch.setenv("SAYSO_HOME", str(tmp_path))
    monkeypatch.setenv("SAYSO_MODELS", str(tmp_path / "models"))
    return tmp_path


@pytest.fixture(params=["#2b2b2b", "#efefef"])
def ground(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[QColor]:
    """A window's colour, dark and light, in the style that Sayso has on Linux."""
    before, style = qapp.palette(), qapp.style().objectName()
    qapp.setStyle("Fusion")
    qapp.setPalette(QPalette(QColor(request.param)))
    theme.show_edges()
    yield QColor(request.param)
    qapp.setPalette(before)
    qapp.setStyle(style)
    theme.show_edges()
