"""Scores of pairs by an exported network, over rows that are drawn by the letters of a text."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_bot.answering.relevance.interaction import BLANK, InteractionScorer
from qa_core.networks.token_rows import LEAST_TOKENS, TokenRows
from qa_core.training.interaction_network import InteractionConfig, InteractionNetwork, export_interaction
from rankers.late_interaction import unit_rows

STATES = 8
LONG = "the dogs of the house may come to the office on any day but Monday"
PAIRS = [("may dogs come", LONG), ("when", LONG), ("may dogs come", "yes"), (LONG, "on any day")]


class LetterRows:
    """A token for each word, between two special ones; a blank text has none."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[TokenRows]:
        self.read += texts
        return [self.of(text) for text in texts]

    def of(self, text: str) -> TokenRows:
        words = ["[CLS]", *text.split(), "[SEP]"] if text.strip() else []
        seeds = [blake2b(word.encode()).digest()[0] for word in words]
        states = np.array([np.random.default_rng(seed).normal(size=STATES) for seed in seeds], np.float32)
        return TokenRows(unit_rows(states.reshape(-1, STATES)), np.array(seeds, np.int64))


@pytest.fixture(scope="module")
def network() -> InteractionNetwork:
    """With random weights, so that each part counts."""
    torch.manual_seed(0)
    made = InteractionNetwork(InteractionConfig(states=STATES, width=16, heads=2, channels=8, rank=4)).eval()
    with torch.no_grad():
        for weight in made.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    return made


@pytest.fixture(scope="module")
def graph(network: InteractionNetwork, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("interaction") / "interaction.onnx"
    export_interaction(network, STATES, path)
    return path


def by_hand(network: InteractionNetwork, question: str, passage: str) -> float:
    """The logit of one pair, of which only a short passage is padded."""
    inputs = []
    for text, least in ((question, 1), (passage, LEAST_TOKENS)):
        rows = LetterRows().of(text)
        padding = max(0, least - len(rows.ids))
        states = np.pad(rows.states, ((0, padding), (0, 0)))
        mask = np.arange(len(states)) < len(rows.ids)
        inputs += [torch.from_numpy(part)[None] for part in (states, mask, np.pad(rows.ids, (0, padding)))]
    with torch.no_grad():
        return float(network(*inputs))


def test_scores_are_those_of_the_network(network: InteractionNetwork, graph: Path) -> None:
    expected = [by_hand(network, *pair) for pair in PAIRS]
    assert np.ptp(expected) > 0.1
    assert len(LetterRows().of("yes").ids) < LEAST_TOKENS < len(LetterRows().of(LONG).ids)
    scorer = InteractionScorer(LetterRows(), graph)
    scores = scorer.score(PAIRS)
    assert scores.dtype == np.float32
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    np.testing.assert_allclose(scorer.score(PAIRS[::-1]), expected[::-1], atol=1e-4)
    np.testing.assert_allclose([float(scorer.score([pair])[0]) for pair in PAIRS], expected, atol=1e-4)


def test_the_rows_of_a_text_are_asked_for_once(graph: Path) -> None:
    rows = LetterRows()
    InteractionScorer(rows, graph).score(PAIRS)
    assert rows.read == ["may dogs come", LONG, "when", "yes", "on any day"]


def test_a_blank_text_has_the_log_odds_of_none(graph: Path) -> None:
    scorer = InteractionScorer(LetterRows(), graph)
    scores = scorer.score([("", LONG), PAIRS[0], ("may dogs come", " "), ("", "")])
    assert scores[[0, 2, 3]].tolist() == [BLANK] * 3
    np.testing.assert_allclose(scores[1], scorer.score(PAIRS[:1])[0], atol=1e-4)
    assert scorer.score([("", "")]).tolist() == [BLANK]


@pytest.mark.parametrize("content", [None, b"", b"torn"])
def test_a_graph_that_cannot_be_opened_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "interaction.onnx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=r"Expected an ONNX graph at .*interaction\.onnx"):
        InteractionScorer(LetterRows(), path)


def test_a_torn_graph_is_refused(graph: Path, tmp_path: Path) -> None:
    (tmp_path / "interaction.onnx").write_bytes(graph.read_bytes()[:-2000])
    with pytest.raises(ValueError, match="Expected an ONNX graph"):
        InteractionScorer(LetterRows(), tmp_path / "interaction.onnx")
