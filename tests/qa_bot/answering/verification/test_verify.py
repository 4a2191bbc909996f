"""Passages are read: covers of words by hand, the new order, and passages that are not read."""

from __future__ import annotations

import numpy as np
import pytest

from qa_bot.answering.deadline import Deadline
from qa_bot.answering.relevance.passage_scorer import SURE, PassageScorer, Scorers
from qa_bot.answering.stages.rank import Ranking
from qa_bot.answering.verification.contacts import AskedContact
from qa_bot.answering.verification.reading import WINDOW
from qa_bot.answering.verification.token_vectors import TokenVectors
from qa_bot.answering.verification.verify import FURTHER_SECONDS, GAINED, NO_SCORERS, SYNONYM, Cover, Verifier
from qa_bot.home.encoders import EncoderError
from qa_core.types import Candidate, Clue, Details, Passage, Question, Signals, Source
from retrievers.formulate import formulate


class Counts:
    """A collection of 100 passages, each word in one of them."""

    documents = 100

    def document_frequency(self, _field: str, _term: str) -> int:
        return 1

    def average_length(self, _field: str) -> float:
        return 10.0


def candidate(name: str, text: str, score: float, **signals: object) -> Candidate:
    return Candidate(Passage(name, text, Clue(), Source(name)), score, Signals(**signals))  # type: ignore[arg-type]


RULES = candidate("rules", "Take your dog to work on Fridays.", 3.0)
PRICES = candidate("prices", "The cost in Vienna is nine euros.", 2.5)


def ranking(question, candidates, passages=()):
    return Ranking(Question(question), formulate(Question(question)), tuple(candidates), passages=tuple(passages))


def verified(tokens, question, candidates, *, passages=(), read=3, readings=(), scorers=NO_SCORERS, **options):
    verifier = Verifier(TokenVectors(lambda: tokens), read=read, scorers=scorers)
    ranked = ranking(question, candidates, passages)
    return verifier.verify(ranked, readings or [question], Counts(), Deadline.after(9), **options)


def test_words_are_covered_by_meaning(tokens):
    result = verified(tokens, "May I bring my puppy to the office?", [RULES, PRICES])
    assert dict(result.covers["rules"].words) == {"bring": 1.0, "puppy": 1.0, "office": 1.0}
    assert result.covers["rules"].covered == pytest.approx(1.0)
    assert result.covers["prices"].covered == pytest.approx(0.0)


def test_a_passage_without_the_amount_that_is_asked_for_comes_after_one_with_it(tokens):
    fees = candidate("fees", "The fee for a dog is in the scale of fees.", 3.0)
    scale = candidate("scale", "Dogs: 5 euros a day, and a fee of 10 euros.", 1.0)
    order = [one.passage.id for one in verified(tokens, "What does a dog cost?", [fees, scale]).candidates]
    assert order == ["scale", "fees"]
    order = [one.passage.id for one in verified(tokens, "Where is the fee for a dog?", [fees, scale]).candidates]
    assert order == ["fees", "scale"]
    order = [one.passage.id for one in verified(tokens, "What does a dog cost?", [fees, RULES]).candidates]
    assert order == ["fees", "rules"], "none has one"


def test_a_passage_with_the_amount_is_read_if_the_first_ones_of_its_document_have_none(tokens):
    source = Source("rules")
    texts = ("The fee is for a dog.", "Who has a dog pays.", "It is 10 euros.")
    rules = [
        Candidate(Passage(f"rules#{at}", text, Clue(), source), 6.0 - at, Signals()) for at, text in enumerate(texts)
    ]
    other = candidate("other", "It is 20 euros.", 0.5)
    result = verified(tokens, "What does a dog cost?", [rules[0], other], passages=[*rules, other], read=2)
    assert [one.passage.id for one in result.passages] == ["rules#2", "rules#0", "rules#1", "other"]
    result = verified(tokens, "What does a dog cost?", [rules[0], other], passages=[*rules[:2], other], read=2)
    assert result.passages[-1].passage.id == "other", "of another document"


def test_a_word_of_the_passage_is_covered_whatever_its_vector(tokens):
    result = verified(tokens, "dog zorp", [candidate("a", "A zorp.", 1.0)])
    assert dict(result.covers["a"].words) == {"dog": 0.0, "zorp": 1.0}


