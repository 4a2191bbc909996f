"""Spellings of a question that share a key."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.question_key import question_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Why?", "why"),
        ("  Is it\tso ?!… ", "IS IT SO"),
        ("STRASSE", "straße."),
        ("なぜ？", "なぜ"),
        ("a\x00b", "A \ufffdB"),
        ("\udc00 x", "x"),
    ],
)
def test_case_blanks_and_end_punctuation_make_no_difference(one: str, other: str) -> None:
    assert question_key(one) == question_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C#"), ("?", "!"), ("", "?"), ("is it so", "it is so"), ("e.g. so", "eg so"), ("1.5", "15")],
)
def test_other_questions_have_other_keys(one: str, other: str) -> None:
    assert question_key(one) != question_key(other)


@given(st.text())
def test_keys_are_32_hexadecimal_digits(text: str) -> None:
    key = question_key(text)
    assert len(key) == 32
    assert set(key) <= set("0123456789abcdef")
    assert question_key(f"  {text.upper().lower()}\n") == question_key(text.upper().lower())


def test_keys_need_no_database() -> None:
    code = "import sys, qa_bot.home.question_key; print('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
