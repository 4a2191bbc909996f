"""Signals of a candidate: typed fields cannot be confused with names that users choose."""

import pytest

from qa_core.types import (
    SIGNAL_NAMES,
    Candidate,
    Clue,
    Details,
    Passage,
    Place,
    Signals,
    Source,
    details_of,
    known_fields,
    place_of,
)

CANDIDATE = Candidate(Passage("a/0", "text", Clue(), Source("a")), 0.5, Signals(fused=0.5))


def test_scores_are_listed_under_the_names_of_traces():
    candidate = CANDIDATE.scored(2.0, clue=1.5, owner_answer=True).scored_by("hyperqa", 0.25)
    assert candidate.score == 0.25
    assert candidate.signals.by_name() == {"fusion": 0.5, "clue": 1.5, "owned": 1.0, "hyperqa": 0.25}
    assert CANDIDATE.signals == Signals(fused=0.5), "candidates are immutable"


@pytest.mark.parametrize("name", SIGNAL_NAMES)
def test_a_ranker_with_the_name_of_a_signal_is_no_signal(name: str):
    """In version 0.1 a folder named `owned` made every candidate the owner's answer."""
    signals = CANDIDATE.scored_by(name, 0.25).signals
    assert signals.rankers == {name: 0.25}
    assert (signals.owner_answer, signals.team, signals.fused) == (False, None, 0.5)
    assert signals.by_name() == {"fusion": 0.5, f"ranker:{name}": 0.25}


def test_only_known_fields_are_written_and_fields_of_a_newer_version_are_ignored() -> None:
    details = Details(kind="pair", date="2024-05-01", archived=True, tags=("a", "b"))
    assert known_fields(details) == {"kind": "pair", "date": "2024-05-01", "archived": True, "tags": ("a", "b")}
    assert details_of({**known_fields(details), "tags": ["a", "b"], "colour": "red"}) == details
    place = Place(("Leave", "Parents"), page=3, row=7, kind="table", later=((90, 12),))
    known = {"heading": ["Leave", "Parents"], "page": 3, "row": 7, "kind": "table", "later": [[90, 12]], "depth": 1}
    assert place_of(known) == place
    assert known_fields(Place()) == {}
