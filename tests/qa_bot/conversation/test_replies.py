"""Replies about the bot itself and about the previous answer."""

import re
from dataclasses import astuple, replace

import pytest

from qa_bot.answering.scope import Knowledge
from qa_bot.conversation.memory import RememberedTurn
from qa_bot.conversation.replies import reply, shortened
from qa_bot.conversation.talk_wording import ENGLISH, WORDINGS, TalkWording
from qa_core.text.small_talk import Talk
from qa_core.types import Answer, AnswerSource, Choice, Styled, StyledLine

KNOWN = Knowledge(1234, 1)
TEXT = "Cats sleep a lot. They hunt at dawn."
FIRST = AnswerSource("a#0", "a", "pets", "Sleep", "https://x.org/a", 0.9, TEXT, (0, 36), (0, 36))
NEXT = AnswerSource("b#0", "b", "pets", "Purring", "", 0.5, "Cats purr.")
ANSWER = Answer("Why do cats sleep?", TEXT, "passage", True, 0.87, sources=(FIRST, NEXT), id="1")


def past(answer: Answer = ANSWER) -> list[RememberedTurn]:
    return [RememberedTurn.of(answer.question, answer)]


@pytest.mark.parametrize("talk", ["greeting", "identity", "abilities"])
def test_introduction_counts_documents_and_facts(talk: Talk) -> None:
    answer = reply(talk, [], KNOWN)
    assert "1,234 documents and 1 fact" in answer.text
    assert (answer.kind, answer.answered, answer.sources) == ("talk", True, ())


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "from 2 documents of yours, then from 1,225 others and 11,478 facts, and"),
        ("de", "aus 2 Dokumenten von Ihnen, dann aus 1.225 weiteren und 11.478 Tatsachen und"),
        ("fr", "à partir de 2 documents à vous, puis de 1 225 autres et 11 478 faits et"),
    ],
)
def test_the_owners_documents_are_counted_first(language: str, expected: str) -> None:
    assert expected in reply("greeting", [], Knowledge(2, 11_478, 1225), language).text.replace("\u202f", " ")


def test_an_empty_bot_says_so() -> None:
    assert "none yet" in reply("greeting", [], Knowledge(0, 0)).text


@pytest.mark.parametrize("talk", ["farewell", "thanks", "wellbeing", "praise", "blame"])
def test_small_talk_gets_a_sentence(talk: Talk) -> None:
    assert reply(talk, past(), KNOWN).text


@pytest.mark.parametrize("talk", list(ENGLISH.nothing))
def test_without_a_previous_answer_there_is_nothing_to_refer_to(talk: Talk) -> None:
    assert reply(talk, [], KNOWN).text == ENGLISH.nothing[talk]
    assert (
        reply(talk, past(Answer("thanks", "You're welcome.", "talk", True, 1.0)), KNOWN).text == ENGLISH.nothing[talk]
    )


def test_repeat_returns_the_same_answer() -> None:
    assert reply("repeat", past(), KNOWN) == replace(ANSWER, kind="talk")


def test_repeat_returns_the_shortened_answer() -> None:
    before = [
        *past(),
        RememberedTurn.of("shorter", shortened(ANSWER)),
        *past(Answer("thanks", "Yes.", "talk", True, 1.0)),
    ]
    assert reply("repeat", before, KNOWN).text == "Cats sleep a lot."


def test_shorter_keeps_the_first_sentence() -> None:
    answer = reply("shorter", past(), KNOWN)
    assert (answer.text, answer.kind) == ("Cats sleep a lot.", "talk")
    assert (answer.sources[0].span, answer.sources[0].source_span) == ((0, 17), (0, 17))
    assert answer.sources[1].span is None


def test_shorter_drops_the_persona_line_and_unused_sources() -> None:
    line = StyledLine("Hush.", "quotation", "me", 0.0)
    first = replace(FIRST, text="Dogs bark. Cats sleep a lot.", span=(7, 24), source_span=(11, 28))
    second = replace(NEXT, text="They hunt at dawn.", span=(25, 43), source_span=(0, 18))
    styled = Styled("me", "", (line,), (0, 5))
    answer = shortened(replace(ANSWER, text=f"Hush.\n\n{TEXT}", kind="styled", styled=styled, sources=(first, second)))
    assert (answer.text, answer.kind, answer.styled) == ("Cats sleep a lot.", "talk", None)
    assert [(source.document, source.span, source.source_span) for source in answer.sources] == [
        ("a", (0, 17), (11, 28)),
        ("b", None, None),
    ]


