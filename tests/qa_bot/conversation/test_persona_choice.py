"""Another line before the same sourced answer: texts and spans worked by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from qa_bot.conversation.persona_choice import LONGEST, ChoiceError, choose

PLAIN = "Naps save strength. Cats hunt at dusk."


def line(text: str, kind: str = "generated", score: float = -1.0) -> dict[str, Any]:
    return {"text": text, "kind": kind, "persona": "cook", "score": score}


def styled_answer(**fields: Any) -> dict[str, Any]:
    """`Ahoy!` is five letters, so that the sourced text begins at 7."""
    sources = [{"id": "a#0", "span": [7, 26]}, {"id": "b#0", "span": [27, 45]}, {"id": "c#0", "span": None}]
    lines = [line("Ahoy!"), line("Soup is hot.", "quotation"), line("Aye.")]
    styled = {"persona": "cook:2,sailor", "hint": "", "lines": lines, "span": [0, 5], "notice": ""}
    told = {"id": "t", "answered": True, "kind": "styled", "answer": f"Ahoy!\n\n{PLAIN}", "sources": sources}
    return {**told, "styled": styled, "reason": "", **fields}


def stretches(answer: dict[str, Any]) -> list[str | None]:
    return [each["span"] and answer["answer"][slice(*each["span"])] for each in answer["sources"]]


def test_another_line_stands_before_the_same_text() -> None:
    answer = styled_answer()
    before = copy.deepcopy(answer)
    told = choose(answer, 1)
    assert answer == before  # a new object
    assert told["answer"] == f"Soup is hot.\n\n{PLAIN}"
    assert told["styled"]["span"] == [0, 12]
    assert [each["span"] for each in told["sources"]] == [[14, 33], [34, 52], None]
    assert stretches(told) == stretches(answer) == ["Naps save strength.", "Cats hunt at dusk.", None]
    assert [each["text"] for each in told["styled"]["lines"]] == ["Soup is hot.", "Ahoy!", "Aye."]


def test_the_first_is_the_one_that_stands_there() -> None:
    assert choose(styled_answer(), 0) == styled_answer()


def test_a_person_may_write_a_line_and_only_the_last_is_kept() -> None:
    once = choose(styled_answer(), "  Well,\n\tlook\x00 here: 🐈! ")
    assert once["styled"]["lines"][0] == {
        "text": "Well, look here: 🐈!",
        "kind": "edited",
        "persona": "cook:2,sailor",
        "score": 0.0,
    }
    assert once["styled"]["span"] == [0, 19]
    assert stretches(once)[:2] == ["Naps save strength.", "Cats hunt at dusk."]
    twice = choose(once, "No, here.")
    assert [each["text"] for each in twice["styled"]["lines"]] == ["No, here.", "Ahoy!", "Soup is hot.", "Aye."]
    back = choose(twice, 3)
    assert [each["kind"] for each in back["styled"]["lines"]] == ["generated", "edited", "generated", "quotation"]
    assert back["answer"].endswith(PLAIN)


def test_the_text_of_a_line_is_that_line() -> None:
    assert choose(styled_answer(), "Soup is hot.") == choose(styled_answer(), 1)


def test_a_remark_of_an_abstention_stays_one() -> None:
    answer = styled_answer(answered=False, kind="none", answer="", reason="Nothing found.")
    answer["styled"]["span"] = None
    answer["sources"] = [{"id": "c#0", "span": None}]
    told = choose(answer, 2)
    assert (told["answer"], told["kind"], told["styled"]["span"]) == ("", "none", None)
    assert told["styled"]["lines"][0]["text"] == "Aye."
    assert told["sources"] == answer["sources"]


def test_a_person_may_write_where_no_line_fitted() -> None:
    sources = [{"id": "a#0", "span": [0, 19]}]
    styled = {"persona": "cook", "hint": "", "lines": [], "span": None, "notice": "Everything had no 7."}
    answer = styled_answer(answer=PLAIN, kind="passage", sources=sources, styled=styled)
    with pytest.raises(ChoiceError, match="Expected a choice of none, since no sentence fitted; write one, but got 0"):
        choose(answer, 0)
    told = choose(answer, "Ahoy!")
    assert (told["answer"], told["kind"], told["styled"]["span"]) == (f"Ahoy!\n\n{PLAIN}", "styled", [0, 5])
    assert stretches(told) == ["Naps save strength."]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (3, "Expected a choice from 0 to 2, but got 3."),
        (-1, "Expected a choice from 0 to 2, but got -1."),
        (" \n", "characters, but got an empty one."),
        ("x" * (LONGEST + 1), "Expected a text of at most 400 characters, but got one of 401."),
    ],
)
def test_wrong_choices_are_told(choice: int | str, said: str) -> None:
    with pytest.raises(ChoiceError, match=said):
        choose(styled_answer(), choice)
    assert choose(styled_answer(), "x" * LONGEST)["styled"]["span"] == [0, LONGEST]


def test_a_plain_answer_offers_nothing() -> None:
    answer = {name: value for name, value in styled_answer(ask="q1").items() if name != "styled"}
    with pytest.raises(ChoiceError, match="Expected a question that offers a choice, but 'q1' offers none"):
        choose(answer, 0)
