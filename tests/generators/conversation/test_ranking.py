from unittest.mock import Mock

import numpy as np
import pytest

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import BARRED
from generators.conversation.decoding import Sampling
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, candidates, deduplicate, ranked, respond
from qa_core.networks.decoder_types import Hypothesis


def stream(seed: int = 1) -> RandomStream:
    return RandomStream(seed)


def ids(model: ChatModel, text: str) -> tuple[int, ...]:
    return tuple(model.target(text)[:-1].tolist())


@pytest.mark.parametrize("method", ["selective", "vanilla"])
def test_replies_are_distinct_and_best_first(chat_model: ChatModel, method: str):
    generation = GenerationConfig(candidates=30, length=6, method=method, word_bonus=0.0, sampling=Sampling(shortest=2))
    responses = respond(chat_model, ["where do cats sleep?"], 8, stream=stream(), generation=generation)
    assert 1 < len(responses) <= 8
    assert [response.score for response in responses] == sorted(
        (response.score for response in responses), reverse=True
    )
    assert len({response.text for response in responses}) == len(responses)
    assert all(response.score == pytest.approx(response.relevance + response.fluency) for response in responses)
    assert responses == respond(chat_model, ["where do cats sleep?"], 8, stream=stream(), generation=generation)
    assert responses[:3] == respond(chat_model, ["where do cats sleep?"], 3, stream=stream(), generation=generation)
    assert not any(word in response.text for response in responses for word in ("<unk>", "<pad>", "<turn>", "<s>"))


def test_scores_are_from_the_backward_model_and_the_language_model(chat_model: ChatModel):
    context, text = ["why?", "who sleeps in the House?"], "my cats do."
    (response,) = ranked(chat_model, context, [Hypothesis(ids(chat_model, text), -3.5, True)], method="vanilla")
    assert response.text == "My cats do."
    assert response.relevance == pytest.approx(chat_model.log_backward([chat_model.backward_row(context, text)])[0])
    assert response.fluency == pytest.approx(chat_model.log_language([chat_model.language_row(text)])[0])
    (response,) = ranked(chat_model, context, [Hypothesis(ids(chat_model, text), -3.5, True)])
    assert response.fluency == -3.5
    assert ranked(chat_model, context, []) == []


def test_the_bonus_is_added_for_each_word(chat_model: ChatModel):
    texts = [Hypothesis(ids(chat_model, text), -1.0, True) for text in ("why?", "my cats do.")]
    plain, paid = (
        {response.text: response.score for response in ranked(chat_model, ["why?"], texts, word_bonus=bonus)}
        for bonus in (0.0, 2.0)
    )
    assert {text: paid[text] - plain[text] for text in plain} == pytest.approx({"Why?": 4.0, "My cats do.": 8.0})
    with pytest.raises(ValueError, match="Expected a finite bonus for each word, but got nan"):
        GenerationConfig(word_bonus=float("nan"))


def test_texts_that_differ_only_in_marks_are_deduplicated(chat_model: ChatModel):
    model = chat_model
    texts = [("my cats do.", -3.0, True), ("my cats do?", -2.0, True), ("my cats do", -9.0, True), ("why", -1.0, False)]
    distinct = deduplicate([Hypothesis(ids(model, text), score, done) for text, score, done in texts], model)
    assert [model.text(hypothesis.tokens) for hypothesis in distinct] == ["My cats do?"]
    marks = [Hypothesis(ids(model, "?"), -1.0, True), Hypothesis((), -1.0, True)]
    assert deduplicate(marks, model) == []
    cut = Hypothesis(ids(model, "why"), -1.0, False)
    assert deduplicate([cut], model) == [cut]  # unfinished texts remain if no text is finished


def test_odd_contexts_get_finite_scores(chat_model: ChatModel):
    generation = GenerationConfig(candidates=10, length=5)
    for context in (["zyzzyva qwrt"], ["?!"], ["word " * 10_000], ["\x00\ud800 🙂"]):
        assert all(
            np.isfinite(response.score)
            for response in respond(chat_model, context, 3, stream=stream(), generation=generation)
        )


def test_hundreds_of_candidates_are_drawn_in_one_batch(chat_model: ChatModel):
    drawn = candidates(chat_model, ["why?"], stream=stream(), generation=GenerationConfig(candidates=500, length=8))
    assert len(drawn) == 500
    assert all(len(hypothesis.tokens) <= 8 for hypothesis in drawn if hypothesis.finished)
    assert not {word for hypothesis in drawn for word in hypothesis.tokens} & set(BARRED)


def test_a_deadline_stops_the_work(chat_model: ChatModel):
    check = Mock(side_effect=[None, None, TimeoutError])
    with pytest.raises(TimeoutError):
        respond(chat_model, ["why?"], 1, stream=stream(), check=check)


def test_invalid_requests_are_refused(chat_model: ChatModel):
    with pytest.raises(ValueError, match="Expected to be asked for at least one reply, but got 0"):
        respond(chat_model, ["why?"], 0, stream=stream())
    for context in ([], ["", " "]):
        with pytest.raises(ValueError, match="Expected a turn to reply to, but got none"):
            respond(chat_model, context, 1, stream=stream())
    with pytest.raises(ValueError, match="Expected at least one candidate, but got 0"):
        GenerationConfig(candidates=0)
    with pytest.raises(ValueError, match="may be longer than 3 words, but got a length of 3"):
        GenerationConfig(length=3)
