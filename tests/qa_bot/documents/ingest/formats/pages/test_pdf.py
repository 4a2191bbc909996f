"""PDF files as Markdown."""

import gzip

import pytest

from qa_bot.documents.ingest import Limits
from qa_bot.documents.ingest.records import Position

LONG = "A line of body text that is long enough to reach the right edge of the column of the page."


def test_headings_paragraphs_and_pages(reads, draw, tmp_path):
    first = [
        draw.line(72, 80, "Boiling eggs", size=18, font="Helvetica-Bold"),
        *draw.lines([LONG, "The paragraph ends here."], y=110),
        *draw.lines([LONG, "Another paragraph."], y=150),
        draw.line(72, 200, "Water", font="Helvetica-Bold"),
        *draw.lines(["Put them in water."], y=215),
    ]
    (record,), rejects, notices = reads("eggs.pdf", draw.pdf(first, draw.lines(["Second page."])))
    assert (record.id, record.title, record.where) == ("eggs.pdf", "Boiling eggs", f"{tmp_path}/eggs.pdf:1")
    assert record.text == (
        f"# Boiling eggs\n\n{LONG} The paragraph ends here.\n\n{LONG} Another paragraph.\n\n"
        "## Water\n\nPut them in water.\n\nSecond page."
    )
    assert record.markdown
    assert record.positions == (Position(0, page=1), Position(record.text.index("Second"), page=2))
    assert (rejects, notices) == ([], [])


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({"/Title": "Eggs", "/ModDate": "D:20240312101500+01'00'"}, "Eggs"),
        ({"/Title": "Microsoft Word - eggs_final.docx"}, "download"),
        ({"/Title": "(anonymous)"}, "download"),
        ({"/Title": "eggs.indd"}, "download"),
    ],
)
def test_title_and_date_of_the_metadata(reads, draw, metadata, title):
    (record,), _, _ = reads("download.gz", gzip.compress(draw.pdf(draw.lines(["Some text"]), metadata=metadata)))
    assert record.title == title
    assert record.date == ("2024-03-12" if "/ModDate" in metadata else "")


def test_the_first_of_several_chapters_is_no_title(reads, draw):
    pages = [
        [draw.line(72, 80, f"Chapter {number}: {name}", size=18), *draw.lines([LONG, "It ends here."], y=110)]
        for number, name in enumerate(("Pilotage", "Vaults"), 1)
    ]
    (record,), _, _ = reads("port.pdf", draw.pdf(*pages, metadata={"/Title": "Microsoft Word - port.docx"}))
    assert record.title == "port"
    assert record.text.startswith("# Chapter 1: Pilotage\n")


def test_hyphens_of_broken_words_are_removed_and_those_of_compounds_kept(text_of, draw):
    lines = [
        "The well-known committee approved the bud-",
        "get of the year, after a long debate on the well-",
        "known plans of the engineers for the water sup-",
        "ply of the Frankfurt-",
        "Main region, as was said before.",
    ]
    assert text_of(draw.lines(lines)) == (
        "The well-known committee approved the budget of the year, after a long debate on the well-known plans of the "
        "engineers for the water supply of the Frankfurt-Main region, as was said before."
    )


def test_the_hyphen_between_two_words_stays_unless_the_document_breaks_words(text_of, draw):
    compound = [
        "The plans are known to all, and it is as well that a committee of the well-",
        "known engineers read them.",
    ]
    broken = ["The committee approved the bud-", "get, after a debate on the water sup-", "ply."]
    assert "well-known engineers" in text_of(draw.lines(compound))
    assert "wellknown engineers" in text_of(draw.lines([*compound, *broken]))
    assert "online" in text_of(draw.lines(["It is on line 7, and it is on-", "line now. The form is online."]))


