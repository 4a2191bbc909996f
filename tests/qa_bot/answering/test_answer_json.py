"""Answer objects: what an answer becomes, and what older objects are read as."""

from __future__ import annotations

import pytest

from qa_bot.answering.answer_json import as_dict, candidate_dict, from_dict
from qa_bot.answering.answer_schema import AnswerReply
from qa_bot.web.api.models import FoundReply
from qa_core.types import (
    Answer,
    AnswerSource,
    Candidate,
    Choice,
    Clue,
    Details,
    Passage,
    Place,
    Source,
    Styled,
    StyledLine,
)

SOURCE = AnswerSource("a#0", "a", "firm", "Leave", "", 1.0, "Old. 28 days.", (2, 10), (5, 13), heading=("Rules",))
PLAIN = Answer("How many?", "- 28 days.", "passage", answered=True, confidence=0.9, sources=(SOURCE,), lead=(2, 10))


@pytest.mark.parametrize(
    "answer",
    [
        PLAIN,
        Answer("How many?", "28 🐈.", "passage", answered=True, confidence=0.3, unsure=True, lead=(0, 5)),
        Answer("?", "", "none", answered=False, confidence=0.1, reason="No.", choices=(Choice("a", "b"),)),
        Answer("?", "", "none", answered=False, confidence=0.1, choices=(Choice("a", "b"),), suggested=True),
        Answer("?", "30 days.", "passage", answered=True, confidence=0.9, former="Until 2024: 14 days."),
        Answer("and b?", "", "none", answered=False, confidence=0.1, understood="a? · and b?", searched="b?"),
        Answer(
            "?",
            "Ahoy!\n\n28 days.",
            "styled",
            answered=True,
            confidence=0.9,
            lead=(7, 15),
            styled=Styled("cook", "", (StyledLine("Ahoy!", "generated", "cook", -1.0),), (0, 5)),
        ),
    ],
)
def test_an_answer_is_read_back_as_it_was(answer: Answer) -> None:
    payload = as_dict(answer)
    assert from_dict(payload) == answer
    AnswerReply.model_validate(payload)


def test_the_lead_is_always_there_and_unsure_only_if_it_is() -> None:
    sure, none = as_dict(PLAIN), as_dict(Answer("?", "", "none", answered=False, confidence=0.0))
    assert sure["answer"][slice(*sure["lead"])] == "28 days."
    assert none["lead"] is None
    assert "unsure" not in sure
    assert as_dict(Answer("?", "x", "passage", answered=True, confidence=0.2, unsure=True))["unsure"] is True


def test_an_object_of_an_older_version_is_read() -> None:
    payload = as_dict(PLAIN)
    del payload["lead"]
    assert from_dict(payload).lead is None
    assert from_dict(payload).unsure is False


def test_a_result_of_a_search_has_the_place_of_its_passage() -> None:
    details = Details(date="2024-05-01", language="en", archived=True, path="office/port.pdf")
    place = Place(heading=("Vaults", "Quarantine"), page=212)
    source = Source("port", "Port", "", "firm", details)
    result = candidate_dict(Candidate(Passage("port#0", "Berth 4.", Clue("Port"), source, place), 0.123456789))
    assert result == {
        "id": "port#0",
        "document": "port",
        "collection": "firm",
        "title": "Port",
        "url": "",
        "score": 0.123456789,
        "text": "Berth 4.",
        "path": "office/port.pdf",
        "heading": ("Vaults", "Quarantine"),
        "page": 212,
        "date": "2024-05-01",
        "language": "en",
        "archived": True,
        "features": {},
    }
    FoundReply.model_validate(result)
