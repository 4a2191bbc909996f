import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qa_core.networks.poolings import (
    BiLSTMConfig,
    BiLSTMEncoder,
    MaskedLSTM,
    MeanConfig,
    MeanEncoder,
    WordEmbedding,
    last_pool,
    max_pool,
    mean_pool,
    pad,
    unit,
    weighted_mean_pool,
)

STATES = torch.tensor([[[1.0, -4.0], [3.0, -2.0], [9.0, 9.0]], [[5.0, 6.0], [7.0, 7.0], [8.0, 8.0]]])
MASK = torch.tensor([[True, True, False], [False, False, False]])
ZERO = [0.0, 0.0]


def test_poolings_by_hand():
    assert mean_pool(STATES, MASK).tolist() == [[2.0, -3.0], ZERO]
    assert max_pool(STATES, MASK).tolist() == [[3.0, -2.0], ZERO]
    assert last_pool(STATES, MASK).tolist() == [[3.0, -2.0], ZERO]
    weights = torch.tensor([[3.0, 1.0, 5.0], [1.0, 1.0, 1.0]])
    assert weighted_mean_pool(STATES, MASK, weights).tolist() == [[1.5, -3.5], ZERO]
    assert weighted_mean_pool(STATES, MASK, torch.zeros(2, 3)).tolist() == [ZERO, ZERO]


def test_last_pool_takes_the_last_real_token():
    mask = torch.tensor([[False, True, True], [True, False, False]])
    assert last_pool(STATES, mask).tolist() == [[9.0, 9.0], [5.0, 6.0]]


@pytest.mark.parametrize("pool", [mean_pool, max_pool, last_pool])
def test_empty_texts_have_finite_gradients(pool):
    states = STATES.clone().requires_grad_()
    unit(pool(states, MASK)).sum().backward()
    assert states.grad.isfinite().all()
    assert not states.grad[1].any()


def test_pad_marks_real_tokens():
    tokens, mask = pad([[3, 4, 5], [], [6]])
    assert tokens.tolist() == [[3, 4, 5], [0, 0, 0], [6, 0, 0]]
    assert mask.tolist() == [[True] * 3, [False] * 3, [True, False, False]]
    assert pad([[]])[0].shape == (1, 1)


def encoders(**options):
    torch.manual_seed(0)
    small = {"vocabulary": 20, "dimension": 5, **options}
    lstm = {**small, "hidden": 4, "output": 6}
    made = [
        MeanEncoder(MeanConfig(**small)),
        BiLSTMEncoder(BiLSTMConfig(**lstm)),
        BiLSTMEncoder(BiLSTMConfig(**lstm, layers=3, typed=True, pretrained=True)),
        BiLSTMEncoder(BiLSTMConfig(**lstm), pool=mean_pool),
    ]
    return [encoder.eval() for encoder in made]


texts = st.lists(st.lists(st.integers(0, 19), max_size=7), min_size=1, max_size=4)


