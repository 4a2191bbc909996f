import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_bot.answering.graph.entities import Entity
from qa_bot.conversation.followups import Exchange, Rewriter
from qa_bot.conversation.followups.candidates import LONGER
from qa_bot.conversation.followups.scoring import Scorer

REWRITER = Rewriter()
OTTAWA = Entity("Ottawa", frozenset(["city"]))


def understood(*turns: str) -> list[str]:
    """The turns of a conversation as they are understood, each after the ones before."""
    history: list[Exchange] = []
    for turn in turns:
        history.append(Exchange(REWRITER.rewrite(turn, history).text))
    return [exchange.question for exchange in history]


@pytest.mark.parametrize(
    ("turns", "last"),
    [
        (["What is the capital of Australia?", "and its population?"], "What is Australia's population?"),
        (
            ["What is the capital of Australia?", "and its population?", "What about New Zealand?"],
            "What is New Zealand's population?",
        ),
        (["Who was Marie Curie?", "When was she born?"], "When was Marie Curie born?"),
        (
            ["Who was Marie Curie?", "When was she born?", "What is her most famous work?"],
            "What is Marie Curie's most famous work?",
        ),
        (["How do I prune roses?", "and in winter?"], "How do I prune roses in winter?"),
        (["How do I prune roses?", "why?"], "Why do I prune roses?"),
        (["How long do cats live?", "What about dogs?"], "How long do dogs live?"),
        (["How long do cats live?", "What about dogs?", "Do they sleep a lot?"], "Do dogs sleep a lot?"),
        (["Are dogs allowed in the park?", "how many?"], "How many dogs?"),
        (["Who wrote Hamlet?", "When was it written?", "and Macbeth?"], "When was Macbeth written?"),
        (["What is asthma?", "How is it treated?", "and in children?"], "How is asthma treated in children?"),
        (["What is asthma?", "What are its symptoms?"], "What are asthma's symptoms?"),
        (["What is asthma?", "What are the symptoms?"], "What are the symptoms of asthma?"),
        (["What is asthma?", "Is there a cure?"], "Is there a cure for asthma?"),
        (["Which animal is the fastest?", "and the slowest?"], "Which animal is the slowest?"),
        (["How is asthma diagnosed?", "and treated?"], "How is asthma treated?"),
        (["Which city do the Turks govern from?", "and the Japanese?"], "Which city do the Japanese govern from?"),
        (["What are tulips?", "Which ones grow in the shade?"], "Which tulips grow in the shade?"),
        (["What is a rainbow?", "Where can I see one?"], "Where can I see a rainbow?"),
        (["What are planets?", "How many are there?"], "How many planets are there?"),
        (["What is asthma?", "How do they treat it?"], "How do they treat asthma?"),
        (["My father has gout.", "Can he drink wine?"], "Can my father drink wine?"),
    ],
)
def test_a_follow_up_is_made_to_stand_alone(turns: list[str], last: str) -> None:
    assert understood(*turns)[-1] == last


@pytest.mark.parametrize(
    "turn",
    [
        "What is the speed of light?",
        "How do airplanes fly?",
        "What is mortadella and where is it from?",
        "How long does it take to boil an egg?",
        "Is it possible to learn Norwegian at home?",
        "symptoms Tell me about feijoada and its significance.",
        "Thanks!",
        "How many oceans are there?",
        "What is the greenhouse effect?",
        "Why did the French kill their king?",
        "why do dogs wag their tails?",
        "is this a steroid?",
        "when do I write it's?",
        "why is it a different hour in London?",
        "my father is 65, which medicine should he take?",
        "What about for jazz?",
    ],
)
def test_a_turn_that_stands_alone_is_left_alone(turn: str) -> None:
    history = [Exchange("Who was Marie Curie?", "Marie Curie was a physicist who found radium.")]
    said = REWRITER.rewrite(turn, history)
    assert (said.text, said.changed) == (turn, False)


@pytest.mark.parametrize("turn", ["and its population?", "why?", "What about dogs?", "Is it safe?", ""])
def test_the_first_turn_is_never_rewritten(turn: str) -> None:
    said = REWRITER.rewrite(turn, [])
    assert (said.text, said.changed, said.reason) == (turn, False, "first turn")


def test_other_languages_are_left_alone() -> None:
    said = REWRITER.rewrite("Ist es ansteckend?", [Exchange("Was ist Asthma?")])
    assert not said.changed
    assert said.reason == "another language"


def test_the_answer_s_terms_are_spoken_of() -> None:
    history = [Exchange("Who is it?", "Ada Lovelace wrote the first program.")]
    said = REWRITER.rewrite("When was she born?", history)
    assert said.text == "When was Ada Lovelace born?"
    assert said.reason == "pronoun: Ada Lovelace"


def test_candidates_hold_the_turn_and_what_was_chosen() -> None:
    said = REWRITER.rewrite("Is it contagious?", [Exchange("What is asthma?")])
    assert said.candidates[0] == said.text == "Is asthma contagious?"
    assert "Is it contagious?" in said.candidates


def test_two_pronouns_are_resolved_one_after_the_other() -> None:
    history = [Exchange("Who was Ben Franklin?"), Exchange("Did Ben Franklin eat turkey?")]
    assert REWRITER.rewrite("How did he cook it?", history).text == "How did Ben Franklin cook turkey?"


def test_what_is_said_at_length_is_left_alone() -> None:
    said = REWRITER.rewrite("Is it safe? " * 40, [Exchange("What is asthma?")])
    assert not said.changed


WORDS = st.sampled_from(
    re.split(
        " ",
        "and what about how why it its they their this that the a of in winter Australia dogs 's ' ? . , is are "
        "symptoms Tell me don't it's them she her there many 5 é — 猫 my father he his ones one least treated Ottawa",
    )
)
TURN = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=12).map(" ".join))


@settings(max_examples=60)
@given(st.lists(st.tuples(TURN, TURN, TURN), max_size=5), TURN)
def test_any_turn_after_anything_stays_within_bounds(before: list[tuple[str, str, str]], turn: str) -> None:
    said = REWRITER.rewrite(turn, [Exchange(*each, (OTTAWA,)) for each in before])
    assert len(said.text) <= len(turn) + LONGER
    assert said.changed == (said.text != turn)
    assert said.changed <= bool(before)
    assert said.text in said.candidates


def test_a_weights_file_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text('{"weights": {"pronoun": 1.0}, "limit": 0.1, "fragment_limit": 0.9}')
    with pytest.raises(ValueError, match=r"Expected weights of pronoun, .* but got pronoun"):
        Scorer.load(tmp_path / "w.json")
