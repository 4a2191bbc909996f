"""Composed answers, and where their leads stand."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from qa_bot.answering.stages.compose import Composed, compose
from qa_bot.answering.stages.decide import Decided, Decision
from qa_bot.answering.stages.rank import Ranking
from qa_core.types import Candidate, Clue, Passage, Place, Question, Signals, Source, Span

NOTHING: Any = None


def composed(texts: list[str], lead: Span | None, *, limit: int = 1000, kind: Any = "prose") -> Composed:
    """The answer from passages that score the same and have their leads at the same place."""
    candidates = tuple(
        Candidate(Passage(str(n), text, Clue(), Source(str(n)), Place(kind=kind)), 3.0, Signals(lead=lead))
        for n, text in enumerate(texts)
    )
    ranking = Ranking(Question("?"), NOTHING, candidates, separation=1.0)
    return compose(Decided(ranking, Decision(1.0, 0.5, {"evidence": 1.0})), NOTHING, limit=limit, top=3)


def test_a_lead_is_counted_in_the_text_of_the_answer() -> None:
    answer = composed(["Old. 28 days 🐈."], (5, 15))
    assert answer.lead is not None
    assert answer.text[slice(*answer.lead)] == "28 days 🐈."


def test_a_lead_that_the_limit_cuts_ends_with_the_answer() -> None:
    answer = composed(["One two three. " * 3], (0, 45), limit=20)
    assert (answer.text, answer.lead) == ("One two three.", (0, 14))


def test_an_answer_without_a_better_lead_begins_with_it() -> None:
    answer = composed(["Rust is iron oxide. Vinegar removes it."], None)
    assert answer.lead is not None
    assert answer.text[slice(*answer.lead)] == "Rust is iron oxide."


@given(
    texts=st.lists(st.text(alphabet="ab. |-\n🐈1", min_size=1, max_size=60), min_size=1, max_size=4),
    start=st.integers(0, 60),
    length=st.integers(1, 30),
    limit=st.integers(1, 100),
    kind=st.sampled_from(["prose", "table", "steps", "code"]),
)
def test_the_lead_of_any_answer_is_inside_the_span_of_one_source(
    texts: list[str], start: int, length: int, limit: int, kind: str
) -> None:
    answer = composed(texts, (start, start + length), limit=limit, kind=kind)
    if answer.lead is not None:
        first, last = answer.lead
        assert 0 <= first < last <= len(answer.text)
        assert any(source.span and source.span[0] <= first < last <= source.span[1] for source in answer.sources)
