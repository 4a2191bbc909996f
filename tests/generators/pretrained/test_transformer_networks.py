from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from generators.conversation.padded_batches import masked
from generators.pretrained.transformer_model import PretrainedModel
from qa_core.networks.decoder_types import END_ID, START_ID

Folder = Callable[..., Path]
KINDS = ["gpt2", "llama", "mistral", "opt", "bloom", "t5", "bart"]
"""Learned, rotary, sliding-window, mask-based and relative positions; the last two kinds have an encoder."""


@pytest.fixture
def model(request: pytest.FixtureRequest, transformer_folder: Folder) -> PretrainedModel:
    return PretrainedModel.load(transformer_folder(request.param))


def tensors(rows) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask = masked(rows)
    return torch.from_numpy(ids), torch.from_numpy(mask)


def oracle(model: PretrainedModel, context: list[str], reply: str) -> torch.Tensor:
    """log p of the tokens of a reply and of its end, by one pass of the transformers library."""
    network, end = model.network.network, model.vocabulary.tokenizer.eos_token_id
    prompt, reply_tokens = ((numbers - 5).tolist() for numbers in (model.source(context), model.target(reply)[:-1]))
    true = torch.tensor([*reply_tokens, end])
    if network.config.is_encoder_decoder:
        begin = [end, 3] if network.config.model_type == "bart" else [end]
        read = {"input_ids": torch.tensor([prompt]), "decoder_input_ids": torch.tensor([begin + reply_tokens])}
    else:
        read = {"input_ids": torch.tensor([prompt + reply_tokens])}
    with torch.no_grad():
        log_p = network(**read).logits[0].log_softmax(1)[-len(true) :]
    return log_p.gather(1, true.unsqueeze(1)).squeeze(1)


def stepped(model: PretrainedModel, state, target: list[int], count: int) -> torch.Tensor:
    """log p (B,) of a target, in steps of one token."""
    tokens, total = torch.full((count,), START_ID), torch.zeros(count)
    for word in target:
        logits, state = model.network.step(state, tokens)
        total += logits.log_softmax(1)[:, word]
        tokens = torch.full((count,), word)
    return total


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_likelihoods_equal_those_of_transformers(model: PretrainedModel):
    """Contexts of different lengths in one batch, scored in one pass and in steps."""
    contexts = [["hello there"], ["a"], ["what?", "say it"]]
    expected = [float(oracle(model, context, "ok, bye").sum()) for context in contexts]
    rows = [model.forward_row(context, "ok, bye") for context in contexts]
    assert model.log_forward(rows) == pytest.approx(expected, abs=1e-3)
    state = model.network.start(*tensors([source for source, _ in rows]))
    assert stepped(model, state, rows[0][1].tolist(), 3).tolist() == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("model", ["gpt2", "bart"], indirect=True)
def test_distributions_equal_those_of_transformers(model: PretrainedModel):
    replies = ["ok", "no way"]
    rows = [model.forward_row(["hello"], reply) for reply in replies]
    source, target = (tensors([row[side] for row in rows]) for side in (0, 1))
    with torch.no_grad():
        log_p = model.network.token_distributions(*source, *target)
    true = torch.from_numpy(np.concatenate([row[1] for row in rows]))
    scores = log_p.gather(1, true.unsqueeze(1)).squeeze(1)
    torch.testing.assert_close(
        scores, torch.cat([oracle(model, ["hello"], reply) for reply in replies]), rtol=0, atol=1e-4
    )
    torch.testing.assert_close(log_p.exp().sum(1), torch.ones(len(true)))


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_rows_are_selected_and_states_are_not_changed(model: PretrainedModel):
    contexts = [["hello there"], ["a"], ["what?", "say it"]]
    begun, target = model.target("ok")[:-1].tolist(), model.target("bye").tolist()
    state = model.network.start(*tensors([model.source(context) for context in contexts]))
    expected = {}
    for word, before in zip(begun, (START_ID, *begun), strict=False):
        _, state = model.network.step(state, torch.full((3,), before))
        expected[word] = before
    picked, last = [2, 0, 0, 1, 2], begun[-1]

    def rest(state, count: int) -> list[float]:
        tokens, total = torch.full((count,), last), torch.zeros(count)
        for word in target:
            logits, state = model.network.step(state, tokens)
            total += logits.log_softmax(1)[:, word]
            tokens = torch.full((count,), word)
        return total.tolist()

    whole = rest(state, 3)
    assert rest(state.select(torch.tensor(picked)), 5) == pytest.approx([whole[row] for row in picked], abs=1e-3)
    assert rest(state, 3) == whole
    assert rest(state.select(torch.tensor([1])), 1) == pytest.approx(whole[1:2], abs=1e-3)
    alone = [
        float(oracle(model, context, "okbye").sum() - oracle(model, context, "ok")[:2].sum()) for context in contexts
    ]
    assert whole == pytest.approx(alone, abs=1e-3)


@pytest.mark.parametrize("model", ["llama", "t5"], indirect=True)
def test_a_batch_can_be_scored_in_parts(model: PretrainedModel, monkeypatch: pytest.MonkeyPatch):
    rows = [model.forward_row(["hello"], reply) for reply in ("ok", "no way", "", "yes")]
    whole = model.log_forward(rows)
    monkeypatch.setattr("generators.pretrained.transformer_networks._LOGITS", 1)
    assert model.log_forward(rows) == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize("model", ["gpt2", "bart"], indirect=True)
def test_a_text_ends_at_the_last_position(model: PretrainedModel):
    word = model.target("a")[:1].tolist()
    state, tokens = model.start_state(["hi"], 2).state, torch.full((2,), START_ID)
    for _ in range(64 - model.start_state(["hi"], 1).state.length):
        logits, state = model.network.step(state, tokens)
        assert bool((logits[:, word].isfinite()).all())
        tokens = torch.tensor(word * 2)
    logits, _ = model.network.step(state, tokens)
    assert logits.softmax(1)[:, END_ID].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("model", ["gpt2", "bart", "t5"], indirect=True)
def test_the_last_layer_completes_the_network(model: PretrainedModel):
    source, target = (tensors([row]) for row in model.forward_row(["hello"], "ok"))
    with torch.no_grad():
        z = model.network.before_softmax(*source, *target)
        expected = model.network.token_distributions(*source, *target)
        output = model.network.output
        torch.testing.assert_close(output(z).log_softmax(1), expected, rtol=0, atol=1e-4)
        by_rows = (z @ output.weight.T + output.bias)[:, [END_ID, 90]]  # the end and an ordinary token
        torch.testing.assert_close(by_rows, output(z)[:, [END_ID, 90]], rtol=0, atol=1e-4)
    assert output.in_features == z.shape[1]
