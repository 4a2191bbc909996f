import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.conversation.decoding import Sampling, allowed, decode, narrowed, sample
from generators.conversation.random_stream import RandomStream
from generators.inference.activations import log_softmax
from qa_core.networks.decoder_types import Limits

START, END, A, B, C = range(5)
LIMITS = Limits(START, END, 12, barred=(START,))


@dataclass(frozen=True)
class Chain:
    """State of a Markov chain: only the number of texts."""

    count: int

    def select(self, rows: np.ndarray) -> "Chain":
        return Chain(len(rows))


def chain(rows: dict[int, list[float]]):
    """A step function of a Markov chain, from the probabilities of 5 words after each word."""

    def step(state: Chain, tokens: np.ndarray) -> tuple[np.ndarray, Chain]:
        assert len(tokens) == state.count
        return log([rows[int(token)] for token in tokens]), state

    return step


def log(p: list[list[float]]) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.array(p, dtype=np.float32))


STEADY = chain({word: [0.0, 0.2, 0.4, 0.3, 0.1] for word in range(5)})
AGAIN = Sampling(repeats=True, shortest=0)


def stream(seed: int = 1) -> RandomStream:
    return RandomStream(seed)


def test_words_are_drawn_by_their_probability():
    texts = sample(STEADY, Chain(4_000), 4_000, limits=Limits(START, END, 1), stream=stream(), sampling=AGAIN)
    for word, p in ((A, 0.4), (B, 0.3), (C, 0.1)):
        assert sum(text.tokens == (word,) for text in texts) / 4_000 == pytest.approx(p, abs=0.03)
    ended = [text for text in texts if text.finished]
    assert len(ended) / 4_000 == pytest.approx(0.2, abs=0.03)
    assert ended[0].score == pytest.approx(math.log(0.2))
    assert ended[0].tokens == ()


def test_the_score_is_the_sum_of_log_probabilities():
    texts = sample(STEADY, Chain(50), 50, limits=LIMITS, stream=stream(), sampling=AGAIN)
    p = {END: 0.2, A: 0.4, B: 0.3, C: 0.1}
    for text in texts:
        words = (*text.tokens, END) if text.finished else text.tokens
        assert text.score == pytest.approx(sum(math.log(p[word]) for word in words), abs=1e-5)
        assert text.finished or len(text.tokens) == 12


def test_the_same_seed_draws_the_same_texts():
    one, same, other = (
        sample(STEADY, Chain(20), 20, limits=LIMITS, stream=stream(seed), sampling=AGAIN) for seed in (1, 1, 2)
    )
    assert one == same != other


def test_temperature_by_hand():
    log_p = log([[0.5, 0.3, 0.2]])
    squared = [0.25, 0.09, 0.04]
    cold = np.exp(narrowed(log_p, Sampling(temperature=0.5)))[0].tolist()
    assert cold == pytest.approx([p / sum(squared) for p in squared])
    assert np.exp(narrowed(log_p, Sampling()))[0].tolist() == pytest.approx([0.5, 0.3, 0.2])


def test_top_k_and_top_p_by_hand():
    log_p = log([[0.1, 0.5, 0.15, 0.25]])
    assert np.exp(narrowed(log_p, Sampling(top_k=2)))[0].tolist() == pytest.approx([0, 2 / 3, 0, 1 / 3])
    assert np.exp(narrowed(log_p, Sampling(top_k=9)))[0].tolist() == pytest.approx([0.1, 0.5, 0.15, 0.25])
    # .5 is below .6, .5 + .25 is not
    assert np.exp(narrowed(log_p, Sampling(top_p=0.6)))[0].tolist() == pytest.approx([0, 2 / 3, 0, 1 / 3])
    assert np.exp(narrowed(log_p, Sampling(top_p=0.01)))[0].tolist() == pytest.approx([0, 1, 0, 0])


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=8),
    st.floats(0.05, 10),
    st.one_of(st.none(), st.integers(1, 10)),
    st.floats(0.01, 1),
)
def test_narrowing_keeps_a_distribution_in_the_same_order(logits, temperature, top_k, top_p):
    before = log_softmax(np.array([logits], dtype=np.float32))
    after = narrowed(before, Sampling(temperature, top_k, top_p))
    assert np.exp(after).sum() == pytest.approx(1, abs=1e-4)
    assert before[0, after.argmax()] == before.max()
    likely = after[0] > -np.inf
    assert before[0][likely].min() >= (before[0][~likely].max() if (~likely).any() else -np.inf)


