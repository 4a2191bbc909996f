"""Paragraphs and lists of PDF files."""

import pytest

from qa_bot.documents.ingest.formats.pages.typography import Typography


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["A. Okoro and B. Lind wrote it.", "C. elegans lives in soil."], "A. Okoro and B. Lind wrote it.\n\n{}"),
        (["A. Open the lid.", "B. Close the lid."], "- A. Open the lid.\n- B. Close the lid."),
        (["i. A. Thorwald Emmerich", "i. V. Petra Lang"], "i. A. Thorwald Emmerich\n\n{}"),
        (["i. Open the lid.", "ii. Close the lid."], "- i. Open the lid.\n- ii. Close the lid."),
        (["a) Open the lid.", "Wait for rain."], "- a) Open the lid.\n\nWait for rain."),
    ],
)
def test_letters_with_points_begin_items_if_they_go_on(text_of, draw, lines, text):
    assert text_of(draw.lines(lines, pitch=30)) == text.format(lines[1])


@pytest.mark.parametrize("sign", ["\u2022", "-", "*"])
def test_signs_that_begin_items(text_of, draw, sign):
    assert text_of(draw.lines([f"{sign} Open the lid.", f"{sign} Wait."])) == "- Open the lid.\n- Wait."


def test_the_letter_that_word_writes_as_a_bullet(text_of, draw):
    lines = [("\u2022", "Bring your tools", 80), ("o", "a knife", 108), ("o", "a sponge", 108), ("\u2022", "Wait.", 80)]
    page = [
        draw.line(left, 100 + 14 * number, text)
        for number, (sign, item, x) in enumerate(lines)
        for left, text in ((x, sign), (x + 14, item))
    ]
    assert text_of(page) == "- Bring your tools\n    - a knife\n    - a sponge\n- Wait."
    assert text_of(draw.lines(["o a knife and a sponge"])) == "o a knife and a sponge"


@pytest.mark.parametrize("sign", ["\u20ac", "\u2030", "\u0160"])
def test_other_signs_begin_none(text_of, draw, sign):
    assert text_of(draw.lines([f"{sign} 500 are due."])) == f"{sign} 500 are due."


def test_a_note_at_the_end_of_a_page_does_not_go_on_at_the_next(text_of, draw):
    first = [*draw.lines(["The sentence goes"], y=600), draw.line(72, 640, "1 As decided in May", size=7)]
    text = text_of(first, draw.lines(["on at the next page."], y=100))
    assert text == "The sentence goes\n\n1 As decided in May\n\non at the next page."


@pytest.mark.parametrize(
    "lines",
    [
        [
            "Opening hours",
            "Monday 8 am to noon",
            "Tuesday closed",
            "Wednesday 2 pm to 6 pm",
            "Bring your library card.",
        ],
        ["Name: Ada Lohr", "Born: 4 May 1990", "Room: 12", "Diet: vegetarian"],
        ["dinsdag t/m zondag", "10.00 - 17.00 uur", "maandag gesloten"],
    ],
)
def test_short_lines_far_from_the_margin_are_lines(text_of, draw, lines):
    assert text_of(draw.lines(lines)) == "\n".join(lines)


def test_the_end_of_a_sentence_goes_on_with_its_line(text_of, draw):
    lines = ["Bus 34 stops here.", "Two euros an hour", "in the market.", "Ring the bell"]
    assert text_of(draw.lines(lines)) == "\n".join([lines[0], " ".join(lines[1:3]), lines[3]])


@pytest.mark.parametrize(
    "lines",
    [
        ["The committee, which met in May, decided", "to build a hall near the old market and", "pay for it in June"],
        ["Der Ausschuss beschloss im Mai den", "Bau einer neuen Halle am Markt, deren", "Kosten die Stadt bezahlt"],
    ],
)
def test_a_text_in_a_narrow_column_is_one_line(text_of, draw, lines):
    assert text_of(draw.lines(lines)) == " ".join(lines)


def test_rows_of_texts_beside_each_other_are_lines(text_of, draw):
    rows = [("Clerk", "Ada Arkwright", "ada@lowmoor.example"), ("Chair", "Ben Pell", "01632 960 777")]
    page = [
        draw.line(x, 100 + 14 * number, text)
        for number, row in enumerate(rows)
        for x, text in zip((72, 220, 370), row, strict=True)
    ]
    page.append(draw.line(72, 128, "Emergency: call the warden on 01632 960 112."))
    assert text_of(page) == "\n".join([*map(" ".join, rows), "Emergency: call the warden on 01632 960 112."])


def test_browsers_write_another_hyphen_at_the_end_of_a_line():
    typography = Typography([])
    typography.settle()
    assert typography.together("Musik\u2010", "instrumente sind erlaubt") == "Musikinstrumente sind erlaubt"
