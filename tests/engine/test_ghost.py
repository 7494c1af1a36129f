"""Ghost text goes on evidence from the audio; what was really said stays."""

import pytest

from engine.decode import Decoded
from engine.ghost import Evidence, is_ghost, is_stock_phrase

LOUD = -25.0


def decoded(text: str, avg_logprob: float = -0.3, no_speech_prob: float = 0.1) -> Decoded:
    return Decoded(
        tokens=(1,), text=text, language="en", language_probability=None, temperature=0.0,
        avg_logprob=avg_logprob, compression_ratio=1.0, no_speech_prob=no_speech_prob,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("what", "evidence", "ghost"),
    [
        (decoded(" Thank you.", -0.2, 0.05), Evidence(LOUD, True), False),  # heard: it was said
        (decoded(" Thank you.", -0.9, 0.9), Evidence(LOUD, True), False),
        (decoded(" Thank you.", -0.2, 0.05), Evidence(LOUD, None), False),  # nobody listened, and it is likely
        (decoded(" Thank you.", -0.2, 0.05), Evidence(LOUD, False), True),  # a detector heard nobody
        (decoded(" Thank you.", -0.2, 0.8), Evidence(LOUD, None), True),
        (decoded(" Thank you.", -0.2, 0.05), Evidence(-80, True), True),  # no sound at all
        (decoded(" Call me at nine.", -0.4, 0.3), Evidence(LOUD, False), False),  # whispered: no stock phrase
        (decoded(" The shadows of it.", -1.2, 0.8), Evidence(LOUD, None), True),  # unlikely over no speech
        (decoded(" ...", -0.2, 0.05), Evidence(LOUD, True), True),
    ],
)
def test_evidence_decides(what, evidence, ghost):
    assert is_ghost(what, evidence) is ghost


@pytest.mark.parametrize("text", ["Thank you.", "Thanks for watching!", "you", "Bye. Bye.", "谢谢", "Vielen Dank."])
def test_stock_phrases(text):
    assert is_stock_phrase(text)


@pytest.mark.parametrize("text", ["Thank you for the report.", "You win.", "", "So we go."])
def test_other_texts_are_not(text):
    assert not is_stock_phrase(text)
