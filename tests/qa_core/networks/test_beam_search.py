import math
from dataclasses import dataclass
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from qa_core.networks.beam_search import beam
from qa_core.networks.decoder_types import Hypothesis, Limits

END, A, B, START = range(4)


@dataclass
class Texts:
    """The tokens of B texts so far."""

    drawn: list[tuple[int, ...]]

    def select(self, rows: Tensor) -> "Texts":
        return Texts([self.drawn[row] for row in rows.tolist()])


def stepping(table):
    """A step over a table from texts to the probabilities of the next token."""

    def step(state: Texts, tokens: Tensor) -> tuple[Tensor, Texts]:
        drawn = [(*text, token) for text, token in zip(state.drawn, tokens.tolist(), strict=True)]
        return torch.stack([table(text[1:]).clamp(min=1e-30).log() for text in drawn]), Texts(drawn)

    return step


def known(text: tuple[int, ...]) -> Tensor:
    """A is likelier as the first token, but the likeliest text starts with B."""
    return {
        (): torch.tensor([0.0, 0.6, 0.4, 0.0]),
        (A,): torch.tensor([0.3, 0.35, 0.35, 0.0]),
        (B,): torch.tensor([0.9, 0.1, 0.0, 0.0]),
    }.get(text, torch.tensor([1.0, 0.0, 0.0, 0.0]))


def test_beam_by_hand():
    texts = beam(stepping(known), Texts([()]), 1, size=2, limits=Limits(START, END, 5))[0]
    assert [text.tokens for text in texts] == [(B,), (A, A)]
    assert [text.score for text in texts] == pytest.approx([math.log(0.36), math.log(0.21)], abs=1e-6)


def test_a_text_is_cut_at_the_length():
    limits = Limits(START, END, 1)
    first, second, *_ = beam(stepping(known), Texts([()]), 1, size=3, limits=limits)[0]
    assert first == Hypothesis((A,), pytest.approx(math.log(0.6), abs=1e-6), finished=False)
    assert second.tokens == (B,)


def test_barred_tokens_are_never_generated():
    texts = beam(stepping(known), Texts([()]), 1, size=2, limits=Limits(START, END, 3, barred=(A,)))[0]
    assert texts[0] == Hypothesis((B,), pytest.approx(math.log(0.36), abs=1e-6), finished=True)
    assert all(A not in text.tokens for text in texts)


def test_no_texts():
    assert beam(stepping(known), Texts([]), 0, size=2, limits=Limits(START, END, 3)) == []


@pytest.mark.parametrize(
    ("size", "length", "message"), [(0, 3, "at least one hypothesis, but got 0"), (1, 0, "length of 0")]
)
def test_impossible_limits_are_rejected(size: int, length: int, message: str):
    with pytest.raises(ValueError, match=message):
        beam(stepping(known), Texts([()]), 1, size=size, limits=Limits(START, END, length))


def seeded(seed: int):
    """Random but reproducible probabilities of the next token."""

    def table(text: tuple[int, ...]) -> Tensor:
        draw = torch.Generator().manual_seed(seed + hash(text) % 1_000_003)
        probabilities = torch.rand(4, generator=draw) ** 3
        probabilities[START] = 0.0
        return probabilities / probabilities.sum()

    return table


def every_text(table, length: int) -> dict[tuple[int, ...], float]:
    """log p of all texts by brute force: those that end within the length, and those cut there."""

    def log_p(tokens: tuple[int, ...]) -> float:
        return sum(math.log(table(tokens[:index])[token]) for index, token in enumerate(tokens))

    inside = (text for count in range(length) for text in product((A, B), repeat=count))
    return {text: log_p((*text, END)) for text in inside} | {t: log_p(t) for t in product((A, B), repeat=length)}


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_a_beam_wide_enough_finds_the_likeliest_of_all(seed: int):
    table, limits = seeded(seed), Limits(START, END, 3, barred=(START,))
    texts = beam(stepping(table), Texts([()]), 1, size=16, limits=limits)[0]
    best = sorted(every_text(table, 3).items(), key=lambda item: -item[1])
    assert [text.tokens for text in texts] == [text for text, _ in best][: len(texts)]
    assert [text.score for text in texts] == pytest.approx([score for _, score in best][: len(texts)], abs=1e-4)
    assert len(texts) == len(best)


def test_texts_of_a_batch_are_independent():
    first, second = seeded(1), seeded(2)
    limits = Limits(START, END, 4)

    def step(state: Texts, tokens: Tensor) -> tuple[Tensor, Texts]:
        drawn = [(*text, token) for text, token in zip(state.drawn, tokens.tolist(), strict=True)]
        tables = [(first if text[0] == 1 else second)(text[2:]) for text in drawn]
        return torch.stack([table.clamp(min=1e-30).log() for table in tables]), Texts(drawn)

    together = beam(step, Texts([(1,), (2,)]), 2, size=3, limits=limits)
    alone = [beam(step, Texts([(number,)]), 1, size=3, limits=limits)[0] for number in (1, 2)]
    assert together == alone
