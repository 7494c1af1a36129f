"""Keeps the translations of the interface up to date. `make translations` runs it.

    python -m tests.translations            read the sources, update the .ts files, build the .qm files
    python -m tests.translations --check    say what is not translated, and change nothing

Texts of `ui` are found by pyside6-lupdate. The core knows no Qt: its settings table and its sentences are read here and
handed to lupdate beside the sources. A translator works on resources/translations/sayso_<language>.ts, with Qt Linguist
(`pyside6-linguist`) or a text editor.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "resources" / "translations"
TEMPLATES = FOLDER / "templates.json"
LANGUAGES = ("de",)
# a text is translated by people, not by likeness to another one
ALONE = [word for kind in ("sametext", "similartext") for word in ("-disable-heuristic", kind)]
# what only the command line says, or what computes
SILENT = (
    "dictation/commands/",
    "dictation/bench/",
    "dictation/cli.py",
    "dictation/log.py",
    "dictation/replay.py",
    "dictation/scratch.py",
    "dictation/glance.py",  # its phrases are listed by themselves
    "dictation/settings.py",  # so is its table
    # answers to programs; what can go wrong with the switch is said on screen
    *(
        f"dictation/server/{name}"
        for name in (
            "api",
            "desk",
            "dictations",
            "faults",
            "hearing",
            "openapi",
            "opus",
            "routes",
            "sessions",
            "shapes",
            "sound",
        )
    ),
    "dictation/server/metrics",
    "dictation/server/transcriptions",
    "dictation/server/uploads",
    "engine/bench.py",
    "engine/evaluate.py",
    "engine/kernels/",
    "engine/peers.py",
    "engine/presets.py",
    "engine/publish.py",
    "engine/report",
    "engine/run_file.py",
    "engine/smoke.py",
)
LOOSE = ("dictation/doctor.py", "dictation/hotkey_choice.py", "dictation/model_facts.py")  # parts of sentences, too
_SQL = re.compile(r"(SELECT|DELETE|UPDATE|ORDER|INSERT) ")
_PART = re.compile(r"[a-z{].*[a-z]{2,} .*[a-z]{2,}.*", re.DOTALL)
_SENTENCE = re.compile(r"[A-Z“{].*[a-z]{2,} [\w“{].*[.?:!)]", re.DOTALL)


# what is said


def sentences() -> list[str]:
    """Every sentence in the sources of the core, values as {0}, {1}."""
    found = set()
    for package in ("dictation", "engine"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            tree = ast.parse(path.read_text("utf-8"))
            if name in ("dictation/glance.py", "dictation/settings.py"):
                found |= set(_phrases(tree) if "glance" in name else _raised(tree))
            elif not name.startswith(SILENT):
                found |= {text for text in _texts(tree) if _SENTENCE.fullmatch(text) and not _SQL.match(text)}
                found |= {text for text in _texts(tree) if name in LOOSE and _PART.fullmatch(text)}
    return sorted(found)


def _texts(tree: ast.AST) -> Iterator[str]:
    """Texts of a piece of source that are no docstrings."""
    inside = {part for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    inside -= {node for node in inside if isinstance(node, ast.JoinedStr)}
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node not in docstrings and node not in inside:
            text = template(node)
            if text:
                yield text


def template(node: ast.Constant | ast.JoinedStr) -> str:
    """A text as written, values as {0}, {1}; "" for what is no text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    text, count = "", 0
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
        else:
            text, count = f"{text}{{{count}}}", count + 1
    return text


def _phrases(tree: ast.AST) -> Iterator[str]:
    """First arguments of `Phrase`, and the words that `_said` is called with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Phrase", "_said"):
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


def _raised(tree: ast.AST) -> Iterator[str]:
    """Sentences of the settings module that are not in its table."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield from (text for text in _texts(node) if _SENTENCE.fullmatch(text))


def tables() -> Iterator[tuple[str, str]]:
    """(context, text) of everything that windows make from tables."""
    from dictation.doctor import CHECKS
    from dictation.hotkey_choice import _SHORTCUTS
    from dictation.settings import TABLE
    from engine import catalog
    from ui.settings.editors import choice_words_in_english

    for setting in TABLE:
        if not setting.hidden:
            yield "settings", setting.label
            yield "settings", setting.help
            if setting.unit:
                yield "units", setting.unit
            for choice in setting.choices if not setting.widget else ():
                yield "choices", choice_words_in_english(setting, choice)
    for check in CHECKS:
        yield "doctor", check.capitalize()
    for does in _SHORTCUTS.values():
        yield "core", does
    for model in catalog.models():
        yield "core", model.sentence
    yield from (("core", text) for text in sentences())


# the files


def update() -> None:
    """Bring the files up to date with the sources."""
    FOLDER.mkdir(exist_ok=True)
    TEMPLATES.write_text(templates_as_json(), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "tables.py"
        lines = [
            f"translate({context!r}, {json.dumps(text, ensure_ascii=False)})" for context, text in sorted(set(tables()))
        ]
        listed.write_text(
            "\n".join(["from PySide6.QtCore import QCoreApplication", *(f"QCoreApplication.{line}" for line in lines)]),
            "utf-8",
        )
        sources = [str(path) for path in sorted((ROOT / "ui").rglob("*.py"))]
        for language in LANGUAGES:
            ts = source_file(language)
            run("pyside6-lupdate", *sources, str(listed), "-ts", str(ts), "-locations", "none", "-no-obsolete", *ALONE)
            run("pyside6-lrelease", str(ts), "-qm", str(ts.with_suffix(".qm")))


def templates_as_json() -> str:
    templates = [text for text in sentences() if re.search(r"\{\d+\}", text)]
    return json.dumps(templates, ensure_ascii=False, indent=1) + "\n"


def source_file(language: str) -> Path:
    return FOLDER / f"sayso_{language}.ts"


def run(program: str, *arguments: str) -> None:
    subprocess.run([str(Path(sys.executable).with_name(program)), *arguments], check=True, stdout=subprocess.DEVNULL)


def missing(language: str) -> list[str]:
    """What is said and not translated, or only half: "context: text"."""
    tree = xml.parse(source_file(language))
    found = []
    for context in tree.iterfind("context"):
        for message in context.iterfind("message"):
            translation = message.find("translation")
            assert translation is not None
            forms = [form.text for form in translation.iterfind("numerusform")] or [translation.text]
            if translation.get("type") == "unfinished" or not all(forms):
                found.append(f"{context.findtext('name')}: {message.findtext('source')}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        update()
    left = [line for language in LANGUAGES for line in missing(language)]
    print("\n".join([*left, f"{len(left)} texts are not translated"]))
    sys.exit(1 if left else 0)


if __name__ == "__main__":
    main()
