from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.phrases.phrase_preparation import Phrased
from qa_lab.data.phrases.string_similarity import overlap
from qa_lab.evaluate.words.paired_negatives import with_mismatched
from retrievers.training.phrases.trees import right_branching

PHRASE = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3)


def pair(left: str, right: str) -> Phrased:
    return Phrased(right_branching(left.split()), right_branching(right.split()))


@given(st.lists(st.tuples(PHRASE, PHRASE).filter(lambda p: p[0] != p[1]), max_size=12), st.integers(0, 5))
def test_mismatched_pairs_look_like_their_pair(phrases, seed):
    pairs = [Phrased(right_branching(left), right_branching(right)) for left, right in phrases]
    made = with_mismatched(pairs, seed=seed)
    known = {item.key for item in pairs}
    assert made == with_mismatched(pairs, seed=seed)
    for right, wrong in zip(made[::2], made[1::2], strict=True):
        assert (right.gold, wrong.gold) == (1, 0)
        assert right.left == wrong.left
        assert right.key in known
        assert wrong.key not in known
        assert len(wrong.key) == 2
        assert len(right.right.tokens) == len(wrong.right.tokens)
        one, other = (overlap(item.left.tokens, item.right.tokens) for item in (right, wrong))
        assert one == other


def test_where_none_fits_the_pair_is_left_out():
    assert with_mismatched([pair("a b", "c d")], seed=0) == []
    pairs = [pair("a b", "a c"), pair("x y", "v w"), pair("a d", "e f")]
    made = with_mismatched(pairs, seed=0)
    assert (made[0].left.tokens, made[1].right.tokens) == (("a", "b"), ("a", "d"))  # shares a, as a c does


def test_further_known_pairs_are_not_mismatched():
    pairs = [pair("a", "b"), pair("c", "d")]
    known = {frozenset((("a",), (other,))) for other in "cd"}
    assert with_mismatched(pairs, seed=0, known=known)[0].left.tokens == ("c",)
