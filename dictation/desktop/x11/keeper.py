"""Keeps the user's clipboard alive after Sayso has ended: a small program that owns it until somebody copies something.

X11 keeps no clipboard: its contents live in the program that owns them. Having lent the clipboard, Sayso owns the
user's own contents afterwards, and they would go with it. A clipboard manager would take them over; many desktops run
none. Started by `hand_over` with the contents on standard input; nothing is written to disk.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading

from dictation.desktop.x11.clipboard import X11Clipboard
from dictation.desktop.x11.selections import Contents, Item, Named

HAND_OVER_TIMEOUT_S = 5.0


def hand_over(display_name: str | None, kept: dict[str, Named]) -> None:
    """Start a keeper for these selections and wait until it owns them."""
    command = [sys.executable, "-m", "dictation.desktop.x11.keeper", display_name or ""]
    keeper = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    timer = threading.Timer(HAND_OVER_TIMEOUT_S, keeper.kill)
    timer.start()
    try:
        keeper.stdin.write(pickle.dumps(kept))
        keeper.stdin.close()
        keeper.stdout.readline()
    except BrokenPipeError:
        pass  # it could not start; the contents are lost as with any program that ends
    finally:
        timer.cancel()
        keeper.stdout.close()


def main() -> None:
    kept: dict[str, Named] = pickle.loads(sys.stdin.buffer.read())  # from our own parent only
    clipboard = X11Clipboard(sys.argv[1] or None)  # hands over to nobody: it is the keeper
    for selection, named in kept.items():
        contents: Contents = {
            clipboard.atom(target): Item(clipboard.atom(kind), width, data)
            for target, (kind, width, data) in named.items()
        }
        clipboard.restore(clipboard.atom(selection), contents)
    print("ready", flush=True)
    sys.stdout.close()
    clipboard.wait_until_nothing_is_owned()


if __name__ == "__main__":
    main()
