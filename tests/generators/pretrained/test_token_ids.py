import pytest
import torch

from generators.pretrained.token_ids import FIRST, TokenNumbers
from qa_core.networks.decoder_types import END_ID, START_ID

NUMBERS = TokenNumbers(7, ends=(6, 2), unknown=3, silent=(0, 5))
PAD, UNKNOWN, TURN = 0, 1, 4


def test_token_numbers_start_after_the_special_words():
    assert FIRST == 5
    assert len(NUMBERS) == 12
    assert NUMBERS.of([1, 3, 4, 6]).tolist() == [6, UNKNOWN, 9, 11]
    ids = torch.tensor([[6, UNKNOWN, 9], [END_ID, PAD, 11]])
    assert NUMBERS.tokens(ids).tolist() == [[1, 3, 4], [6, 6, 6]]
    assert NUMBERS.texts([6, UNKNOWN, 9, END_ID, 11, 7, 5]) == [1, 4]  # 11, 7 and 5 are ends and a silent token


def test_probabilities_of_ends_and_silent_tokens_are_summed():
    torch.manual_seed(0)
    logits = torch.randn(3, 7)
    expected, probabilities = logits.softmax(1), NUMBERS.logits(logits).softmax(1)
    torch.testing.assert_close(probabilities.sum(1), torch.ones(3))
    torch.testing.assert_close(probabilities[:, END_ID], expected[:, 6] + expected[:, 2])
    torch.testing.assert_close(probabilities[:, UNKNOWN], expected[:, 3])
    torch.testing.assert_close(probabilities[:, PAD], expected[:, 0] + expected[:, 5])
    torch.testing.assert_close(probabilities[:, [6, 9]], expected[:, [1, 4]])
    assert not probabilities[:, [START_ID, TURN, 5, 7, 8, 10, 11]].any()


def test_numbers_without_an_unknown_token():
    numbers = TokenNumbers(3, ends=(0,))
    assert numbers.of([1, 2]).tolist() == [6, 7]
    probabilities = numbers.logits(torch.zeros(1, 3)).softmax(1)
    assert probabilities.nonzero()[:, 1].tolist() == [END_ID, 6, 7]
    assert numbers.tokens(torch.tensor([UNKNOWN])).tolist() == [0]


def test_rows_of_a_softmax_table_by_numbers():
    table = torch.arange(14.0).view(7, 2)
    rows = NUMBERS.rows(table, -1.0)
    assert rows[:5].tolist() == [[-1, -1], [6, 7], [-1, -1], [12, 13], [-1, -1]]
    assert torch.equal(rows[5:], table)


@pytest.mark.parametrize("ends", [(), (7,), (2, 2), (3,), (0,)])
def test_tokens_that_cannot_end_a_text_are_refused(ends: tuple[int, ...]):
    with pytest.raises(ValueError, match="Expected a token that ends a text, and distinct tokens below 7"):
        TokenNumbers(7, ends=ends, unknown=3, silent=(0,))
