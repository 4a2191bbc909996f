import math

import numpy as np
import pytest

from kg_index.relations.template_rows import Row
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.self_training import MinedPool, Siblings, mined_pools, pseudo_labelled

TABLE = TemplateTable.of(
    [
        Row("how is <m>", NO_PATH, 3),
        Row("where was <m> born", "born", 2),
        Row("where was <m> born", "died", 1),
        Row("where was <m> born", NO_PATH, 1),
    ]
)


class Believes:
    """A teacher that scores by a table."""

    def __init__(self, **scores: float) -> None:
        self.scores = scores

    def score(self, templates, pools) -> list[np.ndarray]:
        return [np.array([self.scores[name] for name in pool], dtype=np.float32) for pool in pools]


def test_pools_hold_what_was_found_and_others() -> None:
    others = {"born": ["born", "died", "lived"], "died": [NO_PATH, "lived"]}
    (pool,) = mined_pools(TABLE, others.__getitem__, rng=np.random.default_rng(0))
    assert pool.pool == ("born", "died", "lived")
    np.testing.assert_allclose(pool.weights, [2 * math.log(2), math.log(2), 0], rtol=1e-6)


def test_others_are_drawn() -> None:
    many = [f"r{number:03}" for number in range(50)]
    (pool,) = mined_pools(TABLE, lambda _: many, rng=np.random.default_rng(0), negatives=5)
    assert len(set(pool.pool)) == 7


def test_shares_by_hand() -> None:
    """Both believed in alike: F alone decides; α keeps what the teacher denies."""
    mined = [MinedPool("a", ("born", "died", "lived"), (3.0, 1.0, 0.0))]
    (alike,) = pseudo_labelled(Believes(born=0.5, died=0.5, lived=-9), mined)
    np.testing.assert_allclose(alike.target, [0.75, 0.25, 0], rtol=1e-5)
    assert alike.weight == pytest.approx(math.sqrt(4 * 0.6))
    (denied,) = pseudo_labelled(Believes(born=-9, died=0.5, lived=-9), mined, alpha=0.1)
    np.testing.assert_allclose(denied.target, [0.3 / 1.4, 1.1 / 1.4, 0], rtol=1e-5)


def test_siblings_are_of_the_same_topic_and_some_of_any() -> None:
    names = [
        *(f"http://g/ns/film.film.r{n}" for n in range(3)),
        "^http://g/ns/film.actor.x",
        "http://g/ns/tv.show.y",
        NO_PATH,
    ]
    assert Siblings(names, seed=1, any_topic=0)(names[0]) == sorted(names[:4])
    assert Siblings(names, seed=1, any_topic=0)("http://g/ns/book.z") == []
    every = Siblings(names, seed=1, any_topic=9)("http://g/ns/book.z")
    assert sorted(every) == sorted(names[:5])
    assert every == Siblings(names[::-1], seed=1, any_topic=9)("http://g/ns/book.z")


def test_a_template_of_no_weight_is_left_out() -> None:
    assert pseudo_labelled(Believes(born=1, died=1), [MinedPool("a", ("born", "died"), (0.0, 0.0))]) == []
