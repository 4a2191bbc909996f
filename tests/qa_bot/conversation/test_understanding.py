"""Interpretation of a turn after the previous turns: choices, small talk, follow-ups."""

from dataclasses import replace

import pytest

from qa_bot.conversation.followups import Rewriter
from qa_bot.conversation.memory import RememberedTurn
from qa_bot.conversation.understanding import PARTS, SURE_ALONE, picked, read
from qa_core.types import Answer, AnswerSource, Choice

CHOICES = (
    Choice("Mercury (planet)", "What is the planet Mercury?"),
    Choice("Mercury (element)", "What is the element Mercury?"),
    Choice("symptoms of poisoning", "What are the symptoms of mercury poisoning?"),
)


def past(
    question: str, text: str = "", *, choices: tuple[Choice, ...] = (), understood: str = "", searched: str = ""
) -> RememberedTurn:
    kind = "passage" if text else "none"
    answer = Answer(question, text, kind, bool(text), 0.9, choices=choices, understood=understood, searched=searched)
    return RememberedTurn.of(question, answer)


@pytest.mark.parametrize(
    ("turn", "index"),
    [
        ("1", 0),
        ("2.", 1),
        ("number 3", 2),
        ("the second one", 1),
        ("The last one, please", 2),
        ("Mercury (element)", 1),
        ("mercury element", 1),
        ("the planet", 0),
        ("I mean the symptoms", 2),
        ("What is the planet Mercury?", 0),
    ],
)
def test_a_choice_is_named_in_many_ways(turn: str, index: int) -> None:
    assert picked(turn, CHOICES) == CHOICES[index]


@pytest.mark.parametrize("turn", ["0", "4", "17", "Mercury", "", "?", "neither", "What is Venus?", "the", "sixth"])
def test_no_choice_or_several_choices_pick_nothing(turn: str) -> None:
    assert picked(turn, CHOICES) is None


def test_choice_is_read_as_its_question() -> None:
    reading = read("2", [past("What is Mercury?", choices=CHOICES)], Rewriter())
    assert (reading.question, reading.settled) == ("What is the element Mercury?", True)


@pytest.mark.parametrize("turn", ["9", "0", "number 4", "the fifth one"])
def test_number_out_of_range_repeats_the_choices(turn: str) -> None:
    offered = past("What is Mercury?", choices=CHOICES)
    assert read(turn, [offered], Rewriter()).talk == "repeat"
    again = RememberedTurn.of(turn, offered.recall())
    assert read("2", [offered, again], Rewriter()).question == "What is the element Mercury?"


def test_a_choice_is_offered_once() -> None:
    chosen = past("2", "A metal.", understood="What is the element Mercury?")
    before = [past("What is Mercury?", choices=CHOICES), chosen]
    assert not read("2", before, Rewriter()).settled


def test_small_talk_between_turns_is_skipped() -> None:
    before = [past("What is the capital of Australia?", "Canberra."), past("thanks", "You're welcome.")]
    assert read("and its population?", before, Rewriter()).question == "What is Australia's population?"


def test_first_question_after_small_talk_is_not_rewritten() -> None:
    assert read("and its population?", [past("hello", "Hello!")], Rewriter()).question == "and its population?"


def test_follow_up_refers_to_the_rewritten_question() -> None:
    before = [past("How do I prune roses?", "With shears."), past("why?", "", understood="Why do I prune roses?")]
    assert read("and in winter?", before, Rewriter()).question == "Why do I prune roses in winter?"


@pytest.mark.parametrize(
    ("question", "turn", "searched", "shown"),
    [
        ("What does the blade cost?", "how long does it last?", "how long does the blade last?", ""),
        ("Who made The Old Bell?", "what did it cost?", "what did the Old Bell cost?", ""),
        ("How long is the limit for the R400?", "and the R1600?", "How long is the limit for the R1600?", ""),
        ("Can I work from abroad?", "why not?", "Why can't I work from abroad?", ""),
        ("Who is paged for SEV1?", "and for SEV3?", "Who is paged for SEV3?", ""),
        ("How long does ignition take?", "And if it fails?", "And if ignition fails?", PARTS),
        ("How many days of annual leave do I get?", "when do they lapse?", "when do annual leave lapse?", PARTS),
        ("How long is the warranty on the frame?", "and the battery?", "How long is the battery on the frame?", PARTS),
        ("How high is the step at the sides?", "and in front?", "How high is the step at the sides in front?", PARTS),
        ("What does the Team plan cost?", "what about the Solo plan?", "What does the Solo plan plan cost?", PARTS),
        ("Does the R400 have a rain sensor?", "and the others?", "What are the others of the R400?", PARTS),
    ],
)
def test_a_follow_up_is_shown_as_a_sentence_or_as_its_parts(
    question: str, turn: str, searched: str, shown: str
) -> None:
    understood = read(turn, [past(question, "That is written there.")], Rewriter())
    assert (understood.question, understood.shown) == (searched, shown and f"{question}{PARTS}{turn}")


