"""What every scorer of pairs keeps: a toy task is learnt, scores depend on the pair alone, and saved is loaded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="scorers over a transformer need the extra 'minilm'")

from qa_core.encoders.pair_tokens import PairConfig
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.training import pair_classifier
from qa_core.training.likelihood_training import LikelihoodConfig
from qa_core.training.likelihood_training import optimiser as likelihood_optimiser
from qa_core.training.loop import Training, seed_everything
from qa_core.training.pair_classifier import LabelledPairs, PairClassifier, PairTuning
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import WordVectors
from rankers.answer_selection import blstm, compared, encoder_decoder, hyperqa, siamese_cosine
from rankers.answer_selection.blstm import POOLS
from rankers.answer_selection.frozen_words import TableWords
from rankers.answer_selection.keyword_features import COSINE, FEATURES, Keywords
from rankers.answer_selection.stacked import FAITHFUL, Inputs, StackedRanker
from rankers.compared.networks import NETWORKS
from rankers.compared.shape import ComparedShape
from rankers.gbdt import BoostedTrees, GBDTConfig
from rankers.paraphrase.word_pairs import CONFIGS, WordPairs, WordSizes
from rankers.training import cross_encoder_training
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.cross_encoder_training import CrossEncoderTuning, TrainedCrossEncoder, tune_cross_encoder
from rankers.training.pair_training import PairwiseConfig, PointwiseConfig, train_pairwise
from rankers.training.paraphrase_training import ParaphraseConfig, accuracy, train_paraphrase

# --- the toy tasks --------------------------------------------------------------------------------------------------

NAMES = ["bal", "cemin", "dites", "fovon", "guzar", "kalor", "malin"]
BY_NAME = AnswerPool.of(
    AnswerSet(
        f"where does {name} live",
        tuple(f"{other} lives at home" for other in NAMES),
        tuple(other == name for other in NAMES),
    )
    for name in NAMES
)
"""Right answers contain the name of the question."""
FEW = {f"where does {name} live": tuple(other == name for other in NAMES[:3]) for name in NAMES[:3]}
"""The same with three names, for networks that must learn what equal names are."""
BY_VERB = AnswerPool.of(
    AnswerSet(f"where does {name} live", (f"address of {name}", f"age of {name}"), (True, False)) for name in NAMES
)
"""Right answers are about the address."""
PIECES = ("cats", "sleep", "day", "why")
BY_PIECE = AnswerPool.of(
    AnswerSet(first, tuple(f"do {word} ?" for word in PIECES), tuple(word == "cats" for word in PIECES))
    for first in PIECES
)
"""The right answer of every question is about cats; all words are those of the tiny transformer."""


def texts_of(pool: AnswerPool) -> list[str]:
    return [*pool.questions, *pool.answers]


def labelled(pool: AnswerPool) -> LabelledPairs:
    return LabelledPairs(tuple(pool.pairs()), tuple(pool.label.tolist()))


# --- the scorers ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entry:
    """A tiny scorer: how it is made (from the folder of a tiny transformer), loaded and trained on its toy task."""

    make: Callable[[Path], Any]
    load: Callable[[Path], Any]
    learn: Callable[[Any], object] | None = None
    task: AnswerPool = BY_NAME
    network: Callable[[Any], torch.nn.Module] | None = attrgetter("model")
    symmetric: bool = False


def train(scorer: Any, optimiser: torch.optim.Optimizer, train_on: Callable[..., Any], *arguments: Any, **options: Any):
    """Run a training loop of a scorer to its end."""
    for _ in train_on(Training(scorer.model, optimiser, seed=1), scorer, *arguments, **options):
        pass


def blstm_entry(kind: str = "adam", rate: float = 0.02, **changes: Any) -> Entry:
    config = blstm.BLSTMConfig(dimension=16, hidden=12, layers=1, overlap=True, **changes)
    pointwise = PointwiseConfig(batch=16, epochs=30, balanced=True)
    settings = blstm.BLSTMTraining(pointwise, optimiser=kind, learning_rate=rate)
    return Entry(
        lambda _: blstm.BLSTMScorer.of(texts_of(BY_NAME), config),
        blstm.BLSTMScorer.load,
        lambda scorer: train(scorer, blstm.optimiser(scorer, settings), blstm.train_blstm, BY_NAME, settings),
    )


def encoder_decoder_entry(direction: Any) -> Entry:
    network = Seq2SeqConfig(60, dimension=12, hidden=12, layers=1, dropout=0.0, uniform=0.3)
    config = encoder_decoder.EncoderDecoderConfig(network, max_question=6, max_answer=8, direction=direction)
    settings = LikelihoodConfig(batch=7, epochs=80, learning_rate=0.03)

    def learn(ranker: encoder_decoder.EncoderDecoderRanker) -> None:
        right = [pair for pair, label in zip(BY_NAME.pairs(), BY_NAME.label, strict=True) if label]
        optimiser = likelihood_optimiser(ranker.translator, settings)
        train(ranker, optimiser, encoder_decoder.train_encoder_decoder, right, settings)

    return Entry(
        lambda _: encoder_decoder.EncoderDecoderRanker.of(texts_of(BY_NAME), config),
        encoder_decoder.EncoderDecoderRanker.load,
        learn if direction != "prior" else None,  # a prior ignores the question
    )


def table_words() -> TableWords:
    words = ("where", "does", "live", "lives", "at", "home", *NAMES)
    return TableWords.of(WordVectors(words, np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)))


PAIRWISE = PairwiseConfig(batch=20, epochs=25, negatives=3, drawn=4)


def hyperqa_entry(margin: float = 1.0, **shape: Any) -> Entry:
    def learn(scorer: hyperqa.HyperQA) -> None:
        optimiser = hyperqa.optimiser(scorer, learning_rate=0.1, l2=1e-6)
        train(scorer, optimiser, train_pairwise, BY_NAME, replace(PAIRWISE, margin=margin))

    made = hyperqa.HyperShape(projection=16, **shape)
    return Entry(lambda _: hyperqa.HyperQA.of(table_words(), made), hyperqa.HyperQA.load, learn)


def siamese_entry(encoder: Any, attentive: bool) -> Entry:
    def learn(scorer: siamese_cosine.SiameseCosineRanker) -> None:
        optimiser = siamese_cosine.optimiser(scorer, learning_rate=0.05, l2=0.0)
        train(scorer, optimiser, train_pairwise, BY_NAME, replace(PAIRWISE, margin=0.3))

    made = siamese_cosine.PeerShape(encoder, attentive, hidden=8, filters=12)
    ranker = siamese_cosine.SiameseCosineRanker
    return Entry(lambda _: ranker.of(table_words(), made), ranker.load, learn)


def compared_entry(network: Any) -> Entry:
    few = AnswerPool.of(AnswerSet(q, tuple(f"{n} lives at home" for n in NAMES[:3]), label) for q, label in FEW.items())

    def learn(scorer: compared.ComparedRanker) -> None:
        optimiser = compared.optimiser(scorer, learning_rate=0.02, l2=0.0)
        config = replace(PAIRWISE, epochs=20 if network == "mp-cnn" else 60, sampling="random")
        train(scorer, optimiser, train_pairwise, few, config)

    shape = ComparedShape(network, hidden=16, filters=8)
    ranker = compared.ComparedRanker
    return Entry(lambda _: ranker.of(table_words(), shape), ranker.load, learn, few)


def letter_shares(texts: Sequence[str]) -> FloatArray:
    rows = np.array([[1 + text.count(letter) for letter in "aehs"] for text in texts], dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def stacked_entry(*names: str) -> Entry:
    """Trees are fitted when they are made."""
    has_network, has_encoder = not {*names}.isdisjoint(POOLS), COSINE in names
    shape = blstm.BLSTMConfig(dimension=6, hidden=5, layers=2)
    config = GBDTConfig(trees=20, leaves=3, least=2, examples=1.0, features=1.0)

    def make(_: Path) -> StackedRanker:
        network = blstm.BLSTMScorer.of(texts_of(BY_NAME), shape) if has_network else None
        inputs = Inputs(Keywords.of(BY_NAME.answers), network, letter_shares if has_encoder else None)
        table = inputs.table(BY_NAME.pairs(), names)
        trees = BoostedTrees.fit(table, BY_NAME.label, names=names, config=config)
        return StackedRanker(inputs, trees, "f" if has_encoder else "")

    options = {"encode": letter_shares, "encoder": "f"} if has_encoder else {}
    network = attrgetter("inputs.network.model") if has_network else None
    return Entry(make, partial(StackedRanker.load, **options), lambda _: None, network=network)


class HashedStates:
    """States of words by their letters, each shifted towards the state of the word before."""

    dimension = 24
    fingerprint = "hashed"

    def states(self, texts: Sequence[str]) -> list[FloatArray]:
        return [self._of(text.split()) for text in texts]

    def _of(self, words: list[str]) -> FloatArray:
        by_word = [np.random.default_rng(blake2b(w.encode()).digest()[0]).normal(size=24) for w in words]
        moved = [state + 0.1 * before for state, before in zip(by_word, [np.zeros(24), *by_word], strict=False)]
        return np.array(moved, dtype=np.float32).reshape(-1, 24)


def paraphrase_entry(kind: str, make: Callable[..., WordPairs], load: Callable[[Path], WordPairs]) -> Entry:
    def learn(scorer: WordPairs) -> None:
        config = ParaphraseConfig(batch=6, epochs=16, patience=16, identical=3)
        optimiser = torch.optim.Adam(scorer.model.parameters(), lr=0.02)
        pairs = labelled(BY_VERB)
        train(scorer, optimiser, train_paraphrase, pairs, config, held_out=pairs)
        assert accuracy(scorer, pairs) == 1

    sizes = WordSizes(dimension=16, hidden=16, dropout=0.0, max_tokens=12)
    return Entry(lambda _: make(kind, texts_of(BY_VERB), sizes), load, learn, BY_VERB, symmetric=True)


def learn_classifier(scorer: PairClassifier) -> None:
    tuning = PairTuning(batch=16, epochs=200, learning_rate=0.01)
    train(scorer, pair_classifier.optimiser(scorer, tuning), pair_classifier.train_pairs, labelled(BY_PIECE), tuning)
    assert ((scorer.score(BY_PIECE.pairs()) > 0) == BY_PIECE.label).all()


def learn_cross_encoder(scorer: TrainedCrossEncoder) -> None:
    tuning = CrossEncoderTuning(batch=16, epochs=200, patience=200, learning_rate=0.01, head_rate=0.01)
    train(scorer, cross_encoder_training.optimiser(scorer, tuning), tune_cross_encoder, BY_PIECE, tuning)


IN_CONTEXT = partial(WordPairs.in_context, encoder=HashedStates(), name="encoder", scale=4.0)
LOAD_IN_CONTEXT = partial(WordPairs.load, opened=lambda _: HashedStates())
TRANSFORMER = PairConfig(max_length=16, dropout=0.0)
SCORERS = {
    "blstm": blstm_entry(),
    "blstm sgd": blstm_entry("sgd", 0.3),
    "blstm one direction": blstm_entry(bidirectional=False),
    **{f"encoder-decoder {name}": encoder_decoder_entry(name) for name in ("backward", "forward", "prior")},
    "hyperqa": hyperqa_entry(riemannian="off"),
    "hyperqa embeddings": hyperqa_entry(riemannian="embeddings"),
    "hyperqa rows": hyperqa_entry(riemannian="rows"),
    "hyperqa cosine": hyperqa_entry(0.2, distance="cosine"),
    "hyperqa sums": hyperqa_entry(concatenate=True, dropout=0.1),
    "siamese bilstm": siamese_entry("bilstm", False),
    "siamese cnn": siamese_entry("cnn", False),
    "siamese bilstm attentive": siamese_entry("bilstm", True),
    "siamese cnn attentive": siamese_entry("cnn", True),
    "stacked": stacked_entry(*FAITHFUL),
    "stacked keywords": stacked_entry(*FEATURES),
    "stacked all": stacked_entry(*POOLS, *FEATURES, COSINE),
    **{f"paraphrase {kind}": paraphrase_entry(kind, WordPairs.of, WordPairs.load) for kind in CONFIGS},
    **{f"{kind} in context": paraphrase_entry(kind, IN_CONTEXT, LOAD_IN_CONTEXT) for kind in CONFIGS},
    **{kind: compared_entry(kind) for kind in NETWORKS},
    "pair classifier": Entry(
        lambda folder: PairClassifier.of(folder, TRANSFORMER), PairClassifier.load, learn_classifier, BY_PIECE
    ),
    "cross-encoder": Entry(
        lambda folder: TrainedCrossEncoder.of(folder, TRANSFORMER),
        TrainedCrossEncoder.load,
        learn_cross_encoder,
        BY_PIECE,
    ),
}


@dataclass(frozen=True)
class Trained:
    """A scorer after training, with its scores of the toy task and its folder, which is read only."""

    entry: Entry
    scorer: Any
    folder: Path


@pytest.fixture(scope="module", params=SCORERS.values(), ids=list(SCORERS))
def trained(request: pytest.FixtureRequest, pair_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    entry: Entry = request.param
    seed_everything(1)
    scorer = entry.make(pair_bert)
    if entry.learn:
        entry.learn(scorer)
    folder = tmp_path_factory.mktemp("saved") / "model"
    scorer.save(folder, card="# A card\n")
    return Trained(entry, scorer, folder)


# --- the contract ---------------------------------------------------------------------------------------------------


def test_the_toy_task_is_learnt(trained: Trained):
    if trained.entry.learn is None:
        pytest.skip("this scorer is not trained")
    task = trained.entry.task
    scores = trained.scorer.score(task.pairs())
    first = [
        task.label[rows][scores[rows].argmax()]
        for rows in map(np.flatnonzero, task.question == np.arange(len(task.questions))[:, None])
    ]
    assert np.mean(first) == 1


def test_a_score_depends_only_on_the_pair(trained: Trained, assert_independent, odd_texts):
    (question, answer), *_ = pairs = trained.entry.task.pairs()
    odd = [pair for text in odd_texts for pair in ((question, text), (text, answer), (text, text))]
    scores = assert_independent(trained.scorer.score, [*pairs, *odd], atol=2e-4)
    assert np.ptp(scores) > 1e-3
    if trained.entry.symmetric:
        turned = trained.scorer.score([(b, a) for a, b in [*pairs, *odd]])
        np.testing.assert_allclose(turned, scores, atol=1e-5)


def test_a_loaded_scorer_gives_the_same_scores_and_is_saved_again(trained: Trained, odd_texts, tmp_path: Path):
    pairs = [*trained.entry.task.pairs(), *zip(odd_texts, odd_texts, strict=True)]
    expected = trained.scorer.score(pairs)
    scorer = trained.entry.load(trained.folder)
    for card in ("# First\n", "# Second\n"):  # to a new folder, then over the folder that it was read from
        np.testing.assert_array_equal(scorer.score(pairs), expected)
        assert scorer.config == trained.scorer.config if hasattr(scorer, "config") else True
        scorer.save(tmp_path / "model", card=card)
        assert (tmp_path / "model" / "README.md").read_text() == card
        scorer = trained.entry.load(tmp_path / "model")
    np.testing.assert_array_equal(scorer.score(pairs), expected)


def test_a_missing_folder_is_named(trained: Trained, tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"config\.json, but .*none has none"):
        trained.entry.load(tmp_path / "none")


def test_damaged_models_are_refused(trained: Trained, damage, copy_model):
    folder = copy_model(trained.folder)
    damage.apply(folder)
    with pytest.raises(ValueError, match=damage.message) as caught:
        trained.entry.load(folder)
    assert str(folder) in str(caught.value)


def test_nan_is_not_saved(trained: Trained, copy_model, tmp_path: Path):
    if trained.entry.network is None:
        pytest.skip("no network")
    scorer = trained.entry.load(trained.folder)
    with torch.no_grad():
        list(trained.entry.network(scorer).parameters())[-1].fill_(torch.nan)
    with pytest.raises(ValueError, match="finite weights, but got NaN or infinity in '"):
        scorer.save(tmp_path / "model", card="")
    assert not (tmp_path / "model").exists()
