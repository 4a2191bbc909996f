"""Tidy Markdown: characters change, layout stays."""

from qa_bot.documents.cutting.tidying import tidy_markdown
from qa_bot.documents.ingest.records import Position


def test_layout_stays_and_characters_are_cleaned() -> None:
    text = "# A\u00a0b\r\n\r\n    - nested\r\tcode\x00  \ne\u0301\u00ad"
    assert tidy_markdown(text) == ("# A b\n\n    - nested\n\tcode  \n\u00e9", [])


def test_positions_move_with_the_text() -> None:
    text = "a\r\ne\u0301\r\nrow"
    positions = [Position(0, page=1), Position(text.index("row"), row=4), Position(99, page=2)]
    tidy, moved = tidy_markdown(text, positions)
    assert tidy == "a\n\u00e9\nrow"
    assert moved == [Position(0, page=1), Position(4, row=4), Position(7, page=2)]
