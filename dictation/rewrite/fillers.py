"""Filler words, per language: only sounds that are no word of that language ("um" is one in German and Portuguese)."""

from __future__ import annotations

import re

FILLERS: dict[str, str] = {
    "en": r"u+m+|u+h+|u+hm+|erm+",
    "de": r"ä+hm?|ö+hm?",
    "fr": r"e+u+h+|heu+",
    "es": r"e+hm+",
    "it": r"e+hm+|u+hm+",
    "pt": r"ahn+|ãh+|hã+",
}
_SENTENCE_START = re.compile(r"(?:^|[.!?…\n])\s*$")


def remove_fillers(text: str, language: str) -> str:
    """The text without that language's fillers; unchanged for other languages, or when nothing else was said.

    Takes the commas that set the filler off, keeps the mark that ends a sentence, and hands a capital letter on.
    """
    fillers = FILLERS.get(language)
    if fillers is None:
        return text
    found = re.compile(
        rf"(?P<before>[,;]?)(?P<gap>\s*)(?<![\w'’.(\[-])(?P<said>(?:{fillers})(?:[,\s]+(?:{fillers}))*)(?![\w'’-])"
        r"(?P<after>…|\.\.\.|[,;])?(?P<stop>[.!?]?)\s*",
        re.IGNORECASE,
    )
    out, end, capital = "", 0, False

    def take(words: str) -> str:
        return words[:1].upper() + words[1:] if capital else words

    for match in found.finditer(text):
        between = text[end : match.start()]
        out += take(between)
        capital = capital and not between
        end = match.end()
        rest = text[end : end + 1]
        if _SENTENCE_START.search(out):
            out += match["gap"]
            capital = capital or match["said"][0].isupper()
            continue
        one_comma = bool(match["before"]) != (match["after"] in (",", ";"))
        out += match["stop"] or ("," if one_comma and rest else "")
        out += " " if rest and (match["stop"] or not re.match(r"[^\w\s]", rest)) else ""
    out = (out + take(text[end:])).strip()
    return out if re.search(r"\w", out) else text
