"""Cutting Markdown: sections, blocks, places, units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.documents.cutting.blocks import blocks
from qa_bot.documents.cutting.cut_passage import CutPassage
from qa_bot.documents.cutting.markdown_passages import cut_markdown as cut_text
from qa_bot.documents.cutting.repeated_blocks import digest_of
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Position
from qa_core.text.markdown_text import plain_line


def cut_markdown(text: str, title: str, positions: Sequence[Position] = (), characters: int = 1000) -> list[CutPassage]:
    return cut_text(text, title, positions, characters=characters).passages


def texts(passages: list[CutPassage]) -> list[str]:
    return [passage.text for passage in passages]


def headings(passages: list[CutPassage]) -> list[tuple[str, ...]]:
    return [passage.place.heading for passage in passages]


def units(passage: CutPassage) -> list[str]:
    return [passage.text[start:end] for start, end in passage.units]


def table(rows: int) -> str:
    return "\n".join(["| City | Rate |", "| --- | --- |", *(f"| City {row} | {row} euros |" for row in range(rows))])


# ------------------------------------------------------------------------------------------------------- sections


def test_sections_are_passages_and_headings_their_path() -> None:
    passages = cut_markdown(
        "# Guide\n\nHi.\n\n## Travel\n\nBook early.\n\n### Rail\n\nCheap.\n\n## Food\n\nEat.", "Guide"
    )
    assert texts(passages) == ["Hi.", "Book early.", "Cheap.", "Eat."]
    assert headings(passages) == [(), ("Travel",), ("Travel", "Rail"), ("Food",)]


@pytest.mark.parametrize(
    ("title", "path"), [("", ()), ("my  GUIDE", ()), ("Other", ("My **Guide**".replace("*", ""),))]
)
def test_the_heading_that_is_the_title_is_not_in_the_path(title: str, path: tuple[str, ...]) -> None:
    assert headings(cut_markdown("# My **Guide**\n\nHi.", title)) == [path]


def test_without_a_title_several_headings_of_level_1_all_stay() -> None:
    text = "# One\n\nA.\n\n# Two\n\nB."
    assert headings(cut_markdown(text, "")) == [("One",), ("Two",)]
    assert cut_text(text, "").title == ""
    assert cut_text("Hi\n\n# *One*\n\n## Two", "").title == "One"


def test_a_heading_that_heads_only_headings_is_in_their_path() -> None:
    assert headings(cut_markdown("## A\n\n### B\n\nText.", "t")) == [("A", "B")]


def test_headings_that_head_nothing_are_a_passage_together() -> None:
    passages = cut_markdown("## A\n\nText.\n\n### B\n\n### C\n\n## D\n\nText.", "t")
    assert texts(passages) == ["Text.", "### B\n\n### C", "Text."]
    assert headings(passages) == [("A",), ("A",), ("D",)]


@pytest.mark.parametrize("text", ["", " \n\n", "---\n\n***\n", "# Title"])
def test_no_text_gives_no_passage(text: str) -> None:
    assert cut_markdown(text, "Title") == []


def test_headings_in_code_are_code() -> None:
    assert texts(cut_markdown("```\n# no heading\n```", "t")) == ["```\n# no heading\n```"]


def test_underlined_headings() -> None:
    assert headings(cut_markdown("Guide\n=====\n\nTravel\n------\n\nGo.", "Guide")) == [("Travel",)]


# --------------------------------------------------------------------------------------------------------- blocks


def test_small_blocks_are_packed_and_a_block_that_fits_is_not_cut() -> None:
    first, second, third = "A" * 30, "B" * 30, "Cc. " * 9 + "Cc."
    passages = cut_markdown(f"{first}\n\n{second}\n\n{third}", "t", characters=70)
    assert texts(passages) == [f"{first}\n\n{second}", third]


def test_long_paragraphs_are_cut_at_sentences_and_long_sentences_at_words() -> None:
    sentence = "One two three four five six seven eight."
    text = f"{sentence} {sentence} {'Word ' * 20}"
    assert texts(cut_markdown(text, "t", characters=60)) == [
        sentence,
        sentence,
        "Word Word Word Word Word Word Word Word Word Word Word Word",
        "Word Word Word Word Word Word Word Word",
    ]


def test_a_list_is_cut_between_items_and_keeps_its_numbers() -> None:
    text = "\n".join(f"{number}. Step number {number}" for number in range(1, 7))
    assert texts(cut_markdown(text, "t", characters=60)) == [
        "1. Step number 1\n2. Step number 2\n3. Step number 3",
        "4. Step number 4\n5. Step number 5\n6. Step number 6",
    ]


def test_steps_within_the_limit_stay_together() -> None:
    steps = "1. Open it\n2. Close it"
    assert texts(cut_markdown(f"{'Word ' * 7}\n\n{steps}", "t", characters=40)) == [
        "Word Word Word Word Word Word Word",
        steps,
    ]


def test_nested_items_begin_below_the_line_of_their_parent() -> None:
    text = "- Parent\n" + "\n".join(f"    - nested item {number}" for number in range(4))
    assert texts(cut_markdown(text, "t", characters=60)) == [
        "- Parent\n    - nested item 0\n    - nested item 1",
        "- Parent\n    - nested item 2\n    - nested item 3",
    ]


def test_what_a_long_item_explains_stands_above_its_later_parts() -> None:
    text = f"- **--all**: {'Long words here. ' * 15}\n\n    {'More of them. ' * 4}\n\n    {'The last ones. ' * 4}"
    _, *later = texts(cut_markdown(text, "", characters=80))
    assert later[-2].startswith("- **--all**: …\n    More of them.")
    assert later[-1].startswith("- **--all**: …\n    The last ones.")


def test_a_term_is_not_cut_though_it_may_end_as_a_sentence_does() -> None:
    term = "**I made a mistake in the last commit. How do I change it?**"
    filler = "Use the option that amends the commit and edit its message as you like in the editor."
    (passage,) = cut_markdown(f"- {term}: {filler} {filler} {filler}", "")
    assert units(passage)[0].startswith(f"- {term}: Use")


def test_a_long_table_repeats_its_header() -> None:
    passages = cut_markdown(table(4), "t", characters=75)
    header = "| City | Rate |\n| --- | --- |\n"
    assert texts(passages) == [
        f"{header}| City 0 | 0 euros |\n| City 1 | 1 euros |",
        f"{header}| City 2 | 2 euros |\n| City 3 | 3 euros |",
    ]
    assert units(passages[1]) == ["| City 2 | 2 euros |", "| City 3 | 3 euros |"]
    assert table(4)[passages[1].start : passages[1].end] == "| City 2 | 2 euros |\n| City 3 | 3 euros |"


def test_a_row_over_the_limit_stays_whole_with_its_header() -> None:
    row = f"| a | {'word ' * 20}|"
    assert texts(cut_markdown(f"| A | B |\n| --- | --- |\n{row}\n{row}", "t", characters=50))[1].endswith(row)


def test_a_hostile_row_is_cut() -> None:
    passages = cut_markdown(f"| A | B |\n| --- | --- |\n| a | {'word ' * 200}|", "t", characters=50)
    assert max(len(passage.text) for passage in passages) <= 50 + len("| A | B |\n| --- | --- |\n")


def test_code_up_to_two_limits_stays_whole() -> None:
    code = "```\n" + "x = 1\n\n" * 10 + "```"
    assert texts(cut_markdown(code, "t", characters=45)) == [code]


def test_longer_code_is_cut_at_empty_lines_and_fenced_again() -> None:
    code = "```python\nfirst = 1\nfirst += 1\n\nsecond = 2\nsecond += 1\n\nthird = 3\n```"
    passages = cut_markdown(code, "t", characters=34)
    assert texts(passages) == [
        "```python\nfirst = 1\nfirst += 1\n```",
        "```python\nsecond = 2\nsecond += 1\n```",
        "```python\nthird = 3\n```",
    ]
    assert [units(passage) for passage in passages] == [[text] for text in texts(passages)]


def test_a_paragraph_that_ends_with_a_colon_stays_with_what_follows() -> None:
    text = f"{'Filler words. ' * 4}\n\nThe **rates:**\n\n{table(2)}"
    assert texts(cut_markdown(text, "t", characters=75))[1] == f"The **rates:**\n\n{table(2)}"


def test_of_a_long_paragraph_the_last_sentence_stays_with_what_follows() -> None:
    before = "This is the first of two sentences, and it is rather long, as you see."
    text = f"{before} These are the rates that we pay in each of those cities:\n\n{table(3)}"
    passages = cut_markdown(text, "t", characters=140)
    assert texts(passages) == [before, text[len(before) + 1 :]]


@pytest.mark.parametrize("caption", ["**Table 3. Rates.**", "Table 3. Rates. All cities", "*Tabelle A-1: Raten*"])
def test_a_caption_stays_with_its_table(caption: str) -> None:
    """The passage before has room for the caption."""
    text = f"{'Filler words. ' * 4}\n\n{caption}\n\n{table(2)}\n\nThe end."
    assert f"{caption}\n\n{table(2)}" in texts(cut_markdown(text, "t", characters=100))


def test_captions_and_leads_stay_with_tables_inside_items() -> None:
    rows = table(9).replace("\n", "\n  ")
    text = f"- {'Filler words. ' * 9}\n\n  **Table 2.1. Rates**\n\n  {rows}\n\n  {'More. ' * 18}And rates:\n\n  {rows}"
    passages = texts(cut_markdown(text, "t", characters=150))
    first = "| City | Rate |\n  | --- | --- |\n  | City 0 |"
    assert any(f"  **Table 2.1. Rates**\n\n  {first}" in passage for passage in passages)
    assert any(f"And rates:\n\n  {first}" in passage for passage in passages)


# ----------------------------------------------------------------------------------------------------- boilerplate


def test_boilerplate_is_a_separate_passage_without_units() -> None:
    footer = "All rights are reserved, of course."
    text = f"Words of the first paragraph.\n\n{footer}\n\nWords of the last paragraph."
    passages = cut_text(text, "t", boilerplate=[digest_of(footer)]).passages
    assert [(one.text, one.place.kind, bool(one.units)) for one in passages] == [
        ("Words of the first paragraph.", "prose", True),
        (footer, "boilerplate", False),
        ("Words of the last paragraph.", "prose", True),
    ]


def test_a_document_of_boilerplate_alone_is_searched() -> None:
    footer = "All rights are reserved, of course."
    document = cut_text(f"# Footer\n\n{footer}", "t", boilerplate=[digest_of(footer)])
    assert document.blocks == {digest_of(footer)}
    assert document.passages[0].place.kind == "prose"


# ---------------------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Words.", "prose"),
        ("- a\n- b", "list"),
        ("1. a\n2. b", "steps"),
        (table(2), "table"),
        ("```\ncode\n```", "code"),
        ("> quoted", "prose"),
        ("So it is done:\n\n1. a\n2. b", "steps"),
        ("A long sentence stands before the list.\n\n- a\n- b", "prose"),
    ],
)
def test_the_kind_is_that_of_most_characters(text: str, kind: str) -> None:
    assert [passage.place.kind for passage in cut_markdown(text, "t")] == [kind]


def test_pages_and_rows() -> None:
    writer = MarkdownWriter()
    writer.page(3)
    writer.heading(2, "Rates")
    writer.paragraph("The rates stand in the table on the next page.")
    writer.page(4)
    writer.table([["City", "Rate"], *([f"City {row}", "1"] for row in range(4))], first_row=12)
    writer.paragraph("After the table.")
    passages = cut_markdown(writer.text, "t", writer.positions, characters=60)
    assert [(passage.place.page, passage.place.row) for passage in passages] == [(3, None), (4, 12), (4, 14), (4, None)]


def test_later_pages_and_tables_of_a_passage() -> None:
    pages, sheet = MarkdownWriter(), MarkdownWriter()
    for number, word in enumerate(("one", "two", "three"), 1):
        pages.page(number)
        pages.paragraph(word)
    (passage,) = cut_markdown(pages.text, "t", pages.positions)
    assert (passage.place.page, passage.place.later) == (1, ((5, 2), (10, 3)))
    sheet.paragraph("Prices:")
    sheet.table([["Item", "Price"], ["Lamp", "4"], ["Chair", "9"]], first_row=2)
    sheet.table([["Item", "Price"], ["Desk", "30"]], first_row=6)
    (passage,) = cut_markdown(sheet.text, "t", sheet.positions)
    assert (passage.place.row, passage.place.later) == (2, ((passage.text.index("| Desk"), 6),))


def test_a_table_without_rows_of_a_sheet_has_no_row() -> None:
    text = f"{table(1)}\n\nText.\n\n{table(1)}"
    passages = cut_markdown(text, "t", [Position(len("| City | Rate |\n| --- | --- |\n"), row=2)], characters=60)
    assert [passage.place.row for passage in passages] == [2, None]


# ----------------------------------------------------------------------------------------------------------- units


def test_units_are_sentence_groups_items_rows_and_code() -> None:
    sentence = "This sentence is long enough to be searched on its own, I think."
    text = f"{sentence} {sentence} Short.\n\n- one\n    - nested\n- two\n\n{table(2)}\n\n```\ncode\n```"
    (passage,) = cut_markdown(text, "t")
    rows = ["| City 0 | 0 euros |", "| City 1 | 1 euros |"]
    assert units(passage) == [sentence, f"{sentence} Short.", "- one\n    - nested", "- two", *rows, "```\ncode\n```"]


def test_long_items_are_searched_in_parts() -> None:
    text = f"- {'Own words of the item. ' * 3}\n" + "\n".join(f"    - {'nested words ' * 9}{n}" for n in range(3))
    (passage,) = cut_markdown(text, "t")
    assert len(passage.units) == 4
    assert units(passage)[0].startswith("- Own words")


def test_no_sentence_ends_inside_a_link() -> None:
    text = "Please read this [long guide for all travellers. It really helps](http://x.y/a) before you go."
    (passage,) = cut_markdown(text, "t")
    assert units(passage) == [text]


# ------------------------------------------------------------------------------------------------- any text at all

LINES = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "",
                "    ",
                "  ",
                "- ",
                "1. ",
                "12) ",
                "    - ",
                "> ",
                "# ",
                "### ",
                "| ",
                "```",
                "~~~ ",
                "\t",
                ":",
                "[x]: ",
            ]
        ),
        st.text(st.sampled_from("ab é猫.:|-`*_[]()<>#&\\1="), max_size=30),
    ).map("".join)
    | st.sampled_from(["", "", "---", "===", "| --- | --- |", "|---|", "| a | b |", "```", "text. More text.", "***"]),
    max_size=30,
).map("\n".join)


@given(text=LINES, characters=st.sampled_from([1, 7, 40, 1000]))
def test_no_word_is_lost(text: str, characters: int) -> None:
    passages = cut_markdown(text, "", characters=characters)
    headings = [block for block in blocks(text) if block.type == "heading"]
    stretches = [*((one.start, one.end) for one in passages), *((one.start, one.end) for one in headings)]
    covered = {position for start, end in stretches for position in range(start, end)}
    assert {position for position, character in enumerate(text) if character.isalnum()} <= covered
    names = {cut_text(text, "").title, *(name for passage in passages for name in passage.place.heading)}
    whole = [block for block in headings if any(one.start <= block.start < one.end for one in passages)]
    assert all(block in whole or plain_line(block.words) in names | {""} for block in headings)


@given(text=LINES, characters=st.sampled_from([1, 7, 40, 1000]))
def test_spans_are_in_order_and_units_cover_the_passage(text: str, characters: int) -> None:
    passages = cut_markdown(text, "", characters=characters)
    assert all(0 <= passage.start < passage.end <= len(text) for passage in passages)
    assert all(one.end <= other.start for one, other in pairwise(passages))
    for passage in passages:
        assert all(0 <= start < end <= len(passage.text) for start, end in passage.units)
        assert all(one[1] <= other[0] for one, other in pairwise(passage.units))
        shown = text[passage.start : passage.end]
        prefix = passage.text.rindex(shown)
        covered = {position for start, end in passage.units for position in range(start, end)}
        outside = {
            position
            for position in range(prefix, prefix + len(shown))
            if passage.text[position].isalnum() and position not in covered
        }
        assert all("|" in line_at(passage.text, position) for position in outside)  # a header


def line_at(text: str, position: int) -> str:
    return text[text.rfind("\n", 0, position) + 1 :].split("\n")[0]


@given(text=LINES, characters=st.sampled_from([20, 60]))
def test_the_limit_is_kept_except_for_rows_code_and_leads(text: str, characters: int) -> None:
    for passage in cut_markdown(text, "", characters=characters):
        if not {"|", "`", "~"} & set(passage.text):
            assert passage.end - passage.start <= 1.5 * characters
