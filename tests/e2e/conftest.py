"""One virtual desktop and microphone for all end-to-end tests of a run; programs stay open between tests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dictation.desktop.linux_x11 import X11Desktop
from tests.e2e.audio import VirtualMicrophone
from tests.e2e.desktop import VirtualDesktop


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browsers, sound servers and people's keys in real time on a machine that others use: a second try, which is shown
    (`R` and a line at the end). A test that needs it often has a fault to be found."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def virtual_desktop() -> Iterator[VirtualDesktop]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-"))  # short: sockets lie in it
    with VirtualDesktop(folder) as desktop:
        yield desktop
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def virtual_microphone() -> Iterator[VirtualMicrophone]:
    folder = Path(tempfile.mkdtemp(prefix="sayso-"))
    with VirtualMicrophone(folder) as microphone:
        yield microphone
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def desktop(virtual_desktop: VirtualDesktop) -> Iterator[VirtualDesktop]:
    """The virtual desktop, with the keyboard as a test expects it and as it has to leave it."""
    virtual_desktop.layout("us")
    yield virtual_desktop
    virtual_desktop.person.let_go()
    assert not virtual_desktop.keys_down(), "a key is stuck"


@pytest.fixture
def x11(desktop: VirtualDesktop) -> Iterator[X11Desktop]:
    back_end = X11Desktop(desktop.environment["DISPLAY"])
    yield back_end
    back_end.close()