def test_hyphens_before_conjunctions_and_of_compounds_in_other_letters_stay(text_of, draw):
    lines = [
        "Wir zeigen die Hin-",
        "und Fahrten zur Ost-",
        "bzw. Westküste; die Früh-",
        "schicht isst die Kür-",
        "bisse. Walk-in guests wait, but a walk-",
        "in guest is served in the pre-",
        "or post-season, near the pho-",
        "to shop.",
    ]
    assert text_of(draw.lines(lines)) == (
        "Wir zeigen die Hin- und Fahrten zur Ost- bzw. Westküste; die Frühschicht isst die Kürbisse. Walk-in guests "
        "wait, but a walk-in guest is served in the pre- or post-season, near the photo shop."
    )


def test_a_paragraph_goes_on_at_the_next_page(text_of, draw):
    pages = [draw.lines([LONG, "The sentence goes"], y=600), draw.lines(["on at the next page.", LONG], y=80)]
    assert text_of(*pages).startswith(f"{LONG} The sentence goes on at the next page.")


def test_running_headers_footers_and_page_numbers_are_dropped(text_of, draw):
    pages = [
        [
            draw.line(72, 40, f"Manual, part {number}", size=8),
            *draw.lines([f"Body of page {number}.", LONG]),
            draw.line(300, 770, f"Page {number} of 4", size=8),
        ]
        for number in range(1, 5)
    ]
    assert text_of(*pages) == "\n\n".join(f"Body of page {number}.\n\n{LONG}" for number in range(1, 5))


@pytest.mark.parametrize(("footer", "expected"), [("Page 1", ""), ("- Seite 1 von 1 -", ""), ("1", "\n\n1")])
def test_the_number_of_a_single_page_is_dropped(text_of, draw, footer, expected):
    page = [*draw.lines(["Body of the page.", LONG]), draw.line(300, 770, footer, size=8)]
    assert text_of(page) == f"Body of the page.\n\n{LONG}{expected}"


def test_a_running_header_whose_right_half_names_the_chapter_is_dropped(text_of, draw):
    pages = [
        [
            draw.line(72, 50, "Pumps, the manual", size=8),
            draw.line(400, 50, chapter, size=8),
            draw.line(72, 82, chapter, size=20),
            *draw.lines([LONG]),
        ]
        for chapter in ("Hoses", "Valves", "Filters")
    ]
    assert text_of(*pages) == f"# Hoses\n\n{LONG}\n\n# Valves\n\n{LONG}\n\n# Filters\n\n{LONG}"


def body_pages(draw, titles):
    return [[draw.line(72, 80, title, size=18), *draw.lines([LONG, LONG])] for title in titles]


@pytest.mark.parametrize("leaders", [" . . . . . ", "......", "  "])
def test_a_table_of_contents_is_left_out(text_of, draw, leaders):
    titles = ["Hoses", "Valves", "Filters", "Seals"]
    entries = [f"{title}{leaders}{number}" for number, title in enumerate(titles, 2)]
    text = text_of([*draw.lines(["What is inside"]), *draw.lines(entries, y=140)], *body_pages(draw, titles))
    assert text.startswith("What is inside\n\n# Hoses\n\n")


@pytest.mark.parametrize("prices", [(3, 4, 9, 30), (4, 3, 2, 2)])
def test_a_menu_with_dots_before_its_prices_is_kept(text_of, draw, prices):
    entries = [f"{dish} ..... {price}" for dish, price in zip(("Soup", "Salad", "Fish", "Rice"), prices, strict=True)]
    text = text_of(draw.lines(entries), *body_pages(draw, ["Hoses", "Valves", "Filters"]))
    assert "Salad" in text
    assert "Rice" in text


def chapters(draw, titles, **look):
    return [[draw.line(72, 60, title, **look), *draw.lines([LONG, LONG])] for title in titles]


@pytest.mark.parametrize("look", [{"size": 16}, {"font": "Helvetica-Bold"}])
def test_headings_of_pages_that_differ_in_their_number_are_kept(text_of, draw, look):
    titles = [f"Chapter {number}: stone" for number in range(1, 5)]
    assert [line for line in text_of(*chapters(draw, titles, **look)).split("\n") if "stone" in line] == [
        f"# {title}" for title in titles
    ]