@pytest.mark.parametrize("encoder", encoders())
@settings(max_examples=8)
@given(batch=texts)
@example(batch=[[1, 2, 3, 4, 5], [], [6], [7, 8]])
def test_padding_and_order_of_the_batch_change_nothing(encoder, batch):
    with torch.no_grad():
        together = encoder(*pad(batch))
        alone = torch.cat([encoder(*pad([text])) for text in batch])
        backwards = encoder(*pad(batch[::-1])).flip(0)
    torch.testing.assert_close(together, alone, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(together, backwards, atol=1e-6, rtol=1e-5)


def test_values_in_the_padding_change_nothing():
    tokens, mask = pad([[1, 2, 3, 4], [5, 6]])
    other = tokens.where(mask, 19)
    for encoder in encoders():
        assert encoder(tokens, mask).equal(encoder(other, mask))


def test_vectors_have_length_one_and_empty_texts_zero():
    for encoder in encoders():
        lengths = encoder(*pad([[1, 2], [], [3]])).norm(dim=1)
        torch.testing.assert_close(lengths, torch.tensor([1.0, 0.0, 1.0]))
    for encoder in encoders(normalised=False):
        lengths = encoder(*pad([[1, 2], []])).norm(dim=1)
        assert lengths[0] != 1
        assert lengths[1] == 0


def test_a_batch_of_empty_texts_trains_without_nan():
    for encoder in encoders():
        encoder.train()(*pad([[], []])).sum().backward()
        assert all(p.grad is None or p.grad.isfinite().all() for p in encoder.parameters())


def test_the_side_matters_only_to_a_typed_encoder():
    for encoder in encoders():
        question, answer = (encoder(*pad([[1, 2]]), side=side) for side in ("question", "answer"))
        assert question.equal(answer) != getattr(encoder.config, "typed", False)


def test_pretrained_vectors_are_added_and_stay():
    embedding = WordEmbedding(2, 3, pretrained=True)
    vectors = torch.arange(6.0).reshape(2, 3)
    embedding.set_pretrained(vectors)
    assert embedding(torch.tensor([[1]])).equal((vectors[1] + embedding.E_tune[1])[None, None])
    assert [name for name, _ in embedding.named_parameters()] == ["E_tune"]
    assert set(embedding.state_dict()) == {"E_pre", "E_tune"}
    with pytest.raises(ValueError, match=r"shape \(2, 3\) \(words, dimension\), but got \(3, 2\)"):
        embedding.set_pretrained(vectors.T)


def test_frozen_vectors_alone():
    embedding = WordEmbedding(2, 3, pretrained=True, tuned=False)
    assert list(embedding.parameters()) == []
    with pytest.raises(ValueError, match="got neither"):
        WordEmbedding(2, 3, tuned=False)
    with pytest.raises(ValueError, match="set pretrained=True"):
        WordEmbedding(2, 3).set_pretrained(torch.zeros(2, 3))


def test_trained_weights_start_within_their_bounds():
    encoder = BiLSTMEncoder(BiLSTMConfig(vocabulary=9, dimension=3, hidden=4, uniform=0.01))
    assert max(parameter.abs().max() for parameter in encoder.parameters()) <= 0.01


def test_the_backward_direction_starts_at_the_last_real_token():
    torch.manual_seed(0)
    lstm = MaskedLSTM(2, 3)
    inputs = torch.randn(1, 4, 2)
    mask = torch.tensor([[True, True, False, False]])
    unpadded, _ = lstm.lstm(inputs[:, :2])
    torch.testing.assert_close(lstm(inputs, mask)[:, :2], unpadded)
    assert not lstm(inputs, mask)[:, 2:].any()
    assert lstm.output_size == 6


def test_padding_before_tokens_is_refused():
    with pytest.raises(ValueError, match="real tokens come first"):
        MaskedLSTM(2, 3)(torch.zeros(1, 2, 2), torch.tensor([[False, True]]))


def test_one_direction():
    lstm = MaskedLSTM(2, 3, bidirectional=False)
    assert lstm(torch.zeros(1, 2, 2), torch.ones(1, 2, dtype=torch.bool)).shape == (1, 2, 3)


@pytest.mark.parametrize("options", [{}, {"layers": 3}, {"layers": 2, "bidirectional": False}])
def test_reading_without_packing_is_reading_with_it(options):
    torch.manual_seed(1)
    lstm = MaskedLSTM(2, 3, **options).eval()
    inputs = torch.randn(4, 5, 2, requires_grad=True)
    mask = torch.arange(5) < torch.tensor([[5], [1], [3], [0]])
    weights = [inputs, *lstm.parameters()]
    results = []
    for read in (lstm._packed, lstm._unpacked):
        states = read(inputs, mask).masked_fill(~mask.unsqueeze(-1), 0.0)
        results.append((states, torch.autograd.grad(states.pow(2).sum(), weights)))
    (packed, packed_gradients), (unpacked, gradients) = results
    torch.testing.assert_close(unpacked, packed)
    for ours, theirs in zip(gradients, packed_gradients, strict=True):
        torch.testing.assert_close(ours, theirs)
