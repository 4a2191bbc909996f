import numpy as np

from generators.topics.word_bags import bags_of, topic_words
from qa_core.networks.vocabulary import Vocabulary

VOCABULARY = Vocabulary(("sea", "beach", "war"))
TEXTS = ("Beach, sea, beach!", "war", "nothing here", "the sea, a beach: BEACH", "")


def test_equal_bags_are_merged_and_repeated_words_kept():
    bags = bags_of(TEXTS, VOCABULARY)
    assert bags.starts.tolist() == [0, 3, 4]
    assert bags.words.tolist() == [0, 1, 1, 2]
    assert bags.weights.tolist() == [2, 1]
    assert (len(bags), bags.texts, bags.tokens, bags.empty) == (2, 3, 7, 2)
    assert bags.counts(4).tolist() == [2, 4, 1, 0]


def test_blocks_partition_the_bags():
    bags = bags_of(("sea war", "sea", "beach war war"), VOCABULARY)
    parts = list(bags.blocks(2))
    assert [part.starts.tolist() for part in parts] == [[0, 2, 3], [0, 3]]
    assert [part.words.tolist() for part in parts] == [[0, 2, 0], [1, 2, 2]]
    np.testing.assert_allclose(sum(part.counts(3) for part in parts), bags.counts(3))


def test_texts_without_known_words_have_no_bag():
    bags = bags_of(["unknown", ""], VOCABULARY)
    assert (len(bags), bags.empty, bags.words.size, bags.starts.tolist()) == (0, 2, 0, [0])
    assert list(bags.blocks(2)) == []


def test_topic_words_are_frequent_and_informative():
    texts = ["the cat x 42 ___", "the cat", "the dog dog dog", "a dog", "the bird"]
    words = topic_words(texts, size=2, minimum=2, leave_out={"the"})
    assert words.tokens == ("cat", "dog")  # each in two texts: alphabetical
    assert topic_words(texts, size=9, minimum=1, leave_out={"the"}).tokens == ("cat", "dog", "bird")
