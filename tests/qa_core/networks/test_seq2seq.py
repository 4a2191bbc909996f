import math

import pytest
import torch

from qa_core.networks.decoder_types import END_ID, SPECIALS, START_ID, Seq2SeqConfig
from qa_core.networks.poolings import pad
from qa_core.networks.seq2seq import Seq2Seq

V = 7
CONFIG = Seq2SeqConfig(V, dimension=3, hidden=4, layers=2, dropout=0.0, uniform=0.5)
BOTH_WAYS = Seq2SeqConfig(V, dimension=3, hidden=4, layers=2, dropout=0.0, uniform=0.5, bidirectional=True)
TIED = Seq2SeqConfig(V, dimension=3, hidden=4, layers=2, dropout=0.0, uniform=0.5, tied=True)


def network(config: Seq2SeqConfig = CONFIG) -> Seq2Seq:
    torch.manual_seed(1)
    return Seq2Seq(config).eval()


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def lstm(x: float, h: float, c: float) -> tuple[float, float]:
    """One step where every gate's weights are 1 and its biases 0."""
    gate, new = sigmoid(x + h), math.tanh(x + h)
    c = gate * c + gate * new
    return gate * math.tanh(c), c


def test_a_tiny_network_by_hand():
    model = Seq2Seq(Seq2SeqConfig(5, dimension=1, hidden=1, layers=1, dropout=0.0)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(0.0 if "bias" in name else 1.0)
        model.source.E_tune[:, 0] = model.target.E_tune[:, 0] = torch.tensor([9.0, 9.0, 0.5, 9.0, -0.3])
        model.output.weight[:, 0] = torch.tensor([0.0, 0.0, 0.0, 1.0, 2.0])
    # The source is word 4 twice, the target word 4 and the end.
    h1, c1 = lstm(-0.3, 0.0, 0.0)
    h2, c2 = lstm(-0.3, h1, c1)
    expected, h, c = [], h2, c2
    for history, payload in ((0.5, 4), (-0.3, END_ID)):
        h, c = lstm(history, h, c)
        e1, e2 = math.exp(h * h1), math.exp(h * h2)  # W_a is 1
        context = (e1 * h1 + e2 * h2) / (e1 + e2)
        z = math.tanh(context + h)  # W_c is [1 1]
        logits = [0.0, 0.0, 0.0, z, 2 * z]
        expected.append(logits[payload] - math.log(sum(map(math.exp, logits))))
    source, target = torch.tensor([[4, 4]]), torch.tensor([[4, END_ID]])
    everywhere = torch.ones(1, 2, dtype=torch.bool)
    results = model.token_log_likelihood(source, everywhere, target, everywhere)
    assert results[0].tolist() == pytest.approx(expected, abs=1e-6)
    assert model.log_likelihood(source, everywhere, target, everywhere).item() == pytest.approx(sum(expected), abs=1e-6)


@pytest.mark.parametrize("config", [CONFIG, BOTH_WAYS, TIED], ids=["forwards", "both ways", "tied"])
def test_padding_changes_nothing(config: Seq2SeqConfig):
    model = network(config)
    sources, targets = [[4], [5, 6, 4, 4], []], [[6, 5, END_ID], [END_ID], [4, END_ID]]
    source, source_mask = pad(sources)
    target, target_mask = pad(targets)
    source[~source_mask] = target[~target_mask] = 6
    together = model.log_likelihood(source, source_mask, target, target_mask)
    alone = [model.log_likelihood(*pad([x]), *pad([y])).item() for x, y in zip(sources, targets, strict=True)]
    torch.testing.assert_close(together, torch.tensor(alone))


@pytest.mark.parametrize("config", [CONFIG, BOTH_WAYS, TIED], ids=["forwards", "both ways", "tied"])
def test_steps_give_the_likelihood_of_the_whole(config: Seq2SeqConfig):
    model = network(config)
    source, mask = pad([[4, 5, 6], [6]])
    target, target_mask = pad([[5, 4, END_ID], [6, 6, END_ID]])
    state, last, total = model.start(source, mask), torch.full((2,), START_ID), torch.zeros(2)
    for token in target.T:
        logits, state = model.step(state, last)
        total += logits.log_softmax(1)[torch.arange(2), token]
        last = token
    torch.testing.assert_close(model.log_likelihood(source, mask, target, target_mask), total)


def test_the_likelihood_of_all_texts_of_a_length_is_one():
    model = network()
    state = model.start(*pad([[4, 5]]))
    logits, _ = model.step(state, torch.tensor([START_ID]))
    one = torch.arange(V).unsqueeze(1)  # every text of one token
    source, mask = (entry.expand(V, -1) for entry in pad([[4, 5]]))
    results = model.log_likelihood(source, mask, one, torch.ones_like(one, dtype=torch.bool))
    assert results.exp().sum().item() == pytest.approx(1.0, abs=1e-6)
    torch.testing.assert_close(results, logits.log_softmax(1)[0])


def test_distributions_stand_at_the_real_tokens():
    model = network()
    (source, mask), (target, target_mask) = pad([[4, 5, 6], [6]]), pad([[5, 4, END_ID], [END_ID]])
    dense = model.token_distributions(source, mask, target, target_mask)
    assert dense.shape == (4, V)
    torch.testing.assert_close(dense.exp().sum(1), torch.ones(4))
    payload = model.token_log_likelihood(source, mask, target, target_mask)[target_mask]
    torch.testing.assert_close(dense.gather(1, target[target_mask].unsqueeze(1)).squeeze(1), payload)


def test_tied_word_vectors_are_one_tensor():
    model = network(TIED)
    assert model.source.E_tune is model.target.E_tune is model.output.weight
    assert [name for name, _ in model.named_parameters() if "E_tune" in name or name == "output.weight"] == [
        "source.E_tune"
    ]


def test_selected_states_are_those_of_their_texts():
    model = network()
    state = model.start(*pad([[4], [5, 6]]))
    logits, _ = model.step(state.select(torch.tensor([1, 1, 0])), torch.tensor([4, 4, 4]))
    whole, _ = model.step(state, torch.tensor([4, 4]))
    torch.testing.assert_close(logits, whole[[1, 1, 0]])


def test_gradients_agree_with_finite_differences(assert_gradients):
    model = network(BOTH_WAYS).double()
    source, target = pad([[4, 5], [6]]), pad([[5, END_ID], [END_ID]])
    names = assert_gradients(model, lambda: model.log_likelihood(*source, *target).sum(), rel=1e-5)
    assert names >= {"source.E_tune", "encoder.weight_hh_l0", "attention.W_a", "output.bias"}


def test_an_empty_target_has_likelihood_one():
    assert network().log_likelihood(*pad([[4]]), *pad([[]])).item() == 0.0


@pytest.mark.parametrize(
    ("options", "payload"),
    [
        ({"vocabulary": len(SPECIALS)}, "Expected words beside the 4 special ones, but got a vocabulary of 4"),
        ({"vocabulary": 9, "tied": True, "pretrained": True}, "Expected tied word vectors or pretrained ones, but got"),
        ({"vocabulary": 9, "hidden": 5, "bidirectional": True}, "even state size for two directions, but got 5"),
    ],
)
def test_sizes_that_cannot_be(options, payload: str):
    with pytest.raises(ValueError, match=payload):
        Seq2SeqConfig(**options)
