import numpy as np
import pytest
import torch

from qa_core.networks.poolings import pad
from rankers.paraphrase.entailment import DualEntailment, EntailmentConfig, MaxOut, align, exchanged
from rankers.paraphrase.word_pairs import CONFIGS, network_of

CONFIG = EntailmentConfig(12, 6, hidden=5, pretrained=True, uniform=0.5)


@pytest.fixture
def network() -> DualEntailment:
    """With running statistics of its batch norm that are not those it begins with."""
    torch.manual_seed(3)
    made = DualEntailment(CONFIG)
    made.embedding.set_pretrained(torch.randn(12, 6))
    made(*pad([[1, 2, 3], [4, 5], [6], [7, 8]]))
    return made.eval()


def scores(model: torch.nn.Module, first: list[list[int]], second: list[list[int]]) -> np.ndarray:
    with torch.no_grad():
        return model(*pad([*first, *second])).numpy()


FIRST, SECOND = [[1, 2, 3], [4], [], [9, 9, 2, 1, 1, 7]], [[2, 4], [5, 6, 7, 8], [1], [9]]


def networks() -> list[torch.nn.Module]:
    torch.manual_seed(1)
    others = [network_of(config(12, 6, hidden=4)) for name, config in CONFIGS.items() if name != "entailment"]
    for model in others:
        torch.nn.init.normal_(model.get_parameter("embedding.E_tune"))
    return [model.eval() for model in (DualEntailment(CONFIG), *others)]


def test_all_are_symmetric_in_their_inputs(network: DualEntailment):
    for model in (network, *networks()):
        expected = scores(model, FIRST, SECOND)
        np.testing.assert_allclose(scores(model, SECOND, FIRST), expected, atol=1e-6)
        assert np.ptp(expected) > 1e-3
        assert np.isfinite(scores(model, [[], [], [1]], [[], [1], []])).all()


def test_the_formulas_step_by_step(network: DualEntailment):
    """One pair without batches, masks or padding, from the parts that the formulas name."""
    first, second = torch.tensor([1, 2, 3]), torch.tensor([2, 4])
    assert network.embedding.E_pre is not None
    assert network.embedding.E_tune is not None

    def encoded(tokens: torch.Tensor) -> torch.Tensor:
        words = network.embedding.E_pre[tokens] + network.embedding.E_tune[tokens]
        lower = network.lower.lstm(words)[0]
        return words + lower + network.upper.lstm(lower)[0]

    def entailed(states: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        matched = []
        for state in states:
            weights = torch.stack([state @ other_state for other_state in other]).exp()
            aligned = sum(weight * h for weight, h in zip(weights / weights.sum(), other, strict=True))
            matched.append(network.match(torch.cat([state, aligned, (state - aligned) ** 2])))
        last = network.aggregate.lstm(torch.stack(matched))[0][-1]
        return network.predict(last[None])[0, 0]

    with torch.no_grad():
        h, other = encoded(first), encoded(second)
        expected = float(entailed(h, other) + entailed(other, h))
    assert scores(network, [[1, 2, 3]], [[2, 4]])[0] == pytest.approx(expected, abs=1e-5)


def test_alignment_worked_by_hand():
    states = torch.tensor([[[1.0, 0.0], [0.0, 0.0]]])
    others = torch.tensor([[[np.log(3.0), 0.0], [0.0, 4.0], [9.0, 9.0]]], dtype=torch.float32)
    mask = torch.tensor([[True, True, False]])
    aligned = align(states, others, others, mask)
    expected = [[0.75 * np.log(3.0), 1.0], [0.5 * np.log(3.0), 2.0]]  # weights 3 : 1 and 1 : 1
    np.testing.assert_allclose(aligned[0].numpy(), expected, atol=1e-6)
    assert not align(states, others, others, ~mask & mask).any()
    assert exchanged(torch.arange(4)).tolist() == [2, 3, 0, 1]


def test_maxout_takes_the_maximum_of_the_pieces():
    unit = MaxOut(1, 2, 2)
    with torch.no_grad():
        unit.linear.weight.copy_(torch.tensor([[1.0], [-1.0], [2.0], [0.0]]))
        unit.linear.bias.copy_(torch.tensor([0.0, 0.0, 0.0, 3.0]))
    assert unit(torch.tensor([[1.0], [-2.0]])).tolist() == [[1.0, 3.0], [2.0, 3.0]]


@pytest.mark.slow
def test_gradients_are_those_of_finite_differences(assert_gradients):
    torch.manual_seed(0)
    for model in (DualEntailment(EntailmentConfig(6, 4, hidden=3, dropout=0.0, uniform=0.5)), *networks()[1:]):
        model.double().eval()
        batch = pad([[1, 2, 3], [4, 1], [3, 5], [2]])
        names = assert_gradients(model, lambda model=model, batch=batch: model(*batch).sum())
        assert len(names) == len(list(model.parameters()))


def test_initial_weights_are_those_of_the_paper():
    model = DualEntailment(EntailmentConfig(20))
    assert model.lower.lstm.hidden_size == model.upper.lstm.hidden_size == 150  # per direction
    normed = ("predict.1", "predict.5")
    weights = [weight for name, weight in model.named_parameters() if not name.startswith(normed)]
    assert max(float(weight.detach().abs().max()) for weight in weights) <= 0.08 + 1e-6
    norm = model.predict[1]
    assert isinstance(norm, torch.nn.BatchNorm1d)
    assert norm.weight.tolist() == [1.0] * 300
    with pytest.raises(ValueError, match="an even dimension"):
        DualEntailment(EntailmentConfig(20, 5))
