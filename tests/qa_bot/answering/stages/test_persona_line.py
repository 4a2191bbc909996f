from pathlib import Path

import pytest

from qa_bot.answering.models.personas import PersonaLines, PersonaStore
from qa_bot.answering.stages.persona_line import introduced, style
from qa_bot.home.sections import StyleSection
from qa_core.types import AnswerSource, Styled, StyledLine

QUESTION, ANSWER = "How long should green tea steep?", "Green tea needs two to three minutes."


class Says(PersonaStore):
    """A persona with a few things to say."""

    def __init__(self, *texts: str) -> None:
        super().__init__(Path("nowhere"), StyleSection())
        self.texts, self.heard = texts, ()

    def say(self, spec, turns, n, *, hints=(), refuse=lambda _: "", check=lambda: None) -> PersonaLines:
        self.heard = (spec, tuple(turns), tuple(hints))
        return PersonaLines(
            tuple(StyledLine(text, "generated", spec, 0.0) for text in self.texts if not refuse(text))[:n], "told"
        )


def test_the_answer_is_the_hint_where_none_is_given():
    voices = Says("A warm cup, then.")
    assert style(voices, "cook", QUESTION, ANSWER).hint == ""
    assert voices.heard == ("cook", (QUESTION,), (ANSWER,))
    told = style(voices, "cook", QUESTION, ANSWER, hint=" water ")
    assert voices.heard[2] == ("water",)
    assert (told.hint, told.notice) == ("water", "told")
    style(voices, "cook", QUESTION, "")
    assert voices.heard[2] == ()


def test_retrieved_texts_are_hints_where_nobody_gives_one():
    voices = Says("A warm cup, then.")
    style(voices, "cook", QUESTION, ANSWER, retrieved=["Tea is warm.", " ", "Cups."])
    assert voices.heard[2] == ("Tea is warm.", "Cups.")
    style(voices, "cook", QUESTION, ANSWER, hint="water", retrieved=["Tea is warm."])
    assert voices.heard[2] == ("water",)


@pytest.mark.parametrize(
    "sentence",
    [
        "It takes ten minutes.",  # another number
        "Ask Henry about that.",  # another name
        "You should never do that.",  # a negation of its own
        "Well " * 50,  # no room beside the answer
    ],
)
def test_what_contradicts_the_answer_is_refused(sentence: str):
    assert style(Says(sentence), "cook", QUESTION, ANSWER).lines == ()
    kept = style(Says(sentence, "A warm cup, then."), "cook", QUESTION, ANSWER)
    assert [line.text for line in kept.lines] == ["A warm cup, then."]


def test_without_an_answer_a_persona_says_what_it_likes():
    assert style(Says("You should never ask Henry."), "cook", QUESTION, "").lines


def test_a_yes_before_a_no_is_refused():
    assert style(Says("Sure, my dear."), "cook", "Can cats eat onions?", "Cats must not eat onions.").lines == ()


def test_the_answer_stays_letter_by_letter_behind_the_sentence():
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
