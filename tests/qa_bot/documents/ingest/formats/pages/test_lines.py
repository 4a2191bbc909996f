"""Lines of a page from the pieces of its rows."""

import pytest

from qa_bot.documents.ingest.formats.pages.lines import Line, joined


def row(*texts: str) -> list[Line]:
    """Pieces of 50 points with gaps of 3 points, from left to right."""
    return [Line(text, 53 * index, 0, 53 * index + 50, 10, 10) for index, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        (("one", "two", "three"), "one two three"),
        (("עולם", "שלום"), "שלום עולם"),
        (("ירוקה", "הדלת", "שלום"), "שלום הדלת ירוקה"),
        (("العالم", "مرحبا"), "مرحبا العالم"),
        (("ירוקה", "room 12", "שלום"), "שלום room 12 ירוקה"),
        (("the word", "שלום", "means peace"), "the word שלום means peace"),
        (("Grüße", "an", "Müller"), "Grüße an Müller"),
    ],
)
def test_pieces_are_joined_in_the_direction_of_their_script(pieces: tuple[str, ...], text: str) -> None:
    assert [line.text for line in joined(row(*pieces))] == [text]
