import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from qa_core.training.loop import Training, seed_everything
from retrievers.training.phrases.phrase_training import PhraseConfig, PhraseNetwork, adagrad, objective, train_network
from retrievers.training.phrases.tree_batching import Forest, Numbered
from retrievers.training.phrases.trees import Tree, parsed, right_branching

SHAPES = [
    "(X a b)",
    "(X a (Y b c))",
    "(X (Y a b) (Z c d))",
    "(X a)",
    "(X a (Y (Z b c) d))",
    "(X (Y (Z a b) c) (V d a))",
]


def numbered(text: str) -> Numbered:
    tree = parsed(text)
    return Numbered.of(tree, ["abcd".index(token) for token in tree.tokens])


def start(words: int = 4, width: int = 3, seed: int = 0):
    return np.random.default_rng(seed).normal(size=(words, width)).astype(np.float32)


def one_by_one(network: PhraseNetwork, tree: Tree, numbers: list[int]) -> torch.Tensor:
    """The definition, a node at a time."""
    nodes = [network.E(torch.tensor(number)) for number in numbers]
    for left, right in tree.merges:
        nodes.append(torch.tanh(network.W @ torch.cat([nodes[left], nodes[right]]) + network.b))
    return nodes[-1]


def test_composition_by_hand():
    network = PhraseNetwork(np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32), "recursive", noise=0.0)
    with torch.no_grad():
        network.b[:] = torch.tensor([0.0, 0.5])
    phrase = Numbered.of(right_branching(["a", "b", "a"]), [0, 1, 0])
    ba = [math.tanh(0.5), math.tanh(0.5 + 0.5)]
    expected = [math.tanh(0.5 + ba[0] / 2), math.tanh(ba[1] / 2 + 0.5)]
    assert network(Forest.of([phrase]))[0].tolist() == pytest.approx(expected)
    assert PhraseNetwork(start(2, 2), "addition")(Forest.of([phrase]))[0].tolist() == pytest.approx(
        (2 * start(2, 2)[0] + start(2, 2)[1]).tolist()
    )


@given(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=6), st.integers(0, 9))
def test_a_forest_equals_its_trees_composed_alone(shapes: list[str], seed: int):
    torch.manual_seed(seed)
    network = PhraseNetwork(start(seed=seed), "recursive", noise=0.5)
    batched = network(Forest.of([numbered(text) for text in shapes]))
    for row, text in zip(batched, shapes, strict=True):
        tree = parsed(text)
        alone = one_by_one(network, tree, ["abcd".index(token) for token in tree.tokens])
        assert torch.allclose(row, alone, atol=1e-6)


def test_a_forest_has_a_level_for_each_height():
    forest = Forest.of([numbered(text) for text in SHAPES])
    assert [len(level) for level in forest.levels] == [7, 4, 2]
    with pytest.raises(ValueError, match="got none"):
        Forest.of([])