def test_parts_are_those_of_the_last_whole_question() -> None:
    height = "How high is the step at the sides?"
    front = past(
        "and in front?", "5 cm.", understood=f"{height}{PARTS}and in front?", searched=f"{height[:-1]} in front?"
    )
    assert front.understood == "How high is the step at the sides in front?"
    understood = read("and at the back?", [past(height, "3 cm."), front], Rewriter())
    assert understood.shown == f"{height}{PARTS}and at the back?"
    ignition = "How long does ignition take?"
    leaning = [past(ignition, "3 seconds."), past("what does that cost?", "4 euros.")]
    assert read("what if it fails?", leaning, Rewriter()).shown == f"{ignition}{PARTS}what if it fails?"


@pytest.mark.parametrize("turn", ["2", "the second one"])
def test_a_follow_up_to_a_choice_is_searched_with_what_was_chosen(turn: str) -> None:
    element = "What is the element Mercury?"
    before = [past("mercury", choices=CHOICES), past(turn, "Mercury is a metal.", understood=element)]
    assert read("why?", before, Rewriter()).readings.texts == ("why?", "mercury why?", f"{element} why?")


def test_an_ordinal_that_chose_nothing_is_searched_as_it_was_asked() -> None:
    before = [past("the first one", "It is old.", understood="the first computer")]
    assert read("why?", before, Rewriter()).readings.texts == ("why?", "the first one why?")


def test_a_correction_is_understood_after_the_question_before() -> None:
    before = [past("How long do cats live?", "For 15 years."), past("thanks", "You're welcome.")]
    assert read("no, I meant dogs", before, Rewriter()).question == "How long do dogs live?"
    assert read("no, I meant dogs", [], Rewriter()).question == "no, I meant dogs"


def test_first_turn_is_not_rewritten() -> None:
    assert read("why?", [], Rewriter()).question == "why?"


def answered_by(title: str) -> RememberedTurn:
    source = AnswerSource("p", "d", "c", title, "", 1.0, "With shears.")
    answer = Answer("How do I prune roses?", "With shears.", "passage", True, 0.9, sources=(source,))
    return RememberedTurn.of(answer.question, answer)


def test_the_topic_of_a_short_follow_up_is_the_document_that_answered_before() -> None:
    before, rewriter = answered_by("Roses"), Rewriter()
    assert read("and in winter?", [before], rewriter).readings.topic == "Roses"
    assert read("and in winter?", [before, past("thanks")], rewriter).readings.topic == "Roses", "talk has no topic"
    assert read("When does the museum of modern art open on holidays?", [before], rewriter).readings.topic == ""


@pytest.mark.parametrize(
    ("turn", "least_alone"),
    [
        ("When must the hedge be cut?", SURE_ALONE),
        ("what about lilacs?", 0.0),
        ("When must that be cut?", None),
        ("und im Winter?", None),
    ],
    ids=["points to nothing", "rewritten", "points back", "fragment"],
)
def test_a_short_turn_may_open_another_topic(turn: str, least_alone: float | None) -> None:
    assert read(turn, [answered_by("Roses")], Rewriter()).readings.least_alone == least_alone


def test_a_turn_that_was_refused_or_voted_down_has_no_topic() -> None:
    before, rewriter = answered_by("Roses"), Rewriter()
    refused = past("Do they need water?")
    assert read("and in winter?", [before, refused], rewriter).readings.topic == ""
    assert read("and in winter?", [replace(before, vote="down")], rewriter).readings.topic == ""