def test_a_month_is_covered_by_a_date(tokens):
    result = verified(
        tokens, "dog in February", [candidate("a", "dog: 2026-02-17", 1.0), candidate("b", "dog: 3", 0.9)]
    )
    assert dict(result.covers["a"].words) == {"dog": 1.0, "February": 1.0}
    assert dict(result.covers["b"].words) == {"dog": 1.0, "February": 0.0}


def test_a_passage_that_covers_more_comes_first_and_concedes_evidence(tokens):
    result = verified(tokens, "price in Vienna", [RULES, PRICES])
    assert [candidate.passage.id for candidate in result.candidates] == ["prices", "rules"]
    assert [candidate.score for candidate in result.candidates] == [3.0, 2.5], "scores still fall"
    assert result.conceded == pytest.approx(0.5)


class HandMadeScores:
    """Scores by the first words of the passage."""

    def __init__(self, **scores: float) -> None:
        self.scores = scores

    def score(self, pairs):
        return np.array([self.scores[text.split()[0]] for _, text in pairs], np.float32)


def scorers_of(**scores: float) -> Scorers:
    return Scorers(PassageScorer(lambda: HandMadeScores(**scores)))


def test_a_passage_that_likely_answers_comes_first(tokens):
    pair = [candidate("a", "Alpha dog.", 3.0), candidate("b", "Beta dog.", 2.5)]
    result = verified(tokens, "dog?", pair, scorers=scorers_of(Alpha=-3.0, Beta=1.0))
    assert [one.passage.id for one in result.candidates] == ["b", "a"], "2.5 + .25 > 3 - .75"
    assert {name: cover.relevance for name, cover in result.covers.items()} == {"a": -3.0, "b": 1.0}
    result = verified(tokens, "dog?", pair, scorers=scorers_of(Alpha=0.5, Beta=1.0))
    assert [one.passage.id for one in result.candidates] == ["a", "b"], "3 + .125 > 2.5 + .25"


def test_the_first_passage_is_scored_alone_if_it_surely_answers_or_is_settled(tokens):
    pair = [candidate("a", "Alpha dog.", 3.0), candidate("b", "Beta dog.", 2.9)]
    result = verified(tokens, "dog?", pair, scorers=scorers_of(Alpha=SURE))
    assert [cover.relevance for cover in result.covers.values()] == [SURE, None]
    settled = [candidate("a", "Alpha dog.", 3.0, owner_answer=True), candidate("b", "Beta dog.", 2.9)]
    result = verified(tokens, "dog?", settled, scorers=scorers_of(Alpha=-4.0))
    assert [cover.relevance for cover in result.covers.values()] == [-4.0, None]


def test_a_scorer_that_cannot_be_opened_scores_nothing(tokens):
    def damaged():
        raise ValueError("damaged")

    result = verified(tokens, "dog", [RULES], scorers=Scorers(PassageScorer(damaged)))
    assert result.covers["rules"].relevance is None


def test_a_passage_about_the_year_of_the_question_comes_before_one_about_another(tokens):
    former, current = candidate("former", "Dog rules in 2024.", 3.0), candidate("current", "Dog rules in 2025.", 2.6)
    assert verified(tokens, "dog rules in 2025", [former, current]).candidates[0].passage.id == "current"
    silent = candidate("silent", "Dog rules.", 2.6)
    assert verified(tokens, "dog rules in 2025", [former, silent]).candidates[0].passage.id == "former"


def contact_covers(tokens, question, *candidates):
    result = verified(tokens, question, candidates, contact=AskedContact.of(question))
    return result, {name: dict(cover.words) for name, cover in result.covers.items()}


def test_a_contact_covers_the_words_that_ask_for_it_and_comes_first(tokens):
    prose = candidate("prose", "The dog sleeps.", 3.0)
    near, far = candidate("kennel", "Dog: ext. 310", 2.51), candidate("kennel", "Dog: ext. 310", 0.2)
    result, words = contact_covers(tokens, "Who can I phone about a dog?", prose, near)
    assert words == {"prose": {"phone": 0.0, "dog": 1.0}, "kennel": {"phone": 1.0, "dog": 1.0}}
    assert result.candidates[0].passage.id == "kennel"
    assert contact_covers(tokens, "Who do I ask about a dog?", prose, near)[0].candidates[0].passage.id == "kennel"
    assert contact_covers(tokens, "Who do I ask about a dog?", prose, far)[0].candidates[0].passage.id == "prose"


