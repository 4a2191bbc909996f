"""When choices are offered, and which: hand-made rankings, the starter's home, and the turns of `turns.jsonl`."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from qa_bot.answering.ask import Ask
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline, DeadlineExceededError
from qa_bot.answering.stages.decide import Decision
from qa_bot.answering.stages.owner_answers import COLLECTION
from qa_bot.answering.stages.rank import Ranking
from qa_bot.bot import Bot
from qa_bot.conversation.clarification.bare_topics import Topic, tidy
from qa_bot.conversation.clarification.offering import (
    FEWEST,
    LONGEST_LABEL,
    MANY,
    MOST,
    TRIED,
    clarification_choices,
    documents,
    offered,
    shown,
    title_facets,
)
from qa_bot.home.starter import FACT_QUESTIONS, QUESTIONS
from qa_core.types import Answer, AnswerSource, Candidate, Choice, Clue, Passage, Question, Signals, Source
from retrievers.formulate import formulate

TURNS = Path(__file__).with_name("turns.jsonl")
ASTHMA = Topic(("asthma",), frozenset({"asthma"}))
FACETS = (
    ("What is (are) Asthma ?", 3.0),
    ("What are the symptoms of Asthma ?", 2.5),
    ("What is (are) allergic asthma ?", 2.4),
    ("What causes Asthma ?", 2.3),
    ("What causes allergic asthma ?", 2.2),
    ("Is Asthma inherited ?", 1.7),
    ("How to prevent Asthma ?", 1.6),  # below 0.55 · 3
)


def ranking_of(turn: str, titles: Sequence[tuple[str, float]], *, body: str = "") -> Ranking:
    """Documents with these titles and scores, each with a different text."""
    question = Question(turn, body)
    candidates = tuple(
        Candidate(Passage(f"{i}/0", text_of(title), Clue(title), Source(f"{i}", title)), score)
        for i, (title, score) in enumerate(titles)
    )
    return Ranking(question, formulate(question), candidates)


def text_of(title: str) -> str:
    return f"The text about {title}"


def decision(confidence: float) -> Decision:
    return Decision(confidence, 0.5, {"coverage": 1.0})


def answer_of(title: str, text: str, *, kind: str = "passage") -> Answer:
    source = AnswerSource("0/0", "0", "", title, "", 1.0, text)
    return Answer(title, text, kind, bool(text), 0.9, sources=(source,))  # type: ignore[arg-type]


def ask_by_title(ranking: Ranking) -> Callable[[str], Answer]:
    """Answers a question from the document whose tidied title equals it."""
    texts = {tidy(candidate.passage.clue.title): candidate.passage for candidate in ranking.candidates}

    def ask(question: str) -> Answer:
        return answer_of(texts[question].source.title, texts[question].text)

    return ask


def offered_for(turn: str, titles: Sequence[tuple[str, float]], *, body: str = "") -> list[str]:
    ranking = ranking_of(turn, titles, body=body)
    return [choice.text for choice in clarification_choices(ranking, decision(0.9), None, ask_by_title(ranking))]


# hand-made rankings


def test_order_is_definition_facets_narrower_topics():
    ranking = ranking_of("asthma", FACETS)
    assert clarification_choices(ranking, decision(0.9), None, ask_by_title(ranking)) == (
        Choice("What is Asthma?", "What is Asthma?"),
        Choice("Symptoms", "What are the symptoms of Asthma?"),
        Choice("Causes", "What causes Asthma?"),
        Choice("Is Asthma inherited?", "Is Asthma inherited?"),
        Choice("Allergic asthma", "What is allergic asthma?"),
    )


def test_wider_and_low_scoring_titles_are_no_facets():
    facets = title_facets(ASTHMA, ranking_of("asthma", FACETS).candidates, near=0.55)
    assert [sorted(title.rest) for title in facets] == [[], ["symptom"], ["allerg"], ["caus"], ["inherit"]]


def test_facets_are_offered_without_a_definition():
    cats = [("Why do cats purr?", 2.0), ("Why do cats sleep all day?", 1.6), ("How do birds fly?", 1.5)]
    assert offered_for("cats", cats) == ["Why do cats purr?", "Why do cats sleep all day?"]
    assert offered_for("tell me about cats", cats) == ["Why do cats purr?", "Why do cats sleep all day?"]


@pytest.mark.parametrize(
    "turn",
    ["What is asthma?", "How is asthma treated?", "asthma symptoms", "symptoms of asthma", "is asthma inherited", ""],
)
def test_questions_are_not_broad(turn: str):
    assert offered_for(turn, FACETS) == []


def test_question_with_a_body_is_not_broad():
    assert offered_for("asthma", FACETS, body="My son coughs at night. What can we do?") == []


def test_title_equal_to_the_turn_is_answered():
    assert offered_for("asthma", [("Asthma", 2.0), *FACETS[1:]]) == []


def test_ambiguous_name_offers_choices_for_a_definition_question_too():
    mercury = [("Mercury (planet)", 2.0), ("Mercury (element)", 1.9), ("Who discovered mercury?", 1.8)]
    assert offered_for("What is Mercury?", mercury) == ["Mercury (planet)", "Mercury (element)"]
    assert offered_for("What is Mercury?", [("What is Mercury?", 2.1), *mercury]) == []
    far = [("Mercury (planet)", 2.0), ("Mercury (element)", 1.3)]  # below 0.7 · 2
    assert offered_for("What is Mercury?", far) == []
    assert offered_for("Mercury", far) == ["Mercury (planet)", "Mercury (element)"]


def test_narrower_topics_alone_are_not_offered():
    kinds = [("What is asthma?", 2.0), ("What is allergic asthma?", 1.9), ("Asthma in children", 1.8)]
    assert offered_for("asthma", kinds) == []
    facets = [("What causes asthma?", 1.7), ("How to prevent asthma?", 1.6)]
    assert offered_for("asthma", kinds + facets) == [
        "What is asthma?",
        "Causes",
        "How to prevent",
        "Allergic asthma",
        "Asthma in children",
    ]


def test_clear_winner_or_other_topic_first_offers_nothing():
    assert offered_for("cats", [("Why do cats purr?", 2.0), ("Why do cats sleep?", 1.0)]) == []
    assert offered_for("tea", [("How do I descale a kettle?", 2.0), ("Is tea healthy?", 1.9), ("Iced tea", 1.8)]) == []


def test_too_many_facets_offer_nothing():
    animals = [f"How do {animal} drink water?" for animal in "cats dogs birds fish bees bears ants owls".split()]  # noqa: SIM905
    scored = [(title, 2.0 - rank / 100) for rank, title in enumerate(animals)]
    assert len(offered_for("water", scored[:MANY])) == MOST
    assert offered_for("water", scored[: MANY + 1]) == []


def test_near_duplicates_are_offered_once():
    ranking = ranking_of("cats", [("Why do cats purr?", 2.0), ("Why do cats sleep?", 1.9)])
    (first, second) = ranking.candidates
    same = Candidate(Passage("1/0", first.passage.text, second.passage.clue, second.passage.source), second.score)
    assert len([*documents(Topic(("cats",), frozenset({"cat"})), ranking.candidates)]) == FEWEST
    assert len([*documents(Topic(("cats",), frozenset({"cat"})), (first, same))]) == 1


def test_owner_answer_prevents_choices():
    ranking = ranking_of("cats", [("Why do cats purr?", 2.0), ("Why do cats sleep?", 1.9)])
    assert clarification_choices(ranking, decision(0.9), None, ask_by_title(ranking))
    first, second = ranking.candidates
    owner_answer = Candidate(
        Passage("a", "Mine.", first.passage.clue, Source("a", first.passage.clue.title, "", COLLECTION)),
        3.0,
        Signals(owner_answer=True),
    )
    for best, expected in ((owner_answer, 0), (replace(owner_answer, signals=Signals()), 2)):
        owned = replace(ranking, candidates=(best, second))
        assert len(clarification_choices(owned, decision(1.0), None, ask_by_title(owned))) == expected


def test_empty_ranking_offers_nothing():
    assert offered_for("asthma", []) == []


# questions of choices are answered before they are offered

TWO = ((Choice("one", "One?"), "1"), (Choice("two", "Two?"), "2"))


def test_only_choices_with_the_expected_answer_are_offered():
    def answers(answer: Answer, meant: str) -> bool:
        return answer.sources[0].title == meant

    good = {"One?": answer_of("1", "First."), "Two?": answer_of("2", "Second.")}
    assert offered(TWO, ask=good.__getitem__, answers=answers) == (Choice("One", "One?"), Choice("Two", "Two?"))
    for bad in (answer_of("1", "Second."), answer_of("2", "")):
        assert offered(TWO, ask={**good, "Two?": bad}.__getitem__, answers=answers) == ()
    same = {**good, "Again?": answer_of("3", "First.")}
    again = (*TWO, (Choice("again", "Again?"), "3"))
    assert offered(again, ask=same.__getitem__, answers=answers) == (Choice("One", "One?"), Choice("Two", "Two?"))
    assert offered(again[::2], ask=same.__getitem__, answers=answers) == ()


def test_deadline_ends_the_check_of_choices():
    def check() -> None:
        raise DeadlineExceededError

    with pytest.raises(DeadlineExceededError):
        offered(TWO, ask=lambda _: answer_of("1", "First."), answers=lambda *_: True, check=check)


def test_number_of_checked_choices_is_limited():
    questions: list[str] = []

    def ask(question: str) -> Answer:
        questions.append(question)
        return answer_of(question, "")

    many = [(Choice(f"{i}", f"{i}?"), "") for i in range(100)]
    assert offered(many, ask=ask, answers=lambda *_: True) == ()
    assert len(questions) == TRIED


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("symptoms of\n it", "Symptoms of it"),
        ("iPhone repair", "iPhone repair"),
        ("x" * 80, "X" + "x" * 79),
        ("x" * 81, "X" + "x" * 78 + "…"),
        ("", ""),
    ],
)
def test_a_label_is_one_short_line(text: str, line: str):
    assert shown(text) == line


HEADS = st.sampled_from(
    ("What is", "What is (are)", "What causes", "How to stop", "Why", "", "What are the symptoms of")
)
TAILS = st.sampled_from(("", "in children", "x" * 90 + "y", "x" * 90 + "z", "(are)", "喘息", "today"))
TITLES = st.tuples(HEADS, st.just("asthma"), TAILS, st.sampled_from(("", "?", " ?"))).map(" ".join)


@settings(max_examples=200)
@given(st.lists(st.tuples(TITLES, st.floats(2.0, 3.0)), max_size=12), st.sampled_from(("asthma", "what is asthma", "")))
def test_two_to_five_distinct_choices_or_none(titles: list[tuple[str, float]], turn: str):
    ranking = ranking_of(turn, sorted(titles, key=lambda scored: -scored[1]))
    choices = clarification_choices(ranking, decision(0.9), None, ask_by_title(ranking))
    event(f"{len(choices)} choices")
    assert len(choices) in (0, *range(FEWEST, MOST + 1))
    assert len({choice.text.casefold() for choice in choices}) == len(choices)
    assert len({choice.question.casefold() for choice in choices}) == len(choices)
    assert all(1 <= len(choice.text) <= LONGEST_LABEL for choice in choices)


# the starter's home


class Clarified(NamedTuple):
    bot: Bot
    corridor: Corridor

    def choices(self, turn: str) -> tuple[Choice, ...]:
        """Choices for a turn over this home."""
        corridor, deadline = self.corridor, Deadline.after(60)
        ranking = corridor.rank(Question(turn), corridor.start(deadline), depth=self.bot.config.ranking.depth)
        fact = corridor.facts.find(turn)
        return clarification_choices(ranking, corridor.decide(ranking), fact, self.ask, facts=corridor.facts)

    def ask(self, question: str) -> Answer:
        return self.corridor.answer(Ask(Question(question)), self.corridor.start(Deadline.after(60)))


@pytest.fixture(scope="module")
def starter(starter_home: Path) -> Iterator[Clarified]:
    with Bot.open(starter_home, record=False) as bot:
        yield Clarified(bot, bot.corridor())


def test_each_choice_leads_to_its_document(starter: Clarified):
    choices = starter.choices("cats")
    answers = [starter.ask(choice.question) for choice in choices]
    assert [answer.sources[0].document for answer in answers] == [
        "animals-cats-purr",
        "animals-cats-sleep",
        "animals-cats-scratch",
    ]


def test_each_choice_leads_to_its_entity(starter: Clarified):
    choices = starter.choices("capital of Georgia")
    assert [choice.text for choice in choices] == ["Georgia (country)", "Georgia (US state)"]
    assert [starter.ask(choice.question).text for choice in choices] == [
        "The capital of Georgia is Tbilisi.",
        "The capital of Georgia is Atlanta.",
    ]


def test_rare_meanings_are_left_out(starter: Clarified):
    choices = starter.choices("Jordan")
    assert "Capital" in [choice.text for choice in choices]
    assert not any("river" in choice.question.casefold() for choice in choices)


def turns(name: str) -> list[dict[str, object]]:
    return [row for row in map(json.loads, TURNS.read_text("utf-8").splitlines()) if row["home"] == name]


def matches_target(choice: Choice, words: str) -> bool:
    return any(word in f"{choice.text} {choice.question}".casefold() for word in words.split("|"))


@pytest.mark.slow
def test_broad_and_ambiguous_turns_are_distinguished_from_clear_ones(starter: Clarified):
    rows = turns("starter")
    choices = {str(row["turn"]): starter.choices(str(row["turn"])) for row in rows}
    clear = [row["turn"] for row in rows if not row["wanted"]]
    assert len(clear) >= 45
    assert [turn for turn in clear if choices[turn]] == []
    broad = {row["turn"]: row["wanted"] for row in rows if row["wanted"]}
    right = [
        turn
        for turn, targets in broad.items()
        if len({choice.question for target in targets for choice in choices[turn] if matches_target(choice, target)})
        >= FEWEST
    ]
    assert len(right) >= 0.9 * len(broad)
    assert len(broad) >= 35


@pytest.mark.parametrize("path", [QUESTIONS, FACT_QUESTIONS], ids=["documents", "facts"])
def test_complete_questions_offer_no_choices(starter: Clarified, path: Path):
    questions = [json.loads(line)["question"] for line in path.read_text("utf-8").splitlines()]
    assert [question for question in questions[::5] if starter.choices(question)] == []
