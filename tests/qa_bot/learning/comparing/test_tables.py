"""Tables worked out by hand: shares, tests, intervals, grades, disagreeing judges and unjudged questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.learning.comparing.blind import Choice
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.judgements import Judgement, Judgements
from qa_bot.learning.comparing.tables import Table, table_of

Grades = tuple[int | None, int | None]


def table(
    choices: Sequence[str], *, same: int = 0, grades: Sequence[Grades] = (), given_grades: Mapping | None = None
) -> Table:
    """A table of questions with their judges' choices, such as `AAt` of three judges (t for a tie)."""
    known = grades or [(None, None)] * len(choices)
    pairs = [Pair(f"q{n}", "?", "", "a", "b", *of) for n, of in enumerate(known)]
    pairs += [Pair(f"same{n}", "?", "", "a", "a") for n in range(same)]
    names: Mapping[str, Choice] = {"A": "A", "B": "B", "t": "tie"}
    judged = {
        f"q{n}": {
            f"judge {j}": Judgement(f"judge {j}", f"q{n}", "AB", names[item], (given_grades or {}).get((n, j), {}))
            for j, item in enumerate(of)
        }
        for n, of in enumerate(choices)
        if of
    }
    return table_of(Comparison("n", "left", "right", 0, tuple(pairs)), Judgements(judged))


def test_nine_of_ten() -> None:
    row = table(["A"] * 9 + ["B"]).all
    assert (row.questions, row.judgements, row.won_a, row.won_b) == (10, 10, 9, 1)
    assert (row.prefer_a, row.tie, row.prefer_b) == (0.9, 0.0, 0.1)
    assert row.p == row.p_randomised == 22 / 1024  # .0215
    assert row.difference == pytest.approx(0.8)
    # k B's among 10 drawn questions give a mean difference of 1 − 2k/10: 2.5 % of binomial (10, .1) are k ≥ 4
    assert (row.low, row.high) == (pytest.approx(0.4), pytest.approx(1.0))
    assert table(["A"] * 9 + ["B"]).conclusion() == "A was preferred more often than B: 9 questions to 1, p = .021."


def test_ties_change_shares_but_not_the_sign_test() -> None:
    made = table(["A"] * 9 + ["B"] + ["t"] * 5, same=5)
    row = made.all
    assert (row.questions, row.judgements, row.won_a, row.won_b) == (20, 15, 9, 1)
    assert (row.prefer_a, row.tie, row.prefer_b) == (0.45, 0.5, 0.05)
    assert row.p == row.p_randomised == 22 / 1024
    assert row.difference == pytest.approx(0.4)
    assert made.as_dict()["identical"] == 5


def test_judges_of_a_question_share_one_vote() -> None:
    made = table(["AAA", "AAB", "AtB", "Att", "AB", "BBt", "At"])
    row = made.all
    # won: A A tie tie tie B tie
    assert (row.won_a, row.won_b, row.p) == (2, 1, 1.0)
    assert row.judgements == 19
    assert row.prefer_a == pytest.approx((1 + 2 / 3 + 1 / 3 + 1 / 3 + 1 / 2 + 0 + 1 / 2) / 7)
    assert row.tie == pytest.approx((0 + 0 + 1 / 3 + 2 / 3 + 0 + 1 / 3 + 1 / 2) / 7)
    assert row.prefer_a + row.tie + row.prefer_b == pytest.approx(1)
    assert row.difference == pytest.approx(row.prefer_a - row.prefer_b)
    assert made.judges == {"judge 0": 7, "judge 1": 7, "judge 2": 5}


def test_thirty_judges_of_one_question_are_not_significant() -> None:
    row = table(["A" * 30]).all
    assert (row.judgements, row.p, row.p_randomised) == (30, 1.0, 1.0)