def test_one_sentence_is_not_shortened() -> None:
    once = shortened(ANSWER)
    assert shortened(once) == once


@pytest.mark.parametrize("talk", ["repeat", "shorter"])
def test_abstention_is_repeated_as_talk(talk: Talk) -> None:
    nothing = Answer("Why?", "", "none", False, 0.1, reason="Nobody knows.")
    answer = reply(talk, past(nothing), KNOWN)
    assert (answer.kind, answer.answered, answer.text) == ("talk", True, "I don't know. Nobody knows.")


@pytest.mark.parametrize("talk", ["repeat", "shorter"])
def test_choices_are_offered_again(talk: Talk) -> None:
    offered = Answer("dogs", "", "none", False, 0.5, reason="Which?", choices=(Choice("a", "b"), Choice("c", "d")))
    assert reply(talk, past(offered), KNOWN) == offered


def test_why_names_document_evidence_and_confidence() -> None:
    trace = {"confidence": {"title_similarity": 0.81, "coverage": 1.0}}
    answer = reply("why", past(replace(ANSWER, trace=trace, understood="Why do cats sleep so much?")), KNOWN)
    for words in ("“Why do cats sleep so much?”", "“Sleep” (pets)", "81%", "100%", "How sure I am: 87%."):
        assert words in answer.text
    assert [source.span for source in answer.sources] == [None, None]


def test_why_of_a_fact_shows_the_triple() -> None:
    triple = replace(FIRST, collection="graph", title="Peru", text="Peru · capital · Lima")
    assert "Peru · capital · Lima" in reply("why", past(replace(ANSWER, kind="fact", sources=(triple,))), KNOWN).text


def test_why_of_an_abstention_gives_its_reason() -> None:
    nothing = Answer("Why?", "", "none", False, 0.1, reason="Nobody knows.")
    assert reply("why", past(nothing), KNOWN).text == "I gave no answer. Nobody knows."


def test_sources_are_listed_used_ones_first() -> None:
    answer = reply("sources", past(), KNOWN)
    assert answer.text == (
        "The answer comes from:\n1. Sleep (https://x.org/a)\n\nFurther documents about this:\n2. Purring"
    )
    assert [source.document for source in answer.sources] == ["a", "b"]


def test_sources_without_used_documents() -> None:
    assert reply("sources", past(replace(ANSWER, sources=())), KNOWN).text == "There are no documents about this."
    assert reply("sources", past(replace(ANSWER, sources=(NEXT,))), KNOWN).text == "The nearest documents:\n1. Purring"


def test_talk_is_answered_in_its_language() -> None:
    assert reply("greeting", [], KNOWN, "de").text.startswith(
        "Hallo! Fragen Sie mich etwas: Ich antworte aus 1.234 Doku"
    )
    assert reply("thanks", [], KNOWN, "fr").text == "Je vous en prie."
    assert reply("sources", past(), KNOWN, "de").text.startswith("Die Antwort stammt aus:\n1. Sleep")
    assert reply("why", past(), KNOWN, "fr").text.endswith("Ma certitude : 87%.")
    assert reply("thanks", [], KNOWN, "es").text == ENGLISH.fixed["thanks"]


@pytest.mark.parametrize("wording", WORDINGS.values())
def test_every_wording_has_the_same_sentences_and_places(wording: TalkWording) -> None:
    def places(one: TalkWording) -> list[set[str]]:
        sentences = [*one.fixed.values(), *one.nothing.values(), *astuple(one)[3:]]
        return [set(re.findall(r"\{\w+\}", sentence)) for sentence in sentences]

    assert places(wording) == places(ENGLISH)
    assert [*wording.fixed, *wording.nothing] == [*ENGLISH.fixed, *ENGLISH.nothing]
