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


def test_case_and_space_are_ignored_and_contradictions_resolved():
    questions = QuestionSet.of([*PAIRS, PAIRS[0], Labelled("Who?", "who? ")], others=["Why?", "who is bob?"])
    assert questions.texts == (
        "How old is Ann?",
        "What is Ann's age?",
        "When was Ann born?",
        "Who is Bob?",
        "Tell me about Bob",
        "Who?",
        "Why?",
    )
    assert questions.similar.tolist() == [[0, 1], [0, 2], [3, 4]]
    assert questions.different.tolist() == [[0, 3]]  # the other pair is within a component
    assert questions.closure().tolist() == [0, 0, 0, 3, 3, 5, 6]
    assert members(questions.closure()) == {0: [0, 1, 2], 3: [3, 4]}
    assert len(questions) == 3
    assert texts_of([questions, questions])[7] == "How old is Ann?"


def test_a_set_without_pairs():
    questions = QuestionSet.of([], others=["why?"])
    assert (questions.similar.shape, questions.different.shape, questions.closure().tolist()) == ((0, 2), (0, 2), [0])
    assert [len(part.texts) for part in questions.split(0.0, salt="")] == [1, 0]


edges = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20)


@given(edges)
def test_components_are_those_of_a_search(pairs: list[tuple[int, int]]):
    near = {node: {node} for node in range(12)}
    for a, b in pairs:
        near[a].add(b)
        near[b].add(a)
    expected = []
    for node in range(12):
        seen, front = {node}, [node]
        while front:
            front = [n for n in near[front.pop()] - seen if not seen.add(n)] + front
        expected.append(min(seen))
    assert components(12, np.array(pairs, dtype=np.int64).reshape(-1, 2)).tolist() == expected


def labelled(set_: QuestionSet, which: str) -> set[frozenset[str]]:
    return {frozenset(set_.texts[row] for row in pair) for pair in getattr(set_, which).tolist()}


@given(edges, edges, st.floats(0, 1))
def test_splits_keep_pairs_together_and_ignore_the_order(
    same: list[tuple[int, int]], other: list[tuple[int, int]], share: float
):
    pairs = [Labelled(f"q{a}", f"q{b}") for a, b in same]
    pairs += [Labelled(f"q{a}", f"q{b}", similar=False) for a, b in other]
    whole = QuestionSet.of(pairs, others=["alone"])
    parts = whole.split(share, salt="x")
    for which in ("similar", "different"):
        assert set.union(*(labelled(part, which) for part in parts)) == labelled(whole, which)
        assert sum(len(getattr(part, which)) for part in parts) == len(getattr(whole, which))
    assert sorted(texts_of(parts)) == sorted(whole.texts)
    reordered = QuestionSet.of([Labelled(b, a, label) for a, b, label in reversed(pairs)], others=["alone"])
    assert [set(part.texts) for part in reordered.split(share, salt="x")] == [set(part.texts) for part in parts]


def test_another_salt_draws_another_part():
    whole = QuestionSet.of(Labelled(f"a{n}", f"b{n}") for n in range(400))
    held: Sequence[QuestionSet] = [whole.split(0.25, salt=salt)[1] for salt in ("one", "two")]
    assert all(70 < len(part) < 130 for part in held)
    for first, second in itertools.pairwise(held):
        both = set(first.texts) & set(second.texts)
        assert 20 < len(both) < 100  # about a sixteenth of 800
