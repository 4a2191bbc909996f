from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.phrases.phrase_pairs import PhrasePair
from qa_lab.data.phrases.phrase_preparation import Phrased, Preparation, parts, prepared, several_words
from retrievers.training.phrases.trees import right_branching

WIDE = Preparation(overlap=2.0, edits=0, shortest=1)


def prepare(*pairs: tuple[str, str], config: Preparation = Preparation(), known=lambda _: True):  # noqa: B008 (frozen)
    result = prepared([PhrasePair(left, right) for left, right in pairs], config, known=known)
    return [(" ".join(p.left.tokens), " ".join(p.right.tokens)) for p in result.pairs], dict(result.left_out)


def test_a_good_pair_stays():
    assert prepare(("town meeting", "gathering of citizens")) == ([("town meeting", "gathering of citizens")], {})
    assert prepare(("job-seekers", "unemployed people")) == ([("job seekers", "unemployed people")], {})


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("7 town meetings", "gathering", "with digits"),
        ("[NP,1] of the", "belonging to", "with brackets"),
        ("?! ...", "what is", "without words"),
        ("meeting", "gathering", "of single words"),
        ("a meeting", "gathering", "of single words"),  # of effective size 1
        ("town zork", "gathering of citizens", "with unknown words"),
        ("my dad had", "my father had", "with too much overlap"),
        ("dads house", "dad mansion", "with too much overlap"),  # one edit off is the same
        ("sub contracts", "subcontract", "nearly identical"),
    ],
)
def test_why_pairs_are_left_out(left: str, right: str, reason: str):
    assert prepare((left, right), known=lambda word: word != "zork") == ([], {reason: 1})


def test_repeated_and_reversed_ones_stay_once():
    pairs = [("old man", "elderly person"), ("elderly person", "old man"), ("Old man", "elderly person")]
    assert prepare(*pairs) == ([("old man", "elderly person")], {"repeated or reversed": 2})


def test_each_size_has_its_quota():
    pairs = [("old man", "senior"), ("big house", "mansion"), ("very old man", "senior"), ("the old red house", "ruin")]
    remaining, left_out = prepare(*pairs, config=Preparation(a_bin=1, longest_bin=3))
    assert [pair in pairs[:2] for pair in remaining] == [True, False]
    assert left_out == {"beyond the size's quota": 2}


def test_a_bin_with_too_many_pairs_is_sampled():
    pairs = [(f"old {'x' * number}man", "elderly person") for number in range(40)]
    times = Counter(
        left
        for seed in range(300)
        for left, _ in prepare(*pairs, config=Preparation(a_bin=10, seed=seed, overlap=2))[0]
    )
    assert sum(times.values()) == 300 * 10
    assert len(times) == 40
    assert max(abs(count - 75) for count in times.values()) < 40  # of 300 draws with a chance of 1/4: five deviations
    config = Preparation(a_bin=10, overlap=2)
    assert prepare(*pairs, config=config) == prepare(*pairs, config=config)


def pairs_of(count: int) -> list[Phrased]:
    return [Phrased(right_branching(["left", str(n)]), right_branching(["right", str(n)])) for n in range(count)]


def test_parts_are_disjoint_stable_and_of_the_asked_size():
    pairs = pairs_of(2000)
    split = parts(pairs, test=0.1, dev=0.2)
    assert len(split.train) + len(split.dev) + len(split.test) == 2000
    assert abs(len(split.test) - 200) < 50
    assert abs(len(split.dev) - 400) < 70
    turned = [Phrased(pair.right, pair.left) for pair in reversed(pairs)]
    assert {pair.key for pair in parts(turned, test=0.1, dev=0.2).test} == {pair.key for pair in split.test}


@given(st.integers(2, 60))
def test_phrases_set_aside_are_not_trained_on(count: int):
    shared = right_branching(["the", "same"])
    pairs = [Phrased(shared, right_branching(["x", str(n)])) for n in range(count)] + pairs_of(count)
    split = parts(pairs, test=0.3, dev=0.2)
    aside = several_words((*split.dev, *split.test))
    assert not any(pair.key & aside for pair in split.train)
    assert split.seen + len(split.train) + len(split.dev) + len(split.test) == len(pairs)


def test_wide_settings_keep_all():
    assert len(prepare(("big", "large"), ("my dad", "my dads"), config=WIDE)[0]) == 2
