"""Abstention: the reason why there is no answer, as a sentence that tells the user what to do."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from qa_bot.answering.stages.question_words import QuestionWord, words_of_terms
from qa_core.text.analysis import terms, words
from qa_core.text.languages import analysis_language
from qa_core.types import Candidate, Question
from rankers.clue import Statistics
from retrievers.formulate import Formulation, question_text
from retrievers.question_terms import QUESTION_STOP_STEMS

if TYPE_CHECKING:
    from qa_bot.answering.stages.decide import Decision
    from qa_bot.answering.stages.rank import Ranking
    from qa_bot.answering.verification.verify import Cover

EMPTY_QUESTION = "The question is empty; ask something."
NO_TIME = "There was no time to find an answer; allow a longer deadline."
NOTHING_FOUND = "Nothing in your documents has anything in common with this question; add documents or ask otherwise."
NOTHING_IN_SCOPE = (
    "None of the documents that you asked has anything in common with this question; ask others, or ask otherwise."
)
NO_GRAPH = "There is no knowledge graph, or it is switched off; add facts with `qa-bot kg add FILE`."
NOTHING_NAMED = "The question names nothing that could be looked for; say what it is about."
DEMOTED = (
    "“{}” was voted down in this conversation, and nothing else fits well enough; vote it up to have it back, ask in "
    "other words or add documents."
)

LONG = 16
"""No document contains nearly all content words of a longer question."""
QUOTED_WORDS, NEAREST = 3, 10
"""Words that a reason quotes, and documents that are searched for the correct spelling of a word."""
MIN_SIMILARITY = 0.8
"""Of a word and its correction, by difflib's ratio."""
DOUBTFUL = 0.5
"""A word that a passage covers less is named as a reason."""
SHORTEST_MISSPELT = 4
QUOTED, QUOTED_TITLE = 40, 120
"""Characters that are quoted of a word and of a title."""


def reason(ranking: Ranking, decision: Decision, index: Statistics) -> str:
    """Why there is no answer; `index` says which words the collection contains."""
    text = question_text(ranking.question)
    if not text:
        return EMPTY_QUESTION
    if not ranking.candidates and ranking.skipped:
        return NO_TIME
    formulation = ranking.formulation
    language = formulation.languages.first
    content = _content(formulation, language)
    if not content:
        return NOTHING_NAMED
    unknown = [term for term in content if not index.document_frequency("all", term)]
    if others := [code for code in formulation.languages.analyses if code != language]:
        unknown = [term for term in unknown if not _is_known_elsewhere(text, term, language, others, index)]
    cover = ranking.cover
    if cover is not None:
        meant = {part for word, share in cover.words if share >= DOUBTFUL for part in terms(word, language)}
        unknown = [term for term in unknown if term not in meant]
    if unknown:
        missing = words_of_terms(text, unknown, language)
        return _unknown_words(missing, unknown, whole=len(unknown) == len(content), nearest=ranking.candidates)
    if not ranking.candidates:
        return NOTHING_IN_SCOPE if ranking.only else NOTHING_FOUND
    if cover is not None and len(content) > 1:
        return _read_passage(cover, ranking.candidates[0], decision)
    return _nearest_document(text, formulation, ranking.candidates[0], decision, index)


def no_fact_reason(question: Question, skipped: Sequence[str]) -> str:
    """Why the graph was not asked."""
    if not question.title.strip():
        return EMPTY_QUESTION
    return NO_TIME if skipped else NO_GRAPH


def demoted_reason(candidate: Candidate) -> str:
    """For a document that votes of the conversation moved down."""
    passage = candidate.passage
    return DEMOTED.format(passage.clue.title or passage.source.document)


def _content(formulation: Formulation, language: str) -> list[str]:
    return [term for term in formulation.content_in(language) if term not in QUESTION_STOP_STEMS]


def _is_known_elsewhere(text: str, term: str, language: str, others: Sequence[str], index: Statistics) -> bool:
    """Whether the documents contain the word of a term in the analysis of another language."""
    analyses = (terms(word.text, other) for word in words_of_terms(text, [term], language) for other in others)
    return any(index.document_frequency("all", other) for analysis in analyses for other in analysis)


