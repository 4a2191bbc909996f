"""Steps and paths from a term."""

from itertools import pairwise

from kg_index.answers.graph_words import Vocabulary
from kg_index.answers.lookup import Lookup
from kg_index.answers.walks import Walker
from kg_index.triples.paths import Step

EX = "http://example.org/"


def test_ends_in_order_and_without_their_start(world: Lookup) -> None:
    walker = Walker(world.triples, Vocabulary(world.triples))
    peru, borders = (world.triples.id_of(EX + name) for name in ("peru", "borders"))
    step = Step(borders, False)
    middles, ends, more = walker.follow(peru, (step, step))
    assert {world.label(number) for number in middles} == {"Chile", "Bolivia", "Brazil"}
    assert {world.label(number) for number in ends} == {"Chile", "Bolivia", "Brazil"}
    assert not more
    assert all(a < b for a, b in pairwise(walker.ends(peru, step)))


def test_steps_in_both_directions_without_names_and_kinds(world: Lookup) -> None:
    walker = Walker(world.triples, Vocabulary(world.triples))
    peru = world.triples.id_of(EX + "peru")
    steps = walker.steps(peru)
    assert steps
    assert not {step.predicate for step in steps} & walker.vocabulary.hidden
    for step in steps:
        assert walker.ends(peru, step)
    literal = next(end for step in steps for end in walker.ends(peru, step) if world.triples.is_literal(end))
    assert all(step.inverse for step in walker.steps(literal))
