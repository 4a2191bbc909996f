"""CriticMarkup is read as accepted."""

from time import process_time

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.critic import accepted
from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is {++very ++}warm.", "It is very warm."),
        ("It is {--very --}warm.", "It is warm."),
        ("It is {~~cold~>warm~~}.", "It is warm."),
        ("It is {==warm==}{>>Really?<<}.", "It is warm (Comment: Really?)."),
        ("{++Two\nlines++}", "Two\nlines"),
        ("{++Two\n\nparagraphs++}", "{++Two\n\nparagraphs++}"),
        ("{{-- a template --}} and a++ {x}", "{{-- a template --}} and a++ {x}"),
    ],
)
def test_changes_are_accepted(text: str, expected: str) -> None:
    assert accepted(text) == expected


def test_marks_that_do_not_end_take_linear_time() -> None:
    began = process_time()
    assert accepted("{++" * 20_000 + "{~~a~>" * 20_000)
    assert process_time() - began < 2


def test_changes_in_a_document() -> None:
    text = "# The {++new ++}kiln\n\nIt is {~~cold~>**warm**~~}, {--not --}`{++x++}`.\n\n{>>Ask Ann.<<}\n"
    assert markdown_blocks(text).text == "# The new kiln\n\nIt is **warm**, `{++x++}`.\n\n(Comment: Ask Ann.)"