def test_large_headings_whose_numbers_are_not_those_of_pages_are_kept(text_of, draw):
    titles = [f"Recipe {number}" for number in (3, 7, 12, 20)]
    assert text_of(*chapters(draw, titles, size=16)).count("# Recipe") == 4


def test_a_large_running_header_with_the_number_of_the_page_is_dropped(text_of, draw):
    assert "Manual" not in text_of(*chapters(draw, [f"Manual {number}" for number in range(11, 15)], size=16))


def test_the_name_of_a_chapter_on_each_of_its_pages_is_dropped(text_of, draw):
    titles = ["Chapter 1: stone"] * 3 + ["Chapter 2: stone"] * 3
    assert "stone" not in text_of(*chapters(draw, titles, size=16))


def test_columns_are_read_one_after_the_other_whatever_the_order_in_the_file(text_of, draw):
    left = [f"Left column, line {number} of the text" for number in range(8)]
    right = [f"Right column, line {number} of the text" for number in range(8)]
    rows = [
        operator
        for number in range(8)
        for operator in (
            draw.line(320, 120 + 12 * number, right[number]),
            draw.line(72, 120 + 12 * number, left[number]),
        )
    ]
    heading = draw.line(72, 80, "A title over both columns of the page", size=16)
    assert text_of([*rows, heading]) == (
        f"# A title over both columns of the page\n\n{' '.join(left)}\n\n{' '.join(right)}"
    )


ROWS = [
    ("Hazard", "Contact", "Extension"),
    ("Water leak", "Facility desk", "4012"),
    ("Lift stuck", "Lift firm", "4099"),
]
TABLE = (
    "| Hazard | Contact | Extension |\n| --- | --- | --- |\n"
    "| Water leak | Facility desk | 4012 |\n| Lift stuck | Lift firm | 4099 |"
)


def test_aligned_cells_are_a_table(text_of, draw):
    cells = [
        draw.line(x, 150 + 18 * number, cell)
        for number, row in enumerate(ROWS)
        for x, cell in zip((72, 150, 230), row, strict=True)
    ]
    assert text_of([*draw.lines([LONG]), *cells, *draw.lines([LONG], y=260)]) == f"{LONG}\n\n{TABLE}\n\n{LONG}"


def test_lines_of_a_cell_are_put_together_between_rules(text_of, draw):
    operators = [
        *draw.lines(["Hazard", "Water", "leak"], x=72, y=150),
        *draw.lines(["Contact", "Facility", "desk"], x=150, y=150),
        *draw.lines(["Extension", "4012"], x=230, y=150),
        *draw.lines(["Lift", "stuck"], x=72, y=186),
        *draw.lines(["Lift", "firm"], x=150, y=186),
        *draw.lines(["4099"], x=230, y=186),
        *(draw.rule(70, 300, y) for y in (141, 153, 177, 201)),
    ]
    assert text_of(operators) == TABLE


def test_lines_of_a_cell_are_closer_than_rows(text_of, draw):
    operators = [
        *draw.lines(["Hazard", "Water leak", "Lift stuck"], x=72, y=150, pitch=30),
        *draw.lines(["Contact", "Facility", "Lift firm"], x=150, y=150, pitch=30),
        draw.line(150, 191, "desk"),
        *draw.lines(["Extension", "4012", "4099"], x=230, y=150, pitch=30),
    ]
    assert text_of(operators) == TABLE


def test_a_word_that_is_broken_in_a_cell_is_whole(text_of, draw):
    operators = [
        *draw.lines(["Hazard", "Water leak", "Lift stuck"], x=72, y=150, pitch=30),
        *draw.lines(["Contact", "Fac-", "DAAD-"], x=150, y=150, pitch=30),
        draw.line(150, 191, "ility desk"),
        draw.line(150, 221, "Office"),
        *draw.lines(["Extension", "4012", "4099"], x=230, y=150, pitch=30),
    ]
    assert text_of(operators) == TABLE.replace("Lift firm", "DAAD-Office")


