from pathlib import Path

import pytest

from qa_bot.answering.models.personas import PersonaLines, PersonaStore
from qa_bot.answering.stages.persona_line import introduced, style
from qa_bot.home.sections import StyleSection
from qa_core.types import AnswerSource, Styled, StyledLine

QUESTION, ANSWER = "How long should green tea steep?", "Green tea needs two to three minutes."


class Says(PersonaStore):
    """A store whose personas say fixed texts."""

    def __init__(self, *texts: str) -> None:
        super().__init__(Path("nowhere"), StyleSection())
        self.texts, self.received = texts, ()

    def say(self, spec, turns, n, *, hints=(), refuse=lambda _: "", check=lambda: None) -> PersonaLines:
        self.received = (spec, tuple(turns), tuple(hints))
        return PersonaLines(
            tuple(StyledLine(text, "generated", spec, 0.0) for text in self.texts if not refuse(text))[:n], "a notice"
        )

    def scanned(self) -> tuple[int, ...]:
        return 3, 1

    def retrieved(self, question: str) -> tuple[str, ...]:
        return (f"reply to {question}",)


def test_the_answer_is_the_default_hint():
    personas = Says("A warm cup, then.")
    assert style(personas, "cook", QUESTION, ANSWER).hint == ""
    assert personas.received == ("cook", (QUESTION,), (ANSWER,))
    hinted = style(personas, "cook", QUESTION, ANSWER, hint=" water ")
    assert personas.received[2] == ("water",)
    assert (hinted.hint, hinted.notice) == ("water", "a notice")
    style(personas, "cook", QUESTION, "")
    assert personas.received[2] == ()


def test_retrieved_texts_are_hints_if_none_is_given():
    personas = Says("A warm cup, then.")
    texts = ["Tea is warm.", " ", "Cups."]
    style(personas, "cook", QUESTION, ANSWER, source="sources", sources=texts)
    assert personas.received[2] == ("Tea is warm.", "Cups.")
    style(personas, "cook", QUESTION, ANSWER, sources=texts)
    assert personas.received[2] == (ANSWER,)
    style(personas, "cook", QUESTION, ANSWER, hint="water", source="sources", sources=texts)
    assert personas.received[2] == ("water",)


def test_places_of_the_map_and_lines_of_dialogues_are_hints():
    personas = Says("A warm cup, then.")
    style(personas, "cook", QUESTION, ANSWER, source="scan")
    assert personas.received[2] == (3, 1)
    style(personas, "cook", QUESTION, ANSWER, source="dialogues")
    assert personas.received[2] == (f"reply to {QUESTION}",)
    chosen = style(personas, "cook", QUESTION, ANSWER, hint="water pot", cell=0, source="scan")
    assert (personas.received[2], chosen.hint) == ((0,), "water pot")


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes ten minutes.",  # another number
        "Ask Henry about that.",  # another name
        "You should never do that.",  # a negation
        "Well " * 50,  # too long
    ],
)
def test_sentences_that_contradict_the_answer_are_refused(sentence: str):
    assert style(Says(sentence), "cook", QUESTION, ANSWER).lines == ()
    allowed = style(Says(sentence, "A warm cup, then."), "cook", QUESTION, ANSWER)
    assert [line.text for line in allowed.lines] == ["A warm cup, then."]


def test_without_an_answer_nothing_is_refused():
    assert style(Says("You should never ask Henry."), "cook", QUESTION, "").lines


def test_a_yes_before_a_no_is_refused():
    assert style(Says("Sure, my dear."), "cook", "Can cats eat onions?", "Cats must not eat onions.").lines == ()


def test_the_answer_follows_the_sentence_unchanged():
    used = AnswerSource(
        "p", "d", "c", "t", "", 1.0, "x" + ANSWER, span=(0, len(ANSWER)), source_span=(1, 1 + len(ANSWER))
    )
    other = AnswerSource("q", "e", "c", "t", "", 0.5, "y")
    line = StyledLine("A warm cup, then.", "generated", "cook", 0.0)
    styled, text, sources = introduced(Styled("cook", "", (line,)), line, ANSWER, [used, other])
    assert text == f"A warm cup, then.\n\n{ANSWER}"
    assert styled.span is not None
    assert text[slice(*styled.span)] == line.text
    assert sources[0].span is not None
    assert sources[0].source_span is not None
    assert text[slice(*sources[0].span)] == ANSWER == sources[0].text[slice(*sources[0].source_span)]
    assert sources[1] == other
