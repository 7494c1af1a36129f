"""Sentences of the core in the interface's language.

The core speaks English and knows no Qt. A fixed sentence is looked up as it is. One with values in it is known by its
template (`resources/translations/templates.json`, which `make translations` reads from the sources); the values are put
into the template's translation, and are translated themselves where they are sentences.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

import resources
from dictation.glance import Phrase

CONTEXT = "core"
ENGLISH = QT_TRANSLATE_NOOP("language", "en")  # "translated" as the code of the language
_DEPTH = 3  # sentences in sentences
_VALUE = re.compile(r"\{(\w*)\}")


def language() -> str:
    """Code of the language that the interface speaks now."""
    return QCoreApplication.translate("language", ENGLISH)


def say(phrase: Phrase | str) -> str:
    """A sentence of the core in the interface's language."""
    if isinstance(phrase, str) or not phrase.values:
        return _say(str(phrase), _DEPTH)
    values = {name: _say(value, _DEPTH) if isinstance(value, str) else value for name, value in phrase.values.items()}
    return QCoreApplication.translate(CONTEXT, phrase.template).format(**values)


def _say(text: str, depth: int) -> str:
    found = QCoreApplication.translate(CONTEXT, text)
    if found != text or language() == ENGLISH or not depth or " " not in text:
        return found
    for template, beginning in _templates():
        if text.startswith(beginning) and (match := _pattern(template).fullmatch(text)):
            values = [_say(value, depth - 1) for value in match.groups()]
            return QCoreApplication.translate(CONTEXT, template).format(*values)
    return text


@lru_cache(maxsize=1)
def _templates() -> list[tuple[str, str]]:
    """Templates with what each begins with, those with the most words of their own first."""
    listed = json.loads(resources.path("translations/templates.json").read_text("utf-8"))
    return [(t, _plain(t.partition("{")[0])) for t in sorted(listed, key=lambda t: -len(_VALUE.sub("", t)))]


@lru_cache(maxsize=64)
def _pattern(template: str) -> re.Pattern[str]:
    parts = _VALUE.split(template)
    return re.compile("(.+?)".join(re.escape(_plain(part)) for part in parts[::2]), re.DOTALL)


def _plain(text: str) -> str:
    return text.replace("{{", "{").replace("}}", "}")