def test_no_trigram_and_no_adjacent_word_is_repeated():
    texts = sample(
        STEADY, Chain(200), 200, limits=LIMITS, stream=stream(), sampling=Sampling(shortest=4, repeats=False)
    )
    for text in texts:
        trigrams = list(zip(text.tokens, text.tokens[1:], text.tokens[2:], strict=False))
        assert len(set(trigrams)) == len(trigrams)
        assert all(one != other for one, other in zip(text.tokens, text.tokens[1:], strict=False))
        assert len(text.tokens) >= 4


def test_barred_words_and_early_ends_have_no_probability():
    logits = np.zeros((1, 5), dtype=np.float32)
    short = allowed(logits, np.empty((1, 0), dtype=np.int64), LIMITS, Sampling(shortest=1))
    assert np.exp(short)[0].tolist() == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3])
    later = allowed(logits, np.array([[A, B, C, A, B]]), LIMITS, Sampling())
    assert np.exp(later)[0].tolist() == pytest.approx([0, 1 / 2, 1 / 2, 0, 0])  # not B again, not A B C again
    assert logits.tolist() == [[0] * 5]


def test_by_default_a_text_may_end_after_its_first_word():
    logits = np.zeros((1, 5), dtype=np.float32)
    first = allowed(logits, np.empty((1, 0), dtype=np.int64), LIMITS, Sampling())
    assert np.exp(first)[0].tolist() == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3])
    second = allowed(logits, np.array([[A]]), LIMITS, Sampling())
    assert np.exp(second)[0].tolist() == pytest.approx([0, 1 / 3, 0, 1 / 3, 1 / 3])


def test_a_text_ends_if_no_word_is_allowed():
    only_a = chain({word: [0.0, 0.0, 1.0, 0.0, 0.0] for word in range(5)})
    texts = sample(only_a, Chain(3), 3, limits=LIMITS, stream=stream(), sampling=Sampling(shortest=5))
    assert [(text.tokens, text.finished) for text in texts] == [((A,), True)] * 3


def test_finished_texts_are_not_continued():
    counts: list[int] = []

    def step(state: Chain, tokens: np.ndarray) -> tuple[np.ndarray, Chain]:
        counts.append(len(tokens))
        return np.zeros((len(tokens), 5), dtype=np.float32), state

    def choose(log_p: np.ndarray, state: Chain) -> tuple[np.ndarray, np.ndarray]:
        words = np.full(len(log_p), A)
        words[0] = END  # one text a step
        return words, np.full(len(log_p), float(len(counts)), dtype=np.float32)

    texts = decode(step, Chain(3), 3, choose, limits=LIMITS, sampling=AGAIN)
    assert counts == [3, 2, 1]
    assert [text.tokens for text in texts] == [(), (A,), (A, A)]
    assert [text.score for text in texts] == [1.0, 3.0, 6.0]


def test_a_deadline_stops_sampling():
    calls: list[int] = []

    def check() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        sample(STEADY, Chain(9), 9, limits=LIMITS, stream=stream(), sampling=Sampling(shortest=9), check=check)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"temperature": 0.0}, "Expected a temperature above 0 and up to 10, but got 0.0"),
        ({"temperature": -1.0}, "but got -1.0"),
        ({"temperature": math.nan}, "but got nan"),
        ({"temperature": math.inf}, "but got inf"),
        ({"top_k": 0}, "Expected to draw from at least 1 word, but got top_k = 0"),
        ({"top_p": 0.0}, "Expected top_p above 0 and up to 1, but got 0.0"),
        ({"top_p": -0.5}, "but got -0.5"),
        ({"top_p": 1.5}, "but got 1.5"),
        ({"top_p": math.nan}, "but got nan"),
        ({"shortest": -1}, "Expected texts of 0 words or more, but got shortest = -1"),
    ],
)
def test_invalid_settings_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Sampling(**wrong)