def test_names_of_models_are_the_header_of_a_table_of_two_dimensions(text_of, draw):
    rows = [("", "R400", "R1600 AWD"), ("Blades", "6 weeks", "3 weeks"), ("Contacts", "monthly", "monthly")]
    cells = [
        draw.line(x, 150 + 18 * number, cell)
        for number, row in enumerate(rows)
        for x, cell in zip((72, 150, 230), row, strict=True)
        if cell
    ]
    rules = [draw.rule(70, 300, 138 + 18 * number) for number in range(len(rows) + 1)]
    assert text_of([*cells, *rules]).splitlines()[0] == "|  | R400 | R1600 AWD |"


def test_a_table_on_two_pages_repeats_its_header(text_of, draw):
    def table(rows):
        return [
            draw.line(x, 100 + 18 * number, cell)
            for number, row in enumerate(rows)
            for x, cell in zip((72, 150, 230), row, strict=True)
        ]

    below = [(f"Hazard {number}", "Facility desk", f"{number}") for number in (5, 6, 7)]
    text = text_of(table([*ROWS, *below]), table(below))
    rows = "\n".join(f"| {' | '.join(row)} |" for row in below)
    assert text == f"{TABLE}\n{rows}\n\n{TABLE[: TABLE.index('| Water')]}{rows}"


def test_a_heading_below_a_drawn_table_is_no_row_of_it(text_of, draw):
    cells = [
        draw.line(x, 150 + 18 * number, cell)
        for number, row in enumerate(ROWS)
        for x, cell in zip((72, 150, 230), row, strict=True)
    ]
    rules = [draw.rule(70, 300, 138 + 18 * number) for number in range(len(ROWS) + 1)]
    text = text_of([*cells, *rules, draw.line(72, 160 + 18 * len(ROWS), "Lifts", size=14), *draw.lines([LONG], y=260)])
    assert text == f"{TABLE}\n\n# Lifts\n\n{LONG}"


def test_numbers_beside_their_texts_are_steps(text_of, draw):
    steps = ["Open the valve.", "Wait.", "Close the valve."]
    numbers = [draw.line(72, 100 + 18 * place, str(place + 1)) for place in range(3)]
    assert text_of([*numbers, *draw.lines(steps, x=110, y=100, pitch=18)]) == (
        "1. Open the valve.\n2. Wait.\n3. Close the valve."
    )


def test_lists_and_steps(text_of, draw):
    operators = [
        *draw.lines(["1.", "2."], x=72, y=100, pitch=24),
        *draw.lines(["Open the valve of the pump, and wait until the water", "flows."], x=90, y=100),
        *draw.lines(["Close the valve."], x=90, y=124),
        draw.line(72, 148, "\u2022 Inside"),
        draw.line(90, 160, "\u2022 Deeper"),
    ]
    assert text_of(operators) == (
        "1. Open the valve of the pump, and wait until the water flows.\n2. Close the valve.\n- Inside\n    - Deeper"
    )


def test_a_year_at_the_start_of_a_line_is_no_step(text_of, draw):
    lines = ["The plan for the new bridge over the river was made in the spring of the year", "12. It was long."]
    assert text_of(draw.lines(lines)) == " ".join(lines)


def test_code_keeps_its_lines(text_of, draw):
    code = ["def main():", "    return 1"]
    indented = [draw.line(72, 150, code[0], font="Courier"), draw.line(96, 162, "return 1", font="Courier")]
    assert text_of([*draw.lines([LONG] * 2), *indented]) == f"{LONG} {LONG}\n\n```\n{code[0]}\n{code[1]}\n```"


def test_text_along_the_edge_comes_last_and_is_no_heading(text_of, draw):
    turned = "BT /F0 14 Tf 0 1 -1 0 40 300 Tm (Version of the first of May) Tj ET"
    text = text_of([turned, *draw.lines([LONG, "The end of it."])])
    assert text == f"{LONG} The end of it.\n\nVersion of the first of May"


