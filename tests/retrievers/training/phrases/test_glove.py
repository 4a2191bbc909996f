import numpy as np
import pytest
import torch

from qa_core.training.loop import Training
from retrievers.training.phrases.corpus import Corpus
from retrievers.training.phrases.glove import Counts, Glove, GloveConfig, cooccurrences, error, objective, train_glove
from retrievers.training.phrases.skip_gram import adagrad

CONFIG = GloveConfig(dimension=6, window=2, maximum=4.0, batch=8, epochs=150, learning_rate=0.1)


def corpus_of(*texts: str) -> Corpus:
    return Corpus.of(texts, most=100, minimum=1)


def by_words(counts: Counts, corpus: Corpus) -> dict[str, float]:
    return {
        " ".join(corpus.words[i] for i in pair): value
        for pair, value in zip(counts.pairs.tolist(), counts.values.tolist(), strict=True)
    }


def test_counts_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """`a b a` counts a b twice at distance 1 and a a at distance 2, both ways; `b c` is another text."""
    corpus = corpus_of("a b a", "b c")
    expected = {"a a": 1.0, "a b": 2.0, "b a": 2.0, "b c": 1.0, "c b": 1.0}
    assert by_words(cooccurrences(corpus, 2), corpus) == expected
    del expected["a a"]
    assert by_words(cooccurrences(corpus, 1), corpus) == expected
    monkeypatch.setattr("retrievers.training.phrases.glove._CHUNK", 2)
    assert by_words(cooccurrences(corpus, 1), corpus) == expected  # pairs over the border of a part
    with pytest.raises(ValueError, match="two known words, but got none"):
        cooccurrences(corpus_of("a", "b"), 2)


def test_the_objective_by_hand() -> None:
    """w·c = 2, b = 1, b′ = .5 and x = e give 2.5²; x = e has the weight (e / 10)^.75, and x = e³ the weight 1."""
    model = Glove(1, 2)
    with torch.no_grad():
        for table, row in ((model.words, [1.0, 1.0]), (model.contexts, [0.5, 1.5])):
            table.copy_(torch.tensor([row]))
        model.word_biases.fill_(1.0)
        model.context_biases.fill_(0.5)
    pairs, values = torch.zeros(2, 2, dtype=torch.int64), torch.tensor([np.e, np.e**3])
    value = objective(model, pairs, values, GloveConfig(maximum=10.0)).item()
    assert value == pytest.approx(((np.e / 10) ** 0.75 * 2.5**2 + 0.5**2) / 2, rel=1e-5)
    counts = Counts(pairs.numpy(), values.numpy())
    assert error(model, counts, GloveConfig(maximum=10.0, batch=1)) == pytest.approx(value)
    assert model.vectors().tolist() == [[1.5, 2.5]]


def test_training_approaches_the_logarithms_of_the_counts() -> None:
    texts = ("the cat purrs", "the cat sleeps", "a ship sails", "a ship sinks", "the ship")
    corpus = corpus_of(*texts)
    counts = cooccurrences(corpus, CONFIG.window)

    def trained() -> Glove:
        torch.manual_seed(1)
        model = Glove(len(corpus.words), CONFIG.dimension)
        training = Training(model, adagrad(model, CONFIG.learning_rate), seed=1)
        list(train_glove(training, counts, CONFIG, evaluate=lambda: -error(model, counts, CONFIG)))
        return model

    model = trained()
    assert error(model, counts, CONFIG) < 1e-3
    with torch.no_grad():
        np.testing.assert_allclose(model(torch.from_numpy(counts.pairs)), np.log(counts.values), atol=0.2)
    assert np.array_equal(trained().vectors(), model.vectors())
