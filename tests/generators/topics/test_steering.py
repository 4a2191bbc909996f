import numpy as np
import pytest
import torch

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import ChatConfig
from generators.conversation.decoding import Sampling
from generators.conversation.padded_batches import SourceTarget, columns
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, Response, rerank_by_topic, respond
from generators.inference.activations import softmax
from generators.topics.counting_grid import CountingGrid, GridConfig
from generators.topics.steering import Steering
from generators.training.chat_training import PartConfig, begin_from, optimiser, perplexity, train_part
from generators.training.topic_batches import posteriors, with_topics
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.decoder_types import Seq2SeqConfig
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.networks.translator import Columns
from qa_core.networks.vocabulary import Vocabulary
from qa_core.training.loop import Training, seed_everything

TOPICS = {"cats": ("purr", "tail"), "boats": ("sail", "mast")}
"""Words of two corners of a grid."""


@pytest.fixture
def grid() -> CountingGrid:
    """Four cells and windows of one: cats live in the first, boats in the last."""
    words = [word for name, words in TOPICS.items() for word in (name, *words)]
    cells = np.full((len(words), 4), 1 / len(words), dtype=np.float32)
    cells[:, 0], cells[:, 3] = [0.3, 0.3, 0.3, 0.1 / 3, 0.1 / 3, 0.1 / 3], [0.1 / 3, 0.1 / 3, 0.1 / 3, 0.3, 0.3, 0.3]
    background = np.full(len(words), 1 / len(words), dtype=np.float32)
    return CountingGrid.of(GridConfig(2, 2, 1, background=0.0), Vocabulary(tuple(words)), cells, background)


@pytest.fixture
def texts() -> list[str]:
    return [f"they {words}" for name in TOPICS for words in TOPICS[name]] + ["what do you say ?"]


@pytest.fixture
def trainable(grid: CountingGrid, texts: list[str], chat_config: ChatConfig) -> TrainableChat:
    seed_everything(4)
    network = Seq2SeqConfig(60, dimension=8, hidden=16, layers=1, dropout=0.0, uniform=0.3)
    config = ChatConfig(network, chat_config.language, chat_config.acceptor, max_source=8, max_target=6)
    return TrainableChat.of(texts * 2, config, grid=grid)


@pytest.fixture
def model(trainable: TrainableChat) -> ChatModel:
    return trainable.inference()


def test_a_cell_as_hint_is_a_topic_of_one_place(model: ChatModel, grid: CountingGrid):
    assert model.steering is not None
    assert model.steering.topic(2, "purr", "zxqv").tolist() == [
        [0, 0, 1, 0],
        grid.posterior("purr").probabilities.tolist(),
    ]
    assert model.steering.agreement(["they purr"], [0])[0] > model.steering.agreement(["they purr"], [3])[0]
    with pytest.raises(IndexError, match="Expected a cell of the topic grid from 0 to 3, but got 4"):
        model.steering.topic(4)


