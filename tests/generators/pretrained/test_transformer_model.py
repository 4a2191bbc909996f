from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors import safe_open

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import BARRED
from generators.conversation.decoding import Sampling
from generators.conversation.padded_batches import columns
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, candidates, respond
from generators.inference.acceptor import AcceptorConfig
from generators.pretrained.opening import open_chat_model
from generators.pretrained.transformer_model import PretrainedModel
from generators.training.chat_training import PartConfig, optimiser
from qa_core.networks.decoder_types import END_ID

Folder = Callable[..., Path]
KINDS = ["gpt2", "t5"]
GENERATION = GenerationConfig(candidates=12, length=6, word_bonus=0.0, sampling=Sampling(shortest=2))


@pytest.fixture
def model(request: pytest.FixtureRequest, transformer_folder: Folder) -> PretrainedModel:
    return PretrainedModel.load(transformer_folder(request.param))


def stream(seed: int = 1) -> RandomStream:
    return RandomStream(seed)


def likely(model: PretrainedModel, context: list[str], reply: str) -> float:
    """log p of a reply by one pass of transformers itself."""
    network, end = model.network.network, model.vocabulary.tokenizer.eos_token_id
    prompt = (model.source(context) if context else model.vocabulary.empty()) - 5
    said = (model.target(reply)[:-1] - 5).tolist()
    if network.config.is_encoder_decoder:
        read = {"input_ids": torch.tensor([prompt.tolist()]), "decoder_input_ids": torch.tensor([[end, *said]])}
    else:
        read = {"input_ids": torch.tensor([[*prompt.tolist(), *said]])}
    with torch.no_grad():
        log_p = network(**read).logits[0].log_softmax(1)[-len(said) - 1 :]
    return float(log_p.gather(1, torch.tensor([*said, end]).unsqueeze(1)).sum())


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_one_network_tells_all_three(model: PretrainedModel):
    context, replies = ["what?", "who sleeps"], ["cats do", "I", "they"]
    backward = model.log_backward([model.backward_row(context, reply) for reply in replies])
    assert backward == pytest.approx([likely(model, [reply], "who sleeps") for reply in replies], abs=1e-3)
    language = model.log_language([model.language_row(reply) for reply in replies])
    assert language == pytest.approx([likely(model, [], reply) for reply in replies], abs=1e-3)


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_replies_are_ranked_as_those_of_a_chat_model(model: PretrainedModel):
    found = respond(model, ["who sleeps"], 5, stream=stream(), generation=GENERATION)
    assert found
    assert found == respond(model, ["who sleeps"], 5, stream=stream(), generation=GENERATION)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert all(each.score == pytest.approx(each.relevance + each.fluency) for each in found)
    drawn = candidates(model, ["who sleeps"], stream=stream(), generation=GENERATION)
    assert len(drawn) == 12
    assert not {number for each in drawn for number in each.tokens} & set(BARRED)
    by_text = {model.text(each.tokens): each for each in drawn}
    rows = [(np.zeros(0, dtype=np.int64), np.array([*by_text[each.text].tokens, END_ID])) for each in found]
    assert [each.fluency for each in found] == pytest.approx(model.log_language(rows).tolist(), abs=1e-3)


def test_nothing_is_too_odd_to_reply_to(transformer_folder: Folder):
    for kind in ("gpt2", "bart"):
        model = PretrainedModel.load(transformer_folder(kind))
        for context in (["?!"], ["word " * 10_000], ["\x00\ud800 🙂<|end|>"], ["hi"] * 50):
            found = respond(model, context, 3, stream=stream(), generation=GenerationConfig(candidates=4, length=70))
            assert all(np.isfinite(each.score) for each in found)


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_an_exchange_that_was_learnt_comes_back(model: PretrainedModel):
    exchanges = [("where is the cat", "in bed"), ("who are you", "a bot")]
    rows = [model.forward_row([said], reply) for said, reply in exchanges]
    rows += [(model.source([reply]), model.target(said)) for said, reply in exchanges]
    batch = [torch.from_numpy(column) for column in columns(rows)]
    learner = optimiser(model.network.parameters(), PartConfig(learning_rate=0.03))
    for _ in range(300):
        learner.zero_grad()
        loss = -model.network.log_likelihood(*batch).mean()
        loss.backward()
        learner.step()
        if loss.item() < 0.1:
            break
    assert loss.item() < 0.1
    generation = GenerationConfig(candidates=2, length=10, sampling=Sampling(top_k=1))
    for said, reply in exchanges:
        best = respond(model, [said], 1, stream=stream(), generation=generation)
        assert [each.text for each in best] == [reply]
    backward = model.log_backward([model.backward_row(["who are you"], reply) for _, reply in exchanges])
    assert backward[1] > backward[0] + 3


def test_an_acceptor_can_be_trained_and_kept(transformer_folder: Folder, tmp_path: Path):
    model = PretrainedModel.load(transformer_folder("gpt2"))
    exchanges = [(["where is the cat"], "asleep"), (["who are you"], "a bot")]
    config = AcceptorConfig(hidden=3, epochs=1)
    taught = model.with_acceptor(exchanges * 4, config, seed=3)
    plain, chosen = (candidates(each, ["hi"], stream=stream(), generation=GENERATION) for each in (model, taught))
    assert [each.tokens for each in plain] != [each.tokens for each in chosen]
    found = respond(taught, ["hi"], 1, stream=stream(), generation=GENERATION)[0]
    best = next(each for each in chosen if taught.text(each.tokens) == found.text)
    assert found.fluency == best.score  # the acceptor's
    for path in transformer_folder("gpt2").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    taught.save_acceptor(tmp_path, card="# Acceptor\n")
    again = PretrainedModel.load(tmp_path)
    assert candidates(again, ["hi"], stream=stream(), generation=GENERATION) == chosen
    with pytest.raises(ValueError, match="Expected a model with an acceptor"):
        model.save_acceptor(tmp_path, card="")
    with pytest.raises(ValueError, match="Expected words to train the acceptor on, but got none"):
        model.with_acceptor([], seed=1)


def test_a_folder_decides_what_is_opened(transformer_folder: Folder, chat_model: ChatModel, tmp_path: Path):
    assert isinstance(open_chat_model(transformer_folder("t5")), PretrainedModel)
    chat_model.save(tmp_path, card="# Chat model\n")
    assert isinstance(open_chat_model(tmp_path), ChatModel)
    with pytest.raises(FileNotFoundError):
        open_chat_model(tmp_path / "none")


def test_fingerprints_are_of_weights(transformer_folder: Folder):
    one, same = (PretrainedModel.load(transformer_folder("gpt2")) for _ in range(2))
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != PretrainedModel.load(transformer_folder("t5")).fingerprint
    with safe_open(transformer_folder("gpt2") / "model.safetensors", "pt") as weights:
        assert one.parameters == sum(weights.get_tensor(name).numel() for name in weights.keys())  # noqa: SIM118
