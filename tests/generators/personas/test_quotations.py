import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generators.conversation.chat_model import ChatModel
from generators.inference.activations import log_softmax
from generators.personas.quotations import Quotations, gist_scores, quoted, tidy
from generators.training.chat_training import PartConfig, optimiser, train_part
from generators.training.trainable_chat import TrainableChat
from qa_core.training.loop import Training

SENTENCES = [
    "they are tired.",
    "in the House.",
    "my cats do.",
    "cats sleep in the House.",
    "why do they?",
    "who sleeps?",
]


@pytest.fixture
def quotations(chat_model: ChatModel) -> Quotations:
    return Quotations.of(chat_model, SENTENCES, [("why?",)] * 6)


def test_quotations_are_ordered_by_the_backward_model(chat_model: ChatModel, quotations: Quotations):
    results = quoted(chat_model, quotations, ["where do cats sleep?"], 6, shortlist=None)
    expected = chat_model.log_backward(
        [chat_model.backward_row(["where do cats sleep?"], sentence) for sentence in SENTENCES]
    )
    assert [quotation.index for quotation in results] == np.argsort(-expected, kind="stable").tolist()
    assert [quotation.relevance for quotation in results] == pytest.approx(sorted(expected, reverse=True), abs=1e-5)
    assert all(quotation.score == quotation.relevance for quotation in results)


def test_the_language_model_counts_with_a_prior_weight(chat_model: ChatModel, quotations: Quotations):
    by_index = {quotation.index: quotation for quotation in quoted(chat_model, quotations, ["why?"], 6, prior=0.5)}
    for index, sentence in enumerate(SENTENCES):
        prior = chat_model.log_language([chat_model.language_row(sentence)])[0]
        assert by_index[index].score == pytest.approx(by_index[index].relevance + 0.5 * prior, abs=1e-4)


def test_gists_by_hand(chat_model: ChatModel):
    """A gist is the mean hidden state over all words of all contexts in 16 bits; its scores are log probabilities."""
    made = Quotations.of(chat_model, SENTENCES[:2], [("why?", "my cats do."), ()])
    backward = chat_model.backward
    z = []
    for question in ("why?", "my cats do."):
        source, target = (row[None] for row in chat_model.backward_row([question], SENTENCES[0]))
        z.append(backward.before_softmax(source, source >= 0, target, target >= 0))
    assert made.gists[0].tolist() == pytest.approx(np.concatenate(z).mean(axis=0).tolist(), abs=1e-3)
    question = chat_model.backward_row(["cats why"], "")[1]
    log_p = log_softmax(backward.output.logits(made.gists))
    assert gist_scores(chat_model, made, question).tolist() == pytest.approx(
        log_p[:, question[:-1]].sum(axis=1).tolist(), abs=1e-4
    )


def test_the_shortlist_has_the_best_quotation(trainable_chat: TrainableChat):
    """The backward model has learned which sentence answers which question."""
    torch.manual_seed(0)
    first, second = ["cats", "house", "who"], ["do", "sleep", "why", "tired"]
    pairs = [(f"{a} {b}?", f"{b} {a} {c}") for a in first for b in second for c in ("the", "in")]
    rows = [trainable_chat.backward_row([question], reply) for question, reply in pairs]
    config = PartConfig(batch=24, epochs=25, patience=25, learning_rate=0.04)
    module = trainable_chat.backward
    list(train_part(Training(module, optimiser(module.parameters(), config), seed=1), rows, config, held_out=rows))
    chat_model = trainable_chat.inference()
    made = Quotations.of(chat_model, [reply for _, reply in pairs], [(question,) for question, _ in pairs])
    for question in dict.fromkeys(question for question, _ in pairs):
        (exact,) = quoted(chat_model, made, [question], 1, shortlist=None)
        (best,) = quoted(chat_model, made, [question], 1, shortlist=8)
        assert exact.score - 0.2 < best.score <= exact.score + 1e-5


@pytest.mark.parametrize("context", [["?!"], ["zyzzyva"], ["hi", ""], ["cats " * 10_000], ["\x00\ud800"]])
def test_odd_contexts_get_finite_scores(chat_model: ChatModel, quotations: Quotations, context: list[str]):
    results = quoted(chat_model, quotations, context, 2, shortlist=3)
    assert len(results) == 2
    assert all(np.isfinite(quotation.score) for quotation in results)


def test_arrays_of_wrong_shape_are_refused(quotations: Quotations):
    with pytest.raises(ValueError, match="Expected a gist and two numbers for each of 1 sentences"):
        Quotations(("one",), quotations.gists, quotations.totals, quotations.prior)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("For peace is a process - a way of solving problems .", "For peace is a process - a way of solving problems."),
        ("I do n't know , I 'm ( almost ) sure ; it 's $ 5 !", "I don't know, I'm (almost) sure; it's $5!"),
        ("  As it should be: “said”.", "As it should be: “said”."),
        ("", ""),
    ],
)
def test_tidy_by_hand(sentence: str, expected: str):
    assert tidy(sentence) == expected


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_tidy_changes_only_spaces(sentence: str):
    assert "".join(tidy(sentence).split()) == "".join(tidy(f" {sentence} ").split())
    letters = [letter for letter in sentence if letter.isalnum()]
    assert [letter for letter in tidy(sentence) if letter.isalnum()] == letters
