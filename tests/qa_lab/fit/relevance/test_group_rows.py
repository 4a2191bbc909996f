"""Groups as rows of states, whose tokens are letters."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from qa_core.types import IntArray
from qa_lab.fit.relevance.group_rows import QUESTION, GroupRows, figures
from qa_lab.fit.relevance.groups import Group
from qa_lab.fit.relevance.token_states import TokenStates
from tests.qa_lab.fit.relevance.letters import SIZE, Letters

GROUPS = [
    Group("qq", "en", "x", ("aa", "bbb"), (True, False)),
    Group("r", "en", "x", ("c", "d", "eeee"), (False, False, False)),
]


def rows_of(groups: Sequence[Group], folder: Path) -> GroupRows:
    texts = [text for group in groups for text in (group.question, *group.passages)]
    return GroupRows.of(groups, TokenStates.of(texts, Letters(), folder))


def of_sizes(sizes: list[int], lengths: list[int], folder: Path) -> GroupRows:
    """Groups of so many passages of so many letters each."""
    pairs = zip(sizes, lengths, strict=True)
    return rows_of([Group("q", "en", "x", ("a" * length,) * size, (False,) * size) for size, length in pairs], folder)


def test_pairs_are_in_the_order_of_the_groups(tmp_path: Path) -> None:
    rows = rows_of(GROUPS, tmp_path)
    assert rows.states.lengths(rows.passages).tolist() == [2, 3, 1, 1, 4]
    assert rows.states.lengths(rows.questions).tolist() == [2, 2, 1, 1, 1]
    assert rows.costs().tolist() == [2 + 2 * QUESTION, 3 + 2 * QUESTION, 1 + QUESTION, 1 + QUESTION, 4 + QUESTION]
    assert rows.labels.tolist() == [1, 0, 0, 0, 0]
    assert rows.bounds.tolist() == [0, 2, 5]
    assert rows.places(1).tolist() == [2, 3, 4]


def test_a_batch_has_the_pairs_of_its_groups(tmp_path: Path) -> None:
    batch = rows_of(GROUPS, tmp_path).batch(np.array([1, 0]))
    questions, of_questions, question_ids, passages, of_passages, passage_ids = (part.numpy() for part in batch.pairs)
    assert questions.shape == passages.shape == (5, 8, SIZE)
    assert of_questions.sum(1).tolist() == [1, 1, 1, 2, 2]
    assert of_passages.sum(1).tolist() == [1, 1, 4, 2, 3]
    assert ["".join(map(chr, row[row > 0])) for row in question_ids] == ["r", "r", "r", "qq", "qq"]
    assert ["".join(map(chr, row[row > 0])) for row in passage_ids] == ["c", "d", "eeee", "aa", "bbb"]
    np.testing.assert_array_equal(questions[3], questions[4])
    assert batch.labels.tolist() == [0, 0, 0, 1, 0]
    assert batch.owners.tolist() == [0, 0, 0, 1, 1]


def batches(rows: GroupRows, groups: IntArray, *, tokens: int, seed: int = 0) -> list[list[int]]:
    return [part.tolist() for part in rows.batches(groups, np.random.default_rng(seed), tokens=tokens)]


def test_batches_hold_whole_groups_up_to_the_number_of_tokens(tmp_path: Path) -> None:
    sizes, lengths = [2, 3, 5, 1, 2, 4] * 5, [3, 9, 4, 30, 8, 5] * 5
    rows = of_sizes(sizes, lengths, tmp_path)
    parts = batches(rows, np.arange(30), tokens=60)
    assert sorted(group for part in parts for group in part) == list(range(30))
    assert len(parts) > 5
    for part in parts:
        padded = (QUESTION + max(lengths[group] for group in part)) * sum(sizes[group] for group in part)
        assert padded <= 60 or len(part) == 1
    assert batches(rows, np.arange(30), tokens=60) == parts
    assert batches(rows, np.arange(30), tokens=60, seed=1) != parts


def test_a_group_that_is_larger_than_a_batch_comes_alone(tmp_path: Path) -> None:
    rows = of_sizes([3, 1, 1], [10, 2, 2], tmp_path)
    assert sorted(batches(rows, np.arange(3), tokens=2 * (2 + QUESTION))) in ([[0], [1, 2]], [[0], [2, 1]])


def test_a_group_that_is_named_twice_comes_twice(tmp_path: Path) -> None:
    (part,) = batches(of_sizes([1, 1], [2, 2], tmp_path), np.array([0, 1, 1]), tokens=100)
    assert sorted(part) == [0, 1, 1]


def test_figures_by_hand(tmp_path: Path) -> None:
    groups = [Group("q", "en", "x", ("a", "b"), (True, False)), Group("r", "en", "x", ("c", "d"), (False, True))]
    rows = rows_of(groups, tmp_path)
    # three of the four pairs of a right and a wrong passage are in order
    assert figures(rows, np.array([2.0, 1.0, 0.0, 0.5])) == {"groups": 2, "first": 1.0, "AUC": 0.75}
    assert figures(rows, np.array([2.0, 1.0, 0.7, 0.5]))["first"] == 0.5
    equal = figures(rows, np.zeros(4))
    assert (equal["first"], equal["AUC"]) == (0.0, 0.5)
