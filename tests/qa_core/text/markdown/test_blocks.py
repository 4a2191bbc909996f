"""Blocks of Markdown, with their places worked out by hand, and what hostile text does."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given

from qa_core.text.markdown.blocks import Block, Code, ListBlock, Paragraph, Quotation, Rule, Table, blocks
from qa_core.text.markdown.inline import Words


def shown(text: str, words: list[Words]) -> str:
    return "".join(text[part.start : part.end] if part.shown is None else part.shown for part in words)


def outline(text: str, block: Block) -> object:
    """A block as nested tuples of its visible words."""
    match block:
        case Paragraph(words, is_heading):
            return ("title" if is_heading else "text", shown(text, words))
        case Code(lines):
            return ("code", *(text[start:end] for start, end in lines))
        case Table(header, rows):
            return ("table", [shown(text, cell) for cell in header or []], *([shown(text, c) for c in r] for r in rows))
        case ListBlock(items, numbers):
            return ("list", numbers, *([outline(text, part) for part in item] for item in items))
        case Quotation(parts):
            return ("quote", *(outline(text, part) for part in parts))
        case Rule():
            return "rule"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One\ntwo\n\nthree", [("text", "One\ntwo"), ("text", "three")]),
        (f"{'word ' * 13}end\nof it", [("text", f"{'word ' * 13}end of it")]),
        ("# A #\nB\n===\n\n---", [("title", "A"), ("title", "B"), "rule"]),
        ("- a\n  - b\n- c", [("list", [], [("text", "a"), ("list", [], [("text", "b")])], [("text", "c")])]),
        ("3. a\n3. b", [("list", [3, 4], [("text", "a")], [("text", "b")])]),
        ("1. a\n\n1. b", [("list", [1], [("text", "a")]), ("list", [1], [("text", "b")])]),
        ("2024. No step.", [("text", "2024. No step.")]),
        ("```sh\na *b*\n\nc\n```\nd", [("code", "a *b*", "", "c"), ("text", "d")]),
        ("1. a\n\n   ```\n   x\n   ```", [("list", [1], [("text", "a"), ("code", "x")])]),
        ("| A | B |\n| --- | --: |\n| x \\| y | 1 |", [("table", ["A", "B"], ["x | y", "1"])]),
        ("| | |\n| --- | --- |\n| a |", [("table", [], ["a"])]),
        ("> a\n> b\n\nc", [("quote", ("text", "a\nb")), ("text", "c")]),
        ("", []),
        (" \n\t\r\n", []),
    ],
)
def test_blocks_of_a_text(text: str, expected: list[object]) -> None:
    assert [outline(text, block) for block in blocks(text)] == expected


def test_a_part_of_a_text_has_places_in_the_whole() -> None:
    text = "```\ncut off\n\n- a **b**"
    (first,) = blocks(text, (0, 12))
    (second,) = blocks(text, (13, len(text)))
    assert outline(text, first) == ("code", "cut off")
    assert outline(text, second) == ("list", [], [("text", "a b")])


def test_sides_of_columns() -> None:
    (table,) = blocks("| a | b | c |\n| --- | :-: | --: |\n| 1 | 2 | 3 |")
    assert isinstance(table, Table)
    assert table.sides == ["left", "middle", "right"]


@given(st.text(alphabet="ab1 \n\t|-.*_`~>#+=:\\[]()<&;!🐈", max_size=80))
def test_any_text_has_blocks_in_order_with_all_its_letters(text: str) -> None:
    def places(block: Block) -> list[tuple[int, int]]:
        match block:
            case Paragraph(words):
                return [(part.start, part.end) for part in words]
            case Code(lines):
                return lines
            case Table(header, rows):
                cells = [cell for row in [header or [], *rows] for cell in row]
                return [(part.start, part.end) for cell in cells for part in cell]
            case ListBlock(items):
                return [place for item in items for part in item for place in places(part)]
            case Quotation(parts):
                return [place for part in parts for place in places(part)]
            case Rule():
                return []

    spans = [span for block in blocks(text) for span in places(block)]
    assert all(start <= end for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    if not {"`", "~", "(", "[", "&", "<"} & set(text):  # info of code, addresses and entities are not shown
        seen = "".join(text[start:end] for start, end in spans)
        assert seen.count("a") == text.count("a")
        assert seen.count("🐈") == text.count("🐈")


@pytest.mark.parametrize(
    "sign", ["[", "*a ", "`", "> ", "- ", "|", "[a](", "<a@", "\\", "|-", "-\n", "a\n|b\n", "> - "]
)
def test_hostile_text_takes_linear_time(sign: str) -> None:
    blocks((sign * 50_000)[:50_000])  # half a second; minutes if it were quadratic
