"""Columns of text with tables in them."""

import pytest

TEXT = ("The soil of nineteen fields was measured", "in the dry summers of two years, and it")
END = "was compared to the yield of many"
CELLS = [("Soil", "Yield", "Loss"), ("Sand", "41 t", "18 %"), ("Loam", "63 t", "4 %"), ("Clay", "55 t", "9 %")]
TABLE = (
    "| Soil | Yield | Loss |\n| --- | --- | --- |\n| Sand | 41 t | 18 % |\n| Loam | 63 t | 4 % |\n| Clay | 55 t | 9 % |"
)
PARAGRAPHS = {name: " ".join([*TEXT, f"{END} {name}."]) for name in ("beets", "wheat", "peas", "hemp", "rye")}


def paragraph(draw, name, **place):
    return draw.lines([*TEXT, f"{END} {name}."], **place)


def table(draw, x, y, rules):
    cells = [
        draw.line(x + 50 * column, y + 18 * number, text)
        for number, row in enumerate(CELLS)
        for column, text in enumerate(row)
    ]
    return [*cells, *(draw.rule(x - 4, x + 140, y - 12 + 18 * number) for number in rules)]


@pytest.mark.parametrize("rules", [(), (0, 1, 4), (0, 1, 2, 3, 4)])
def test_a_table_in_a_column_is_not_mixed_with_the_other_column(text_of, draw, rules):
    page = [
        draw.line(180, 60, "Soil moisture and the yield of fields", size=18),
        *paragraph(draw, "beets", x=60, y=100),
        *paragraph(draw, "wheat", x=60, y=156),
        *table(draw, 80, 226, rules),
        *paragraph(draw, "peas", x=60, y=312),
        *paragraph(draw, "hemp", x=320, y=105),
        *paragraph(draw, "rye", x=320, y=161),
        *paragraph(draw, "beets", x=320, y=217),
        *paragraph(draw, "wheat", x=320, y=273),
    ]
    left = [PARAGRAPHS["beets"], PARAGRAPHS["wheat"], TABLE, PARAGRAPHS["peas"]]
    right = [PARAGRAPHS[name] for name in ("hemp", "rye", "beets", "wheat")]
    assert text_of(page) == "\n\n".join(["# Soil moisture and the yield of fields", *left, *right])


@pytest.mark.parametrize("rules", [(), range(5)])
def test_a_table_over_both_columns_is_whole(text_of, draw, rules):
    cells = [
        draw.line(x, 206 + 18 * number, text)
        for number, row in enumerate(CELLS)
        for x, text in zip((70, 330, 450), row, strict=True)
    ]
    page = [
        *paragraph(draw, "beets", x=60, y=100),
        *paragraph(draw, "wheat", x=60, y=146),
        *paragraph(draw, "hemp", x=320, y=100),
        *paragraph(draw, "rye", x=320, y=146),
        *cells,
        *(draw.rule(60, 520, 194 + 18 * number) for number in rules),
        *paragraph(draw, "peas", x=60, y=300),
        *paragraph(draw, "beets", x=320, y=300),
    ]
    assert TABLE in text_of(page)


def test_text_in_a_frame_comes_after_the_paragraph_beside_it(text_of, draw):
    page = [
        *paragraph(draw, "beets", x=60, y=100),
        "330 676 150 30 re S",
        *draw.lines(["Contact: Mira Quist,", "phone 555-0199"], x=340, y=100),
        *paragraph(draw, "rye", x=60, y=160),
    ]
    assert text_of(page) == f"{PARAGRAPHS['beets']}\n\nContact: Mira Quist, phone 555-0199\n\n{PARAGRAPHS['rye']}"


def test_drawn_boxes_of_cells_are_no_frames(text_of, draw):
    rows = [("Soil", "Yield"), ("Sand", "41 t"), ("Loam", "63 t")]
    cells = [
        operator
        for number, row in enumerate(rows)
        for x, text in zip((60, 160), row, strict=True)
        for operator in (f"{x} {680 - 20 * number} 100 20 re S", draw.line(x + 15, 106 + 20 * number, text))
    ]
    assert text_of(cells) == "| Soil | Yield |\n| --- | --- |\n| Sand | 41 t |\n| Loam | 63 t |"
