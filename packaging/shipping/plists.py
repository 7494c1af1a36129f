"""The property lists of the macOS app: what it is, what it asks for and why, what the hardened runtime allows it.

python -m shipping.plists build/entitlements.plist
"""

from __future__ import annotations

import plistlib
import sys
from pathlib import Path
from typing import Any

IDENTIFIER = "org.sayso.Sayso"
LEAST_MACOS = "13.5"  # of MLX's wheels


def info(version: str) -> dict[str, Any]:
    """Info.plist. The last two texts are asked for by reviewers; macOS shows its own for these permissions so far."""
    return {
        "CFBundleIdentifier": IDENTIFIER,
        "CFBundleName": "Sayso",
        "CFBundleDisplayName": "Sayso",
        "CFBundleShortVersionString": version,
        "CFBundleVersion": version,
        "CFBundlePackageType": "APPL",
        "LSApplicationCategoryType": "public.app-category.productivity",
        "LSMinimumSystemVersion": LEAST_MACOS,
        "LSUIElement": True,  # lives in the menu bar, without a place in the Dock
        "NSHighResolutionCapable": True,
        "NSHumanReadableCopyright": "MIT licence",
        "NSMicrophoneUsageDescription": "Sayso types what you say while you hold its key. Nothing leaves your Mac.",
        "NSAccessibilityUsageDescription": "Sayso types the words you said into the window you are working in.",
        "NSInputMonitoringUsageDescription": "Sayso notices when you hold the key that you chose for dictating.",
    }


def entitlements() -> dict[str, bool]:
    """For the hardened runtime, as little as works."""
    return {
        "com.apple.security.device.audio-input": True,
        # cffi and ctypes make callbacks at run time
        "com.apple.security.cs.allow-unsigned-executable-memory": True,
        # Qt is under the LGPL: its libraries may be replaced by ones that we did not sign
        "com.apple.security.cs.disable-library-validation": True,
    }


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(plistlib.dumps(entitlements()))
