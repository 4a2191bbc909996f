from pathlib import Path

import numpy as np
import pytest
import torch

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.pools import PoolQuestion
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_scorers import CosineScorer, WeightedSumScorer
from kg_index.training.head_training import HeadTraining, Labelled, fit_head, labelled

POOL = ("http://g/author", "http://g/birthPlace", "http://g/deathPlace")
ASKED = {"who wrote <m>": 0, "the pen behind <m>": 0, "whence <m>": 1, "cradle of <m>": 1, "grave of <m>": 2}
QUESTIONS = [PoolQuestion(template, POOL, POOL[gold]) for template, gold in ASKED.items()]

TOY = HeadTraining(epochs=50, batch=5, learning_rate=0.02)


def encode(texts) -> np.ndarray:
    """A vector of length 1 a text, the same every time."""
    rows = [np.random.default_rng(list(text.encode())).normal(size=6) for text in texts]
    return (np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32).reshape(-1, 6)


@pytest.fixture
def head() -> RelationHead:
    torch.manual_seed(1)
    return RelationHead.of(encode, POOL, hidden=16)


@pytest.fixture
def trained(head: RelationHead) -> RelationHead:
    list(fit_head(head, labelled(QUESTIONS), TOY, seed=1))
    return head


def best_indices(head: RelationHead) -> list[int]:
    return [int(row.argmax()) for row in head.score([*ASKED], [POOL] * len(ASKED))]


@pytest.mark.parametrize("context", [False, True])
def test_untrained_it_is_cosine_and_keywords(context: bool) -> None:
    head = RelationHead.of(encode, POOL, hidden=16, context=context)
    templates = [*[*ASKED][:4], "the author of <m>"]
    pools = [POOL, POOL[:1], (), POOL[::-1], POOL]
    together = WeightedSumScorer([(CosineScorer(encode), 20), (KeywordMatcher(), 5)]).score(templates, pools)
    for row, expected in zip(head.score(templates, pools), together, strict=True):
        np.testing.assert_allclose(row, expected, atol=1e-5)
    assert head.score([], []) == []


def test_it_learns_the_toy_task(trained: RelationHead) -> None:
    assert best_indices(trained) == [*ASKED.values()]


def test_the_pool_tells_what_a_question_means() -> None:
    """The right relation for "whence" depends on the other relations of the pool."""
    author, birth, death, origin = known = (*POOL, "http://g/from")
    pools = [(author, birth, origin), (birth, death, origin)]
    examples = [Labelled("whence <m>", pools[0], (0, 1.0, 0)), Labelled("whence <m>", pools[1], (0, 0, 1.0))]
    differences = []
    for context in (False, True):
        torch.manual_seed(1)
        head = RelationHead.of(encode, known, hidden=16, context=context)
        list(fit_head(head, examples, TOY, seed=1))
        one, other = head.score(["whence <m>"] * 2, pools)
        differences.append((float(one[1] - one[2]), float(other[0] - other[2])))  # of birth and origin
    without, within = differences
    assert without[0] == pytest.approx(without[1], abs=1e-4)
    assert within[0] > 0 > within[1]
    assert head.score(["whence <m>"], [()])[0].shape == (0,)


def test_the_same_seed_gives_the_same_head(trained: RelationHead) -> None:
    torch.manual_seed(1)
    again = RelationHead.of(encode, POOL, hidden=16)
    list(fit_head(again, labelled(QUESTIONS), TOY, seed=1))
    np.testing.assert_array_equal(again.score(["whence <m>"], [POOL])[0], trained.score(["whence <m>"], [POOL])[0])


def test_soft_targets_are_met(head: RelationHead) -> None:
    example = Labelled("who wrote <m>", POOL, (0.7, 0.3, 0.0))
    for module in head.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    list(fit_head(head, [example], HeadTraining(epochs=80, batch=1, learning_rate=0.01), seed=1))
    (logits,) = head.score(["who wrote <m>"], [POOL])
    shares = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
    np.testing.assert_allclose(shares, example.target, atol=0.05)


def test_a_head_without_rows_is_saved_too(tmp_path: Path) -> None:
    RelationHead.of(encode, (), hidden=4).save(tmp_path / "head", card="")
    assert RelationHead.load(tmp_path / "head", encode).relations == ()


def test_another_encoder_is_refused(head: RelationHead, tmp_path: Path) -> None:
    head.save(tmp_path / "head", card="")
    with pytest.raises(ValueError, match="an encoder of 6 numbers, but got 3 and 2"):
        RelationHead.load(tmp_path / "head", lambda texts: np.zeros((len(texts), 2), dtype=np.float32))


@pytest.mark.parametrize("target", [(1.0,), (0.5, 0.0, 0.0), (2.0, -1.0, 0.0), (float("nan"), 0.0, 0.0)])
def test_what_is_no_distribution_is_refused(head: RelationHead, target: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="3 relations that sum to 1 in example 1"):
        list(fit_head(head, [Labelled("a", POOL, target)], seed=1))


def test_no_examples_are_refused(head: RelationHead) -> None:
    with pytest.raises(ValueError, match="got none"):
        list(fit_head(head, [], seed=1))
