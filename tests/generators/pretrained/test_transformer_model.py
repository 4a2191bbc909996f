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


def log_p_of(model: PretrainedModel, context: list[str], reply: str) -> float:
    """log p of a reply by one pass of the transformers library."""
    network, end = model.network.network, model.vocabulary.tokenizer.eos_token_id
    prompt = (model.source(context) if context else model.vocabulary.empty()) - 5
    reply_tokens = (model.target(reply)[:-1] - 5).tolist()
    if network.config.is_encoder_decoder:
        read = {"input_ids": torch.tensor([prompt.tolist()]), "decoder_input_ids": torch.tensor([[end, *reply_tokens]])}
    else:
        read = {"input_ids": torch.tensor([[*prompt.tolist(), *reply_tokens]])}
    with torch.no_grad():
        log_p = network(**read).logits[0].log_softmax(1)[-len(reply_tokens) - 1 :]
    return float(log_p.gather(1, torch.tensor([*reply_tokens, end]).unsqueeze(1)).sum())


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_one_network_gives_all_three_likelihoods(model: PretrainedModel):
    context, replies = ["what?", "who sleeps"], ["cats do", "I", "they"]
    backward = model.log_backward([model.backward_row(context, reply) for reply in replies])
    assert backward == pytest.approx([log_p_of(model, [reply], "who sleeps") for reply in replies], abs=1e-3)
    language = model.log_language([model.language_row(reply) for reply in replies])
    assert language == pytest.approx([log_p_of(model, [], reply) for reply in replies], abs=1e-3)


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_replies_are_ranked_like_those_of_a_chat_model(model: PretrainedModel):
    responses = respond(model, ["who sleeps"], 5, stream=stream(), generation=GENERATION)
    assert responses
    assert responses == respond(model, ["who sleeps"], 5, stream=stream(), generation=GENERATION)
    assert [response.score for response in responses] == sorted(
        (response.score for response in responses), reverse=True
    )
    assert all(response.score == pytest.approx(response.relevance + response.fluency) for response in responses)
    drawn = candidates(model, ["who sleeps"], stream=stream(), generation=GENERATION)
    assert len(drawn) == 12
    assert not {number for hypothesis in drawn for number in hypothesis.tokens} & set(BARRED)
    by_text = {model.text(hypothesis.tokens): hypothesis for hypothesis in drawn}
    rows = [(np.zeros(0, dtype=np.int64), np.array([*by_text[response.text].tokens, END_ID])) for response in responses]
    assert [response.fluency for response in responses] == pytest.approx(model.log_language(rows).tolist(), abs=1e-3)


def test_odd_contexts_get_finite_scores(transformer_folder: Folder):
    for kind in ("gpt2", "bart"):
        model = PretrainedModel.load(transformer_folder(kind))
        for context in (["?!"], ["word " * 10_000], ["\x00\ud800 🙂<|end|>"], ["hi"] * 50):
            responses = respond(
                model, context, 3, stream=stream(), generation=GenerationConfig(candidates=4, length=70)
            )
            assert all(np.isfinite(response.score) for response in responses)


@pytest.mark.parametrize("model", KINDS, indirect=True)
def test_a_learned_exchange_is_repeated(model: PretrainedModel):
    exchanges = [("where is the cat", "in bed"), ("who are you", "a bot")]
    rows = [model.forward_row([question], reply) for question, reply in exchanges]
    rows += [(model.source([reply]), model.target(question)) for question, reply in exchanges]
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
    for question, reply in exchanges:
        best = respond(model, [question], 1, stream=stream(), generation=generation)
        assert [response.text for response in best] == [reply]
    backward = model.log_backward([model.backward_row(["who are you"], reply) for _, reply in exchanges])
    assert backward[1] > backward[0] + 3


def test_an_acceptor_can_be_trained_and_saved(transformer_folder: Folder, tmp_path: Path):
    model = PretrainedModel.load(transformer_folder("gpt2"))
    exchanges = [(["where is the cat"], "asleep"), (["who are you"], "a bot")]
    config = AcceptorConfig(hidden=3, epochs=1)
    taught = model.with_acceptor(exchanges * 4, config, seed=3)
    plain, chosen = (candidates(variant, ["hi"], stream=stream(), generation=GENERATION) for variant in (model, taught))
    assert [hypothesis.tokens for hypothesis in plain] != [hypothesis.tokens for hypothesis in chosen]
    response = respond(taught, ["hi"], 1, stream=stream(), generation=GENERATION)[0]
    best = next(hypothesis for hypothesis in chosen if taught.text(hypothesis.tokens) == response.text)
    assert response.fluency == best.score  # the acceptor's
    for path in transformer_folder("gpt2").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    taught.save_acceptor(tmp_path, card="# Acceptor\n")
    again = PretrainedModel.load(tmp_path)
    assert candidates(again, ["hi"], stream=stream(), generation=GENERATION) == chosen
    with pytest.raises(ValueError, match="Expected a model with an acceptor"):
        model.save_acceptor(tmp_path, card="")
    with pytest.raises(ValueError, match="Expected words to train the acceptor on, but got none"):
        model.with_acceptor([], seed=1)


def test_the_folder_determines_the_kind_of_model(transformer_folder: Folder, chat_model: ChatModel, tmp_path: Path):
    assert isinstance(open_chat_model(transformer_folder("t5")), PretrainedModel)
    chat_model.save(tmp_path, card="# Chat model\n")
    assert isinstance(open_chat_model(tmp_path), ChatModel)
    with pytest.raises(FileNotFoundError):
        open_chat_model(tmp_path / "none")


def test_fingerprints_depend_on_the_weights(transformer_folder: Folder):
    one, same = (PretrainedModel.load(transformer_folder("gpt2")) for _ in range(2))
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != PretrainedModel.load(transformer_folder("t5")).fingerprint
    with safe_open(transformer_folder("gpt2") / "model.safetensors", "pt") as weights:
        assert one.parameters == sum(weights.get_tensor(name).numel() for name in weights.keys())  # noqa: SIM118
