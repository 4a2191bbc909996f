"""Tables with merged cells in closed grids of drawn lines."""

WIDTH, HEIGHT = 80, 20  # of a place in the grid
FARES = [("Single", "2.90", "3.80"), ("Day", "7.20", "9.60")]


def grid(draw, cells, columns, rows):
    """A grid with cells: text, first column and row, and how many columns and rows they take."""
    operators = []
    for text, column, row, wide, deep in cells:
        left, top, right = 60 + WIDTH * column, 100 + HEIGHT * row, 60 + WIDTH * (column + wide)
        bottom = top + HEIGHT * deep
        operators += draw.lines(text.split("\n"), x=left + 4, y=top + 14)
        operators += [draw.rule(left, right, top), draw.upright(left, top, bottom)]
    right, bottom = 60 + WIDTH * columns, 100 + HEIGHT * rows
    return [*operators, draw.rule(60, right, bottom), draw.upright(right, 100, bottom)]


def body(rows, start):
    return [(text, column, row, 1, 1) for row, texts in enumerate(rows, start) for column, text in enumerate(texts)]


def as_table(*rows):
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])


def test_the_name_of_a_group_of_columns_is_in_the_name_of_each(text_of, draw):
    head = [("Fare", 0, 0, 1, 2), ("Zone", 1, 0, 2, 1), ("1", 1, 1, 1, 1), ("2", 2, 1, 1, 1)]
    text = text_of(grid(draw, head + body(FARES, 2), 3, 4))
    assert text == as_table(("Fare", "Zone 1", "Zone 2"), *FARES)


def test_a_column_without_a_group_may_be_named_in_either_row(text_of, draw):
    head = [("Fare", 0, 0, 1, 1), ("Zone", 1, 0, 2, 1), ("", 0, 1, 1, 1), ("1", 1, 1, 1, 1), ("2", 2, 1, 1, 1)]
    text = text_of(grid(draw, head + body(FARES, 2), 3, 4))
    assert text == as_table(("Fare", "Zone 1", "Zone 2"), *FARES)


def test_a_cell_of_several_rows_is_in_each_of_them(text_of, draw):
    cells = [
        *body([("Region", "Town", "Visitors")], 0),
        ("North", 0, 1, 1, 2),
        *[("Husum", 1, 1, 1, 1), ("877", 2, 1, 1, 1), ("Kiel", 1, 2, 1, 1), ("341", 2, 2, 1, 1)],
        *body([("South", "Passau", "203")], 3),
    ]
    assert text_of(grid(draw, cells, 3, 4)) == as_table(
        ("Region", "Town", "Visitors"), ("North", "Husum", "877"), ("North", "Kiel", "341"), ("South", "Passau", "203")
    )


def test_a_title_is_above_the_table_and_a_row_of_one_cell_in_it(text_of, draw):
    cells = [("Prices of May", 0, 0, 3, 1), *body([("Fare", "Zone 1", "Zone 2")], 1), ("Adults", 0, 2, 3, 1)]
    text = text_of(grid(draw, cells + body(FARES, 3), 3, 5))
    assert text == f"Prices of May\n\n{as_table(('Fare', 'Zone 1', 'Zone 2'), ('Adults', '', ''), *FARES)}"


def test_rows_without_lines_between_them_are_rows_and_lines_of_a_cell_are_one(text_of, draw):
    head = [("Fare", 0, 0, 1, 2), ("Zone", 1, 0, 2, 1), ("1", 1, 1, 1, 1), ("2", 2, 1, 1, 1)]
    cells = [("Single\nDay", 0, 2, 1, 2), ("2.90\n7.20", 1, 2, 1, 2), ("3.80\n9.60", 2, 2, 1, 2)]
    cells += [("Month\n(any day)", 0, 4, 1, 2), ("64.00", 1, 4, 1, 2), ("88.00", 2, 4, 1, 2)]
    assert text_of(grid(draw, head + cells, 3, 6)) == as_table(
        ("Fare", "Zone 1", "Zone 2"), *FARES, ("Month (any day)", "64.00", "88.00")
    )


def test_words_beside_a_line_are_in_different_cells_however_close(text_of, draw):
    page = [
        draw.line(x, y, text)
        for y, row in zip(
            (114, 134, 154), [("Fare", "Zone 1"), *((name, price) for name, price, _ in FARES)], strict=True
        )
        for x, text in zip((60, 98), row, strict=True)
    ]
    page.append(draw.upright(95, 100, 160))
    assert text_of(page) == as_table(("Fare", "Zone 1"), *((name, price) for name, price, _ in FARES))


def test_the_name_of_a_column_may_be_higher_than_the_others(text_of, draw):
    head = [("\nFare", 0, 0, 1, 2), ("Zone 1\nEUR", 1, 0, 1, 2), ("\nZone 2", 2, 0, 1, 2)]
    assert text_of(grid(draw, head + body(FARES, 2), 3, 4)) == as_table(("Fare", "Zone 1 EUR", "Zone 2"), *FARES)
