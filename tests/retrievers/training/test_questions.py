import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrievers.training.questions import Labelled, QuestionSet, components, members, texts_of

PAIRS = [
    Labelled("How old is Ann?", "What is Ann's age?"),
    Labelled("how old is  ANN?", "When was Ann born?"),
    Labelled("Who is Bob?", "Tell me about Bob"),
    Labelled("Who is Bob?", "How old is Ann?", similar=False),
    Labelled("What is Ann's age?", "When was Ann born?", similar=False),
]


def test_questions_are_told_apart_without_case_and_space_and_contradictions_are_settled():
    found = QuestionSet.of([*PAIRS, PAIRS[0], Labelled("Who?", "who? ")], others=["Why?", "who is bob?"])
    assert found.texts == (
        "How old is Ann?",
        "What is Ann's age?",
        "When was Ann born?",
        "Who is Bob?",
        "Tell me about Bob",
        "Who?",
        "Why?",
    )
    assert found.similar.tolist() == [[0, 1], [0, 2], [3, 4]]
    assert found.different.tolist() == [[0, 3]]  # the other one lies within a component
    assert found.closure().tolist() == [0, 0, 0, 3, 3, 5, 6]
    assert members(found.closure()) == {0: [0, 1, 2], 3: [3, 4]}
    assert len(found) == 3
    assert texts_of([found, found])[7] == "How old is Ann?"


def test_nothing_is_something_too():
    found = QuestionSet.of([], others=["why?"])
    assert (found.similar.shape, found.different.shape, found.closure().tolist()) == ((0, 2), (0, 2), [0])
    assert [len(part.texts) for part in found.parted(0.0, salt="")] == [1, 0]


edges = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20)


@given(edges)
def test_components_are_those_of_a_search(found: list[tuple[int, int]]):
    near = {node: {node} for node in range(12)}
    for a, b in found:
        near[a].add(b)
        near[b].add(a)
    expected = []
    for node in range(12):
        seen, front = {node}, [node]
        while front:
            front = [each for each in near[front.pop()] - seen if not seen.add(each)] + front
        expected.append(min(seen))
    assert components(12, np.array(found, dtype=np.int64).reshape(-1, 2)).tolist() == expected


def labelled(set_: QuestionSet, which: str) -> set[frozenset[str]]:
    return {frozenset(set_.texts[place] for place in pair) for pair in getattr(set_, which).tolist()}


@given(edges, edges, st.floats(0, 1))
def test_parts_tear_no_pair_and_do_not_depend_on_order(
    same: list[tuple[int, int]], other: list[tuple[int, int]], share: float
):
    pairs = [Labelled(f"q{a}", f"q{b}") for a, b in same]
    pairs += [Labelled(f"q{a}", f"q{b}", similar=False) for a, b in other]
    whole = QuestionSet.of(pairs, others=["alone"])
    parts = whole.parted(share, salt="x")
    for which in ("similar", "different"):
        assert set.union(*(labelled(part, which) for part in parts)) == labelled(whole, which)
        assert sum(len(getattr(part, which)) for part in parts) == len(getattr(whole, which))
    assert sorted(texts_of(parts)) == sorted(whole.texts)
    turned = QuestionSet.of([Labelled(b, a, label) for a, b, label in reversed(pairs)], others=["alone"])
    assert [set(part.texts) for part in turned.parted(share, salt="x")] == [set(part.texts) for part in parts]


def test_another_salt_draws_another_part():
    whole = QuestionSet.of(Labelled(f"a{n}", f"b{n}") for n in range(400))
    held: Sequence[QuestionSet] = [whole.parted(0.25, salt=salt)[1] for salt in ("one", "two")]
    assert all(70 < len(part) < 130 for part in held)
    for first, second in itertools.pairwise(held):
        both = set(first.texts) & set(second.texts)
        assert 20 < len(both) < 100  # about a sixteenth of 800
