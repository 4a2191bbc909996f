"""Groups as rows of tokens."""

import numpy as np
import pytest
import torch

from qa_core.encoders.pair_tokens import PairRow
from qa_core.types import IntArray
from qa_lab.fit.relevance import group_rows
from qa_lab.fit.relevance.group_rows import GroupRows, figures
from qa_lab.fit.relevance.groups import Group

GROUPS = [
    Group("q", "en", "x", ("aa", "bbb"), (True, False)),
    Group("r", "en", "x", ("c", "d", "eeee"), (False, False, False)),
]


def by_letters(pairs: list[tuple[str, str]]) -> list[PairRow]:
    """A token for each letter of a passage."""
    return [PairRow(np.array([*map(ord, text)]), np.ones(len(text), np.int64)) for _, text in pairs]


def rows_of(sizes: list[int], lengths: list[int]) -> GroupRows:
    """Groups of so many passages of so many letters each."""
    pairs = zip(sizes, lengths, strict=True)
    groups = [Group("q", "en", "x", ("a" * length,) * size, (False,) * size) for size, length in pairs]
    return GroupRows.of(groups, by_letters)


def test_pairs_are_in_the_order_of_the_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_rows, "_TOKENISED", 2)
    rows = GroupRows.of(GROUPS, by_letters)
    assert [len(row.tokens) for row in rows.rows] == [2, 3, 1, 1, 4]
    assert rows.labels.tolist() == [1, 0, 0, 0, 0]
    assert rows.bounds.tolist() == [0, 2, 5]
    assert rows.places(1).tolist() == [2, 3, 4]


def test_a_batch_has_the_pairs_of_its_groups() -> None:
    targets = np.array([0.1, 0.2, 0.3, 0.4, np.nan], np.float32)
    batch = GroupRows.of(GROUPS, by_letters, targets).batch(np.array([1, 0]), torch.device("cpu"))
    assert batch.pairs.tokens.tolist() == [
        [99, 0, 0, 0], [100, 0, 0, 0], [101] * 4, [97, 97, 0, 0], [98, 98, 98, 0],
    ]  # fmt: skip
    assert batch.pairs.mask.sum(1).tolist() == [1, 1, 4, 2, 3]
    assert batch.labels.tolist() == [0, 0, 0, 1, 0]
    assert batch.owners.tolist() == [0, 0, 0, 1, 1]
    assert batch.targets is not None
    np.testing.assert_allclose(batch.targets, [0.3, 0.4, np.nan, 0.1, 0.2])


def batches(rows: GroupRows, groups: IntArray, *, tokens: int, seed: int = 0) -> list[list[int]]:
    return [part.tolist() for part in rows.batches(groups, np.random.default_rng(seed), tokens=tokens)]


def test_batches_hold_whole_groups_up_to_the_number_of_tokens() -> None:
    sizes, lengths = [2, 3, 5, 1, 2, 4] * 5, [3, 9, 4, 30, 8, 5] * 5
    rows = rows_of(sizes, lengths)
    parts = batches(rows, np.arange(30), tokens=60)
    assert sorted(group for part in parts for group in part) == list(range(30))
    assert len(parts) > 5
    for part in parts:
        padded = max(lengths[group] for group in part) * sum(sizes[group] for group in part)
        assert padded <= 60 or len(part) == 1
    assert batches(rows, np.arange(30), tokens=60) == parts
    assert batches(rows, np.arange(30), tokens=60, seed=1) != parts


def test_a_group_that_is_larger_than_a_batch_comes_alone() -> None:
    assert sorted(batches(rows_of([3, 1, 1], [10, 2, 2]), np.arange(3), tokens=8)) in ([[0], [1, 2]], [[0], [2, 1]])


def test_a_group_that_is_named_twice_comes_twice() -> None:
    (part,) = batches(rows_of([1, 1], [2, 2]), np.array([0, 1, 1]), tokens=100)
    assert sorted(part) == [0, 1, 1]


def test_figures_by_hand() -> None:
    groups = [Group("q", "en", "x", ("a", "b"), (True, False)), Group("r", "en", "x", ("c", "d"), (False, True))]
    rows = GroupRows.of(groups, by_letters)
    # three of the four pairs of a right and a wrong passage are in order
    assert figures(rows, np.array([2.0, 1.0, 0.0, 0.5])) == {"groups": 2, "first": 1.0, "AUC": 0.75}
    assert figures(rows, np.array([2.0, 1.0, 0.7, 0.5]))["first"] == 0.5
    equal = figures(rows, np.zeros(4))
    assert (equal["first"], equal["AUC"]) == (0.0, 0.5)
