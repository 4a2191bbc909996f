"""Why there is no answer, as a sentence that tells the asker what to do: by what is asked and what is there."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from qa_bot.answering.stages.question_words import QuestionWord, written
from qa_core.text.analysis import terms, words
from qa_core.types import Candidate
from rankers.clue import Statistics
from retrievers.formulate import QUESTION_STOP_STEMS, question_text

if TYPE_CHECKING:
    from qa_bot.answering.stages.decide import Decision
    from qa_bot.answering.stages.rank import Ranking

EMPTY_QUESTION = "The question is empty; ask something."
NO_TIME = "There was no time to find an answer; allow a longer deadline."
NOTHING_FOUND = "Nothing in your documents has anything in common with this question; add documents or ask otherwise."
NOTHING_NAMED = "The question names nothing that could be looked for; say what it is about."

LONG = 16
"""Words that carry information; no document has nearly all of more."""
NAMED, NEAREST = 3, 10
"""Words that a reason quotes, and documents among whose words a misspelt one is looked for."""
ALIKE = 0.8
"""The least likeness of a word and what it may be a misspelling of (difflib's ratio)."""
SHORTEST_MISSPELT = 4
QUOTED, QUOTED_TITLE = 40, 120
"""Characters that are quoted of a word and of a title."""


def reason(ranking: Ranking, decision: Decision, index: Statistics) -> str:
    """What is said in place of an answer; `index` tells which words the collection has at all."""
    text = question_text(ranking.question)
    if not text:
        return EMPTY_QUESTION
    if not ranking.candidates and ranking.skipped:
        return NO_TIME
    asked = [term for term in ranking.formulation.content_terms if term not in QUESTION_STOP_STEMS]
    if not asked:
        return NOTHING_NAMED
    unknown = [term for term in asked if not index.document_frequency("all", term)]
    if unknown:
        return _unknown(text, unknown, whole=len(unknown) == len(asked), nearest=ranking.candidates)
    if not ranking.candidates:
        return NOTHING_FOUND
    return _nearest(text, asked, ranking.candidates[0], decision, index)


def _unknown(text: str, unknown: Sequence[str], *, whole: bool, nearest: Sequence[Candidate]) -> str:
    """Words that no document has: names, misspellings, or what the collection is not about."""
    found = written(text, unknown)
    said = f"None of your documents mentions {_listed([each.text for each in found] or unknown)}"
    meant = [word for word in (_meant(each, nearest) for each in found) if word]
    if meant:
        return f"{said}; did you mean {_listed(meant)}?"
    if found and all(each.name for each in found):
        return f"{said}; check how the name is written, or add documents about it."
    if whole or not nearest:
        return f"{said}; ask in other words, or add documents about it."
    return f"{said}; leave it out, ask in other words, or add documents about it. The nearest is {_title(nearest[0])}."


def _nearest(text: str, asked: Sequence[str], best: Candidate, decision: Decision, index: Statistics) -> str:
    """The nearest document, and what it lacks."""
    if len(asked) == 1:
        alone = _listed([each.text for each in written(text, asked)] or asked)
        return f"{alone} alone could ask many things; ask a whole question, such as {_title(best)}."
    has = {*terms(best.passage.clue.title), *terms(best.passage.text)}
    lacking = [term for term in asked if term not in has]
    if len(asked) > LONG and lacking:
        return (
            f"The question says {len(asked)} things, and the nearest document, {_title(best)}, has "
            f"{len(asked) - len(lacking)} of them; ask one thing at a time, in one sentence."
        )
    sure = f"(confidence {decision.confidence:.2f}, needed {decision.threshold:.2f})"
    if not lacking:
        return (
            f"The nearest document, {_title(best)}, has every word of the question, but probably does not answer it "
            f"{sure}; ask in other words or add documents about it."
        )
    frequency = {term: index.document_frequency("all", term) for term in lacking}
    rarest = sorted(lacking, key=frequency.__getitem__)
    missing = _listed([each.text for each in written(text, rarest)] or rarest)
    return (
        f"The nearest document, {_title(best)}, does not mention {missing} and probably does not answer this {sure}; "
        f"ask in other words or add documents about it."
    )


def _meant(word: QuestionWord, nearest: Sequence[Candidate]) -> str:
    """What a word may be a misspelling of, among the words of the nearest documents; empty where nothing is alike."""
    if len(word.text) < SHORTEST_MISSPELT or len(word.text) > QUOTED:
        return ""
    near = islice(nearest, NEAREST)
    known = dict.fromkeys(w for each in near for w in words(f"{each.passage.clue.title} {each.passage.source.title}"))
    alike = get_close_matches(word.text.casefold(), [w for w in known if len(w) >= SHORTEST_MISSPELT], 1, ALIKE)
    return alike[0] if alike else ""


def _title(candidate: Candidate) -> str:
    passage = candidate.passage
    return _quoted(passage.clue.title or passage.source.title or passage.source.document, QUOTED_TITLE)


def _listed(names: Sequence[str]) -> str:
    """“a”, “b” or “c”; of many only the first, and how many others."""
    shown = [_quoted(name, QUOTED) for name in names]
    if len(shown) > NAMED + 1:
        shown = [*shown[:NAMED], f"{len(shown) - NAMED} other words"]
    return f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else shown[0]


def _quoted(text: str, length: int) -> str:
    text = " ".join(text.split())
    return f"“{text if len(text) <= length else text[: length - 1].rstrip() + '…'}”"
