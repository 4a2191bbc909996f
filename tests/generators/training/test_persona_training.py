import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from generators.conversation.acceptor import AcceptorConfig
from generators.conversation.chat_model import BARRED, ChatModel
from generators.conversation.decoding import Sampling
from generators.training.chat_training import PartConfig, perplexity, train_part
from generators.training.persona_training import (
    WEIGHTS,
    Spoken,
    adapted_acceptor,
    beginning,
    known_share,
    multiplied_perplexities,
    pseudo_contexts,
    speaker_rows,
    styled_rows,
    tunable,
)
from qa_core.networks.decoder_types import END_ID
from qa_core.training.loop import Training

SPOKEN = [Spoken("my cats sleep."), Spoken("in the House?", "my cats sleep."), Spoken("!", "in the House?")]
CONFIG = PartConfig(batch=4, epochs=30, patience=30, learning_rate=0.05)


def words(model: ChatModel, ids: np.ndarray) -> str:
    return " ".join(model.vocabulary.words(ids.tolist()))


def test_long_sentences_have_a_beginning_and_no_end(chat_model: ChatModel):
    assert words(chat_model, beginning(chat_model, "they are tired.")) == "they are tired . </s>"
    assert words(chat_model, beginning(chat_model, "cats " * 6)) == "cats cats cats cats cats cats </s>"
    assert words(chat_model, beginning(chat_model, "cats do " * 5)) == "cats do cats do cats do"
    assert beginning(chat_model, " ").tolist() == [END_ID]


def test_rows_are_behind_made_up_contexts_and_the_sentence_before(chat_model: ChatModel):
    contexts = [("why?", "why?"), ("who sleeps?", "in the House?"), ()]
    rows = [
        (words(chat_model, source), words(chat_model, target))
        for source, target in styled_rows(chat_model, SPOKEN, contexts)
    ]
    assert rows[:4] == [
        ("why ?", "my cats sleep . </s>"),
        ("who sleeps ?", "in the house ? </s>"),
        ("in the house ?", "in the house ? </s>"),
        ("my cats sleep .", "in the house ? </s>"),
    ]
    assert len(rows) == 5
    assert len(speaker_rows(chat_model, [*SPOKEN, Spoken(" ")])) == 3


def test_known_words(chat_model: ChatModel):
    assert known_share(chat_model, "my dogs sleep.") == 0.75
    assert known_share(chat_model, "") == 0


def test_contexts_are_what_the_backward_model_has_learnt(chat_model: ChatModel):
    pairs = [("where do cats sleep?", "in the House."), ("why?", "they are tired.")]
    rows = [chat_model.backward_row([said], reply) for said, reply in pairs]
    module = chat_model.backward
    training = Training(module, torch.optim.Adam(module.parameters(), lr=0.05), seed=1)
    list(train_part(training, rows, replace(CONFIG, epochs=60, patience=60), held_out=rows))
    right: list[bool] = []
    drawn = pseudo_contexts(
        chat_model,
        [reply for _, reply in pairs] * 100,
        3,
        generator=torch.Generator().manual_seed(0),
        sampling=Sampling(temperature=0.1),
    )
    assert len(drawn) == 200
    for (said, _), texts in zip(pairs * 100, drawn, strict=True):
        assert len(texts) == 3
        right += [text.lower().rstrip("?") == said.rstrip("?") for text in texts]
    assert np.mean(right) > 0.9
    assert pseudo_contexts(chat_model, [], 2, generator=torch.Generator(), sampling=Sampling()) == []


@pytest.mark.parametrize("all_words", [False, True])
def test_tuning_leaves_the_base_alone_and_its_words_too_unless_asked(chat_model: ChatModel, all_words: bool):
    before = {name: tensor.clone() for name, tensor in chat_model.forward.state_dict().items()}
    rows = styled_rows(chat_model, SPOKEN[:2], [("why?",), ("who sleeps?",)])
    start = perplexity(chat_model.forward, rows)
    module = tunable(chat_model.forward, words=all_words)
    own = [tensor for tensor in module.parameters() if tensor.requires_grad]
    list(train_part(Training(module, torch.optim.Adam(own, lr=0.05), seed=1), rows, CONFIG, held_out=rows))
    assert perplexity(module, rows) < start / 3
    for name, tensor in chat_model.forward.state_dict().items():
        torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)
    assert torch.equal(module.source.table, chat_model.forward.source.table) is not all_words
    assert not torch.equal(module.output.bias, chat_model.forward.output.bias)


def test_the_acceptor_goes_on_from_that_of_the_base(chat_model: ChatModel):
    rows = styled_rows(chat_model, SPOKEN[:2], [("why?",), ("who sleeps?",)])
    told = torch.randn(4, 3)
    before = chat_model.acceptor(told)
    adapted = adapted_acceptor(chat_model, chat_model.forward, rows * 20, AcceptorConfig(hidden=4), limit=100, seed=1)
    assert not torch.equal(adapted(told), before)
    assert torch.equal(chat_model.acceptor(told), before)
    same = adapted_acceptor(chat_model, chat_model.forward, [], AcceptorConfig(hidden=4), limit=100, seed=1)
    assert torch.equal(same(told), before)


def test_perplexities_of_products_by_hand(chat_model: ChatModel):
    rows = styled_rows(chat_model, SPOKEN[:2], [("why?",), ("who sleeps?",)])
    found = multiplied_perplexities(chat_model, chat_model.language, rows)
    assert len(found) == len(WEIGHTS) ** 2
    total, count = 0.0, 0
    for source, target in rows:
        columns = [torch.from_numpy(each)[None] for each in (source, source >= 0, target, target >= 0)]
        with torch.no_grad():
            one = chat_model.forward.token_distributions(*columns)
            other = chat_model.language.token_distributions(*columns[2:])
        p = one.exp() ** 0.5 * other.exp() ** 0.25
        p = p / p.sum(1, keepdim=True)
        total += float(p[torch.arange(len(target)), columns[2][0]].log().sum())
        count += len(target)
    assert found[0.5, 0.25] == pytest.approx(math.exp(-total / count), rel=1e-5)
    with pytest.raises(ValueError, match="Expected rows to choose the weights on"):
        multiplied_perplexities(chat_model, chat_model.language, [])


def test_contexts_hold_no_special_words(chat_model: ChatModel):
    drawn = pseudo_contexts(chat_model, ["why?"], 50, generator=torch.Generator().manual_seed(1), sampling=Sampling())
    special = set(chat_model.vocabulary.words(BARRED))
    assert not special & {word for texts in drawn for text in texts for word in text.split()}
