import pytest
import torch

from retrievers.training.phrases.forbidden_negatives import Constraints, lemmas_among

WORDS = ("run", "runs", "running", "jog", "sprint", "box", "boxes", "red")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("runs", ["run"]),
        ("running", ["run"]),  # the doubled consonant is undone
        ("boxes", ["box"]),
        ("cities", ["city"]),
        ("making", ["make"]),
        ("biggest", ["big"]),
        ("walked", ["walk"]),
        ("falling", ["fall"]),  # the double consonant belongs to the lemma
        ("red", []),  # not a form of `r`
        ("run", []),
        ("jogs", []),  # `jog` is not among the words
    ],
)
def test_lemmas_are_words_of_the_vocabulary(word: str, expected: list[str]):
    known = {"run", "runs", "running", "box", "city", "make", "big", "walk", "fall", "red"}
    assert lemmas_among(known)(word) == expected


@pytest.fixture
def constraints() -> Constraints:
    # jog – running, sprint – jog, box – red
    return Constraints.of(WORDS, [(3, 2), (4, 3), (5, 7)], lemmas_among(WORDS))


def test_words_paired_with_a_word_and_their_lemmas_are_forbidden(constraints: Constraints):
    mask = constraints.forbidden(torch.tensor([3, 2, 0]), torch.arange(8))
    forbidden = [[WORDS[i] for i in row.nonzero().flatten().tolist()] for row in mask]
    assert forbidden == [["run", "running", "sprint"], ["jog"], []]


def test_the_mask_covers_only_candidates(constraints: Constraints):
    mask = constraints.forbidden(torch.tensor([3, 7, 3]), torch.tensor([1, 4, 5]))
    assert mask.tolist() == [[False, True, False], [False, False, True], [False, True, False]]


def test_constraints_are_joined(constraints: Constraints):
    more = constraints.together_with({0: {7}, 3: {6}})
    mask = more.forbidden(torch.tensor([0, 3, 5]), torch.arange(8))
    assert mask.nonzero().tolist() == [[0, 7], [1, 0], [1, 2], [1, 4], [1, 6], [2, 7]]


def test_agrees_with_sets_on_random_pairs():
    rng = torch.Generator().manual_seed(4)
    pairs = torch.randint(0, 30, (60, 2), generator=rng).tolist()
    paired = {word: {b if a == word else a for a, b in pairs if word in (a, b)} for word in range(30)}
    constraints = Constraints.of([f"w{n}" for n in range(30)], [(a, b) for a, b in pairs], lambda _: ())
    words, candidates = torch.randint(0, 30, (20,), generator=rng), torch.arange(0, 30, 3)
    expected = [[candidate in paired[word] for candidate in candidates.tolist()] for word in words.tolist()]
    assert constraints.forbidden(words, candidates).tolist() == expected
