"""Spoken commands, punctuation and fillers, as Whisper writes them down, in six languages."""

import pytest

from dictation.rewrite.commands import apply_commands
from dictation.rewrite.fillers import remove_fillers

COMMANDS = [
    ("en", "First point, new line, second point.", "First point\nSecond point."),
    ("en", "first point new line second point", "first point\nSecond point"),
    ("en", "Hello. New paragraph. How are you?", "Hello.\n\nHow are you?"),
    ("en", "New line.", "\n"),
    ("en", "I'll come at five, scratch that, six.", "Six."),
    ("en", "Good. I'll come at five. Scratch that. Six.", "Good. Six."),
    ("en", "All caps nasa launch.", "NASA launch."),
    ("en", "It is all caps on very important all caps off, really.", "It is VERY IMPORTANT really."),
    ("de", "Erster Punkt, neue Zeile, zweiter Punkt.", "Erster Punkt\nZweiter Punkt."),
    ("de", "Um fünf. Streich das. Um sechs.", "Um sechs."),
    ("fr", "Bonjour. Nouvelle ligne. Ça va?", "Bonjour.\nÇa va?"),
    ("es", "Hola, punto y aparte, adiós.", "Hola.\n\nAdiós."),
    ("it", "Ciao, a capo, come va?", "Ciao\nCome va?"),
    ("pt", "Olá novo parágrafo tudo bem", "Olá\n\nTudo bem"),
]
ORDINARY = [
    ("en", "We sell a new line of products."),
    ("en", "Add the new line items to this new paragraph."),
    ("en", "Did you scratch that?"),
    ("en", "It was written in all caps."),
    ("en", "scratch that itch"),
    ("de", "Das ist eine neue Zeile. Ich streich das Geländer."),
    ("fr", "Il a mis une nouvelle ligne à la ligne quatre."),
    ("es", "Compré la nueva línea de productos."),
    ("it", "Non ne vengo a capo facilmente."),
    ("pt", "Uma nova linha de ônibus."),
]
PUNCTUATION = [
    ("en", "Hello, comma, world.", "Hello, world."),
    ("en", "hello comma new line world", "hello,\nWorld"),
    ("en", "How are you? Question mark.", "How are you?"),
    ("en", "The Victorian period was long, period.", "The Victorian period was long."),
    ("en", "he said open quote hello close quote and left", "he said “hello” and left"),
    ("de", "hallo Komma wie geht es Fragezeichen", "hallo, wie geht es?"),
    ("fr", "ça va point d'interrogation", "ça va ?"),
    ("es", "abrir interrogación qué tal cerrar interrogación", "¿qué tal?"),
    ("it", "ciao virgola come va punto interrogativo", "ciao, come va?"),
    ("pt", "olá vírgula tudo bem ponto de interrogação", "olá, tudo bem?"),
]


@pytest.mark.parametrize(("language", "said", "typed"), COMMANDS)
def test_commands_act(language, said, typed):
    assert apply_commands(said, language, commands=True, punctuation=False) == (typed, False)


@pytest.mark.parametrize(("language", "said"), ORDINARY)
def test_the_same_words_in_a_sentence_stay_words(language, said):
    assert apply_commands(said, language, commands=True, punctuation=True) == (said, False)


@pytest.mark.parametrize(("language", "said", "typed"), PUNCTUATION)
def test_punctuation_acts_when_wanted(language, said, typed):
    assert apply_commands(said, language, commands=True, punctuation=True) == (typed, False)
    assert apply_commands("hello comma world", language, commands=True, punctuation=False)[0] == "hello comma world"


def test_a_command_of_another_language_is_text():
    assert apply_commands("Hello neue Zeile", "en", commands=True, punctuation=True)[0] == "Hello neue Zeile"


@pytest.mark.parametrize(
    ("language", "said", "typed"),
    [
        ("en", "Um, I think so.", "I think so."),
        ("en", "I, uh, think so, um.", "I think so."),
        ("en", "Well, um I do. Uh, yes.", "Well, I do. Yes."),
        ("en", "Uh-huh, the umbrella hums.", "Uh-huh, the umbrella hums."),
        ("en", "Um.", "Um."),
        ("de", "Ähm, um fünf Uhr.", "Um fünf Uhr."),
        ("pt", "Um carro e um cão.", "Um carro e um cão."),
        ("fr", "Euh, je viens, euh, demain.", "Je viens demain."),
        ("xx", "um uh ähm euh", "um uh ähm euh"),
    ],
)
def test_fillers_go_only_where_they_are_no_word(language, said, typed):
    assert remove_fillers(said, language) == typed
