from dataclasses import replace

import numpy as np
import torch

from qa_core.training.loop import Training
from qa_core.vectors.word_vectors import WordVectors
from rankers.training.paraphrase_training import ParaphraseConfig, train_paraphrase

TRAINING = ParaphraseConfig(batch=6, epochs=16, patience=16, learning_rate=0.02, identical=3)


def test_pretrained_vectors_are_frozen(word_pairs, toy_pairs):
    vectors = WordVectors(("balor", "nobody"), np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32))
    scorer = word_pairs("decomposable", pretrained=vectors)
    training = Training(scorer.model, torch.optim.Adam(scorer.model.parameters(), lr=0.02), seed=1)
    list(train_paraphrase(training, scorer, toy_pairs, replace(TRAINING, epochs=1)))
    table = scorer.model.embedding.E_pre
    row = scorer.reader.vocabulary.ids(["balor"])[0]
    assert table[row].tolist() == [1.0, 2.0]
    assert float(table.abs().sum()) == 3.0
    assert scorer.config.dimension == 2
