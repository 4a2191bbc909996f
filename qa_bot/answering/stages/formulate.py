"""Formulate: a question becomes keyword queries, the text to encode, and answers whose words expand the queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Protocol

from qa_bot.answering.clock import Clock
from qa_core.text.noun_phrases import noun_phrases
from qa_core.text.synonyms import synonyms
from qa_core.types import Question
from retrievers.engines.index import Index
from retrievers.expansion import LikelyAnswers
from retrievers.formulate import Formulation, question_text
from retrievers.formulate import formulate as formulate_with
from retrievers.question_terms import search_languages


class Expander(Protocol):
    """Generates answers; see `retrievers.query_expander`."""

    def likely_answers(self, question: str, *, language: str, check: Callable[[], object]) -> LikelyAnswers: ...


def formulate(question: Question, index: Index, *, check: Callable[[], object] = lambda: None) -> Formulation:
    """Queries in the languages of the question and of the documents; `check` may raise to stop."""
    languages = search_languages(question_text(question), index.languages)
    return formulate_with(question, languages=languages, noun_phrases=noun_phrases, synonyms=synonyms, check=check)


def formulate_in_time(
    question: Question, clock: Clock, *, index: Index, expander: Expander | None = None
) -> Formulation:
    """The queries of a question; no keyword queries if there is no time to make them."""
    nothing = Formulation((), question_text(question), ())
    formulation = clock.run_quick("formulate", lambda share: formulate(question, index, check=share.check), nothing)
    if expander is None or not formulation.keyword:
        return formulation
    generate = partial(expander.likely_answers, formulation.text, language=formulation.languages.first)
    return replace(formulation, likely=clock.run("expand", lambda share: generate(check=share.check), None))
