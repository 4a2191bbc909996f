"""The clue score against hand-worked numbers and rank-bm25's formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from qa_core.text.analysis import words
from qa_core.types import Candidate, Clue, Passage, Question, Source
from rankers.clue import (
    ClueConfig,
    ClueRanker,
    bm25,
    dependence,
    dependence_score,
    inverse_frequency,
    ordered_count,
    positions,
    proximity_count,
)


class Fixed:
    """A collection of 10 documents in which every word occurs in 2; the mean length is 4 words."""

    documents = 10

    def document_frequency(self, field, term):
        return 2

    def average_length(self, field):
        return 4.0


class LongBodies:
    """100 documents with mean titles of 4 words, 100 with their bodies; every word occurs in one of them."""

    documents = 100

    def document_frequency(self, field, term):
        return 1

    def average_length(self, field):
        return {"title": 4.0, "clue": 100.0}[field]


def candidate(title, body="", document="d"):
    return Candidate(Passage(f"{document}#0", "text", Clue(title, body), Source(document)), 0.0)


corpora = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=12), min_size=3, max_size=8)


@given(corpora, st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=4, unique=True))
def test_bm25_is_rank_bm25s_formula(corpus, query):
    oracle = BM25Okapi(corpus, k1=1.0, b=0.75)
    expected = oracle.get_scores(query)
    got = [
        bm25(dict.fromkeys(query, 1.0), text, lambda w: oracle.idf.get(w, 0.0), oracle.avgdl, k1=1.0, b=0.75)
        for text in corpus
    ]
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_bm25_with_default_constants_by_hand():
    # two of 8 words where the mean is 4: 1 − .75 + .75 · 8/4 = 1.75; 2 · 2 / (2 + 1.75) = 16/15
    text = ["a", "x", "a", *"stuvw"]
    assert bm25({"a": 5.0, "b": 1.0}, text, {"a": 3.0, "b": 7.0}.__getitem__, 4.0) == pytest.approx(16)


def test_counts_of_pairs_by_hand():
    text = ["sleep", "apnea", "surgery", "for", "apnea", "in", "sleep", "sleep", "apnea"]
    by_word = positions({"sleep", "apnea", "surgery", "in", "absent"}, text)
    assert by_word == {"sleep": [0, 6, 7], "apnea": [1, 4, 8], "surgery": [2], "in": [5]}
    assert ordered_count(by_word["sleep"], by_word["apnea"]) == 2
    assert proximity_count(by_word["sleep"], by_word["apnea"], 8) == 3
    assert proximity_count(by_word["surgery"], by_word["in"], 3) == 0  # three words apart


def test_dependence_weighs_words_pairs_and_proximity_by_hand():
    # Every idf is ln(1 + 8.5/2.5) = ln 4.4; a text of average length has saturation f·2/(f+1): 1 for f = 1.
    idf = math.log(4.4)
    query = dependence(["a", "b"], {}).times(lambda _: idf)
    score = dependence_score(query, ["a", "x", "b", "y"], 4.0, ClueConfig())
    assert score == pytest.approx(0.8 * 2 * idf + 0.1 * 0 + 0.1 * idf)
    side_by_side = dependence_score(query, ["a", "b", "x", "y"], 4.0, ClueConfig())
    assert side_by_side == pytest.approx(0.8 * 2 * idf + 0.1 * idf + 0.1 * idf)


def test_repeated_pairs_are_saturated_by_hand():
    # Saturation of f = 2 is 4/3, of f = 1 is 1: a and b twice, "a b" in order once, close to each other twice.
    query = dependence(["a", "b"], {}).times({"a": 2.0, "b": 4.0}.__getitem__)
    score = dependence_score(query, ["a", "b", "b", "a"], 4.0, ClueConfig())
    assert score == pytest.approx(0.8 * (2 + 4) * 4 / 3 + 3 * (0.1 * 1 + 0.1 * 4 / 3))
    # In 8 words where the mean is 4, f = 1 gives 2 / (1 + 1.75).
    longer = dependence_score(query, ["a", "b", *"stuvwx"], 4.0, ClueConfig())
    assert longer == pytest.approx((0.8 * (2 + 4) + 3 * (0.1 + 0.1)) * 2 / 2.75)


@pytest.mark.parametrize(
    ("documents", "containing", "idf"),
    [(10, 2, math.log(4.4)), (10, 0, math.log(22)), (10, 10, math.log(22 / 21))],  # 1 + 8.5/2.5, 10.5/.5, .5/10.5
)
def test_the_idf_of_a_word_by_hand(documents, containing, idf):
    assert inverse_frequency(documents, containing) == pytest.approx(idf)


def test_the_idf_of_a_pair_is_the_mean_over_its_words():
    rarity = {"a": 1.0, "b": 3.0, "c": 0.5}
    weighted = dependence(["a", "b"], {"a": ["c"]}).times(rarity.__getitem__)
    assert (weighted.words, weighted.pairs) == ({"a": 1.0, "b": 3.0, "c": 0.5}, {("a", "b"): 2.0})


def test_clue_score_by_hand():
    # title 'a', body 'b'; clue 'a b c d': words a, b and the pair a b in title+body; the word a alone in the title.
    idf = inverse_frequency(10, 2)
    ranker = ClueRanker(Fixed(), analyse=str.split)
    assert ranker.scorer(Question("a", "b"))(Clue("a b c d")) == pytest.approx(1.8 * idf + 0.8 * idf)
    assert ranker.scorer(Question("a", "b"))(Clue("a c d e")) == pytest.approx(0.8 * idf + 0.8 * idf)


def test_the_clue_body_counts_for_the_whole_but_not_for_the_title():
    ranker = ClueRanker(Fixed(), analyse=str.split)
    score = ranker.scorer(Question("a"))
    assert 0 < score(Clue("x y z", "a")) < score(Clue("a x y z"))


def test_the_whole_is_normalised_by_the_mean_length_of_wholes_by_hand():
    # idf ln(1 + 99.5/1.5) = 4.2097; a match in 100 words where the mean is 100: f = 1 gives 1, times .8
    score = ClueRanker(LongBodies(), analyse=str.split).scorer(Question("a"))
    assert score(Clue("w x y z", " ".join(["a", *["v"] * 95]))) == pytest.approx(3.3677, abs=1e-4)


def test_a_title_counts_in_the_whole_and_alone_by_hand():
    # in 4 of 100 words: 2 / (1 + .25 + .75 · .04) = 1.5625; in the title, which has the mean length: 1
    score = ClueRanker(LongBodies(), analyse=str.split).scorer(Question("a"))
    assert score(Clue("a x y z")) == pytest.approx(0.8 * inverse_frequency(100, 1) * (1.5625 + 1))


def test_synonyms_are_found_of_a_word_with_a_mark():
    wider = ClueRanker(Fixed(), analyse=words, synonyms=lambda word: ("automobile",) if word == "car" else ())
    assert wider.scorer(Question("Where is the car?"))(Clue("automobile")) > 0


def test_synonyms_of_a_word_match_like_the_word():
    plain = ClueRanker(Fixed(), analyse=str.split)
    wider = ClueRanker(Fixed(), analyse=str.split, synonyms=lambda word: ("automobile",) if word == "car" else ())
    clue = Clue("automobile repair at home")
    assert plain.scorer(Question("car"))(clue) == 0
    assert wider.scorer(Question("car"))(clue) == pytest.approx(2 * 0.8 * inverse_frequency(10, 2))


def test_ranking_stores_the_clue_score():
    ranked = ClueRanker(Fixed(), analyse=str.split).rank(Question("a b"), [candidate("x"), candidate("a b")])
    assert [c.passage.clue.title for c in ranked] == ["a b", "x"]
    assert ranked[0].signals.clue == ranked[0].score > 0 == ranked[1].score


@pytest.mark.parametrize("question", [Question(""), Question("unheard")])
def test_a_clue_without_common_words_scores_0(question):
    assert ClueRanker(Fixed(), analyse=str.split).rank(question, [candidate("a"), candidate("")])[0].score == 0