def test_scanned_cells_give_different_topics(model: ChatModel):
    """Four scanned cells give four topic vectors, and one of a large grid gets about each part of it."""
    steering = model.steering
    assert steering is not None
    topics = steering.topic(*steering.scanned(4))
    assert sorted(topics.argmax(axis=1).tolist()) == [0, 1, 2, 3]
    cells = np.full((1, 32 * 32), 1.0, dtype=np.float32)
    config = GridConfig(32, 32, 5)
    large = Steering(CountingGrid.of(config, Vocabulary(("cat",)), cells, np.ones(1, dtype=np.float32)), Vocabulary(()))
    scanned = np.array(large.scanned(16))
    assert len(set(scanned.tolist())) == 16
    rows, columns = scanned // 32, scanned % 32
    assert np.bincount(rows // 8).tolist() == [4, 4, 4, 4]
    assert np.bincount(columns // 8, minlength=4).min() >= 3
    assert large.scanned(9999) == tuple(dict.fromkeys(large.scanned(9999)))


def test_topics_of_words_equal_those_of_the_grid(model: ChatModel, grid: CountingGrid):
    assert model.steering is not None
    target = torch.from_numpy(np.stack([model.target("they purr"), model.target("they say")]))
    topic = posteriors(model.steering, target, torch.ones_like(target, dtype=torch.bool))
    np.testing.assert_allclose(topic[0], grid.posterior("purr").probabilities, rtol=1e-5)
    assert topic[0].tolist() == pytest.approx([0.45, 0.25, 0.25, 0.05], abs=1e-4)
    assert topic[1].tolist() == pytest.approx([0.25] * 4)  # no word of the grid


def test_hints_without_known_words_are_uniform(model: ChatModel):
    assert model.steering is not None
    assert model.steering.topic("nobody knows this").tolist() == [pytest.approx([0.25] * 4)]
    assert model.steering.topic("purr", "xyzzy", "mast").shape == (2, 4)


def test_training_gives_topics_to_only_some_replies(model: ChatModel):
    assert model.steering is not None
    batch = Columns.of([(model.source(["you"]), model.target("they purr"))] * 200, torch.device("cpu"))
    topic = with_topics(model.steering, batch, np.random.default_rng(1)).topic
    assert topic is not None
    without = int((topic[:, 0] == 0.25).sum())
    assert 70 < without < 130
    topic = with_topics(model.steering, batch).topic
    assert topic is not None
    assert bool((topic[:, 0] > 0.4).all())


def test_a_steered_decoder_prefers_words_of_the_hint(trainable: TrainableChat, texts: list[str]):
    assert trainable.steering is not None
    rows: list[SourceTarget] = [trainable.forward_row(["what do you say ?"], text) for text in texts[:-1]]
    config = PartConfig(batch=4, epochs=100, patience=100, learning_rate=0.01)
    training = Training(trainable.forward, optimiser(trainable.forward.parameters(), config), seed=1)
    for _ in train_part(training, rows * 4, config, held_out=rows, steering=trainable.steering):
        pass
    steered = perplexity(trainable.forward, rows, steering=trainable.steering)
    assert steered < perplexity(trainable.forward, rows) - 0.05
    model = trainable.inference()
    assert model.steering is not None
    counts = {}
    for hint in ("cats", "boats"):
        generation = GenerationConfig(60, length=4, method="vanilla", sampling=Sampling())
        responses = respond(
            model,
            ["what do you say ?"],
            60,
            stream=RandomStream(1),
            generation=generation,
            hints=[hint],
        )
        counts[hint] = {response.text.split()[-1].rstrip(".") for response in responses}
    batch = columns([model.forward_row(["what do you say ?"], "they purr")])
    drawn = {
        hint: softmax(model.forward.output.logits(model.forward.before_softmax(*batch, model.steering.topic(hint))))[1]
        for hint in TOPICS
    }
    for hint, words in TOPICS.items():
        other = next(name for name in TOPICS if name != hint)
        its_share = sum(float(drawn[hint][model.vocabulary.ids([word])[0]]) for word in words)
        other_share = sum(float(drawn[hint][model.vocabulary.ids([word])[0]]) for word in TOPICS[other])
        assert its_share > 2 * other_share
    assert counts["cats"] & set(TOPICS["cats"])


def test_a_model_is_saved_with_its_grid(model: ChatModel, tmp_path):
    model.save(tmp_path / "chat", card="# a model")
    loaded = ChatModel.load(tmp_path / "chat")
    assert loaded.config == model.config
    assert loaded.steering is not None
    assert model.steering is not None
    batch = columns([model.forward_row(["what do you say ?"], "they purr")])
    scores = [chat.forward.log_likelihood(*batch, chat.steering.topic("cats")) for chat in (model, loaded)]
    assert scores[0].tolist() == scores[1].tolist()


def test_another_grid_is_refused(model: ChatModel, grid: CountingGrid, tmp_path):
    model.save(tmp_path / "chat", card="# a model")
    cells = np.full((6, 6), 1 / 6, dtype=np.float32)
    CountingGrid.of(GridConfig(2, 3, 1), grid.vocabulary, cells, grid.background).save(
        tmp_path / "chat" / "grid", card=""
    )
    with pytest.raises(ValueError, match="Expected a grid of 4 cells, but got 6"):
        ChatModel.load(tmp_path / "chat")


def test_parts_without_topics_can_begin_from_a_part_with_topics(trainable: TrainableChat):
    copied = begin_from(trainable.backward, trainable.forward)
    assert "decoder.weight_ih_l0" in copied
    assert torch.equal(trainable.backward.decoder.weight_ih_l0, trainable.forward.decoder.weight_ih_l0[:, :8])


def test_topics_may_pass_through_a_linear_map(grid: CountingGrid, texts: list[str], chat_config: ChatConfig):
    network = Seq2SeqConfig(60, dimension=8, hidden=16, layers=1, topic_width=3)
    made = TrainableChat.of(texts, ChatConfig(network, chat_config.language), grid=grid).inference()
    assert made.steering is not None
    weight = made.forward.weights["topics.weight"]
    assert weight.shape == (3, 4)
    state = made.start_state(["they say"], 5, hints=["cats", "xyzzy", "boats"])
    np.testing.assert_allclose(state.topic[0], weight @ made.steering.topic("cats")[0], rtol=1e-5)
    assert state.topic[0].tolist() == state.topic[2].tolist()  # the second hint has no known word and no share
    assert state.topic[0].tolist() != state.topic[1].tolist()
    deaf = TrainableChat.of(texts, ChatConfig(network, chat_config.language)).inference()
    assert deaf.start_state(["they say"], 2, hints=["cats"]).topic.shape == (2, 0)


def test_a_topic_distribution_of_wrong_size_is_refused():
    model = Seq2Seq(Seq2SeqConfig(9, dimension=4, hidden=4, layers=1, topics=5))
    source, mask = torch.tensor([[5, 6]]), torch.ones(1, 2, dtype=torch.bool)
    assert model.start(source, mask).topic.tolist() == [pytest.approx([0.2] * 5)]
    with pytest.raises(ValueError, match=r"Expected a distribution over topics of shape \(1, 5\), but got \(1, 4\)"):
        model.start(source, mask, torch.full((1, 4), 0.25))


def test_extra_words_are_added_if_they_are_frequent_enough(texts: list[str], chat_config: ChatConfig):
    made = TrainableChat.of(texts * 2, chat_config, minimum=2, extra=["mast of nowhere"])
    assert "mast" in made.vocabulary
    assert "nowhere" not in made.vocabulary


def test_steering_without_common_words_has_no_logs(grid: CountingGrid):
    steering = Steering(grid, Vocabulary(("alpha", "beta")))
    assert not steering.logs.any()


def test_agreement_by_hand(model: ChatModel):
    assert model.steering is not None
    cats, boats = [0.45, 0.25, 0.25, 0.05], [0.05, 0.25, 0.25, 0.45]
    same, other = 4 * np.dot(cats, cats), 4 * np.dot(cats, boats)
    agreement = model.steering.agreement(["they purr", "the mast", "nothing known"], ["cats"])
    assert agreement.tolist() == pytest.approx(np.log([same, other, 1.0]).tolist(), abs=1e-4)
    both = model.steering.agreement(["they purr", "the mast"], ["cats", "boats", "xyzzy"])
    assert both.tolist() == pytest.approx([np.log(same)] * 2, abs=1e-4)
    assert model.steering.agreement(["they purr"], ["xyzzy"]).tolist() == [0.0]
    assert model.steering.agreement([], ["cats"]).tolist() == []


def test_responses_that_agree_with_the_hint_come_first(model: ChatModel):
    responses = [Response("They purr.", -1.0, 0.0, 0.0), Response("The mast.", -1.5, 0.0, 0.0)]
    reranked = rerank_by_topic(model, responses, ["boats"], 2.0)
    assert [response.text for response in reranked] == ["The mast.", "They purr."]
    assert rerank_by_topic(model, responses, ["boats"], 0.0) == rerank_by_topic(model, responses, [], 2.0) == responses