def test_rows_by_grade_of_the_better_answer() -> None:
    grades = [(0, 0), (3, 1), (None, 3), (1, None), (None, None), (0, 1)]
    made = table(["A", "A", "B", "t", "A", ""], grades=grades, same=1)
    rows = {row.grade: row for row in made.rows}
    assert list(rows) == ["0 bad", "1 fair", "3 excellent", "ungraded", "all"]
    assert [rows[name].questions for name in rows] == [1, 1, 2, 2, 6]
    assert (rows["3 excellent"].prefer_a, rows["3 excellent"].prefer_b) == (0.5, 0.5)
    assert (rows["ungraded"].prefer_a, rows["ungraded"].tie) == (0.5, 0.5)
    assert made.waiting == 1


def test_judges_grades_count_after_those_of_files() -> None:
    given_grades = {
        (0, 0): {"A": 0, "B": 1},
        (0, 1): {"B": 2},
        (1, 0): {"A": 3, "B": 0},
        (2, 0): {"A": 3},
        (2, 1): {"A": 2},
    }
    made = table(["AB", "A", "AA"], grades=[(None, None), (1, None), (None, None)], given_grades=given_grades)
    # means: 0 and 1.5, rounded up, for the first question; 1 by the file and 0 for the second; 2.5 for the third
    assert [(row.grade, row.questions) for row in made.rows] == [
        ("1 fair", 1),
        ("2 good", 1),
        ("3 excellent", 1),
        ("all", 3),
    ]


def test_nothing_judged() -> None:
    made = table(["", ""])
    assert (made.all.questions, made.all.p, made.waiting) == (0, 1.0, 2)
    assert made.conclusion() == "Nothing was judged yet."
    assert math.isnan(made.alpha)
    assert made.as_dict()["alpha"] is None
    assert table([""], same=3).conclusion() == "Nothing was judged yet."
    assert table([], same=3).all.tie == 1.0
    assert table([], same=3).conclusion() == "All answers are identical."


def test_conclusions_in_words() -> None:
    assert table(["A", "B", "t"]).conclusion() == "A and B were preferred as often: 1 question each."
    assert table(["t"], same=3).conclusion() == "A and B were preferred as often: 0 questions each."
    result = table(["B", "B", "A"]).conclusion("home", "short")
    assert result == "short was preferred more often than home: 2 questions to 1, p = 1, which may be chance."
    assert table(["B"] * 30).conclusion() == "B was preferred more often than A: 30 questions to 0, p < .001."


def test_blind_tables_have_no_names() -> None:
    made = table(["A"])
    assert {"a": "left", "b": "right"}.items() <= made.as_dict().items()
    blind = made.as_dict(reveal=False)
    assert "left" not in str(blind)
    assert "right" not in str(blind)
    assert blind["rows"] == made.as_dict()["rows"]


@given(st.lists(st.text("ABt", min_size=1, max_size=4), min_size=1, max_size=12), st.integers(0, 3))
def test_figures_equal_those_of_other_libraries(choices: list[str], same: int) -> None:
    row = table(choices, same=same).all
    assert row.prefer_a + row.tie + row.prefer_b == pytest.approx(1)
    assert row.low <= row.difference + 1e-9
    assert row.difference <= row.high + 1e-9
    modes = [{item for item in "ABt" if of.count(item) == max(map(of.count, "ABt"))} for of in choices]
    won = [sum(mode == {side} for mode in modes) for side in "AB"]
    assert [row.won_a, row.won_b] == won
    assert row.p == pytest.approx(scipy.stats.binomtest(won[0], sum(won)).pvalue if sum(won) else 1.0)
    differences = [(of.count("A") - of.count("B")) / len(of) for of in choices]
    if any(differences) and len(choices) > 1:
        exact = scipy.stats.permutation_test(
            (differences,), lambda x, axis: x.mean(axis), permutation_type="samples", vectorized=True, n_resamples=5000
        )
        assert row.p_randomised == pytest.approx(exact.pvalue, abs=1e-9)
