"""Amendments of rules: the clause that changes a statement is its current version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from qa_bot.answering.tiling import amendments
from qa_bot.answering.tiling.amendments import amended
from qa_bot.answering.tiling.answer_text import tile_leads
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Details, Passage, Place, Signals, Source

RULES = "(1) Ein Beitrag ist zu zahlen.\n\n(2) Der Beitrag beträgt 18 Euro.\n\n(3) Neue Mitglieder zahlen 18 Euro mehr."
CHANGES = """1. § 3 wird gestrichen.
2. § 4 wird wie folgt geändert:

   a) In Absatz 2 wird die Angabe „18 Euro“ durch die Angabe „25 Euro“ ersetzt.

   b) Absatz 3 wird wie folgt gefasst: „(3) Neue Mitglieder zahlen 30 Euro mehr.“
3. In § 5 Absatz 2 wird die Angabe „18 Euro“ durch die Angabe „40 Euro“ ersetzt."""
OF_PARAGRAPH_2 = "§ 4: In Absatz 2 wird die Angabe „18 Euro“ durch die Angabe „25 Euro“ ersetzt."
OF_PARAGRAPH_3 = "§ 4: Absatz 3 wird wie folgt gefasst: „(3) Neue Mitglieder zahlen 30 Euro mehr.“"


def candidate(title: str, text: str, heading: str, lead: str = "", *, language: str = "de") -> Candidate:
    span = (text.index(lead), text.index(lead) + len(lead)) if lead else (0, len(text))
    source = Source(title, title, details=Details(language=language))
    return Candidate(Passage(f"{title}#0", text, Clue(), source, Place((heading,))), 3.0, Signals(lead=span))


def rules(lead: str, heading: str = "§ 4 Beiträge", text: str = RULES) -> Candidate:
    return candidate("Satzung des Rudervereins Linden", text, heading, lead)


AMENDMENT = candidate("Erste Satzung zur Änderung der Satzung des Rudervereins Linden", CHANGES, "Artikel 1")


@pytest.fixture(autouse=True)
def _documents_of_one_passage(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_document(passage: Passage, _: object) -> Sequence[Passage]:
        return [passage]

    monkeypatch.setattr(amendments, "of_document", of_document)


def clause(best: Candidate, amendment: Candidate = AMENDMENT) -> str:
    current = amended(best, [best, amendment], None)  # type: ignore[arg-type]  # the index is not used
    return current.passage.text if current else ""


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        (rules("(2) Der Beitrag beträgt 18 Euro."), OF_PARAGRAPH_2),
        (rules("Der Beitrag beträgt 18 Euro."), OF_PARAGRAPH_2),
        (rules("(3) Neue Mitglieder zahlen 18 Euro mehr."), OF_PARAGRAPH_3),
        (rules("(1) Ein Beitrag ist zu zahlen."), ""),
        (rules("(2) Der Beitrag beträgt 18 Euro.", "§ 7 Beiträge"), ""),
        (rules("(2) Der Beitrag beträgt 18 Euro.", "Beiträge"), ""),
        (rules("(2) Der Beitrag beträgt 25 Euro.", text=RULES.replace("18", "25")), ""),
        (rules("(3) Neue Mitglieder zahlen 30 Euro mehr.", text=RULES.replace("18", "30")), ""),
    ],
)
def test_the_clause_changes_the_paragraph_that_answers(best: Candidate, expected: str) -> None:
    assert clause(best) == expected


@pytest.mark.parametrize("title", ["Satzung des Rudervereins Linden (Abdruck)", "Änderung der Gebühren des Marktes"])
def test_other_documents_amend_nothing(title: str) -> None:
    assert clause(rules("(2) Der Beitrag beträgt 18 Euro."), candidate(title, CHANGES, "Artikel 1")) == ""


def test_english_amendments() -> None:
    best = candidate("Rules of the Rowing Club", "(2) The fee is 18 pounds.", "4 Fees", language="en")
    best = replace(best, passage=replace(best.passage, place=Place(("Section 4: Fees",))))
    changes = "In section 4, paragraph 2, “18 pounds” is replaced by “25 pounds”."
    amendment = candidate("Amendment of the Rules of the Rowing Club", changes, "Changes", language="en")
    assert clause(best, amendment) == changes


def test_the_answer_names_the_former_statement() -> None:
    best = rules("(2) Der Beitrag beträgt 18 Euro.")
    tiling = tile_leads(
        [best, AMENDMENT],
        limit=900,
        sentences=sentences,
        question="Wie hoch ist der Beitrag?",
        amendment=amended(best, [best, AMENDMENT], None),  # type: ignore[arg-type]
    )
    assert (tiling.text, tiling.former) == (OF_PARAGRAPH_2, "Früher: (2) Der Beitrag beträgt 18 Euro.")
    (tile,) = tiling.tiles
    assert tile.candidate.passage.source == AMENDMENT.passage.source