def test_no_likeness_covers_what_a_question_names_as_a_contact(tokens):
    without, says = (
        candidate("without", "Dogs work.", 3.0),
        candidate("says", "An office mail address is on its collar.", 2.0),
    )
    _, words = contact_covers(tokens, "What is the office e-mail address of the dog?", without, says)
    assert words["without"] == {"office": 1.0, "e": 0.0, "mail": 0.0, "address": 0.0, "dog": 1.0}
    assert words["says"] == {"office": 1.0, "e": 0.0, "mail": 1.0, "address": 1.0, "dog": 0.0}


@pytest.mark.parametrize("steps", ["1. Take your dog.\n2. Go to work.", "For dogs:\n- Work."])
def test_a_list_gains_half_a_point_if_steps_are_asked_for(tokens, steps):
    prose = candidate("prose", "A dog is at work. It is 2. in rank - or not.", 3.0)
    near, far = candidate("list", steps, 2.51), candidate("list", steps, 2.49)

    def first(listed, *, asks_for_steps):
        result = verified(tokens, "dog work", [prose, listed], asks_for_steps=asks_for_steps)
        return result.candidates[0].passage.id

    assert first(near, asks_for_steps=True) == "list"
    assert first(far, asks_for_steps=True) == "prose"
    assert first(near, asks_for_steps=False) == "prose"


def test_the_best_passage_of_a_document_is_chosen_anew(tokens):
    other = Candidate(Passage("prices/2", "The cost.", Clue(), Source("prices")), 2.8)
    result = verified(tokens, "price in Vienna", [RULES, other], passages=[RULES, other, PRICES])
    assert [candidate.passage.id for candidate in result.passages] == ["prices", "prices/2", "rules"]
    assert [candidate.passage.id for candidate in result.candidates] == ["prices", "rules"]
    assert result.conceded == pytest.approx(0.5)


def test_a_further_passage_is_read_if_it_may_come_first(tokens):
    near, far = (PRICES.scored(score) for score in (3.0 - GAINED + 0.1, 3.0 - GAINED - 0.1))
    result = verified(tokens, "price in Vienna", [RULES, far], read=1)
    assert [candidate.passage.id for candidate in result.candidates] == ["rules", "prices"]
    assert [*result.covers] == ["rules"]
    assert len(tokens.read) == 2, "a passage and the question"
    result = verified(tokens, "price in Vienna", [RULES, near], read=1)
    assert [candidate.passage.id for candidate in result.candidates] == ["prices", "rules"]
    assert [*result.covers] == ["rules", "prices"]
    assert [candidate.score for candidate in result.candidates] == [3.0, near.score], "scores still fall"
    result = verified(tokens, "price in Vienna", [RULES, RULES, near], read=1)
    assert [*result.covers] == ["rules"], "as many further ones as first ones"


def test_without_time_no_further_passages_are_read(tokens):
    verifier = Verifier(TokenVectors(lambda: tokens), read=1)
    ranked, deadline = ranking("price in Vienna", [RULES, PRICES]), Deadline.after(FURTHER_SECONDS - 0.01)
    result = verifier.verify(ranked, ["price in Vienna"], Counts(), deadline)
    assert result is not None
    assert [*result.covers] == ["rules"]


@pytest.mark.parametrize("signals", [{"owner_answer": True}, {"rankers": {"trees": 1.0}}, {"learned": 0.5}])
def test_the_owners_answers_and_trained_orders_are_not_changed(tokens, signals):
    first = candidate("rules", RULES.passage.text, 3.0, **signals)
    result = verified(tokens, "price in Vienna", [first, PRICES])
    assert [candidate.passage.id for candidate in result.candidates] == ["rules", "prices"]
    assert result.covers["prices"].covered > result.covers["rules"].covered


def test_covers_of_readings_are_averaged(tokens):
    result = verified(tokens, "in Vienna?", [PRICES], readings=["in Vienna?", "puppy in Vienna?"])
    alone = verified(tokens, "puppy in Vienna?", [PRICES]).covers["prices"].covered
    assert result.covers["prices"].covered == pytest.approx((1.0 + alone) / 2)
    assert dict(result.covers["prices"].words) == {"Vienna": 1.0, "puppy": 0.0}


