"""What every other saved model keeps: saved is loaded, rows depend on their text alone, and damage is refused."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import ChatConfig
from generators.inference.acceptor import AcceptorConfig
from generators.inference.language_model import LanguageModelConfig
from generators.topics.counting_grid import CountingGrid, GridConfig
from generators.training.trainable_chat import TrainableChat
from kg_index.relations.relation_head import RelationHead
from kg_index.relations.relation_network import RelationDetector
from qa_core.encoders.trained_encoder import (
    BiLSTMTextConfig,
    MeanTextConfig,
    TrainedEncoder,
    WordReader,
    module_of,
    save_encoder,
)
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.poolings import BiLSTMConfig, MeanConfig
from qa_core.networks.translator import Translator, TranslatorConfig
from qa_core.networks.vocabulary import PAD, UNKNOWN, Vocabulary
from qa_core.types import FloatArray
from qa_core.vectors.word_vectors import WordVectors
from retrievers.training.phrases.phrase_model import PhraseModel
from retrievers.training.phrases.trees import tree_of

WORDS = ("where", "does", "live", "cats", "sleep", "home")
TEXTS = ["where does cats live", "cats sleep", "home", "cats sleep where cats live", "live home unheard"]
RELATIONS = ("http://g/author", "http://g/birthPlace", "http://g/deathPlace")
NETWORK = Seq2SeqConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=True, uniform=0.5)


def word_vectors(words: Sequence[str]) -> FloatArray:
    """A vector for each text, the same every time."""
    rows = [np.random.default_rng(list(f"{word} ".encode())).normal(size=8) for word in words]
    return np.array(rows, dtype=np.float32).reshape(-1, 8)


@dataclass(frozen=True)
class Entry:
    """A tiny model: `rows` gives an array for each text, `poison` puts NaN into its weights."""

    make: Callable[[], Any]
    load: Callable[[Path], Any]
    rows: Callable[[Any, Sequence[str]], Any]
    poison: Callable[[Any], object]
    save: Callable[..., None] = lambda model, folder, card: model.save(folder, card=card)


def fill_nan(name: str) -> Callable[[Any], object]:
    """Fills the last weights of the network with that name with NaN."""
    return lambda model: list(getattr(model, name).parameters())[-1].data.fill_(torch.nan)


def encoder_entry(config: Any) -> Entry:
    vocabulary = Vocabulary((PAD, UNKNOWN, *WORDS))

    def save(encoder: TrainedEncoder, folder: Path, card: str) -> None:
        save_encoder(folder, encoder.module, config=config, vocabulary=vocabulary, known=["cats"], card=card)

    return Entry(
        lambda: TrainedEncoder(WordReader(vocabulary, 6), module_of(config).eval(), config, "", frozenset({"cats"})),
        TrainedEncoder.load,
        lambda encoder, texts: encoder.encode(texts, side="answer"),
        fill_nan("module"),
        save,
    )


def phrases_entry(composition: Any) -> Entry:
    vectors = WordVectors(WORDS, word_vectors(WORDS))
    return Entry(
        lambda: PhraseModel.of(vectors, composition, noise=0.3),
        PhraseModel.load,
        lambda model, texts: model.vectors([tree_of(f"none {text[:200]}") for text in texts]),
        lambda model: model.network.E.change.data.fill_(torch.nan),
    )


def random_grid() -> CountingGrid:
    cells = np.random.default_rng(1).dirichlet([0.5] * len(WORDS), size=12).T.astype(np.float32)
    shares = np.full(len(WORDS), 1 / len(WORDS), dtype=np.float32)
    return CountingGrid.of(GridConfig(3, 4, 2, 0.1), Vocabulary(WORDS), cells, shares)


def poison_grid(grid: CountingGrid) -> None:
    grid.background[0] = np.nan


def chat_model(*, tied: bool = True) -> ChatModel:
    network = Seq2SeqConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=tied, uniform=0.5)
    language = LanguageModelConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=tied, uniform=0.5)
    config = ChatConfig(network, language, AcceptorConfig(hidden=4), max_source=8, max_target=6)
    return TrainableChat.of(TEXTS * 3, config).inference()


def chat_scores(model: ChatModel, texts: Sequence[str]) -> FloatArray:
    forward = [model.forward_row(["cats sleep"], text) for text in texts]
    backward = [model.backward_row(["cats sleep"], text) for text in texts]
    columns = (model.log_forward(forward), model.log_backward(backward), model.log_language(forward))
    return np.stack(columns, axis=-1).astype(np.float32).reshape(-1, 3)


def chat_entry(*, tied: bool) -> Entry:
    def poison(model: ChatModel) -> None:
        model.language.output.bias[3] = np.nan

    return Entry(lambda: chat_model(tied=tied), ChatModel.load, chat_scores, poison)


MODELS = {
    "mean encoder": encoder_entry(MeanTextConfig(MeanConfig(8, 8), max_tokens=6)),
    "bilstm encoder": encoder_entry(
        BiLSTMTextConfig(BiLSTMConfig(8, 8, hidden=5, output=7, typed=True, uniform=0.5), max_tokens=6)
    ),
    "phrases addition": phrases_entry("addition"),
    "phrases recursive": phrases_entry("recursive"),
    "translator": Entry(
        lambda: Translator.of(TEXTS, TranslatorConfig(NETWORK, max_source=4, max_target=3)),
        Translator.load,
        lambda model, texts: model.log_likelihoods(texts, texts)[0].astype(np.float32),
        fill_nan("model"),
    ),
    "relation detector": Entry(
        lambda: RelationDetector.of(dict.fromkeys(WORDS, 1), RELATIONS, word_vectors, hidden=12),
        RelationDetector.load,
        lambda model, texts: np.reshape(model.score(texts, [RELATIONS] * len(texts)), (-1, 3)),
        fill_nan("network"),
    ),
    "relation head": Entry(
        lambda: RelationHead.of(word_vectors, RELATIONS, hidden=16),
        lambda folder: RelationHead.load(folder, word_vectors),
        lambda model, texts: np.reshape(model.score(texts, [RELATIONS] * len(texts)), (-1, 3)),
        fill_nan("network"),
    ),
    "counting grid": Entry(
        random_grid, CountingGrid.load, lambda grid, texts: grid.posteriors(texts).astype(np.float32), poison_grid
    ),
    "chat model": chat_entry(tied=True),
    "chat model of several softmaxes": chat_entry(tied=False),
}


@dataclass(frozen=True)
class Saved:
    """A model and its folder, which is read only."""

    entry: Entry
    model: Any
    folder: Path


@pytest.fixture(scope="module", params=MODELS.values(), ids=list(MODELS))
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Saved:
    entry: Entry = request.param
    torch.manual_seed(1)
    model = entry.make()
    folder = tmp_path_factory.mktemp("saved") / "model"
    entry.save(model, folder, card="# A card\n")
    return Saved(entry, model, folder)


def test_a_row_depends_only_on_its_text(saved: Saved, assert_independent, odd_texts):
    rows = assert_independent(lambda texts: saved.entry.rows(saved.model, texts), [*TEXTS, *odd_texts])
    assert np.ptp(rows) > 1e-3


def test_a_loaded_model_gives_the_same_rows_and_is_saved_again(saved: Saved, odd_texts, tmp_path: Path):
    texts = [*TEXTS, *odd_texts]
    expected = saved.entry.rows(saved.model, texts)
    model = saved.entry.load(saved.folder)
    for card in ("# First\n", "# Second\n"):  # to a new folder, then over the folder that it was read from
        np.testing.assert_array_equal(saved.entry.rows(model, texts), expected)
        saved.entry.save(model, tmp_path / "model", card=card)
        assert (tmp_path / "model" / "README.md").read_text() == card
        model = saved.entry.load(tmp_path / "model")
    np.testing.assert_array_equal(saved.entry.rows(model, texts), expected)


def test_a_missing_folder_is_named(saved: Saved, tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"none"):
        saved.entry.load(tmp_path / "none")


def test_damaged_models_are_refused(saved: Saved, damage, copy_model):
    folder = copy_model(saved.folder)
    damage.apply(folder)
    with pytest.raises(ValueError, match=damage.message) as caught:
        saved.entry.load(folder)
    assert str(folder) in str(caught.value)


def test_nan_is_not_saved(saved: Saved, tmp_path: Path):
    model = saved.entry.load(saved.folder)
    saved.entry.poison(model)
    with pytest.raises(ValueError, match="finite weights, but got NaN or infinity in '"):
        saved.entry.save(model, tmp_path / "model", card="")
    assert not (tmp_path / "model" / "config.json").exists()
