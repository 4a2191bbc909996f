"""Paragraphs and lists of PDF files."""

import pytest


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["A. Okoro and B. Lind wrote it.", "C. elegans lives in soil."], "A. Okoro and B. Lind wrote it.\n\n{}"),
        (["A. Open the lid.", "B. Close the lid."], "- A. Open the lid.\n- B. Close the lid."),
        (["a) Open the lid.", "Wait for rain."], "- a) Open the lid.\n\nWait for rain."),
    ],
)
def test_capital_letters_begin_items_if_they_go_on(text_of, draw, lines, text):
    assert text_of(draw.lines(lines, pitch=30)) == text.format(lines[1])


@pytest.mark.parametrize("sign", ["\u2022", "-", "*"])
def test_signs_that_begin_items(text_of, draw, sign):
    assert text_of(draw.lines([f"{sign} Open the lid.", f"{sign} Wait."])) == "- Open the lid.\n- Wait."


@pytest.mark.parametrize("sign", ["\u20ac", "\u2030", "\u0160"])
def test_other_signs_begin_none(text_of, draw, sign):
    assert text_of(draw.lines([f"{sign} 500 are due."])) == f"{sign} 500 are due."


def test_a_note_at_the_end_of_a_page_does_not_go_on_at_the_next(text_of, draw):
    first = [*draw.lines(["The sentence goes"], y=600), draw.line(72, 640, "1 As decided in May", size=7)]
    text = text_of(first, draw.lines(["on at the next page."], y=100))
    assert text == "The sentence goes\n\n1 As decided in May\n\non at the next page."
