"""Choosing another persona line for the same sourced answer; texts and spans worked out by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from qa_bot.conversation.persona_choice import LONGEST, ChoiceError, choose

PLAIN = "Naps save strength. Cats hunt at dusk."


def line(text: str, kind: str = "generated", score: float = -1.0) -> dict[str, Any]:
    return {"text": text, "kind": kind, "persona": "cook", "score": score}


def styled_answer(**fields: Any) -> dict[str, Any]:
    """`Ahoy!` has five letters, so the sourced text begins at 7."""
    sources = [{"id": "a#0", "span": [7, 26]}, {"id": "b#0", "span": [27, 45]}, {"id": "c#0", "span": None}]
    lines = [line("Ahoy!"), line("Soup is hot.", "quotation"), line("Aye.")]
    styled = {"persona": "cook:2,sailor", "hint": "", "lines": lines, "span": [0, 5], "notice": ""}
    answer = {"id": "t", "answered": True, "kind": "styled", "answer": f"Ahoy!\n\n{PLAIN}", "sources": sources}
    return {**answer, "styled": styled, "reason": "", **fields}


def span_texts(answer: dict[str, Any]) -> list[str | None]:
    return [entry["span"] and answer["answer"][slice(*entry["span"])] for entry in answer["sources"]]


def test_chosen_line_replaces_the_first_and_spans_move() -> None:
    answer = styled_answer()
    before = copy.deepcopy(answer)
    chosen = choose(answer, 1)
    assert answer == before  # the argument is not changed
    assert chosen["answer"] == f"Soup is hot.\n\n{PLAIN}"
    assert chosen["styled"]["span"] == [0, 12]
    assert [entry["span"] for entry in chosen["sources"]] == [[14, 33], [34, 52], None]
    assert span_texts(chosen) == span_texts(answer) == ["Naps save strength.", "Cats hunt at dusk.", None]
    assert [entry["text"] for entry in chosen["styled"]["lines"]] == ["Soup is hot.", "Ahoy!", "Aye."]


def test_choosing_the_first_line_changes_nothing() -> None:
    assert choose(styled_answer(), 0) == styled_answer()


def test_edited_line_is_cleaned_and_replaces_the_previous_edit() -> None:
    once = choose(styled_answer(), "  Well,\n\tlook\x00 here: 🐈! ")
    edited = {"text": "Well, look here: 🐈!", "kind": "edited", "persona": "cook:2,sailor", "score": 0.0}
    assert once["styled"]["lines"][0] == edited
    assert once["styled"]["span"] == [0, 19]
    assert span_texts(once)[:2] == ["Naps save strength.", "Cats hunt at dusk."]
    twice = choose(once, "No, here.")
    assert [entry["text"] for entry in twice["styled"]["lines"]] == ["No, here.", "Ahoy!", "Soup is hot.", "Aye."]
    back = choose(twice, 3)
    assert [entry["kind"] for entry in back["styled"]["lines"]] == ["generated", "edited", "generated", "quotation"]
    assert back["answer"].endswith(PLAIN)


def test_text_of_an_offered_line_chooses_it() -> None:
    assert choose(styled_answer(), "Soup is hot.") == choose(styled_answer(), 1)


def test_line_of_an_abstention_leaves_the_answer_empty() -> None:
    answer = styled_answer(answered=False, kind="none", answer="", reason="Nothing found.")
    answer["styled"]["span"] = None
    answer["sources"] = [{"id": "c#0", "span": None}]
    chosen = choose(answer, 2)
    assert (chosen["answer"], chosen["kind"], chosen["styled"]["span"]) == ("", "none", None)
    assert chosen["styled"]["lines"][0]["text"] == "Aye."
    assert chosen["sources"] == answer["sources"]


def test_line_can_be_written_if_none_was_offered() -> None:
    sources = [{"id": "a#0", "span": [0, 19]}]
    styled = {"persona": "cook", "hint": "", "lines": [], "span": None, "notice": "Everything had no 7."}
    answer = styled_answer(answer=PLAIN, kind="passage", sources=sources, styled=styled)
    with pytest.raises(ChoiceError, match="Expected a choice of none, since no sentence fitted; write one, but got 0"):
        choose(answer, 0)
    chosen = choose(answer, "Ahoy!")
    assert (chosen["answer"], chosen["kind"], chosen["styled"]["span"]) == (f"Ahoy!\n\n{PLAIN}", "styled", [0, 5])
    assert span_texts(chosen) == ["Naps save strength."]


@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        (3, "Expected a choice from 0 to 2, but got 3."),
        (-1, "Expected a choice from 0 to 2, but got -1."),
        (" \n", "characters, but got an empty one."),
        ("x" * (LONGEST + 1), "Expected a text of at most 400 characters, but got one of 401."),
    ],
)
def test_wrong_choices_are_refused(choice: int | str, reason: str) -> None:
    with pytest.raises(ChoiceError, match=reason):
        choose(styled_answer(), choice)
    assert choose(styled_answer(), "x" * LONGEST)["styled"]["span"] == [0, LONGEST]


def test_plain_answer_offers_no_choice() -> None:
    answer = {name: value for name, value in styled_answer(ask="q1").items() if name != "styled"}
    with pytest.raises(ChoiceError, match="Expected a question that offers a choice, but 'q1' offers none"):
        choose(answer, 0)


def test_the_lead_moves_with_the_sourced_text() -> None:
    chosen = choose(styled_answer(lead=[7, 26]), 1)
    assert chosen["lead"] == [14, 33]
    assert chosen["answer"][slice(*chosen["lead"])] == "Naps save strength."
    assert choose(styled_answer(lead=None), 1)["lead"] is None