def _unknown_words(
    missing: Sequence[QuestionWord], unknown: Sequence[str], *, whole: bool, nearest: Sequence[Candidate]
) -> str:
    """For words that no document contains: names, misspellings, or another topic."""
    start = f"None of your documents mentions {_join_quoted([word.text for word in missing] or unknown)}"
    corrections = [word for word in (_correction(word, nearest) for word in missing) if word]
    if corrections:
        return f"{start}; did you mean {_join_quoted(corrections)}?"
    if missing and all(word.name for word in missing):
        return f"{start}; check how the name is written, or add documents about it."
    if whole or not nearest:
        return f"{start}; ask in other words, or add documents about it."
    return f"{start}; leave it out, ask in other words, or add documents about it. The nearest is {_title(nearest[0])}."


def _nearest_document(
    text: str, formulation: Formulation, best: Candidate, decision: Decision, index: Statistics
) -> str:
    """For a document that does not fit well enough: the words that it lacks."""
    language = analysis_language(best.passage.source.details.language)
    content = _content(formulation, language)
    if len(content) == 1:
        alone = _join_quoted([word.text for word in words_of_terms(text, content, language)] or content)
        return f"{alone} alone could ask many things; ask a whole question, such as {_title(best)}."
    present = {*terms(best.passage.clue.title, language), *terms(best.passage.text, language)}
    lacking = [term for term in content if term not in present]
    if len(content) > LONG and lacking:
        return (
            f"The question says {len(content)} things, and the nearest document, {_title(best)}, has "
            f"{len(content) - len(lacking)} of them; ask one thing at a time, in one sentence."
        )
    confidence = f"(confidence {decision.confidence:.2f}, needed {decision.threshold:.2f})"
    if not lacking:
        return (
            f"The nearest document, {_title(best)}, has every word of the question, but probably does not answer it "
            f"{confidence}; ask in other words or add documents about it."
        )
    frequency = {term: index.document_frequency("all", term) for term in lacking}
    rarest = sorted(lacking, key=frequency.__getitem__)
    missing = _join_quoted([word.text for word in words_of_terms(text, rarest, language)] or rarest)
    return (
        f"The nearest document, {_title(best)}, does not mention {missing} and probably does not answer this "
        f"{confidence}; ask in other words or add documents about it."
    )


def _read_passage(cover: Cover, best: Candidate, decision: Decision) -> str:
    """For a passage that was read: the words that it does not cover, or that others fit as well."""
    confidence = f"(confidence {decision.confidence:.2f}, needed {decision.threshold:.2f})"
    doubtful = sorted((share, at, word) for at, (word, share) in enumerate(cover.words) if share < DOUBTFUL)
    if len(cover.words) > LONG and doubtful:
        return (
            f"The question says {len(cover.words)} things, and the nearest passage, in {_title(best)}, is about "
            f"{len(cover.words) - len(doubtful)} of them; ask one thing at a time, in one sentence."
        )
    if doubtful:
        missing = _join_quoted([word for _, _, word in doubtful])
        return (
            f"The nearest passage, in {_title(best)}, says nothing about {missing} and probably does not answer this "
            f"{confidence}; ask in other words or add documents about it."
        )
    return (
        f"Several passages are about this, and none clearly answers it; the nearest is in {_title(best)} "
        f"{confidence}. Say more exactly what you want to know."
    )


def _correction(word: QuestionWord, nearest: Sequence[Candidate]) -> str:
    """A similar word from the titles of the nearest documents; empty if there is none."""
    if len(word.text) < SHORTEST_MISSPELT or len(word.text) > QUOTED:
        return ""
    titles = (f"{c.passage.clue.title} {c.passage.source.title}" for c in islice(nearest, NEAREST))
    known = dict.fromkeys(known for title in titles for known in words(title) if len(known) >= SHORTEST_MISSPELT)
    similar = get_close_matches(word.text.casefold(), [*known], 1, MIN_SIMILARITY)
    return similar[0] if similar else ""


def _title(candidate: Candidate) -> str:
    passage = candidate.passage
    return _quoted(passage.clue.title or passage.source.title or passage.source.document, QUOTED_TITLE)


def _join_quoted(names: Sequence[str]) -> str:
    """“a”, “b” or “c”; of many names only the first, and how many others."""
    shown = [_quoted(name, QUOTED) for name in names]
    if len(shown) > QUOTED_WORDS + 1:
        shown = [*shown[:QUOTED_WORDS], f"{len(shown) - QUOTED_WORDS} other words"]
    return f"{', '.join(shown[:-1])} or {shown[-1]}" if len(shown) > 1 else shown[0]


def _quoted(text: str, length: int) -> str:
    text = " ".join(text.split())
    return f"“{text if len(text) <= length else text[: length - 1].rstrip() + '…'}”"
