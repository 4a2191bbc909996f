import pytest

from retrievers.training.phrases.corpus import Corpus


def test_a_corpus_has_the_frequent_words_first() -> None:
    corpus = Corpus.of(["b a a", "c a b", "d"], most=2, minimum=2)
    assert (corpus.words, corpus.counts.tolist()) == (("a", "b"), [3, 2])
    assert corpus.tokens.tolist() == [1, 0, 0, 0, 1]  # without c and d
    assert corpus.texts.tolist() == [0, 0, 0, 1, 1]
    other = corpus.others(["B x A"])
    assert (other.words, other.tokens.tolist(), other.texts.tolist()) == (("a", "b"), [1, 0], [0, 0])


def test_a_corpus_needs_two_words() -> None:
    with pytest.raises(ValueError, match="at least 3 times, but got 1 of 2"):
        Corpus.of(["a a a b"], most=9, minimum=3)
