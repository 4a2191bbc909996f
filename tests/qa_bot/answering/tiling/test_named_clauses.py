"""Clauses of long sentences that questions ask for."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads
from qa_bot.answering.tiling.named_clauses import with_named_clause
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Details, Passage, Signals, Source

FIRST = (
    "Das Abschleifen von Anstrichen ist nur auf der befestigten Fläche des Winterlagers und mit Absaugung zulässig, "
)
FIRST += "wobei der Staub in verschlossenen Säcken zu sammeln und bei der Annahmestelle abzuliefern ist; "
LAST = "die Arbeiten sind werktags in der Zeit von 9 bis 18 Uhr, samstags jedoch nur bis 14 Uhr auszuführen, "
LAST += "und die Plane ist danach zu schließen."


def candidate(text: str = FIRST + LAST) -> Candidate:
    return Candidate(
        Passage("p#0", text, Clue(), Source("p", details=Details(language="de"))), 3.0, Signals(lead=(0, len(text)))
    )


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("Bis wie viel Uhr darf man samstags arbeiten?", LAST),
        ("Wohin mit dem Staub in Säcken?", FIRST),
        ("Wer hat die Schlüssel?", FIRST),
    ],
)
def test_a_long_lead_begins_with_the_clause_of_the_question(question: str, begins: str) -> None:
    best = with_named_clause(candidate(), question)
    assert best.signals.lead is not None
    assert best.passage.text[slice(*best.signals.lead)].startswith(begins[:30])


@pytest.mark.parametrize(
    "text", ["Der Hof ist zu; samstags bis 14 Uhr.", "| a | b |\n| --- | --- |\n| " + "x; Uhr " * 60]
)
def test_short_leads_and_rows_stay(text: str) -> None:
    assert with_named_clause(candidate(text), "Bis wie viel Uhr samstags?") == candidate(text)


def test_the_answer_shows_that_it_begins_inside_a_sentence_and_what_precedes_it() -> None:
    tiling = tile_leads(
        [candidate()], limit=900, sentences=sentences, question="Bis wie viel Uhr darf man samstags arbeiten?"
    )
    assert tiling.text == f"… {LAST}\n\n{FIRST.strip()}"
    assert tiling.lead == (2, 2 + len(LAST))
