import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import BARRED
from generators.conversation.decoding import Sampling
from generators.conversation.random_stream import RandomStream
from generators.conversation.selective import Selection, accepted_log_p, chosen, selective_sample
from generators.inference.acceptor import Acceptor
from qa_core.networks.decoder_types import END_ID, START_ID, Hypothesis, Limits

LIMITS = Limits(START_ID, END_ID, 6, barred=BARRED)


def likes_likely_words(acceptor: Acceptor, *, at: float) -> None:
    """Accept log p(w|S) above `at`, whatever the other features."""
    weights = acceptor.weights
    for name, array in weights.items():
        array[...] = float(name == "scale")
    weights["layers.0.weight"][0, 0] = 0.01  # tanh is linear there
    weights["layers.2.weight"][0, 0] = 1000.0
    weights["layers.2.bias"][0] = -10.0 * at


def drawn(model: ChatModel, count: int, selection: Selection, seed: int = 1) -> list[Hypothesis]:
    return selective_sample(
        model.forward.step,
        model.start_state(["why?"], count),
        model.language.step,
        model.language.start(count),
        count,
        acceptor=model.acceptor,
        limits=LIMITS,
        stream=RandomStream(seed),
        selection=selection,
    )


def test_an_accepted_word_is_chosen_or_else_the_best():
    log_p = np.log(np.array([[0.6, 0.1, 0.9], [0.3, 0.45, 0.2]], dtype=np.float32))
    picked = {tuple(chosen(log_p, 0.5, RandomStream(seed)).tolist()) for seed in range(40)}
    assert picked == {(0, 1), (2, 1)}
    assert chosen(log_p, 0.0, RandomStream(1)).shape == (2,)


def test_scores_are_from_the_acceptor(chat_model: ChatModel):
    likes_likely_words(chat_model.acceptor, at=-2.0)
    texts = drawn(chat_model, 5, Selection(draws=8))
    assert all(text.score < 0 for text in texts)
    assert texts == drawn(chat_model, 5, Selection(draws=8))
    assert texts != drawn(chat_model, 5, Selection(draws=8), seed=2)
    assert not {word for text in texts for word in text.tokens} & {*BARRED, END_ID}


def test_given_texts_are_scored_like_drawn_ones(chat_model: ChatModel):
    """Nothing is barred for given texts, so a model that never draws special words must agree with itself."""
    bias = chat_model.forward.output.bias
    bias[list(BARRED)] = -50.0
    texts = selective_sample(
        chat_model.forward.step,
        chat_model.start_state(["why?"], 12),
        chat_model.language.step,
        chat_model.language.start(12),
        12,
        acceptor=chat_model.acceptor,
        limits=LIMITS,
        stream=RandomStream(3),
        sampling=Sampling(repeats=True, shortest=0),
        selection=Selection(draws=3),
    )
    finished = [text for text in texts if text.finished]
    assert len({len(text.tokens) for text in finished}) > 1
    scores = accepted_log_p(
        chat_model.forward.step,
        chat_model.start_state(["why?"], len(finished)),
        chat_model.language.step,
        chat_model.language.start(len(finished)),
        [np.array([*text.tokens, END_ID]) for text in finished],
        acceptor=chat_model.acceptor,
    )
    assert scores.tolist() == pytest.approx([text.score for text in finished], abs=1e-4)


def test_more_draws_and_a_higher_threshold_give_likelier_texts(chat_model: ChatModel):
    likes_likely_words(chat_model.acceptor, at=-2.5)

    def mean_log_p(selection: Selection) -> float:
        texts = drawn(chat_model, 100, selection)
        source = chat_model.source(["why?"])
        rows = [(source, np.array([*text.tokens, END_ID][:6])) for text in texts]
        return float(chat_model.log_forward(rows).sum()) / sum(len(target) for _, target in rows)

    plain, careful = mean_log_p(Selection(draws=1)), mean_log_p(Selection(draws=20, threshold=1.0))
    assert careful > plain + 0.3
    # any accepted word is less likely than the best one
    assert plain < mean_log_p(Selection(draws=20)) < careful


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"draws": 0}, "Expected at least one word to draw at a step, but got draws = 0"),
        ({"threshold": 1.1}, "Expected a threshold from 0 to 1, but got 1.1"),
        ({"threshold": float("nan")}, "but got nan"),
    ],
)
def test_invalid_settings_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Selection(**wrong)
