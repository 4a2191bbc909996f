"""Pairs of two sides, and comparisons saved in a home."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.comparison import Comparison, Pair, compare, file_of, load, name_of, names, save
from qa_bot.learning.comparing.sides import ComparisonError, Reply, Side
from qa_core.types import Question


def side(name: str, *rows: tuple[str, str, str], grade: int | None = None) -> Side:
    return Side(name, tuple(Reply(Question(title, id=qid), text, grade=grade) for qid, title, text in rows))


A = side("a.jsonl", ("1", "Cats?", "Naps."), ("2", "Eggs?", "Boil."), ("", "Why is it?", "So."), ("4", "Mine?", "Yes."))
B = side(
    "b.jsonl", ("2", "eggs", "Fry."), ("x", "CATS", "Naps."), ("", "why is it", ""), ("9", "Theirs?", "Yes."), grade=1
)


def test_questions_are_matched_by_id_then_by_words() -> None:
    made = compare(A, B, name="n", seed=3)
    assert made.pairs == (
        Pair("1", "Cats?", "", "Naps.", "Naps.", None, 1),
        Pair("2", "Eggs?", "", "Boil.", "Fry.", None, 1),
        Pair("why is it", "Why is it?", "", "So.", "", None, 1),
    )
    assert (made.only_a, made.only_b, made.reworded) == (1, 1, 0)
    assert list(made.judged) == ["2", "why is it"]
    assert made.identical == 1
    assert compare(A, B, name="n", seed=3, limit=2).pairs == made.pairs[:2]


def test_the_same_id_with_another_question_is_counted() -> None:
    made = compare(A, side("b.jsonl", ("1", "Dogs?", "Bark."), ("2", "", "Fry.")), name="n", seed=0)
    assert (len(made.pairs), made.reworded) == (2, 1)


def test_sides_without_common_questions_are_refused() -> None:
    with pytest.raises(
        ComparisonError, match=r"4 of a.jsonl and 1 of b.jsonl that have neither id nor words in common"
    ):
        compare(A, side("b.jsonl", ("7", "Other?", "Yes.")), name="n", seed=0)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "x" * 65, "a\n", "a\0"])
def test_names_that_are_not_valid_in_a_path_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ComparisonError, match="Expected a name of at most 64"):
        compare(A, B, name=name, seed=0)
    with pytest.raises(ComparisonError, match="Expected a name of at most 64"):
        load(Home(tmp_path), name)


@given(st.text(max_size=80), st.text(max_size=80))
@example("_", "-.")
def test_default_names_are_valid(one: str, other: str) -> None:
    made = name_of(replace(A, name=one), replace(B, name=other))
    assert compare(A, B, name=made, seed=0).name == made
    assert name_of(replace(A, name="out/big model.jsonl"), replace(B, name="home")) == "big-model-home"


@given(st.lists(st.tuples(st.text(), st.text(), st.text(), st.sampled_from([None, 0, 3])), max_size=5))
def test_a_saved_comparison_is_the_same(tmp_path_factory: pytest.TempPathFactory, rows) -> None:
    pairs = tuple(Pair(str(n), question, "", a, b, grade) for n, (question, a, b, grade) in enumerate(rows))
    home = Home(tmp_path_factory.mktemp("home"))
    made = Comparison("n", "a", "b", 7, pairs, 1, 2)
    save(home, made)
    assert load(home, "n") == made
    assert names(home) == ["n"]
    assert file_of(home, "n").stat().st_mode & 0o077 == 0


def test_a_comparison_may_grow_but_not_change(tmp_path: Path) -> None:
    home, made = Home(tmp_path), compare(A, B, name="n", seed=0)
    save(home, replace(made, pairs=made.pairs[:2]))
    save(home, made)
    save(home, replace(made, pairs=tuple(replace(pair, grade_a=2) for pair in made.pairs)))
    assert [pair.grade_a for pair in load(home, "n").pairs] == [2, 2, 2]
    for pairs in (made.pairs[:2], tuple(replace(pair, a="Changed.") for pair in made.pairs)):
        with pytest.raises(ComparisonError, match=r"but [13] of 3 are gone or differ .*another name"):
            save(home, replace(made, pairs=pairs))
    assert len(load(home, "n").pairs) == 3


def test_missing_and_damaged_comparisons_are_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with pytest.raises(ComparisonError, match=r"Expected the name of a comparison \(none yet\), but got 'n'"):
        load(home, "n")
    save(home, compare(A, B, name="there", seed=0))
    with pytest.raises(ComparisonError, match=r"\(there\)"):
        load(home, "n")
    for content in ("", "{", "[]", '{"name": "n", "pairs": [{"qid": 3}]}', "\0" * 100):
        file_of(home, "n").write_text(content)
        with pytest.raises(ComparisonError, match=r"Expected a comparison in comparisons/n\.json of the home, but got"):
            load(home, "n")
