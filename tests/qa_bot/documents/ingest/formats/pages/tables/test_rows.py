"""Rows of tables with few drawn lines."""

BIRDS = [("Species", "Nests"), ("Grey heron", "14"), ("Little egret", "6"), ("Kingfisher", "3"), ("Total", "23")]
PARKS = [("Park", "Warden"), ("Elm Hill", "Ada"), ("Low Moor", "Ben"), ("Old Quay", "Cy"), ("All", "Dan")]


def ruled(draw, rows, after, pitch=14):
    """A table with drawn lines above it, below it, and below the rows with these numbers."""
    operators = [
        draw.line(x, 100 + pitch * place, cell)
        for place, row in enumerate(rows)
        for x, cell in zip((60, 200), row, strict=True)
    ]
    return operators + [draw.rule(60, 300, 104 + pitch * row) for row in (-1, *after, len(rows) - 1)]


def as_table(rows):
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "| --- | --- |", *lines[1:]])


def test_rows_between_the_lines_of_header_and_total_are_rows(text_of, draw):
    assert text_of(ruled(draw, BIRDS, (0, 3))) == as_table(BIRDS)


def test_short_words_between_the_lines_of_header_and_total_are_rows(text_of, draw):
    rows = [*PARKS, ("Sum", "12")]
    assert text_of(ruled(draw, rows, (0, 4))) == as_table(rows)


def test_a_cell_of_two_lines_beside_a_short_one_is_one_row(text_of, draw):
    rows = [*BIRDS[:3], ("(in the reeds)", ""), *BIRDS[3:]]
    expected = [*BIRDS[:2], ("Little egret (in the reeds)", "6"), *BIRDS[3:]]
    assert text_of(ruled(draw, rows, (0, 4))) == as_table(expected)


def test_a_row_between_lines_whose_cells_all_have_two_lines_is_one_row(text_of, draw):
    day, talk = ("Day of the week or the", "Monday after"), ("Talk about the history of", "salt")
    rows = [("Day", "Talk"), *zip(day, talk, strict=True), *zip(day, talk, strict=True), ("Talks", "2")]
    expected = [rows[0], *[(" ".join(day), " ".join(talk))] * 2, rows[-1]]
    assert text_of(ruled(draw, rows, (0, 2, 4))) == as_table(expected)


def test_a_row_below_a_line_whose_cells_all_have_two_lines_is_one_row(text_of, draw):
    cells = [
        (["Day"], ["Speaker"], ["Topic"]),
        (["Monday and", "Tuesday"], ["Prof. Quist and", "Dr Hartwig"], ["How the old salt road", "was given up"]),
        (["Tuesday"], ["Dr Marsh"], ["Bats in churches: what a", "sexton can do"]),
        (["Friday"], ["Ms Oyelaran"], ["Reading tide tables", "without a calculator"]),
    ]
    heights = (100, 118, 148, 178)
    operators = [
        operator
        for y, row in zip(heights, cells, strict=True)
        for x, lines in zip((60, 140, 240), row, strict=True)
        for operator in draw.lines(lines, x=x, y=y)
    ]
    assert text_of([*operators, draw.rule(60, 400, 105)]).split("\n")[2:] == [
        f"| {' | '.join(map(' '.join, row))} |" for row in cells[1:]
    ]