@pytest.mark.parametrize("composition", ["addition", "recursive"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_objective_agrees_with_finite_differences(composition, similarity, assert_gradients):
    torch.manual_seed(1)
    network = PhraseNetwork(start(), composition, noise=0.3).double()
    with torch.no_grad():
        network.E.change += 0.1 * torch.randn(4, 3)
    config = PhraseConfig(
        similarity=similarity, sampling="max", word_regularisation=0.05, composition_regularisation=0.03
    )
    phrases, pairs = [numbered(text) for text in SHAPES], torch.tensor([[0, 1], [2, 3], [4, 5]])

    assert_gradients(network, lambda: objective(network, phrases, pairs, config), atol=1e-5)


def test_the_objective_by_hand():
    """Single words: s = dot; MAX takes the most similar of c and d for a and for b."""
    words = np.array([[1.0, 0.0], [0.5, 0.0], [0.8, 0.0], [0.0, 1.0]], dtype=np.float32)
    network = PhraseNetwork(words, "addition")
    phrases = [Numbered((number,), (), ()) for number in range(4)]
    config = PhraseConfig(similarity="dot", sampling="max", word_regularisation=0.0)
    # (a, b): 1 − .5 + .8 and 1 − .5 + .4; (c, d): 1 − 0 + .8 and 1 − 0 + 0, over two pairs
    expected = (1.3 + 0.9 + 1.8 + 1.0) / 2
    value = objective(network, phrases, torch.tensor([[0, 1], [2, 3]]), config)
    assert value.item() == pytest.approx(expected)


def test_the_optimiser_follows_the_whole_objective():
    decays, rates = {"word_regularisation": 0.2, "composition_regularisation": 0.1}, (0.1, 0.05)
    config = PhraseConfig(sampling="max", word_rate=rates[0], composition_rate=rates[1], **decays)
    phrases, pairs = [numbered(text) for text in SHAPES], np.array([[0, 1], [2, 3], [4, 5]])
    torch.manual_seed(2)
    network = PhraseNetwork(start(), "recursive", noise=0.3)
    with torch.no_grad():
        network.E.change += 0.1 * torch.randn(4, 3)
    before = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
    objective(network, phrases, torch.from_numpy(pairs), config).backward()
    gradients = {name: parameter.grad.clone() for name, parameter in network.named_parameters()}
    training = Training(network, adagrad(network, replace(config, epochs=1)), seed=0)
    list(train_network(training, phrases, pairs, replace(config, epochs=1, constraints=False)))
    for name, parameter in network.named_parameters():
        rate = rates[0] if name.startswith("E") else rates[1]
        step = rate * gradients[name] / (gradients[name].abs() + 1e-10)  # AdaGrad's first
        assert torch.allclose(parameter, before[name] - step, atol=1e-4)


def toy() -> tuple[list[Numbered], np.ndarray]:
    """Twelve bigrams of 24 words, whose paraphrases have no word in common with them."""
    phrases = [Numbered((2 * n, 2 * n + 1), ((0, 1),), (1,)) for n in range(12)]
    return phrases, np.array([[n, n + 1] for n in range(0, 12, 2)])


def separation(network: PhraseNetwork) -> float:
    """The share of pairs that are closer to each other than to every other phrase."""
    phrases, pairs = toy()
    with torch.no_grad():
        rows = torch.nn.functional.normalize(network(Forest.of(phrases)), dim=1)
    scores = rows @ rows.T - 2 * torch.eye(len(rows))
    return float((scores.argmax(1)[pairs[:, 0]] == torch.from_numpy(pairs[:, 1])).float().mean())


@pytest.mark.parametrize("composition", ["addition", "recursive"])
@pytest.mark.parametrize("sampling", ["max", "mix", "rand"])
def test_it_learns_a_toy_database(composition, sampling):
    phrases, pairs = toy()
    config = PhraseConfig(composition=composition, sampling=sampling, epochs=60, word_rate=0.1, composition_rate=0.01)
    seed_everything(3)
    network = PhraseNetwork(start(24, 8), composition)
    assert separation(network) < 0.5
    training = Training(network, adagrad(network, config), seed=3)
    reports = list(train_network(training, phrases, pairs, config))
    assert reports[-1].loss < 0.5 * reports[0].loss
    assert separation(network) == 1


def test_a_rate_of_zero_freezes_words():
    phrases, pairs = toy()
    config = PhraseConfig(word_rate=0.0, epochs=2)
    network = PhraseNetwork(start(24, 8), "recursive")
    list(train_network(Training(network, adagrad(network, config), seed=0), phrases, pairs, config))
    assert np.array_equal(network.E.vectors(), start(24, 8))
    with pytest.raises(ValueError, match="addition with word_rate 0"):
        adagrad(PhraseNetwork(start(), "addition"), replace(config, composition="addition"))


def test_known_paraphrases_are_not_negatives():
    """Three phrases that are all paired have no negatives, unless constraints are off."""
    phrases = [Numbered((number,), (), ()) for number in range(3)]
    pairs = np.array([[0, 1], [1, 2], [0, 2]])
    losses = {}
    for constraints in (True, False):
        config = PhraseConfig(constraints=constraints, epochs=1)
        network = PhraseNetwork(start(), "recursive")
        training = Training(network, adagrad(network, config), seed=0)
        losses[constraints] = list(train_network(training, phrases, pairs, config))[-1].loss
    assert losses[True] == 0
    assert losses[False] > 0


def test_pairs_of_one_kind_cannot_be_trained():
    network = PhraseNetwork(start(), "recursive")
    training = Training(network, adagrad(network, PhraseConfig()), seed=0)
    with pytest.raises(ValueError, match="at least three different phrases, so that there are negatives, but got 2"):
        list(train_network(training, toy()[0], np.array([[0, 1], [1, 0]]), PhraseConfig()))


def test_a_resumed_run_ends_with_the_same_network(assert_resumes):
    phrases, pairs = toy()
    config = PhraseConfig(sampling="mix", batch=2, epochs=4)

    def begin():
        seed_everything(5)
        network = PhraseNetwork(start(24, 8), "recursive")
        return None, Training(network, adagrad(network, config), seed=5)

    def run(_, training):
        return train_network(training, phrases, pairs, config, evaluate=separation)

    assert_resumes(begin, run, step=7)
