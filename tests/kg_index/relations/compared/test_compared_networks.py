"""What all compared networks promise: one contract, and the equations of each by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from kg_index.relations.compared.ampcnn import AttentiveMaxPoolingCNN
from kg_index.relations.compared.bicnn import TrigramConvolution, trigrams
from kg_index.relations.compared.compared_scorer import NETWORKS, ComparedScorer, words_of
from kg_index.relations.compared.hr_bilstm import HierarchicalResidualBiLSTM
from kg_index.relations.compared.pair_network import ComparedConfig, Kind, Relations
from kg_index.relations.pools import PoolQuestion
from kg_index.training.compared_training import ComparedTraining, batch_loss, fit, training_of, word_counts

POOL = ("http://g/people.person.place_of_birth", "http://g/book.author.works_written", "http://g/music.singer.song")
UNSEEN = "http://g/people.person.gender"
ASKED = {"where was <m> born": 0, "what did <m> write": 1, "what book wrote <m>": 1, "which songs sings <m>": 2}
QUESTIONS = [PoolQuestion(template, POOL, POOL[gold]) for template, gold in ASKED.items()]
QUESTIONS += [PoolQuestion("birth place of <m>", POOL[:2], POOL[0]), PoolQuestion("sings <m>", POOL[::-1], POOL[2])]
TEMPLATES, POOLS = [question.template for question in QUESTIONS], [question.pool for question in QUESTIONS]


def vectors(words) -> np.ndarray:
    """A vector a word, the same every time."""
    rows = [np.random.default_rng(list(word.encode())).normal(size=8) for word in words]
    return np.array(rows, dtype=np.float32).reshape(-1, 8)


@pytest.fixture(params=NETWORKS)
def scorer(request: pytest.FixtureRequest) -> ComparedScorer:
    torch.manual_seed(1)
    return ComparedScorer.of(request.param, word_counts(QUESTIONS, [*POOL, UNSEEN]), POOL, vectors, hidden=6)


def test_each_relation_of_a_pool_has_a_cosine(scorer) -> None:
    scores = scorer.score([*TEMPLATES, "<m>", ""], [*POOLS, (UNSEEN,), ("http://g/never.heard.of", *POOL)])
    assert [len(row) for row in scores] == [3, 3, 3, 3, 2, 3, 1, 4]
    assert all(np.abs(row).max() <= 1 + 1e-5 for row in scores)


def test_other_questions_and_relations_do_not_change_a_score(scorer) -> None:
    together = scorer.score(TEMPLATES, POOLS)
    alone = [scorer.score([template], [pool])[0] for template, pool in zip(TEMPLATES, POOLS, strict=True)]
    single = [[scorer.score([t], [(name,)])[0][0] for name in pool] for t, pool in zip(TEMPLATES, POOLS, strict=True)]
    for row, by_question, by_relation in zip(together, alone, single, strict=True):
        assert row == pytest.approx(by_question, abs=1e-5)
        assert row == pytest.approx(by_relation, abs=1e-5)


def test_the_toy_task_is_learnt_and_kept(scorer, tmp_path: Path) -> None:
    config = ComparedTraining(epochs=40, batch=3, learning_rate=0.02)
    training = training_of(scorer, config, seed=1)
    losses = [progress.loss for progress in fit(training, scorer, QUESTIONS, config)]
    assert losses[-1] < 0.05 < losses[0]
    scores = scorer.score(TEMPLATES, POOLS)
    assert [int(row.argmax()) for row in scores] == [question.gold_index for question in QUESTIONS]
    scorer.save(tmp_path / "model", card="# Toy")
    loaded = ComparedScorer.load(tmp_path / "model")
    assert loaded.config == scorer.config
    for before, after in zip(scores, loaded.score(TEMPLATES, POOLS), strict=True):
        assert np.array_equal(before, after)


def test_files_that_do_not_fit_are_told(scorer, tmp_path: Path) -> None:
    scorer.save(tmp_path / "model", card="# Toy")
    words = next((tmp_path / "model").rglob("vocab*.txt"))
    words.write_text(words.read_text() + "further\n")
    with pytest.raises(ValueError, match=r"Expected \d+ words, but got \d+; train it again"):
        ComparedScorer.load(tmp_path / "model")


@pytest.mark.parametrize("kind", ["bicnn", "ampcnn", "hr-bilstm"])
def test_a_relation_that_no_question_has_is_known_by_its_words(kind: Kind) -> None:
    torch.manual_seed(1)
    scorer = ComparedScorer.of(kind, word_counts(QUESTIONS, [*POOL, UNSEEN]), POOL, vectors, hidden=6)
    same, other = "http://g/other.person.gender", "http://g/other.singer.song"
    (row,) = scorer.score(["<m>"], [(UNSEEN, same, other)])
    assert len(set(np.round(row, 5))) == 3
    assert words_of(UNSEEN) == ["people", "person", "gender"]


def test_the_loss_is_the_mean_over_the_wrong_relations(scorer) -> None:
    question = QUESTIONS[1]
    scorer.network.eval()
    row = scorer.score([question.template], [question.pool])[0]
    expected = np.mean([max(0.0, 0.5 - row[1] + row[wrong]) for wrong in (0, 2)])
    assert batch_loss(scorer, [question], margin=0.5).item() == pytest.approx(expected, abs=1e-5)


def test_pools_of_one_relation_teach_nothing(scorer) -> None:
    config = ComparedTraining(epochs=1)
    with pytest.raises(ValueError, match="Expected questions with pools of several relations"):
        next(fit(training_of(scorer, config, seed=1), scorer, [PoolQuestion("<m>", POOL[:1], POOL[0])], config))


def test_attention_chooses_the_word_of_each_dimension() -> None:
    """a = cos(v, F_i) of (.6, .8) with (1, 0) is .6, with (0, 1) .8, with (.6, −.8) −.28; the fourth word is padding.

    Dimension 0 has a_i F_i0 = .6, 0, −.168: word 0, value 1. Dimension 1 has 0, .8, .224: word 1, value 1.
    """
    network = AttentiveMaxPoolingCNN(ComparedConfig("ampcnn", 3, 1, 2, hidden=1))
    states = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [0.6, -0.8], [9.0, 9.0]]])
    mask = torch.tensor([[True, True, True, False]])
    relations, real = torch.tensor([[[0.6, 0.8], [1.0, 0.0]]]), torch.tensor([[True, False]])
    score = network.score(states, mask, relations, real)
    assert score[0, 0].item() == pytest.approx((0.6 + 0.8) / 2**0.5, abs=1e-5)


def test_the_states_of_a_bicnn_are_sums_over_trigrams() -> None:
    assert trigrams("of") == ["#of", "of#"]
    torch.manual_seed(2)
    words = ["a", "of", "bird"]
    convolution = TrigramConvolution(words, 4)
    known = sorted({trigram for word in words for trigram in trigrams(word)})
    rows = [sum(convolution.filters.weight[known.index(t)] for t in trigrams(word)).view(3, 4) for word in words]
    expected = [rows[0][1] + rows[1][2], rows[0][0] + rows[1][1] + rows[2][2], rows[1][0] + rows[2][1]]
    states = convolution.states(torch.tensor([[0, 1, 2, 0]]), torch.tensor([[True, True, True, False]]))
    assert torch.allclose(states[0, :3], torch.tanh(torch.stack(expected)), atol=1e-6)


def test_hr_bilstm_reads_the_name_after_the_words() -> None:
    """Forward, words and name are one sequence; backward, the name goes on from the first word."""
    torch.manual_seed(3)
    network = HierarchicalResidualBiLSTM(ComparedConfig("hr-bilstm", 4, 2, 3, hidden=2))
    network.words.table.normal_()
    words, name = network.words.table[[1, 2]], network.names.weight[1:2]
    reader = network.relation_reader

    def states(inputs: torch.Tensor, suffix: str) -> torch.Tensor:
        weights = [getattr(reader, f"{part}_l0{suffix}") for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        h = c = torch.zeros(2)
        result = []
        for vector in inputs:
            h, c = torch.lstm_cell(vector[None], (h[None], c[None]), *weights)
            h, c = h[0], c[0]
            result.append(h)
        return torch.stack(result)

    forward = states(torch.cat([words, name]), "")
    backward = states(torch.cat([words.flip(0), name]), "_reverse")
    expected = torch.cat([forward.amax(0), backward.amax(0)])
    relations = Relations(torch.tensor([[1, 2, 0]]), torch.tensor([[True, True, False]]), torch.tensor([1]))
    assert torch.allclose(network.relation(relations)[0], expected, atol=1e-6)
    question, mask = torch.tensor([[1, 2, 3]]), torch.ones(1, 3, dtype=torch.bool)
    first = network.first(network.words(question), mask)
    assert torch.allclose(network.question(question, mask), first + network.second(first, mask), atol=1e-6)
    pooled = network.pooled(first, mask)
    assert torch.allclose(
        network.score(first, mask, expected.view(1, 1, -1), torch.ones(1, 1, dtype=torch.bool)),
        functional.cosine_similarity(pooled, expected[None]).view(1, 1),
        atol=1e-6,
    )
