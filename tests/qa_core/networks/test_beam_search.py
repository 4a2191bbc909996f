import math
from dataclasses import dataclass
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from qa_core.networks.beam_search import beam, greedy
from qa_core.networks.decoder_types import Hypothesis, Limits

END, A, B, START = range(4)


@dataclass
class Texts:
    """What was drawn so far, (B,) rows of tokens."""

    drawn: list[tuple[int, ...]]

    def select(self, rows: Tensor) -> "Texts":
        return Texts([self.drawn[row] for row in rows.tolist()])


def stepping(table):
    """A step over a table from what was drawn to the probabilities of the next token."""

    def step(state: Texts, tokens: Tensor) -> tuple[Tensor, Texts]:
        drawn = [(*text, token) for text, token in zip(state.drawn, tokens.tolist(), strict=True)]
        return torch.stack([table(text[1:]).clamp(min=1e-30).log() for text in drawn]), Texts(drawn)

    return step


def known(text: tuple[int, ...]) -> Tensor:
    """A is likelier at first, but what B leads to is likelier in all."""
    return {
        (): torch.tensor([0.0, 0.6, 0.4, 0.0]),
        (A,): torch.tensor([0.3, 0.35, 0.35, 0.0]),
        (B,): torch.tensor([0.9, 0.1, 0.0, 0.0]),
    }.get(text, torch.tensor([1.0, 0.0, 0.0, 0.0]))


def test_greedy_by_hand():
    found = greedy(stepping(known), Texts([()]), 1, limits=Limits(START, END, 5))
    assert found == [Hypothesis((A, A), pytest.approx(math.log(0.6 * 0.35), abs=1e-6), finished=True)]


def test_beam_by_hand():
    found = beam(stepping(known), Texts([()]), 1, size=2, limits=Limits(START, END, 5))[0]
    assert [each.tokens for each in found] == [(B,), (A, A)]
    assert [each.score for each in found] == pytest.approx([math.log(0.36), math.log(0.21)], abs=1e-6)


def test_a_text_is_cut_at_the_length():
    limits = Limits(START, END, 1)
    assert greedy(stepping(known), Texts([()]), 1, limits=limits)[0] == Hypothesis(
        (A,), pytest.approx(math.log(0.6), abs=1e-6), finished=False
    )
    assert [each.tokens for each in beam(stepping(known), Texts([()]), 1, size=3, limits=limits)[0]][:2] == [(A,), (B,)]


def test_barred_tokens_are_never_drawn():
    found = beam(stepping(known), Texts([()]), 1, size=2, limits=Limits(START, END, 3, barred=(A,)))[0]
    assert found[0] == Hypothesis((B,), pytest.approx(math.log(0.36), abs=1e-6), finished=True)
    assert all(A not in each.tokens for each in found)


def test_no_texts():
    limits = Limits(START, END, 3)
    assert greedy(stepping(known), Texts([]), 0, limits=limits) == []
    assert beam(stepping(known), Texts([]), 0, size=2, limits=limits) == []


@pytest.mark.parametrize(
    ("size", "length", "told"), [(0, 3, "at least one hypothesis, but got 0"), (1, 0, "length of 0")]
)
def test_nothing_to_draw(size: int, length: int, told: str):
    with pytest.raises(ValueError, match=told):
        beam(stepping(known), Texts([()]), 1, size=size, limits=Limits(START, END, length))


def seeded(seed: int):
    """Random probabilities of the next token, the same for the same text."""

    def table(text: tuple[int, ...]) -> Tensor:
        draw = torch.Generator().manual_seed(seed + hash(text) % 1_000_003)
        probabilities = torch.rand(4, generator=draw) ** 3
        probabilities[START] = 0.0
        return probabilities / probabilities.sum()

    return table


def every_text(table, length: int) -> dict[tuple[int, ...], float]:
    """log p of all texts by brute force: those that end within the length, and those cut there."""

    def log_p(tokens: tuple[int, ...]) -> float:
        return sum(math.log(table(tokens[:place])[token]) for place, token in enumerate(tokens))

    inside = (text for count in range(length) for text in product((A, B), repeat=count))
    return {text: log_p((*text, END)) for text in inside} | {t: log_p(t) for t in product((A, B), repeat=length)}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_a_beam_wide_enough_finds_the_likeliest_of_all(seed: int):
    table, limits = seeded(seed), Limits(START, END, 3, barred=(START,))
    found = beam(stepping(table), Texts([()]), 1, size=16, limits=limits)[0]
    best = sorted(every_text(table, 3).items(), key=lambda item: -item[1])
    assert [each.tokens for each in found] == [text for text, _ in best][: len(found)]
    assert [each.score for each in found] == pytest.approx([score for _, score in best][: len(found)], abs=1e-4)
    assert len(found) == len(best)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_a_beam_that_holds_all_prefixes_is_never_worse_than_greedy(seed: int):
    table, limits = seeded(seed), Limits(START, END, 4)
    wide = beam(stepping(table), Texts([()]), 1, size=8, limits=limits)[0][0]
    assert wide.score >= greedy(stepping(table), Texts([()]), 1, limits=limits)[0].score - 1e-5


def test_texts_of_a_batch_do_not_meet():
    first, second = seeded(1), seeded(2)
    limits = Limits(START, END, 4)

    def step(state: Texts, tokens: Tensor) -> tuple[Tensor, Texts]:
        drawn = [(*text, token) for text, token in zip(state.drawn, tokens.tolist(), strict=True)]
        tables = [(first if text[0] == 1 else second)(text[2:]) for text in drawn]
        return torch.stack([each.clamp(min=1e-30).log() for each in tables]), Texts(drawn)

    together = beam(step, Texts([(1,), (2,)]), 2, size=3, limits=limits)
    alone = [beam(step, Texts([(number,)]), 1, size=3, limits=limits)[0] for number in (1, 2)]
    assert together == alone