def test_readings_of_stop_words_alone_are_left_out(tokens):
    whole = verified(tokens, "May I bring my puppy?", [RULES], readings=["May I bring my puppy?"])
    both = verified(tokens, "And what about it?", [RULES], readings=["And what about it?", "May I bring my puppy?"])
    assert both.covers == whole.covers
    alone = verified(tokens, "And what about it?", [RULES], readings=["And what about it?"])
    assert alone.covers["rules"].covered < 1.0


@pytest.mark.parametrize(("passage", "share"), [("The puppy, E02.", 0.0), ("The puppy, E-19.", 1.0)])
def test_a_code_is_covered_by_itself_alone(tokens, passage, share):
    """The vectors of all codes are the same here."""
    result = verified(tokens, "puppy E19", [candidate("a", passage, 1.0)])
    assert dict(result.covers["a"].words) == {"puppy": 1.0, "E19": share}


@pytest.mark.parametrize(
    ("passage", "share"), [("The puppy may --rest long.", 0.0), ("The puppy: `--rest-long`.", 1.0)]
)
def test_an_option_is_covered_by_itself_alone(tokens, passage, share):
    result = verified(tokens, "puppy --rest-long", [candidate("a", passage, 1.0)])
    assert dict(result.covers["a"].words) == {"puppy": 1.0, "rest": share, "long": share}


def test_codes_of_earlier_questions_are_covered_by_others(tokens):
    result = verified(tokens, "puppy", [candidate("a", "The dog, E02.", 1.0)], readings=["puppy", "puppy E19"])
    assert dict(result.covers["a"].words) == {"puppy": 1.0, "E19": 1.0}


def test_nothing_to_read(tokens):
    assert verified(tokens, "price", []).candidates == ()
    assert verified(tokens, "???", [RULES]).covers["rules"].covered == 0.0
    assert verified(tokens, "price", [candidate("empty", "", 1.0)]).covers["empty"].covered == 0.0


def test_a_passage_with_all_words_is_not_read(tokens):
    result = verified(tokens, "the cost in Vienna", [RULES, PRICES])
    assert tokens.read == ["Take your dog to work on Fridays.", "the cost in Vienna"]
    assert result.covers["prices"] == Cover(1.0, (("cost", 1.0), ("Vienna", 1.0)))
    tokens.read.clear()
    assert verified(tokens, "Fridays", [RULES]).covers["rules"].covered == pytest.approx(1.0)
    assert tokens.read == [], "nor is the question"


def test_words_of_the_whole_passage_are_covered_and_its_window_is_read(tokens):
    text = "The zorp. " + "x" * WINDOW + " Take your dog."
    late = candidate("late", text, 1.0, lead=(len(text) - len("Take your dog."), len(text)))
    result = verified(tokens, "zorp puppy price", [late])
    assert dict(result.covers["late"].words) == {"zorp": 1.0, "puppy": 1.0, "price": 0.0}
    assert tokens.read[0].endswith("x Take your dog.")
    assert "zorp" not in tokens.read[0]


def test_without_a_model_nothing_is_verified(caplog):
    def fail():
        raise EncoderError("Expected a model, but got none.")

    verifier = Verifier(TokenVectors(fail), read=3)
    for _ in range(2):
        assert verifier.verify(ranking("dog", [RULES]), ["dog"], Counts(), Deadline.after(9)) is None
    assert caplog.text.count("Expected a model, but got none.") == 1, "logged once"


def test_the_deadline_is_kept(tokens):
    verifier = Verifier(TokenVectors(lambda: tokens), read=3)
    with pytest.raises(TimeoutError):
        verifier.verify(ranking("dog", [RULES]), ["dog"], Counts(), Deadline.after(-1))


def test_a_synonym_covers_a_german_word(tokens):
    text = "Für jeden Hund ist eine Steuer zu zahlen."
    german = Passage("steuer", text, Clue(), Source("steuer", details=Details(language="de")))
    result = verified(tokens, "Steuer für Vierbeiner", [Candidate(german, 1.0)])
    assert dict(result.covers["steuer"].words)["Vierbeiner"] == SYNONYM


def test_a_word_that_seldom_decides_lowers_the_cover_less(tokens):
    result = verified(tokens, "a zorp for my son", [candidate("a", "A zorp.", 1.0)])
    other = verified(tokens, "a zorp for my car", [candidate("a", "A zorp.", 1.0)])
    assert result.covers["a"].covered > other.covers["a"].covered
