"""Words are matched with the nearest ones of the other text, and split along them."""

import pytest
import torch

from rankers.paraphrase.decomposition import decomposed, local_match


def test_a_word_is_split_along_its_match() -> None:
    similar, rest = decomposed(torch.tensor([[[3.0, 4.0]]]), torch.tensor([[[2.0, 0.0]]]))
    assert similar.tolist() == [[[3.0, 0.0]]]
    assert rest.tolist() == [[[0.0, 4.0]]]
    similar, rest = decomposed(torch.tensor([[[3.0, 4.0]]]), torch.zeros(1, 1, 2))
    assert (similar.tolist(), rest.tolist()) == ([[[0.0, 0.0]]], [[[3.0, 4.0]]])


def test_the_words_around_the_nearest_one_are_weighted_by_cosine() -> None:
    words = torch.tensor([[[1.0, 0.0]]])
    others = torch.tensor([[[0.6, 0.8], [2.0, 0.0], [-1.0, 0.0], [0.0, 9.0]]])  # cosines .6, 1, −1, 0
    mask = torch.tensor([[True, True, True, False]])
    alone = local_match(words, others, mask, window=0)
    assert alone.tolist() == [[[2.0, 0.0]]]
    around = local_match(words, others, mask, window=1)
    assert around[0, 0].tolist() == pytest.approx([(0.6 * 0.6 + 2.0) / 1.6, 0.6 * 0.8 / 1.6], abs=1e-5)
    assert local_match(words, others, torch.zeros(1, 4, dtype=torch.bool), window=1).tolist() == [[[0.0, 0.0]]]
