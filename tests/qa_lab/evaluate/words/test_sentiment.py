from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.data.formats.sentiment import Sentence, read_sentences
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.words.sentiment import SentimentConfig, UnigramNetwork, evaluate_sentiment

LIKED, DISLIKED = ("good", "fine", "lovely", "warm"), ("bad", "awful", "dull", "cold")
OTHERS = ("film", "the", "a", "plot")
WORDS = (*LIKED, *DISLIKED, *OTHERS)
SMALL = SentimentConfig(filters=4, measured=40, epochs=20)


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QA_BOT_HOME", str(tmp_path / "home"))


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Words of one opinion are near each other."""
    sides = [(1.0, 0.0)] * 4 + [(-1.0, 0.0)] * 4 + [(0.0, 1.0)] * 4
    noise = np.random.default_rng(0).normal(scale=0.1, size=(len(WORDS), 2))
    path = tmp_path / "near.txt"
    write_glove(WordVectors(WORDS, (np.array(sides) + noise).astype(np.float32)), path)
    return path


@pytest.fixture
def flat(tmp_path: Path) -> Path:
    path = tmp_path / "flat.txt"
    write_glove(WordVectors(WORDS, np.ones((len(WORDS), 2), dtype=np.float32)), path)
    return path


def written(path: Path, words: tuple[str, ...], count: int) -> Path:
    rng = np.random.default_rng(1)
    sides = [(word, int(word in LIKED)) for word in words]
    lines = []
    for number in range(count):
        word, label = sides[number % len(sides)]
        lines.append(f"the {rng.choice(OTHERS)} {rng.choice(OTHERS)} was {word}\t{label}")
    path.write_text("sentence\tlabel\n" + "\n".join(lines) + "\n")
    return path


def test_a_sentence_by_hand():
    network = UnigramNetwork(2, SentimentConfig(filters=2)).eval()
    with torch.no_grad():
        network.filters.weight.copy_(torch.tensor([[1.0, 0.0], [0.0, 2.0]]))
        network.filters.bias.copy_(torch.tensor([0.5, -1.0]))
        network.output.weight.copy_(torch.tensor([[3.0, -1.0]]))
        network.output.bias.fill_(0.25)
        vectors = torch.tensor([[[1.0, 2.0], [2.0, 0.0], [9.0, 9.0]]])  # the last place is padding
        logits = network(vectors, torch.tensor([[True, True, False]]))
    # filter 1: max(1.5, 2.5), filter 2: max(3, 0 of −1); 3 · 2.5 − 3 + .25
    assert logits.tolist() == pytest.approx([4.75])


def test_vectors_carry_an_opinion_to_words_that_training_lacks(tmp_path: Path, vectors: Path, flat: Path):
    train = written(tmp_path / "train.tsv", ("good", "fine", "bad", "awful"), 40)
    dev = written(tmp_path / "dev.tsv", ("good", "bad"), 8)
    test = written(tmp_path / "test.tsv", ("lovely", "warm", "dull", "cold"), 20)
    near, equal = evaluate_sentiment(train, dev=str(dev), test=str(test), models=[vectors, flat], config=SMALL)
    assert near.scores["accuracy"].mean == 1
    assert equal.scores["accuracy"].mean == 0.5
    assert (near.queries, near.encoder) == (20, str(vectors))
    again = evaluate_sentiment(train, dev=str(dev), test=str(test), models=[vectors], config=SMALL, limit=6)
    assert again[0].queries == 6


def test_shares_of_one_file(tmp_path: Path, vectors: Path):
    data = written(tmp_path / "all.tsv", WORDS[:8], 200)
    (row,) = evaluate_sentiment(data, dev="0.2", test="0.3", models=[vectors], config=SMALL)
    assert 20 < row.queries < 100
    assert row.scores["accuracy"].mean > 0.9


def test_both_formats(tmp_path: Path):
    (tmp_path / "kim.txt").write_text("1 a stirring , funny film\n0 dull\n\n")
    (tmp_path / "glue.tsv").write_text("sentence\tlabel\na stirring , funny film \t1\ndull\t0\n")
    expected = [Sentence("a stirring , funny film", True), Sentence("dull", False)]
    assert read_sentences(tmp_path / "kim.txt") == read_sentences(tmp_path / "glue.tsv") == expected


def test_bad_files(tmp_path: Path, vectors: Path):
    path = tmp_path / "bad.tsv"
    path.write_text("sentence\tlabel\nfine\t2\n")
    with pytest.raises(TrainingDataError, match=r"bad\.tsv:2: Expected a sentence and the label 0 or 1, but got 'fine"):
        read_sentences(path)
    path.write_text("sentence\tlabel\n")
    with pytest.raises(DatasetError, match="Expected sentences with labels in"):
        evaluate_sentiment(path, models=[vectors])
    path.write_text("sentence\tlabel\nfine\t1\n")
    with pytest.raises(DatasetError, match="Expected sentences to"):
        evaluate_sentiment(path, models=[vectors])
    with pytest.raises(DatasetError, match=r"none\.txt"):
        evaluate_sentiment(written(tmp_path / "all.tsv", WORDS[:8], 99), models=[tmp_path / "none.txt"])
