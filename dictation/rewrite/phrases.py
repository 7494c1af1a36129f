"""The spoken commands and punctuation marks of each language, as tables.

A phrase acts only where it can't be part of what is being said: never after a word in `GUARDS` (articles,
prepositions: "a new line of products"), "scratch that" also not after one in `SUBJECTS` ("did you scratch that?"), and,
for words that are common nouns or verbs, only where the phrase stands alone between punctuation marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Effect(Enum):
    PUT = auto()  # put `mark` in place of the phrase
    SCRATCH = auto()  # forget the sentence before it
    CAPS_NEXT = auto()  # the next word in capitals
    CAPS_ON = auto()
    CAPS_OFF = auto()


class Place(Enum):
    """Where the phrase is taken as a command."""

    ANYWHERE = auto()  # the guards aside
    END = auto()  # at the end of a clause: a punctuation mark or nothing follows
    ALONE = auto()  # a clause of its own: marks or nothing on both sides


@dataclass(frozen=True)
class Phrase:
    words: str  # a regular expression, white space free
    effect: Effect
    mark: str = ""
    place: Place = Place.ANYWHERE


def _put(mark: str, words: str, place: Place = Place.ANYWHERE) -> Phrase:
    return Phrase(words, Effect.PUT, mark, place)


def _caps(next_word: str, on: str, off: str) -> tuple[Phrase, ...]:
    return Phrase(on, Effect.CAPS_ON), Phrase(off, Effect.CAPS_OFF), Phrase(next_word, Effect.CAPS_NEXT)


def _scratch(words: str) -> Phrase:
    return Phrase(words, Effect.SCRATCH, place=Place.END)


COMMANDS: dict[str, tuple[Phrase, ...]] = {
    "en": (
        _put("\n", r"new line|newline"),
        _put("\n\n", r"new paragraph"),
        _scratch(r"scratch that"),
        *_caps(r"all caps", r"all caps on", r"all caps off"),
    ),
    "de": (
        _put("\n", r"neue zeile"),
        _put("\n\n", r"neuer absatz"),
        _scratch(r"streich das|lösch das|das streichen"),
        *_caps(r"alles groß", r"großbuchstaben an", r"großbuchstaben aus"),
    ),
    "fr": (
        _put("\n", r"nouvelle ligne"),
        _put("\n", r"à la ligne", Place.ALONE),
        _put("\n\n", r"nouveau paragraphe"),
        _scratch(r"efface[rz]? ça|efface[rz]? cela"),
        *_caps(r"tout en majuscules?", r"majuscules activées", r"majuscules désactivées"),
    ),
    "es": (
        _put("\n", r"nueva línea"),
        _put("\n\n", r"nuevo párrafo"),
        _put(".\n\n", r"punto y aparte"),
        _scratch(r"borra eso|tacha eso"),
        *_caps(r"todo en mayúsculas?", r"activar mayúsculas", r"desactivar mayúsculas"),
    ),
    "it": (
        _put("\n", r"nuova riga"),
        _put("\n", r"a capo", Place.ALONE),
        _put("\n\n", r"nuovo paragrafo"),
        _scratch(r"cancella questo|cancella quello"),
        *_caps(r"tutto maiuscolo", r"attiva maiuscole", r"disattiva maiuscole"),
    ),
    "pt": (
        _put("\n", r"nova linha"),
        _put("\n\n", r"novo parágrafo"),
        _scratch(r"apaga isso|risca isso"),
        *_caps(r"tudo em maiúsculas?", r"ativar maiúsculas", r"desativar maiúsculas"),
    ),
}

PUNCTUATION: dict[str, tuple[Phrase, ...]] = {
    "en": (
        _put(",", r"comma"),
        _put(".", r"full stop"),
        _put(".", r"period", Place.ALONE),
        _put("?", r"question mark"),
        _put("!", r"exclamation (?:mark|point)"),
        _put(":", r"colon", Place.ALONE),
        _put(";", r"semi-?colon"),
        _put("(", r"open (?:parenthesis|bracket)"),
        _put(")", r"close (?:parenthesis|bracket)"),
        _put("“", r"open quotes?"),
        _put("”", r"close quotes?|unquote"),
    ),
    "de": (
        _put(",", r"komma"),
        _put(".", r"punkt", Place.ALONE),
        _put("?", r"fragezeichen"),
        _put("!", r"ausrufe?zeichen"),
        _put(":", r"doppelpunkt"),
        _put(";", r"strichpunkt|semikolon"),
        _put("(", r"klammer auf"),
        _put(")", r"klammer zu"),
        _put("„", r"anführungszeichen auf"),
        _put("“", r"anführungszeichen zu"),
    ),
    "fr": (
        _put(",", r"virgule"),
        _put(" ?", r"point d['’]interrogation"),
        _put(" !", r"point d['’]exclamation"),
        _put(" ;", r"point[- ]virgule"),
        _put("…", r"points de suspension"),
        _put(".", r"point", Place.ALONE),
        _put(" :", r"deux[- ]points", Place.ALONE),
        _put("(", r"ouvr(?:e|ir|ez) la parenthèse"),
        _put(")", r"ferme[rz]? la parenthèse"),
        _put("« ", r"ouvr(?:e|ir|ez) les guillemets"),
        _put(" »", r"ferme[rz]? les guillemets"),
    ),
    "es": (
        _put(".", r"punto y seguido"),
        _put(";", r"punto y coma"),
        _put("…", r"puntos suspensivos"),
        _put(",", r"coma", Place.ALONE),
        _put(".", r"punto", Place.ALONE),
        _put(":", r"dos puntos", Place.ALONE),
        _put("¿", r"abrir interrogación"),
        _put("?", r"cerrar interrogación"),
        _put("¡", r"abrir exclamación"),
        _put("!", r"cerrar exclamación"),
        _put("(", r"abrir paréntesis"),
        _put(")", r"cerrar paréntesis"),
        _put("“", r"abrir comillas"),
        _put("”", r"cerrar comillas"),
    ),
    "it": (
        _put(";", r"punto e virgola"),
        _put("?", r"punto interrogativo"),
        _put("!", r"punto esclamativo"),
        _put("…", r"puntini di sospensione"),
        _put(",", r"virgola"),
        _put(".", r"punto", Place.ALONE),
        _put(":", r"due punti", Place.ALONE),
        _put("(", r"apr(?:i|ire) parentesi"),
        _put(")", r"chiud(?:i|ere) parentesi"),
        _put("“", r"apr(?:i|ire) virgolette"),
        _put("”", r"chiud(?:i|ere) virgolette"),
    ),
    "pt": (
        _put(".", r"ponto final"),
        _put("?", r"ponto de interrogação"),
        _put("!", r"ponto de exclamação"),
        _put(";", r"ponto e vírgula"),
        _put("…", r"reticências"),
        _put(",", r"vírgula"),
        _put(".", r"ponto", Place.ALONE),
        _put(":", r"dois pontos", Place.ALONE),
        _put("(", r"abr(?:e|ir) parênteses"),
        _put(")", r"fecha[r]? parênteses"),
        _put("“", r"abr(?:e|ir) aspas"),
        _put("”", r"fecha[r]? aspas"),
    ),
}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# After one of these the phrase is part of the sentence, not a command.
GUARDS: dict[str, frozenset[str]] = {
    "en": _words(
        "a an the this that these those my your our his her its their each every another one no some any which what of "
        "in on with without as per by from to for and or into insert add use using word type write press missing "
        "brand whole first next last oxford"
    ),
    "de": _words(
        "ein eine einen einem einer eines der die das den dem des diese dieser diesen dieses jede jeder jeden keine "
        "kein keinen meine mein unsere in mit ohne von für auf und oder wort als am im zum zur"
    ),
    "fr": _words(
        "un une le la les des du de ce cette ces mon ma ta ton sa son notre votre leur chaque aucune aucun quelle quel "
        "en avec sans sur par pour et ou mot au aux"
    ),
    "es": _words(
        "un una el la los las del al de este esta esa ese esos estas mi tu su nuestra nuestro cada otra otro ninguna "
        "en con sin por para y o palabra"
    ),
    "it": _words(
        "un una uno il lo la i gli le del della dei delle di questa questo quella quello mia mio tua tuo sua suo ogni "
        "altra nessuna in con senza su per e o parola da a"
    ),
    "pt": _words(
        "um uma o a os as do da dos das de este esta esse essa minha meu tua sua seu cada outra outro nenhuma em no na "
        "com sem por para e ou palavra ao"
    ),
}

# After one of these "scratch that" is what somebody does, not a command.
SUBJECTS: dict[str, frozenset[str]] = {
    "en": _words("i you he she we they don't not never do did does could can should would will just please"),
    "de": _words("ich du er sie wir ihr nicht bitte kann soll will muss"),
    "fr": _words("je tu il elle on nous vous ne pas"),
    "es": _words("yo tú él ella usted no se lo que"),
    "it": _words("io tu lui lei noi non si"),
    "pt": _words("eu tu ele ela você não se que"),
}

# Before one of these the phrase is the start of a longer noun: "new line of products", "new line items".
GUARDS_AFTER: dict[str, frozenset[str]] = {
    "en": _words("of for in item items manager managers up from with which is was has will"),
    "de": _words("von für in im des ist war"),
    "fr": _words("de du des pour est était qui que sur dans"),
    "es": _words("de del para en es era que"),
    "it": _words("di del della per in è era che"),
    "pt": _words("de do da para em no na é era que"),
}
