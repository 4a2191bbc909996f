"""Markdown in a terminal."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from qa_bot.terminal import markdown_output
from qa_bot.terminal.markdown_output import clean, markdown
from qa_core.text.markdown.blocks import blocks

TABLE = "| Room | Seats |\n| --- | ---: |\n| Tern | 4 |\n| Rook |"
BOLD, OFF = "\x1b[1m", "\x1b[0m"


def shown(text: str, **options: object) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=60, color_system="standard", highlight=False)
    console.print(markdown(text, **options))  # type: ignore[arg-type]
    return console.file.getvalue()


def plain(text: str) -> str:
    """Without the sequences of styles and links."""
    return re.sub(r"\x1b\[[\d;]*m|\x1b]8;[^\x07\x1b]*(?:\x07|\x1b\\)", "", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One *two*\nthree", "One two\nthree\n"),
        ("1. a\n2. b\n   - c", " 1. a    \n 2. b    \n     • c \n"),
        ("```\nx\n  y\n```\n\nz", f"    x{' ' * 55}\n      y{' ' * 53}\n\nz\n"),
        ("[a](https://a.org)", "a (https://a.org)\n"),
    ],
)
def test_blocks_in_a_terminal(text: str, expected: str) -> None:
    lines = plain(shown(text)).split("\n")
    assert [line.rstrip() for line in lines] == [line.rstrip() for line in expected.split("\n")]


def test_a_table_has_columns() -> None:
    lines = [line.split() for line in plain(shown(TABLE)).split("\n") if line.strip()]
    assert [line for line in lines if "─" not in line[0]] == [["Room", "Seats"], ["Tern", "4"], ["Rook"]]


def test_the_lead_is_bold() -> None:
    assert shown("Before. It answers. After.", lead=(8, 19)) == f"Before. {BOLD}It answers.{OFF} After.\n"


def test_passages_do_not_go_on_in_the_code_before_them() -> None:
    assert plain(shown("```\ncut\n\n1. a", starts=[9])).rstrip().endswith("1. a")


@pytest.mark.parametrize("sign", ["\x1b[31m", "\x07", "\x9b", "\u202e", "\u2066", "\x7f"])
def test_control_characters_are_removed(sign: str) -> None:
    text = f"a{sign}b [c](https://a.org/{sign}d)\n\n| x{sign} |\n\n```\n{sign}\n```"
    assert sign[0] not in clean(text)
    assert sign not in shown(text)
    assert clean("a\tb\nc é 🐈 ا") == "a\tb\nc é 🐈 ا"


@pytest.mark.parametrize(
    "unit",
    ["- a\n", "-\n", "1. a\n", "|", "|1|2|\n", "> a\n\n", "> - a\n", "a\n\n", "---\n\n", "# a\n", "|a|\n|-|\n|b|\n\n"],
)
def test_a_text_of_too_many_parts_is_one_line_of_rich(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    line = markdown_output._line
    monkeypatch.setattr(markdown_output, "_line", lambda *arguments: made.append(arguments) or line(*arguments))
    text = unit * (60_000 // len(unit))
    assert str(markdown(text, (0, 2))) == text
    assert len(made) == 1
    few = unit * (markdown_output.MOST_PARTS // (4 * len(unit)))
    assert str(markdown(few)) != few, "it is rendered"


def test_parts_are_counted_below_lists_and_quotations() -> None:
    def count(text: str) -> int:
        return sum(map(markdown_output._count, blocks(text)))

    assert count("a\n\n---\n\n# b") == 3
    assert count("- a\n- b") == 1 + 2 * (1 + 1)
    assert count("> - a") == 1 + 1 + 1 + 1
    assert count("|a|b|\n|-|-|\n|1|2|\n|3|") == 1 + 5
    assert count("```\nx\ny\n```") == 1 + 2
