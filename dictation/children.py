"""Processes of ours that Ctrl-C does not reach: their parent is interrupted, says so in one sentence, and ends them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def out_of_reach_of_ctrl_c() -> Iterator[None]:
    """Processes started in the `with` block never see it, from their first moment on, when they could not catch it.

    For the parent it only waits until the block ends. (On Windows nothing is kept away.)
    """
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which processes inherit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
