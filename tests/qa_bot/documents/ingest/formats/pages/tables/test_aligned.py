"""Tables without drawn lines, with lines of text in their cells."""

import pytest

LINES = ("Pays quarterly since the year 1971, and has leave to", "build a shed of up to nine square metres on the plot")
ROWS = [(f"{number}", f"Tenant {number}", " ".join(LINES)) for number in range(1, 7)]
TABLE = "| Plot | Tenant | Remark |\n| --- | --- | --- |\n" + "\n".join(f"| {' | '.join(row)} |" for row in ROWS)


def table(draw, shift, pitch=30):
    """A table whose third column is lower than the others by `shift` points."""
    operators = [
        draw.line(x, 120, text, font="Helvetica-Bold")
        for x, text in zip((60, 130, 230), ("Plot", "Tenant", "Remark"), strict=True)
    ]
    for number, (plot, tenant, _) in enumerate(ROWS):
        y = 150 + pitch * number
        operators += [draw.line(60, y, plot), draw.line(130, y, tenant), *draw.lines(LINES, x=230, y=y + shift)]
    return operators


@pytest.mark.parametrize("shift", [-12, -6, 0, 6])
def test_cells_with_two_lines_of_text_are_a_table(text_of, draw, shift):
    before = ["The plots of the garden and what is known about each of their tenants is in the table below."] * 2
    assert text_of([*draw.lines(before, y=60), *table(draw, shift)]) == f"{' '.join(before)}\n\n{TABLE}"


def test_short_cells_beside_four_lines_of_text_are_a_table(text_of, draw):
    operators = table(draw, 0, pitch=54)
    for number in range(len(ROWS)):
        operators += draw.lines(["It is near the gate.", "Ask for the key."], x=230, y=174 + 54 * number)
    rows = [f"{line} It is near the gate. Ask for the key. |" for line in TABLE.replace(" |\n", "\n")[:-2].split("\n")]
    assert text_of(operators).split("\n")[2:] == rows[2:]


def test_two_columns_of_text_are_no_table(text_of, draw):
    left = ["The soil of nineteen fields was measured", "in the dry summers of two years, and it"] * 3
    right = ["was compared to the yield of beets, which", "is high where the soil keeps its water too"] * 3
    assert text_of([*draw.lines(left, x=60), *draw.lines(right, x=320, y=106)]) == " ".join([*left, *right])


def test_the_title_of_a_table_is_a_heading_if_there_is_no_other_text(text_of, draw):
    assert (
        text_of([draw.line(60, 80, "Plots and tenants", size=16), *table(draw, 0)]) == f"# Plots and tenants\n\n{TABLE}"
    )


def test_columns_below_large_headings_are_no_table(text_of, draw):
    columns = {
        "Hours": ["Monday: 9 to 5", "Saturday: 10 to 2", "Closed on Sunday"],
        "Tickets": ["Adults: 12 pounds", "Children are free", "Groups: 90 pounds"],
    }
    page = [
        operator
        for x, (heading, lines) in zip((60, 320), columns.items(), strict=True)
        for operator in (draw.line(x, 80, heading, size=16), *draw.lines(lines, x=x, y=104, pitch=18))
    ]
    assert text_of(page) == "\n\n".join("\n".join([f"# {heading}\n", *lines]) for heading, lines in columns.items())


QUESTION = ["May I build a shed on the plot that", "I have rented from the garden?"]
ANSWER = ["You may, if the committee gives its leave", "at one of its meetings, of which the office", "informs you."]


def beside(draw, left, right, pitch=50):
    """Paragraphs on the left, and others on the right that begin at the same heights."""
    return [
        operator
        for place, texts in enumerate(zip(left, right, strict=True))
        for x, lines in zip((60, 300), texts, strict=True)
        for operator in draw.lines(lines, x=x, y=100 + pitch * place)
    ]


def test_paragraphs_of_different_lengths_that_begin_together_are_a_table(text_of, draw):
    operators = [
        draw.line(60, 75, "Question", font="Helvetica-Bold"),
        draw.line(300, 75, "Answer", font="Helvetica-Bold"),
        *beside(draw, [QUESTION] * 4, [ANSWER] * 4),
    ]
    row = f"| {' '.join(QUESTION)} | {' '.join(ANSWER)} |"
    assert text_of(operators) == "\n".join(["| Question | Answer |", "| --- | --- |", *[row] * 4])


def test_paragraphs_of_one_length_that_begin_together_are_columns(text_of, draw):
    left, right = " ".join(QUESTION), " ".join(ANSWER[:2])
    text = text_of(beside(draw, [QUESTION] * 4, [ANSWER[:2]] * 4))
    assert text == "\n\n".join([left] * 4 + [right] * 4)


def test_dates_beside_what_was_done_are_a_table(text_of, draw):
    dates = [["2010 - 2012"], ["2013 - 2019"], ["2020 - 2024"]]
    text = text_of(beside(draw, dates, [ANSWER] * 3))
    assert [line.split(" | ")[0] for line in text.split("\n")[2:]] == [f"| {date}" for (date,) in dates]


@pytest.mark.parametrize("pitch", [14, 20])
@pytest.mark.parametrize("remark", ["* All prices are valid from May on", "All prices are valid from May on"])
def test_a_sentence_below_a_table_is_no_row(text_of, draw, pitch, remark):
    rows = [("Item", "Price"), ("Card", "5 EUR"), ("Pool", "7 EUR"), ("Sauna for one", "9 EUR"), ("Towel", "1 EUR")]
    fonts = ["Helvetica-Bold", *["Helvetica"] * 4]
    page = [
        draw.line(x, 100 + pitch * number, text, font=fonts[number])
        for number, row in enumerate(rows)
        for x, text in zip((72, 300), row, strict=True)
    ]
    page += draw.lines([remark, "and include a locker"], y=112 + pitch * 4)
    table = "| Item | Price |\n| --- | --- |\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows[1:])
    text = text_of(page)
    assert text.startswith(table)
    assert text[len(table) :].lstrip("\n\\") == f"{remark} and include a locker"