def test_contents_of_forms_are_read(text_of, draw):
    assert text_of([draw.line(72, 100, "Name:")], field="Ann Lee") == "Name: Ann Lee"


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_rotated_pages_keep_their_words(text_of, draw, rotate):
    assert sorted(text_of(draw.lines(["One two three."]), rotate=rotate).split()) == ["One", "three.", "two"]


def test_paragraphs_of_rules_are_no_steps(text_of, draw):
    lines = draw.lines(["(1) Dogs need leave.", "(2) Cats do not.", "1. Ask.", "2. Wait."])
    assert text_of(lines) == "(1) Dogs need leave.\n\n(2) Cats do not.\n\n1. Ask.\n2. Wait."


def test_unreadable_files(reads, draw):
    whole = draw.pdf(draw.lines(["Some text"]))
    _, (reject,), _ = reads("locked.pdf", draw.pdf(draw.lines(["Some text"]), password="secret"))
    assert "with a password" in reject.reason
    _, (reject,), _ = reads("empty.pdf", draw.pdf([]))
    assert "Expected a PDF with text" in reject.reason
    for damaged in (whole[:40], b"%PDF-1.4\n" + bytes(range(256)) * 4):
        _, (reject,), _ = reads("broken.pdf", damaged)
        assert "Expected a readable PDF, but got a broken one" in reject.reason
    _, (reject,), _ = reads("text.pdf", "no PDF at all", format="pdf")
    assert "Expected a readable PDF" in reject.reason


def test_text_over_the_record_limit(reads, draw):
    _, (reject,), _ = reads("a.pdf", draw.pdf(draw.lines(["word " * 30])), limits=Limits(record_bytes=100))
    assert "--max-record-bytes" in reject.reason


@pytest.mark.parametrize("cut", range(100, 1100, 90))
def test_truncated_files_give_a_record_or_a_reject(reads, draw, cut):
    records, rejects, _ = reads("a.pdf", draw.pdf(draw.lines(["Some text"]), draw.lines(["More text"]))[:cut])
    assert len(records) + len(rejects) == 1


def raised(y, *runs):
    """The operators of a line of runs: text, size and rise in points."""
    shown = " ".join(f"/F0 {size} Tf {rise} Ts ({text}) Tj" for text, size, rise in runs)
    return f"BT 72 {792 - y} Td {shown} ET"


def test_raised_digits_are_exponents_or_marks_of_notes(text_of, draw):
    lines = [
        raised(100, ("The roof has 10", 10, 0), ("3", 6, 4), (" tiles on 80 m", 10, 0), ("2", 6, 4), (".", 10, 0)),
        raised(
            112, ("Costs rose by 12 %", 10, 0), ("4", 6, 4), (" last year", 10, 0), ("5,6", 6, 4), (", on CO", 10, 0)
        ),
        raised(124, ("2", 6, -2), (" and room B", 10, 0), ("12", 8, 0), (". We fell to 4 W/m", 10, 0), ("2", 6, 4)),
        raised(160, ("4", 6, 4), (" Source: audit of 2025.", 10, 0)),
    ]
    assert text_of(lines) == (
        "The roof has 10³ tiles on 80 m². Costs rose by 12 % [4] last year [5,6], on CO 2 and room B12. "
        "We fell to 4 W/m²\n\n4 Source: audit of 2025."
    )


def test_raised_digits_that_are_set_apart(text_of, draw):
    line = [draw.line(72, 100, "The roof has 10"), draw.line(145, 96, "3", size=6), draw.line(151, 100, "tiles.")]
    assert text_of(line) == "The roof has 10³ tiles."


def test_a_raised_number_makes_no_heading_larger(text_of, draw):
    heading = raised(140, ("Meetings", 14, 0), ("2", 12, 7))
    text = text_of(
        [draw.line(72, 80, "Statutes of the club", size=18), *draw.lines([LONG]), heading, *draw.lines([LONG], y=160)]
    )
    assert text == f"# Statutes of the club\n\n{LONG}\n\n## Meetings [2]\n\n{LONG}"
