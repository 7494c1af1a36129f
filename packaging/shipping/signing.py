"""Announces a release to the update check: makes its key, and signs the one file that Sayso reads.

    python -m shipping.signing new-key                     # once: the private key on stdout, the public one on stderr
    SAYSO_RELEASE_KEY=... python -m shipping.signing sign 0.2.0 --page https://... > sayso-release.json

What is signed, and how it is read: `dictation/updates.py`.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from datetime import date, timedelta

from nacl.signing import SigningKey

from dictation.updates import CONTEXT, signed_release

KEY = "SAYSO_RELEASE_KEY"
VALID_DAYS = 365  # sign again before, also where there is no new release


def announcement(key: SigningKey, version: str, page: str, today: date, valid_days: int = VALID_DAYS) -> bytes:
    """The signed file. Raises UpdateError where Sayso itself would not accept it."""
    told = {
        "product": "sayso",
        "version": version,
        "released": today.isoformat(),
        "expires": (today + timedelta(days=valid_days)).isoformat(),
        "page": page,
    }
    text = json.dumps(told)
    signature = base64.b64encode(key.sign(CONTEXT + text.encode()).signature).decode()
    document = json.dumps({"release": text, "signature": signature}, indent=1).encode() + b"\n"
    signed_release(document, (public(key),), today)
    return document


def public(key: SigningKey) -> str:
    """What goes into resources/updates.json."""
    return base64.b64encode(bytes(key.verify_key)).decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("new-key")
    sign = commands.add_parser("sign")
    sign.add_argument("version")
    sign.add_argument("--page", required=True, help="where people read about this release")
    arguments = parser.parse_args()
    if arguments.command == "new-key":
        key = SigningKey.generate()
        print(base64.b64encode(bytes(key)).decode())
        print(f"The public key, for resources/updates.json: {public(key)}", file=sys.stderr)
        return
    try:
        key = SigningKey(base64.b64decode(os.environ[KEY], validate=True))
    except (KeyError, ValueError, TypeError):
        sys.exit(f"{KEY} holds no key: set it to what `new-key` printed.")
    sys.stdout.buffer.write(announcement(key, arguments.version, arguments.page, date.today()))


if __name__ == "__main__":
    main()
