import math

import numpy as np
import pytest

from rankers.answer_selection.keyword_features import ASKING, FEATURES, KINDS, AnalysedText, Keywords, cosines

ANSWERS = ["Ann wrote the book in 1990", "Bob read the book", "the cat slept"]


@pytest.fixture
def keywords():
    return Keywords.of([*ANSWERS, ANSWERS[0]])


def row(keywords, question, answer):
    return dict(zip(FEATURES, keywords.features([(question, answer)])[0].tolist(), strict=True))


def test_words_are_counted_once_an_answer_and_answers_once(keywords):
    assert keywords.counts["book"] == 2
    assert "the" not in keywords.counts
    assert (keywords.answers, keywords.mean_length) == (3, (4 + 3 + 2) / 3)


def test_bm25_by_hand(keywords):
    # "who", "the" are left out; one of three answers has "wrote", two have "book"
    idf = {"wrote": math.log(1 + 2.5 / 1.5), "book": math.log(1 + 1.5 / 2.5)}
    norm = 1.2 * (0.25 + 0.75 * 4 / 3)
    expected = sum(weight * 2.2 / (1 + norm) for weight in idf.values())
    assert keywords.score([("Who wrote the BOOK?", ANSWERS[0])])[0] == pytest.approx(expected, rel=1e-6)
    assert row(keywords, "Who wrote the BOOK?", ANSWERS[0])["bm25"] == pytest.approx(expected, rel=1e-6)
    assert keywords.score([("who slept", ANSWERS[0])])[0] == 0.0


def test_overlaps_by_hand(keywords):
    features = row(keywords, "who wrote the big book", ANSWERS[0])
    assert features["overlap"] == pytest.approx(2 / 3)
    assert features["overlap_stems"] == pytest.approx(2 / 3)
    assert features["jaccard"] == pytest.approx(2 / 5)
    assert features["pairs"] == 0.0
    assert features["rarest_shared"] == pytest.approx(keywords.idf("wrote"))
    assert features["rarest_missing"] == pytest.approx(keywords.idf("big"))
    assert features["density"] == 1.0
    assert (features["question_words"], features["answer_words"]) == (5, 6)


def test_a_number_a_date_and_a_name_are_what_is_asked_for(keywords):
    answer = "It was Ann who wrote it in 1990"
    assert row(keywords, "when was it written", answer)["expected"] == 1.0
    assert row(keywords, "who wrote it", answer)["expected"] == 1.0
    assert row(keywords, "who wrote it", "it was a woman")["expected"] == 0.0
    assert row(keywords, "did Ann write it in 1990", answer)["numbers_new"] == 0
    assert math.isnan(row(keywords, "why was it written", answer)["expected"])
    assert row(keywords, "what did Ann do in 1990", answer)["numbers_shared"] == 1.0


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many cats are there?", "number"),
        ("what is the population of Rome", "number"),
        ("What year did it end?", "date"),
        ("When did it end?", "date"),
        ("Which country is it in?", "place"),
        ("Whose house is it?", "person"),
        ("Why not?", "reason"),
        ("how do cats purr", "manner"),
        ("what is a cat", "thing"),
    ],
)
def test_what_a_question_asks_for(question, kind):
    assert KINDS[AnalysedText(question).kind] == kind


def test_what_is_no_question_asks_for_nothing():
    assert AnalysedText("cats and whatnot, however").kind == -1
    assert AnalysedText("cats sleep").kind == -1
    assert AnalysedText("").kind == -1


def test_what_a_pair_says_nothing_about_is_missing(keywords):
    features = row(keywords, "", "")
    assert math.isnan(features["overlap"])
    assert math.isnan(features["density"])
    assert features["bm25"] == 0.0


@pytest.mark.parametrize("text", ["", "zzz", "😀😀", "مرحبا بالعالم", "the " * 100_000, "cat " * 100_000, "Ａ" * 1000])
def test_no_text_gives_infinity(keywords, text):
    table = keywords.features([(text, ANSWERS[0]), ("who wrote the book", text), (text, text)])
    assert not np.isinf(table).any()
    assert np.isfinite(keywords.score([(text, text)])).all()


def test_rows_do_not_depend_on_the_batch(keywords):
    pairs = [(question, answer) for question in ("who wrote it", "when", "") for answer in ANSWERS]
    one_by_one = np.concatenate([keywords.features([pair]) for pair in pairs])
    np.testing.assert_array_equal(keywords.features(pairs), one_by_one)
    assert keywords.features([]).shape == (0, len(FEATURES))


def test_cosines_are_a_last_column(keywords):
    def encode(texts):
        angles = np.array([len(text) for text in texts], dtype=np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)

    pairs = [("abc", "abcd"), ("abc", "abc")]
    np.testing.assert_allclose(cosines(pairs, encode), [math.cos(1), 1.0], rtol=1e-6)
    assert keywords.features(pairs, encode=encode)[:, -1].tolist() == cosines(pairs, encode).tolist()


def test_no_answers_at_all_make_every_word_equally_rare():
    keywords = Keywords.of([])
    assert keywords.idf("a") == keywords.idf("b") > 0
    assert np.isfinite(keywords.score([("cat", "cat")])).all()


def test_asking_words_are_left_out():
    assert AnalysedText("what did the cat do").content == ["cat"]
    assert "what" in ASKING
