"""Tables and lettered lists directly below a line of text."""

import pytest

from qa_bot.documents.cutting.markdown_passages import cut_markdown
from qa_bot.documents.ingest.formats.markup.loose_blocks import with_blocks_apart
from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks

RULES = """\
Costs:

1. **Travel**:
    a. by train, 2nd class.
    b. by bus, the fare,
       as z. B. in Bonn.
2. **Night**: 40 EUR.
3.**Allowance**:
| Duration | Amount |
|---|---|
| short | none |
| long | 1 EUR |
Minus 3 EUR.
4. **Fees**.
"""


def test_a_table_and_letters_belong_to_the_items_above_them():
    assert markdown_blocks(RULES).text == (
        "Costs:\n\n1. **Travel**:\n    - a. by train, 2nd class.\n    - b. by bus, the fare, as z. B. in Bonn.\n"
        "2. **Night**: 40 EUR.\n3. **Allowance**:\n\n"
        "    | Duration | Amount |\n    | --- | --- |\n    | short | none |\n"
        "    | long | 1 EUR |\n\n    Minus 3 EUR.\n4. **Fees**."
    )


def test_such_a_table_is_cut_and_searched_by_its_rows():
    source = "1. Night.\n2.**Allowance**:\n| Town | Amount |\n|---|---|\n" + "".join(
        f"| Town {number} | {number} EUR a day |\n" for number in range(40)
    )
    passages = cut_markdown(markdown_blocks(source).text, "Rules", characters=500).passages
    assert len(passages) > 1
    assert all("| Town | Amount |" in passage.text for passage in passages[1:])
    units = [passage.text[start:end] for passage in passages for start, end in passage.units]
    assert {"| Town 7 | 7 EUR a day |", "| Town 39 | 39 EUR a day |"} <= set(units)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Rates:\n| a | b |\n|---|---|\n| 1 | 2 |\nMore.", "Rates:\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nMore."),
        ("a | b\n--|--\n1 | 2\nMore.", "| a | b |\n| --- | --- |\n| 1 | 2 |\n\nMore."),
        (
            "- x\n  1. y\n  | a |\n  |---|\n  | 1 |\n- z",
            "- x\n    1. y\n\n        | a |\n        | --- |\n        | 1 |\n- z",
        ),
        ("- x\n\n| a |\n|---|\n| 1 |", "- x\n\n| a |\n| --- |\n| 1 |"),
        ("a) x:\n| b |\n|---|\n| 1 |", "a) x:\n\n| b |\n| --- |\n| 1 |"),
        ("a) x\nb) y:\n| b |\n|---|\n| 1 |", "- a) x\n- b) y:\n\n    | b |\n    | --- |\n    | 1 |"),
    ],
)
def test_tables(source, text):
    assert markdown_blocks(source).text == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("By\na) one\nb) two\n   more\nc) three\n\nEnd.", "By\n\n- a) one\n- b) two more\n- c) three\n\nEnd."),
        ("1. A\n\n    a. x\n    b. y\n\n    More.\n2. B", "1. A\n    - a. x\n    - b. y\n\n    More.\n2. B"),
        ("1. A:\na. x\nb. y\n2. B", "1. A:\n    - a. x\n    - b. y\n2. B"),
        ("a. x:\n   - one\n   - two\nb. y", "- a. x:\n    - one\n    - two\n- b. y"),
        ("# A\na. x\nb. y\n# B\nText.", "# A\n\n- a. x\n- b. y\n\n# B\n\nText."),
        ("Such as\nz. B. one\nb. two", "Such as z. B. one b. two"),
        ("Only\na. one\n\nb. two", "Only a. one\n\nb. two"),
        ("a. one\nb) two", "a. one b) two"),
        ("a. one\na. two\nb. three", "a. one\n\n- a. two\n- b. three"),
    ],
)
def test_letters_in_order_from_a_are_items(source, text):
    assert markdown_blocks(source).text == text


@pytest.mark.parametrize(
    "text",
    [
        "    a. x\n    b. y",
        "- x\n\n      a. x\n      b. y",
        "    1. x\n    | a |\n    |---|\n\n    | b |",
        "<pre>\na. x\nb. y\n</pre>",
        "> a. x\n> b. y",
        "see 3.**x**",
        "7.**5**",
    ],
)
def test_code_and_quotes_stay_unchanged(text):
    assert with_blocks_apart(text) == text


@pytest.mark.parametrize("number", ["3.", "12)", "  4."])
def test_a_number_directly_before_bold_text_begins_an_item(number):
    assert with_blocks_apart(f"Text\n{number}**Fees** are due.") == f"Text\n{number} **Fees** are due."


@pytest.mark.parametrize(
    "piece",
    [
        "a. x\n",
        "a. x\nb. y\n",
        "1. x\n| a | b |\n|---|---|\n",
        "|-",
        "1.**a",
        "1.**a\n",
        "- a\n",
        " a. b. |-",
        "| -  :",
    ],
)
def test_repeated_signs_take_no_long_time(piece):
    with_blocks_apart(piece * 20_000)
