import numpy as np

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.relation_scorers import CosineScorer, KeywordFirst, WeightedSumScorer, cached, without_slot

VECTORS = {
    "who wrote": [1, 0],
    "author": [0.6, 0.8],
    "birth place": [0, 1],
    "where born": [0, 1],
}
POOL = ["http://g/author", "http://g/birthPlace"]


def encode(texts) -> np.ndarray:
    return np.array([VECTORS.get(text, [0, 0]) for text in texts], dtype=np.float32).reshape(-1, 2)


class Fixed:
    """The same scores whatever is asked."""

    def __init__(self, *row: float) -> None:
        self.row = np.array(row, dtype=np.float32)

    def score(self, templates, pools) -> list[np.ndarray]:
        return [self.row.copy() for _ in templates]


def test_the_slot_is_left_out() -> None:
    assert without_slot("who wrote <m> first") == "who wrote first"


def test_cosines_by_hand() -> None:
    scorer = CosineScorer(encode, share=0)
    scores = scorer.score(["who wrote <m>", "where <m> born", "unknown"], [POOL, POOL[::-1], []])
    np.testing.assert_allclose(scores[0], [0.6, 0], atol=1e-6)
    np.testing.assert_allclose(scores[1], [1, 0.8], atol=1e-6)
    assert scores[2].shape == (0,)
    assert scorer.score([], []) == []


def test_last_words_have_their_share_by_hand() -> None:
    """Of `…/author` all words are the last ones; `a.person.birthPlace` has the last words "person birth place"."""
    scorer = CosineScorer(encode, share=0.5)
    np.testing.assert_allclose(scorer.score(["who wrote <m>"], [POOL[:1]])[0], [0.6], atol=1e-6)
    VECTORS["place person birth place"], VECTORS["person birth place"] = [0, 1], [1, 0]
    np.testing.assert_allclose(
        scorer.score(["who wrote <m>"], [["place.person.birthPlace"]])[0], [0.5 / 1.5], atol=1e-6
    )


def test_a_text_is_encoded_once() -> None:
    queries = []

    def telling(texts) -> np.ndarray:
        queries.extend(texts)
        return encode(texts)

    remembered = cached(telling)
    np.testing.assert_array_equal(
        remembered(["author", "who wrote", "author"]), encode(["author", "who wrote", "author"])
    )
    assert remembered(["who wrote", "unknown"]).shape == (2, 2)
    assert remembered([]).shape == (0, 2)
    assert queries == ["author", "who wrote", "unknown"]


def test_keywords_come_first_and_the_other_where_they_are_silent_or_tie() -> None:
    scorer = KeywordFirst(Fixed(0.1, 0.9), KeywordMatcher())
    queries = ["author of <m>", "who wrote <m>", "author birth place of <m>"]
    pools = [POOL, POOL, ["http://g/author", "http://h/author"]]
    scores = scorer.score(queries, pools)
    assert [int(row.argmax()) for row in scores] == [0, 1, 1]
    np.testing.assert_allclose(scores[0], [1.9, 0.9])


def test_a_tie_of_counts_goes_to_the_other_scorer() -> None:
    pool = ["book.author.works_written_by_author_name", "book.author"]
    question = ["who is the author of <m>"]
    (stems,) = KeywordFirst(Fixed(0.9, 0.1), KeywordMatcher()).score(question, [pool])
    (plain,) = KeywordFirst(Fixed(0.9, 0.1), KeywordMatcher(plain=True)).score(question, [pool])
    assert (int(stems.argmax()), int(plain.argmax())) == (1, 0)


def test_scores_are_added_up() -> None:
    (scores,) = WeightedSumScorer([(Fixed(1, 2), 0.5), (Fixed(3, 0), 2)]).score(["a"], [POOL])
    assert scores.tolist() == [6.5, 1]
