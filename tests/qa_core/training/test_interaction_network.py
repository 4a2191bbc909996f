"""The network that reads the states of tokens: by hand before training, on a toy task, and as a graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from qa_core.encoders.transformer_encoder import open_graph
from qa_core.networks.token_rows import LEAST_TOKENS
from qa_core.training.interaction_network import NAMES, InteractionConfig, InteractionNetwork, export_interaction

STATES = 12
CONFIG = InteractionConfig(states=STATES, width=16, heads=2, channels=8, rank=4)
Pair = tuple[Tensor, ...]
"""A question and a passage: unit rows, which are real, and ids, of each; see `NAMES`."""


def network(*, moved: bool = False) -> InteractionNetwork:
    """As before training, or with every weight moved, so that each part counts."""
    torch.manual_seed(0)
    made = InteractionNetwork(CONFIG).eval()
    if moved:
        with torch.no_grad():
            for weight in made.parameters():
                weight.add_(0.2 * torch.randn_like(weight))
    return made


def side(rows: Tensor, ids: Tensor, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """A text padded to a length, with states and ids that must not count."""
    padding = length - len(ids)
    junk = functional.normalize(torch.ones(padding, STATES), dim=-1)
    mask = torch.arange(length) < len(ids)
    return torch.cat([rows, junk])[None], mask[None], torch.cat([ids, torch.full((padding,), int(ids[0]))])[None]


def drawn(seed: int, question: int, passage: int) -> list[tuple[Tensor, Tensor]]:
    """Random rows and ids of a question and a passage of so many tokens."""
    generator = torch.Generator().manual_seed(seed)
    return [
        (
            functional.normalize(torch.randn(length, STATES, generator=generator), dim=-1),
            torch.randint(1, 9, (length,), generator=generator),
        )
        for length in (question, passage)
    ]


def batch(*pairs: list[tuple[Tensor, Tensor]], question: int = 0, passage: int = 0) -> Pair:
    """Pairs padded to these lengths, or to their longest text."""
    lengths = (
        max(question, *(len(pair[0][1]) for pair in pairs)),
        max(passage, LEAST_TOKENS, *(len(pair[1][1]) for pair in pairs)),
    )
    sides = [
        [side(*text, length) for text in texts] for texts, length in zip(zip(*pairs, strict=True), lengths, strict=True)
    ]
    return tuple(torch.cat(parts) for texts in sides for parts in zip(*texts, strict=True))


PAIRS = [drawn(seed, question, passage) for seed, question, passage in ((1, 5, 9), (2, 3, 4), (3, 9, 20), (4, 2, 2))]


def test_before_training_the_logit_is_the_mean_of_the_highest_cosines() -> None:
    # the first token does not count, nor padding, which is near all tokens
    unit = torch.eye(STATES)
    question = torch.stack([unit[0], unit[1], unit[2], unit[3]])
    passage = torch.stack([unit[0], 0.6 * unit[2] + 0.8 * unit[4], 0.8 * unit[2] + 0.6 * unit[5], unit[1]])
    pair = [(question, torch.arange(1, 5)), (passage, torch.arange(1, 5))]
    made = network()
    slope, shift = made.line.tolist()
    expected = slope * (1.0 + 0.8 + 0.0) / 3 + shift
    with torch.no_grad():
        alone = made(*batch(pair))
        longer = made(*batch(pair, question=7, passage=15))
    assert alone.tolist() == pytest.approx([expected], abs=1e-5)
    assert longer.tolist() == pytest.approx([expected], abs=1e-5)
    assert -shift / slope == pytest.approx(0.55), "the logit of cosines of .55 is 0"


def test_padding_and_the_other_pairs_change_nothing() -> None:
    made = network(moved=True)
    with torch.no_grad():
        together = made(*batch(*PAIRS))
        alone = torch.cat([made(*batch(pair)) for pair in PAIRS])
        padded = torch.cat([made(*batch(pair, question=14, passage=33)) for pair in PAIRS])
        turned = made(*batch(*PAIRS[::-1])).flip(0)
    assert np.ptp(together.numpy()) > 0.1, "the pairs differ"
    for logits in (alone, padded, turned):
        torch.testing.assert_close(logits, together, atol=1e-4, rtol=1e-4)


def test_every_weight_learns() -> None:
    made = network(moved=True)
    functional.binary_cross_entropy_with_logits(made(*batch(*PAIRS)), torch.tensor([1.0, 0, 1, 0])).backward()
    unused = [name for name, weight in made.named_parameters() if weight.grad is None or not weight.grad.any()]
    assert unused == []


def order_task() -> tuple[Pair, Tensor]:
    """A passage with the words of the question in their order answers; one with the order reversed does not.

    The highest cosines are equal.
    """
    unit = torch.eye(STATES)
    generator = torch.Generator().manual_seed(0)
    pairs, labels = [], []
    for number in range(32):
        others = torch.randperm(6, generator=generator) + 4
        right = number % 2 == 0
        middle = torch.tensor([2, 3] if right else [3, 2])
        at = int(torch.randint(0, 5, (1,), generator=generator))
        passage = torch.cat([torch.tensor([0]), others[:at], middle, others[at:]])
        question = torch.tensor([0, 2, 3])
        pairs.append([(unit[ids], ids + 1) for ids in (question, passage)])
        labels.append(float(right))
    return batch(*pairs), torch.tensor(labels)


def test_it_learns_what_the_highest_cosines_cannot_tell() -> None:
    inputs, labels = order_task()
    made = network()
    with torch.no_grad():
        assert np.ptp(made(*inputs).numpy()) < 1e-5
    made.train()
    optimiser = torch.optim.AdamW(made.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        functional.binary_cross_entropy_with_logits(made(*inputs), labels).backward()
        optimiser.step()
    made.eval()
    with torch.no_grad():
        assert ((made(*inputs) > 0) == (labels > 0)).all()


def test_the_graph_gives_the_same_for_other_sizes(tmp_path: Path) -> None:
    made = network(moved=True)
    export_interaction(made, STATES, tmp_path / "graph.onnx")
    session = open_graph(tmp_path / "graph.onnx", threads=1)
    assert [node.name for node in session.get_inputs()] == [*NAMES]
    for chosen, question, passage in ((PAIRS, 0, 0), (PAIRS[:1], 0, 0), (PAIRS[1:], 11, 40), (PAIRS[3:], 0, 0)):
        inputs = batch(*chosen, question=question, passage=passage)
        (logits,) = session.run(["logit"], dict(zip(NAMES, (part.numpy() for part in inputs), strict=True)))
        with torch.no_grad():
            np.testing.assert_allclose(logits, made(*inputs).numpy(), atol=1e-4, rtol=1e-4)
    assert [path.name for path in tmp_path.iterdir()] == ["graph.onnx"], "written at once"


def test_centred_rows_are_read_without_what_all_have_in_common() -> None:
    plain, centred = network(moved=True), InteractionNetwork(replace(CONFIG, is_centred=True)).eval()
    centred.load_state_dict(plain.state_dict(), strict=False)
    common = 0.3 * functional.normalize(torch.ones(STATES), dim=0)
    centred.get_buffer("centre").copy_(common)
    (question, ids), (passage, others) = drawn(3, 4, LEAST_TOKENS)
    texts = ((question, ids), (passage, others))
    read = [part for rows, of in texts for part in side(rows, of, len(of))]
    shifted = [part for rows, of in texts for part in side(functional.normalize(rows - common, dim=-1), of, len(of))]
    with torch.no_grad():
        assert torch.allclose(centred(*read), plain(*shifted), atol=1e-5)
        assert not torch.allclose(centred(*read), plain(*read), atol=1e-2)
