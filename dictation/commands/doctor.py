"""`sayso doctor`: what works on this computer, and what to do about the rest."""

from __future__ import annotations

import argparse

from dictation.doctor import CHECKS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("checks", nargs="*", metavar="CHECK", help=f"only these: {', '.join(CHECKS)}")
    parser.add_argument("--json", action="store_true", help="one JSON object per check, for scripts")


def run(arguments: argparse.Namespace) -> int:
    import json
    from dataclasses import asdict

    from dictation.cli import DONE, FAILED, wrong_use
    from dictation.doctor import examine

    unknown = [name for name in arguments.checks if name not in CHECKS]
    if unknown:
        return wrong_use(f"there is no check named {unknown[0]}; there are {', '.join(CHECKS)}")
    findings = examine(arguments.checks)
    for finding in findings:
        if arguments.json:
            print(json.dumps(asdict(finding), ensure_ascii=False))
            continue
        mark = {"ok": "ok", "warning": "note", "problem": "PROBLEM"}[finding.status]
        print(f"{mark:8} {finding.check}: {finding.found}")
        if finding.advice:
            print(f"{'':8} -> {finding.advice}")
    return FAILED if any(finding.status == "problem" for finding in findings) else DONE
