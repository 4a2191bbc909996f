"""What could be asked instead: proposals from the sources of a refusal, and those that are answered surely."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot import Bot
from qa_bot.answering.ask import Ask
from qa_bot.conversation.clarification.suggesting import proposals, suggestions
from qa_core.types import Answer, AnswerSource, Choice, Clue, Passage, Question, Source


def source(document: str, title: str = "", heading: tuple[str, ...] = (), span: tuple[int, int] | None = None):
    return AnswerSource(f"{document}#0", document, "docs", title, "", 1.0, "", span, heading=heading)


LEAVE = source("leave.md", "Leave", ("Sick leave",))
OFFICE = source("office.md", "Berlin", ("How do I…", "Book a desk?"))
FAQ = source("faq.md", "Can I carry over leave days?")
REFUSED = Answer("How long is sick leave in the Berlin office?", "", "none", False, 0.2, sources=(LEAVE, OFFICE, FAQ))


@pytest.mark.parametrize(
    ("source_", "text"),
    [
        (LEAVE, "Leave › Sick leave"),
        (FAQ, "Can I carry over leave days?"),
        (OFFICE, "How do I book a desk?"),
        (source("a.md", "Leave", ("Where are forms?",)), "Where are forms?"),
        (source("b.md", "Sick leave"), "Sick leave"),
        (source("a/sick_leave.csv", "sick_leave", ("Leave",)), "Leave"),
    ],
)
def test_a_source_is_named_by_its_question_or_its_headings(source_: AnswerSource, text: str) -> None:
    (proposal,) = proposals("leave in Berlin", [source_])
    assert proposal == (Choice(text, text), source_)


def test_a_source_must_share_a_word_of_the_question_in_its_title_or_headings() -> None:
    assert [*proposals("Who won the world cup?", REFUSED.sources)] == []
    assert [*proposals("leave", [source("untitled.txt")])] == []
    assert [*proposals("leave codes", [source("a/leave_codes.csv", "leave_codes")])] == [], "the name of a file"
    assert [*proposals("sick leave", [source("b.md", "Sick leave")])] == [], "the question itself"
    assert len([*proposals("leave", [LEAVE, replace(LEAVE, id="leave.md#1")])]) == 1


def best(*answered: str):
    """Answers these questions, each by a passage of the document of its source."""
    documents = {"Leave › Sick leave": "leave.md", "How do I book a desk?": "office.md", FAQ.title: "faq.md"}

    def passage(question: str) -> Passage | None:
        document = documents[question]
        return Passage(f"{document}#0", "", Clue(), Source(document)) if question in answered else None

    return passage


def test_only_questions_that_are_answered_surely_are_offered() -> None:
    offered = suggestions(REFUSED, best(FAQ.title, "How do I book a desk?"))
    assert [choice.question for choice in offered] == ["How do I book a desk?", FAQ.title]
    assert suggestions(REFUSED, best()) == ()


def test_the_given_passage_is_not_offered_again() -> None:
    unsure = replace(REFUSED, sources=(replace(LEAVE, span=(0, 5)), FAQ), text="Leave", answered=True, unsure=True)
    assert [choice.text for choice in suggestions(unsure, best("Leave › Sick leave", FAQ.title))] == [FAQ.title]


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "leave.md").write_text(
        "# Leave\n\n## Sick leave\n\nSick leave is unlimited if a doctor agrees.\n\n"
        "## Carry-over\n\nUp to five days of leave carry over into March.\n"
    )
    (folder / "travel.md").write_text("# Travel\n\n## Trains\n\nTrains are booked in second class.\n")
    return folder


def test_a_refusal_names_what_could_be_asked(tmp_path: Path, policies: Path) -> None:
    from qa_bot.documents.sync import add
    from qa_bot.home.config import load_config
    from qa_bot.home.encoders import resolve
    from qa_bot.home.folder import Home

    home = Home.open(tmp_path / "home")
    config = load_config(home.path)
    add(home, config, resolve(config.dense.encoder, models=home.models), [policies], collection="policies")
    with Bot.open(home.path, record=False) as bot:
        answer = bot.ask("Who approved the sick leave of the gardener Zyxwvut?")
        assert not answer.answered or answer.unsure
        assert answer.suggested
        assert "Leave › Sick leave" in [choice.text for choice in answer.choices]
        assert "suggest" in answer.timings
        again = bot.ask(answer.choices[0].question)
        assert (again.answered, again.unsure, again.suggested) == (True, False, False)
        silent = bot.ask(Ask(Question("Who approved the sick leave of the gardener Zyxwvut?"), suggest=False))
        assert (silent.choices, silent.suggested) == ((), False)
        bot.ask("Who approved the sick leave of the gardener Zyxwvut?", conversation="c")
        assert bot.ask("1", conversation="c").understood == answer.choices[0].question
