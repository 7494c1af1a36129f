"""Where two texts differ."""

from hypothesis import given
from hypothesis import strategies as st

from dictation.differences import differences


def marked(pieces: list) -> list[str]:
    return [piece.text.strip() for piece in pieces if piece.differs]


def test_other_words_and_missing_words_are_marked_on_their_side() -> None:
    first, second = differences("Please call Basil tomorrow at nine.", "Please call Basel tomorrow morning at nine.")
    assert marked(first) == ["Basil"] and marked(second) == ["Basel", "morning"]


@given(st.text(), st.text())
def test_pieces_joined_are_the_texts_and_equal_texts_have_no_mark(first: str, second: str) -> None:
    sides = differences(first, second)
    assert ["".join(piece.text for piece in side) for side in sides] == [first, second]
    assert not any(piece.differs for side in differences(first, first) for piece in side)
