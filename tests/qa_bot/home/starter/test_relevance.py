"""The shipped networks that tell whether a passage answers."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from qa_bot.answering.relevance.interaction import InteractionScorer
from qa_bot.answering.verification.configured_verifier import open_verifier
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_bot.home.starter import MULTILINGUAL, MULTILINGUAL_RELEVANCE, RELEVANCE, TRANSFORMER

LEAVE = "Leave. Everybody has 27 days of leave a year. Ask your team lead two weeks before."
PAIRS = [
    ("How many days of leave do I get?", LEAVE),
    ("When do I have to ask for leave?", LEAVE),
    ("Wie lange im Voraus muss ich Urlaub beantragen?", "Urlaub. Urlaub ist zwei Wochen vorher zu beantragen."),
]
"""Questions with a passage that answers."""
OTHERS = ["Parking. The garage is open from six to ten.", "Kantine. Mittags gibt es zwei Gerichte."]
UNANSWERED = ("Who pays for parental leave?", LEAVE)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_graph_is_the_one_that_its_note_names_and_reads_the_shipped_transformer() -> None:
    note = json.loads(RELEVANCE.with_suffix(".json").read_text(encoding="utf-8"))
    assert note["sha256"] == digest(RELEVANCE)
    assert note["transformer_sha256"] == digest(TRANSFORMER / "onnx" / "model.onnx")
    assert note["held_out"]["first"] > 0.8
    assert RELEVANCE.stat().st_size < 5_000_000


@pytest.fixture(scope="module")
def scorer() -> InteractionScorer:
    vectors = TokenVectors(lambda: open_verifier("starter-transformer", Path()))
    assert vectors.ready()
    return InteractionScorer(vectors.rows, RELEVANCE)


def test_a_passage_that_answers_has_a_higher_score(scorer: InteractionScorer) -> None:
    right = scorer.score(PAIRS)
    for other in OTHERS:
        wrong = scorer.score([(question, other) for question, _ in PAIRS])
        assert (right - wrong).min() > 1.0
    assert right.min() > scorer.score([UNANSWERED])[0]


def test_a_score_depends_only_on_the_pair(scorer: InteractionScorer) -> None:
    pairs = [*PAIRS, UNANSWERED, *((question, other) for question, _ in PAIRS for other in OTHERS)]
    alone = [scorer.score([pair])[0] for pair in pairs]
    np.testing.assert_allclose(scorer.score(pairs), alone, atol=1e-3)


FOREIGN = [
    (
        "Darf mein Hund mit in die Wohnung?",
        "§ 7 Haustiere. Tiere dürfen nur mit Zustimmung des Vermieters gehalten werden.",
    ),
    ("Wie lange im Voraus muss ich Urlaub beantragen?", "Urlaub. Urlaub ist zwei Wochen vorher zu beantragen."),
    ("Combien de jours de congé ai-je ?", "Congés. Chaque salarié a droit à 27 jours par an."),
    ("¿Cuándo abre la piscina?", "Horario. La piscina está abierta de nueve a veinte horas."),
]
FOREIGN_OTHERS = ["Kantine. Mittags gibt es zwei Gerichte.", "Stationnement. Le parking ferme à dix heures."]


def test_the_multilingual_graph_is_the_one_that_its_note_names() -> None:
    note = json.loads(MULTILINGUAL_RELEVANCE.with_suffix(".json").read_text(encoding="utf-8"))
    assert note["sha256"] == digest(MULTILINGUAL_RELEVANCE)
    assert note["transformer_sha256"] == digest(MULTILINGUAL / "onnx" / "model.onnx")
    assert note["held_out"]["de"]["first"] > 0.77


def test_passages_in_other_languages_have_a_higher_score_if_they_answer() -> None:
    vectors = TokenVectors(lambda: open_verifier("starter-multilingual", Path()))
    assert vectors.ready()
    scorer = InteractionScorer(vectors.rows, MULTILINGUAL_RELEVANCE)
    right = scorer.score(FOREIGN)
    for other in FOREIGN_OTHERS:
        assert (right - scorer.score([(question, other) for question, _ in FOREIGN])).min() > 1.0
