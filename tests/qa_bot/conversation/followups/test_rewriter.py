"""Rewriting of follow-up turns into self-contained questions."""

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
    """Rewrites of all turns of a conversation, each with the previous ones as history."""
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
        (["What may a hotel in London cost?", "and in Zurich?"], "What may a hotel in Zurich cost?"),
        (["How long does delivery to Italy take?", "and to Spain?"], "How long does delivery to Spain take?"),
        (["What is the fee for children under six?", "and for adults?"], "What is the fee for adults?"),
        (["When does the pool open?", "in winter?"], "When does the pool open in winter?"),
        (["When does the pool open?", "even on Sundays?"], "When does the pool open on Sundays?"),
        (["When does the pool open?", "on which days?"], "on which days?"),
        (["What does the other parent get?", "and the birthing parent?"], "What does the birthing parent get?"),
        (["Can I lead it outside?", "What about the weight of that model?"], "What is the weight of that model?"),
        (["How much leave do I get?", "what about dogs, may I bring one?"], "what about dogs, may I bring one?"),
        (["Can I work from abroad?", "why not?"], "Why can't I work from abroad?"),
        (["Is smoking allowed?", "why is that?"], "Why is smoking allowed?"),
        (["Why can't I smoke?", "why not?"], "why not?"),
    ],
)
def test_follow_up_becomes_self_contained(turns: list[str], last: str) -> None:
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
def test_self_contained_turn_is_not_changed(turn: str) -> None:
    history = [Exchange("Who was Marie Curie?", "Marie Curie was a physicist who found radium.")]
    result = REWRITER.rewrite(turn, history)
    assert (result.text, result.changed) == (turn, False)


@pytest.mark.parametrize("turn", ["and its population?", "why?", "What about dogs?", "Is it safe?", ""])
def test_the_first_turn_is_never_rewritten(turn: str) -> None:
    result = REWRITER.rewrite(turn, [])
    assert (result.text, result.changed, result.reason) == (turn, False, "first turn")


def test_other_languages_are_not_rewritten() -> None:
    result = REWRITER.rewrite("Ist es ansteckend?", [Exchange("Was ist Asthma?")])
    assert not result.changed
    assert result.reason == "another language"


def test_pronoun_refers_to_a_term_of_the_answer() -> None:
    history = [Exchange("Who is it?", "Ada Lovelace wrote the first program.")]
    result = REWRITER.rewrite("When was she born?", history)
    assert result.text == "When was Ada Lovelace born?"
    assert result.reason == "pronoun: Ada Lovelace"


MODELS = Exchange(
    "How heavy is the Brezza 300?", "The Brezza 300 weighs 6 kg, the Brezza 500 9 kg, the Brezza 700 12 kg."
)


@pytest.mark.parametrize(
    ("before", "turn", "meant"),
    [
        (MODELS, "and the bigger one?", "How heavy is the Brezza 500?"),
        (MODELS._replace(question="How heavy is the Brezza 700?"), "what about the smaller one?", "the Brezza 500?"),
        (
            Exchange("How heavy is the Brezza 300?", "The Brezza 500 weighs 9 kg."),
            "and the other one?",
            "the Brezza 500?",
        ),
        (MODELS, "and the other one?", "the other one?"),  # there are two
        (Exchange("How heavy is the Brezza 300?", "6 kg."), "and the bigger one?", "the bigger one?"),
    ],
)
def test_another_model_that_the_conversation_names(before: Exchange, turn: str, meant: str) -> None:
    assert REWRITER.rewrite(turn, [before]).text.endswith(meant)


def test_a_model_keeps_its_number_before_a_verb() -> None:
    turns = understood("What does the warranty of the Brezza 500 not cover?", "How much does it weigh?")
    assert turns[-1] == "How much does the Brezza 500 weigh?"


def test_candidates_include_the_turn_and_the_result() -> None:
    result = REWRITER.rewrite("Is it contagious?", [Exchange("What is asthma?")])
    assert result.candidates[0] == result.text == "Is asthma contagious?"
    assert "Is it contagious?" in result.candidates


def test_two_pronouns_are_resolved() -> None:
    history = [Exchange("Who was Ben Franklin?"), Exchange("Did Ben Franklin eat turkey?")]
    assert REWRITER.rewrite("How did he cook it?", history).text == "How did Ben Franklin cook turkey?"


def test_long_turn_is_not_rewritten() -> None:
    result = REWRITER.rewrite("Is it safe? " * 40, [Exchange("What is asthma?")])
    assert not result.changed


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
    result = REWRITER.rewrite(turn, [Exchange(*exchange, (OTTAWA,)) for exchange in before])
    assert len(result.text) <= len(turn) + LONGER
    assert result.changed == (result.text != turn)
    assert result.changed <= bool(before)
    assert result.text in result.candidates


def test_a_weights_file_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text('{"weights": {"pronoun": 1.0}, "limit": 0.1, "fragment_limit": 0.9}')
    with pytest.raises(ValueError, match=r"Expected weights of pronoun, .* but got pronoun"):
        Scorer.load(tmp_path / "w.json")
