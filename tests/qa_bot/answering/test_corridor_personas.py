"""Answers with a persona's sentence."""

from pathlib import Path

from qa_bot.answering.events import STAGES, StageBegun, TextAdded
from qa_bot.answering.models.personas import PersonaLines, PersonaStore
from qa_bot.home.config import Config
from qa_bot.home.sections import AnswerSection, StyleSection
from qa_core.types import StyledLine
from tests.qa_bot.answering.small_corridor import UNSURE, ask


class Cook(PersonaStore):
    """A store whose personas say fixed texts."""

    def __init__(self, *texts, spend=lambda: None):
        super().__init__(Path("nowhere"), StyleSection())
        self.texts, self.spend, self.hints = texts, spend, ()

    def say(self, spec, turns, n, *, hints=(), refuse=lambda _: "", check=lambda: None):
        self.hints = tuple(hints)
        self.spend()
        check()
        lines = [StyledLine(text, "generated", spec, 0.0) for text in self.texts if not refuse(text)]
        return PersonaLines(tuple(lines[:n]), "" if lines else "nothing fits")


TEA = "How long should green tea steep?"


def test_a_styled_line_precedes_the_unchanged_answer(corridor):
    events = []
    plain = ask(corridor(), TEA)
    answer = ask(corridor(personas=Cook("A warm cup, then.", "Tea again.")), TEA, persona="cook", listen=events.append)
    assert (answer.kind, answer.answered, answer.confidence) == ("styled", True, plain.confidence)
    assert answer.text == f"A warm cup, then.\n\n{plain.text}"
    assert [line.text for line in answer.styled.lines] == ["A warm cup, then.", "Tea again."]
    assert answer.text[slice(*answer.styled.span)] == "A warm cup, then."
    for source in answer.sources:
        if source.span:
            assert answer.text[slice(*source.span)] == source.text[slice(*source.source_span)]
    assert [e.stage for e in events if isinstance(e, StageBegun)] == list(STAGES)
    assert "".join(e.text for e in events if isinstance(e, TextAdded)) == answer.text
    assert answer.timings.keys() >= {"style"}


def test_without_a_fitting_line_the_plain_answer_is_given(corridor):
    plain = ask(corridor(), TEA)
    answer = ask(corridor(personas=Cook("It takes ten minutes.")), TEA, persona="cook")
    assert (answer.kind, answer.text, answer.sources) == ("passage", plain.text, plain.sources)
    assert (answer.styled.lines, answer.styled.span, answer.styled.notice) == ((), None, "nothing fits")


def test_a_slow_persona_is_skipped(corridor, now):
    slow = Cook("A warm cup, then.", spend=lambda: now.advance(1.0))
    answer = ask(corridor(personas=slow), TEA, persona="cook", seconds=0.5, now=now)
    assert (answer.kind, answer.styled, answer.skipped) == ("passage", None, ("style",))


def test_an_abstention_may_have_styled_lines(corridor):
    answer = ask(corridor(calibration=UNSURE, personas=Cook("A warm cup, then.")), TEA, persona="cook")
    assert (answer.kind, answer.answered, answer.text) == ("none", False, "")
    assert answer.reason
    assert [line.text for line in answer.styled.lines] == ["A warm cup, then."]
    assert answer.styled.span is None


def test_sources_may_be_the_hints(corridor):
    cook = Cook("A warm cup, then.")
    config = Config(style=StyleSection(hints="sources"))
    answer = ask(corridor(config=config, personas=cook), TEA, persona="cook")
    assert cook.hints == tuple(source.text for source in answer.sources[:10])
    ask(corridor(personas=cook), TEA, persona="cook")
    assert len(cook.hints) == 1


def test_a_styled_answer_keeps_the_limit(corridor):
    config = Config(answer=AnswerSection(limit=260))
    answer = ask(corridor(config=config, personas=Cook("So " * 60)), TEA, persona="cook")
    assert answer.kind == "styled"
    assert len(answer.text) <= 260
