import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_core.networks.losses import Affine, in_batch_softmax, slam_softmax
from qa_core.networks.poolings import BiLSTMConfig, BiLSTMEncoder, MeanConfig, MeanEncoder, pad
from qa_core.training.static_table import StaticTable
from retrievers.training.cached_gradients import Chunk, encoded

V, N = 20, 12


def rows(seed: int, *, longest: int = 6, count: int = N) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, V, size=rng.integers(1, longest + 1)) for _ in range(count)]


def bilstm(dropout: float = 0.0) -> BiLSTMEncoder:
    torch.manual_seed(0)
    return BiLSTMEncoder(BiLSTMConfig(V, 5, hidden=4, output=6, dropout=dropout, typed=True, uniform=0.5))


def loss_and_gradients(model, left, right):
    model.zero_grad()
    loss = slam_softmax(left @ right.T, scale=5.0)
    loss.backward()
    return loss.item(), [p.grad.clone() for p in model.parameters() if p.grad is not None]


def cached(model, questions, answers, *, tokens):
    left = encoded(model, questions, side="question", tokens=tokens)
    return loss_and_gradients(model, left, encoded(model, answers, side="answer", tokens=tokens))


MODELS = {
    "mean": lambda: MeanEncoder(MeanConfig(V, 6)),
    "bilstm": bilstm,
    "static": lambda: StaticTable(np.random.default_rng(1).normal(size=(V, 6)).astype(np.float32)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tokens", [1, 7, 20])
def test_chunks_give_the_loss_and_gradients_of_one_batch(name: str, tokens: int):
    model, questions, answers = MODELS[name](), rows(1), rows(2)
    direct = loss_and_gradients(
        model,
        model(*pad([row.tolist() for row in questions]), side="question"),
        model(*pad([row.tolist() for row in answers]), side="answer"),
    )
    in_chunks = cached(model, questions, answers, tokens=tokens)
    assert in_chunks[0] == pytest.approx(direct[0], abs=1e-5)
    for ours, theirs in zip(in_chunks[1], direct[1], strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


def test_dropout_is_the_same_in_both_passes():
    """Compare with a full graph over the same chunks in the same order."""
    model, texts = bilstm(dropout=0.5).train(), rows(3)
    assert len({len(row) for row in texts}) > 2
    torch.manual_seed(5)
    replayed = encoded(model, texts, side="question", tokens=8)
    random_after_first = torch.rand(1)
    replayed.square().cumsum(0).sum().backward()
    ours = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    torch.manual_seed(5)
    full = full_graph(model, texts, tokens=8)
    assert torch.equal(random_after_first, torch.rand(1))
    full.square().cumsum(0).sum().backward()
    assert torch.equal(replayed, full)
    for one, parameter in zip(ours, model.parameters(), strict=True):
        torch.testing.assert_close(one, parameter.grad, atol=1e-6, rtol=1e-5)


def full_graph(model, texts, *, tokens):
    from qa_core.networks.batching import batches

    order = batches([len(row) for row in texts], tokens=tokens)
    assert len(order) > 2
    chunks = [Chunk.of([texts[i] for i in members], "question", torch.device("cpu")) for members in order]
    vectors = torch.cat([model(chunk.tokens, chunk.mask, side="question") for chunk in chunks])
    return vectors[torch.tensor([i for members in order for i in members]).argsort()]


def test_only_one_graph_is_in_memory():
    """The first pass saves no inner tensors, so memory does not grow with the batch."""
    model, texts = bilstm(), rows(4, count=40)

    def saved(tokens: int) -> int:
        sizes = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, lambda t: t):
            encoded(model, texts, side="question", tokens=tokens)
        return sum(sizes)

    assert saved(10) < saved(10_000) / 20


def test_parameters_of_the_loss_get_gradients():
    model, affine = MODELS["mean"](), Affine()
    left = encoded(model, rows(1), side="question", tokens=5)
    in_batch_softmax(affine(left @ encoded(model, rows(2), side="answer", tokens=5).T)).backward()
    assert affine.alpha.grad is not None
    assert affine.alpha.grad.abs() > 1e-6


def test_without_gradients_nothing_is_kept():
    model = MODELS["bilstm"]()
    with torch.no_grad():
        assert not encoded(model, rows(1), side="question", tokens=4).requires_grad


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, V - 1), max_size=7), min_size=1, max_size=9), st.integers(1, 40))
def test_order_and_padding_do_not_matter(texts: list[list[int]], tokens: int):
    """A text has the same vector alone, without padding; an empty text has the zero vector."""
    model = bilstm().eval()
    with torch.no_grad():
        batched = encoded(model, [np.array(t, dtype=np.int64) for t in texts], side="answer", tokens=tokens)
        alone = torch.cat([model(*pad([text]), side="answer") for text in texts])
    torch.testing.assert_close(batched, alone, atol=1e-6, rtol=0)
