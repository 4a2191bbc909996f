import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from retrievers.training.phrases.paraphrase_sampling import (
    NONE,
    mixed_others,
    most_similar_others,
    others,
    random_others,
)

SIMILARITIES = torch.tensor([[9.0, 1.0, 3.0], [2.0, 9.0, 2.0], [0.5, 0.7, 9.0]])
OTHERS = ~torch.eye(3, dtype=torch.bool)


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_max_takes_the_most_similar_that_is_allowed_and_the_first_of_equals():
    assert most_similar_others(SIMILARITIES, OTHERS).tolist() == [2, 0, 1]
    assert most_similar_others(SIMILARITIES, OTHERS & torch.tensor([True, True, False])).tolist() == [1, 0, 1]


@pytest.mark.parametrize("sampling", ["max", "rand", "mix"])
def test_a_row_without_candidates_has_no_negative(sampling):
    allowed = OTHERS.clone()
    allowed[1] = False
    assert others(sampling, SIMILARITIES, allowed)[1] == NONE
    assert others(sampling, torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.bool)).tolist() == [NONE, NONE]


def test_random_candidates_are_equally_likely():
    allowed = torch.tensor([[True, True, False, True]]).expand(6000, 4)
    drawn = random_others(torch.zeros(6000, 4), allowed, generator=seeded())
    counts = torch.bincount(drawn, minlength=4)
    assert counts[2] == 0
    assert all(abs(int(count) - 2000) < 150 for count in counts[[0, 1, 3]])  # four standard deviations


def test_mix_is_half_max_and_half_random():
    similarities = torch.tensor([[0.0, 5.0, 1.0, 2.0]]).expand(6000, 4)
    drawn = mixed_others(similarities, torch.ones(6000, 4, dtype=torch.bool), generator=seeded())
    counts = torch.bincount(drawn, minlength=4)
    assert abs(int(counts[1]) - 3750) < 160  # 1/2 + 1/2 · 1/4
    assert all(abs(int(count) - 750) < 110 for count in counts[[0, 2, 3]])


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 99), st.sampled_from(["max", "rand", "mix"]))
def test_chosen_candidates_are_allowed(rows, columns, seed, sampling):
    similarities = torch.randn(rows, columns, generator=seeded(seed))
    allowed = torch.rand(rows, columns, generator=seeded(seed + 1)) < 0.4
    chosen = others(sampling, similarities, allowed, generator=seeded(seed))
    assert chosen.shape == (rows,)
    for row, column in enumerate(chosen.tolist()):
        assert allowed[row, column] if column != NONE else not allowed[row].any()


def test_the_same_seed_draws_the_same():
    first, second = (mixed_others(SIMILARITIES, OTHERS, generator=seeded(5)) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"got \(3, 3\) and torch.bool \(2, 3\)"):
        most_similar_others(SIMILARITIES, OTHERS[:2])
