"""Judging in the terminal: lines that a judge types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.learning.comparing.blind import BlindPair, order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.judgements import Judgement
from qa_bot.learning.comparing.judging import Verdict, judge_all, parse_verdict

MADE = Comparison("n", "a", "b", 4, tuple(Pair(f"q{n}", f"{n}?", "", f"a{n}", f"b{n}") for n in range(4)))


def judged(*lines: str, done: tuple[str, ...] = ()) -> tuple[list[Judgement], list[BlindPair], list[str]]:
    typed: Iterator[str] = iter(lines)
    judgements: list[Judgement] = []
    seen: list[BlindPair] = []
    notices: list[str] = []
    count = judge_all(
        MADE,
        "ann",
        done,
        lambda: next(typed, None),
        show=lambda shown, of: seen.append(shown) if of == 4 else None,
        notify=notices.append,
        save=judgements.append,
    )
    assert count == len(judgements)
    return judgements, seen, notices


def test_a_judge_who_always_takes_the_first() -> None:
    judgements, seen, notices = judged("1", " 1 ", "1", "1", "1")
    assert [item.qid for item in judgements] == [item.qid for item in seen] == ["q0", "q1", "q2", "q3"]
    assert [item.choice for item in judgements] == [order_of(4, "ann", item.qid)[0] for item in judgements]
    assert [shown.first[0].upper() for shown in seen] == [item.choice for item in judgements]
    assert notices == []


def test_skipping_quitting_and_nonsense() -> None:
    judgements, seen, notices = judged("0", "s", "what?", "2 3 0", "q", "1")
    assert [(item.qid, item.choice == "tie") for item in judgements] == [("q0", True), ("q2", False)]
    assert judgements[1].grade[judgements[1].choice] == 0
    assert sorted(judgements[1].grade.values()) == [0, 3]
    assert [shown.qid for shown in seen] == ["q0", "q1", "q2", "q3"]
    assert len(notices) == 1
    assert "but got 'what?'" in notices[0]


def test_judging_continues_after_judged_pairs() -> None:
    judgements, _, _ = judged("1", "1", "1", done=("q0", "q2"))
    assert [item.qid for item in judgements] == ["q1", "q3"]


@pytest.mark.parametrize("line", ["", "3", "A", "1 2", "1 4 0", "1 2 3 0", "1 -1 0", "12", "01", "1,2,3"])
def test_invalid_lines_are_not_verdicts(line: str) -> None:
    assert parse_verdict(line) is None


@given(st.sampled_from("120"), st.none() | st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_valid_lines_are_verdicts(key: str, grades: tuple[int, int] | None) -> None:
    preferences = {"1": "first", "2": "second", "0": "tie"}
    line = key if grades is None else f"  {key}\t{grades[0]}  {grades[1]}"
    assert parse_verdict(line) == Verdict(preferences[key], grades or (None, None))  # type: ignore[arg-type]


@given(st.text(max_size=40))
def test_any_line_is_a_verdict_or_none(line: str) -> None:
    verdict = parse_verdict(line)
    assert verdict is None or verdict.preference in ("first", "second", "tie")
