"""Abstention: the reason why there is no answer, as a sentence that tells the user what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.answering.evidence.question_words import QuestionWord, question_words, words_of_terms
from qa_bot.answering.tiling.table_rows import named_by_rows
from qa_bot.answering.wording.refusals import ENGLISH, JUDGED, Refusals, refusals_for
from qa_core.text.analysis import terms, words
from qa_core.text.function_words import question_stop_words
from qa_core.text.language_detection import language_of
from qa_core.text.languages import analysis_language
from qa_core.text.stop_words import STOP_WORDS
from qa_core.types import Candidate, Question
from rankers.clue import Statistics
from rankers.question_titles import is_question
from retrievers.formulate import Formulation, asks, question_text
from retrievers.german.compounds import is_in_compound
from retrievers.german.verbs import parted_again
from retrievers.german_synonyms import known_synonyms
from retrievers.question_terms import content_terms, has_content, whole_verbs

if TYPE_CHECKING:
    from qa_bot.answering.stages.decide import Decision
    from qa_bot.answering.stages.rank import Ranking
    from qa_bot.answering.verification.verify import Cover

EMPTY_QUESTION, NO_TIME = ENGLISH.empty_question, ENGLISH.no_time
NOTHING_FOUND, NOTHING_NAMED = ENGLISH.nothing_found, ENGLISH.nothing_named
WHICH = "Which of these do you mean?"
"""Above choices."""
NO_GRAPH = "There is no knowledge graph, or it is switched off; add facts with `qa-bot kg add FILE`."

READING = frozenset({"rank", "verify"})
"""Stages without which the documents found may not be the nearest."""
LONG = 16
"""No document contains nearly all content words of a longer question."""
QUOTED_WORDS, NEAREST = 3, 10
"""Words that a reason quotes, and documents that are searched for the correct spelling of a word."""
MIN_SIMILARITY = 0.8
"""Of a word and its correction, by difflib's ratio."""
DOUBTFUL = 0.5
"""A word that a passage covers less is named as a reason."""
SHORTEST_MISSPELT = 4
BARE = 2
"""Words of a turn that names a thing, with an article."""
_JOINED = re.compile(r"([^\W\d_])(\d)$")
"""The end of an index term like "band6", which means "band 6"."""
_DIGITS = re.compile(r"\d+")
QUOTED, QUOTED_TITLE = 40, 120
"""Characters that are quoted of a word and of a title."""


def wording_for(ranking: Ranking) -> Refusals:
    """The sentences in the language of a question; two words are in the language that most documents have."""
    return refusals_for(question_text(ranking.question), ranking.formulation.languages.first)


class _Turn(NamedTuple):
    """The words of a question: as typed, and with whole verbs; and the sentences in its language."""

    typed: str
    whole: str
    wording: Refusals

    @classmethod
    def of(cls, ranking: Ranking) -> _Turn:
        text = question_text(ranking.question)
        return cls(text, whole_verbs(text, ranking.formulation.languages), wording_for(ranking))

    @property
    def is_bare(self) -> bool:
        """Whether it names a thing and asks nothing about it: "the rust" does, "is there rust" does not."""
        return len(words(self.typed)) <= BARE and not asks(self.typed.rstrip(" ?"))

    def quoted(self, names: Sequence[str]) -> str:
        """“a”, “b” or “c” as typed; of many names only the first, and how many others."""
        shown = [_quoted(parted_again(name, self.typed), QUOTED) for name in names[: QUOTED_WORDS + 1]]
        if len(names) > QUOTED_WORDS + 1:
            shown[QUOTED_WORDS:] = [self.wording.more_words.format(count=len(names) - QUOTED_WORDS)]
        return f"{', '.join(shown[:-1])} {self.wording.either} {shown[-1]}" if len(shown) > 1 else shown[0]


def reason(ranking: Ranking, decision: Decision, index: Statistics) -> str:
    """Why there is no answer, in the question's language; `index` says which words the collection contains."""
    formulation = ranking.formulation
    language = formulation.languages.first
    turn = _Turn.of(ranking)
    text, wording = turn.whole, turn.wording
    if not text:
        return wording.empty_question
    if not ranking.candidates and ranking.skipped:
        return wording.no_time
    content = _content(formulation, language)
    if not content:
        return wording.nothing_named
    spoken = language_of(text[:JUDGED], formulation.languages.question, is_question=True)
    of_turn = set(content_terms(text, language, spoken))  # a formulation may have words of earlier questions
    of_turn -= _of_function_words(text, language, spoken or language)
    unknown = [term for term in content if term in of_turn and not index.document_frequency("all", term)]
    synonyms = known_synonyms(formulation, index)
    unknown = [term for term in unknown if term not in synonyms]
    if language == "de" and unknown:
        unknown = _not_in_compounds(unknown, ranking.candidates)
    if others := [code for code in formulation.languages.analyses if code != language]:
        unknown = [term for term in unknown if not _is_known_elsewhere(text, term, language, others, index)]
    cover = ranking.cover
    if cover is not None:
        meant = {part for word, share in cover.words if share >= DOUBTFUL for part in terms(word, language)}
        named = named_by_rows(ranking.candidates[0].passage.text, unknown, language)
        unknown = [term for term in unknown if term not in meant | named]
    if unknown:
        missing = words_of_terms(text, unknown, language, formulation.languages.question)
        is_whole = of_turn <= {*unknown}
        return _unknown_words(turn, missing, unknown, whole=is_whole, nearest=ranking.candidates)
    if not ranking.candidates:
        return wording.nothing_in_scope if ranking.only else wording.nothing_found
    return _unfit(ranking, decision, index, turn)


def _unfit(ranking: Ranking, decision: Decision, index: Statistics, turn: _Turn) -> str:
    """For a first passage that is not given: why it does not answer."""
    formulation, cover, best = ranking.formulation, ranking.cover, ranking.candidates[0]
    if decision.is_of_others:
        return turn.wording.of_others.format(title=_title(best))
    if READING & {*ranking.skipped}:
        return turn.wording.no_time
    if cover is not None and len(_content(formulation, formulation.languages.first)) > 1:
        return _read_passage(turn, cover, best, decision)
    return _nearest_document(turn, formulation, best, decision, index)


def no_fact_reason(question: Question, skipped: Sequence[str]) -> str:
    """Why the graph was not asked."""
    if not question.title.strip():
        return EMPTY_QUESTION
    return NO_TIME if skipped else NO_GRAPH


def demoted_reason(candidate: Candidate, ranking: Ranking) -> str:
    """For a document that votes of the conversation moved down."""
    passage = candidate.passage
    return wording_for(ranking).voted_down.format(title=f"“{passage.clue.title or passage.source.document}”")


def _content(formulation: Formulation, language: str) -> list[str]:
    return [*formulation.content_in(language)] if has_content(formulation.text, formulation.languages) else []


def _of_function_words(text: str, language: str, spoken: str) -> set[str]:
    """The terms of words that say nothing about the topic, such as "everything": no document has to mention them."""
    small = STOP_WORDS if spoken == "en" else question_stop_words(spoken)
    function_words = (
        word for word in question_words(text, language, spoken) if not word.name and word.text.casefold() in small
    )
    return {term for word in function_words for term in word.terms}


def _not_in_compounds(unknown: Sequence[str], nearest: Sequence[Candidate]) -> list[str]:
    """The German terms that are no part of a word of the nearest documents: "Schutzhelm" mentions "Helm"."""
    present = {term for candidate in nearest[:NEAREST] for term in terms(candidate.passage.text, "de")}
    return [term for term in unknown if not (term.isalpha() and is_in_compound(term, present))]


def _is_known_elsewhere(text: str, term: str, language: str, others: Sequence[str], index: Statistics) -> bool:
    """Whether the documents contain the word of a term in the analysis of another language."""
    analyses = (terms(word.text, other) for word in words_of_terms(text, [term], language) for other in others)
    return any(index.document_frequency("all", other) for analysis in analyses for other in analysis)


def _unknown_words(
    turn: _Turn,
    missing: Sequence[QuestionWord],
    unknown: Sequence[str],
    *,
    whole: bool,
    nearest: Sequence[Candidate],
) -> str:
    """For words that no document contains: names, misspellings, or another topic."""
    wording = turn.wording
    names = [word.text for word in missing] or [_JOINED.sub(r"\1 \2", term) for term in unknown]
    start = wording.mentions.format(words=turn.quoted(names))
    corrections = [word for word in (_correction(word, turn, nearest) for word in missing) if word]
    if corrections:
        return wording.did_you_mean.format(start=start, words=turn.quoted(corrections))
    if missing and all(word.name for word in missing):
        return wording.check_name.format(start=start)
    if whole or not nearest:
        return wording.other_words.format(start=start)
    return wording.leave_out.format(start=start, title=_title(nearest[0]))


def _nearest_document(
    turn: _Turn, formulation: Formulation, best: Candidate, decision: Decision, index: Statistics
) -> str:
    """For a document that does not fit well enough: the words that it lacks."""
    text, wording = turn.whole, turn.wording
    language = analysis_language(best.passage.source.details.language)
    content = _content(formulation, language)
    title = _title(best)
    if len(content) == 1 and turn.is_bare:
        alone = turn.quoted([word.text for word in words_of_terms(text, content, language)] or content)
        advice = wording.alone if is_question(best.passage.clue.title) else wording.alone_nearest
        return advice.format(words=alone, title=title)
    present = {*terms(best.passage.clue.title, language), *terms(best.passage.text, language)}
    lacking = [term for term in content if term not in present]
    if len(content) > LONG and lacking:
        return wording.too_long.format(all=len(content), some=len(content) - len(lacking), title=title)
    confidence, threshold = decision.confidence, decision.least
    if not lacking:
        return wording.has_every_word.format(title=title, confidence=confidence, threshold=threshold)
    frequency = {term: index.document_frequency("all", term) for term in lacking}
    rarest = sorted(lacking, key=frequency.__getitem__)
    missing = turn.quoted([word.text for word in words_of_terms(text, rarest, language)] or rarest)
    return wording.lacks.format(title=title, words=missing, confidence=confidence, threshold=threshold)


def _read_passage(turn: _Turn, cover: Cover, best: Candidate, decision: Decision) -> str:
    """For a passage that was read: the words of the question that it does not cover, or that others fit as well.

    Words that only earlier questions have are not named.
    """
    wording, title, confidence, threshold = turn.wording, _title(best), decision.confidence, decision.least
    doubtful = sorted((share, at, word) for at, (word, share) in enumerate(cover.words) if share < DOUBTFUL)
    if len(cover.words) > LONG and doubtful:
        count = len(cover.words)
        return wording.too_long_read.format(all=count, some=count - len(doubtful), title=title)
    of_turn = {word.casefold() for word in words(turn.whole)}
    if missing := [word for _, _, word in doubtful if of_turn.intersection(map(str.casefold, words(word)))]:
        quoted = turn.quoted(missing)
        return wording.says_nothing.format(title=title, words=quoted, confidence=confidence, threshold=threshold)
    return wording.several.format(title=title, confidence=confidence, threshold=threshold)


def _correction(word: QuestionWord, turn: _Turn, nearest: Sequence[Candidate]) -> str:
    """A similar word from the titles of the nearest documents, as written there; "" without one.

    Words of the question correct none of it, and neither do other numbers: "B3000" is no misspelt "B2000".
    """
    if len(word.text) < SHORTEST_MISSPELT or len(word.text) > QUOTED:
        return ""
    titles = [f"{c.passage.clue.title} {c.passage.source.title}" for c in islice(nearest, NEAREST)]
    of_turn, digits = {*words(turn.typed)}, _DIGITS.findall(word.text)
    known = dict.fromkeys(
        known
        for title in titles
        for known in words(title)
        if len(known) >= SHORTEST_MISSPELT and known not in of_turn and _DIGITS.findall(known) == digits
    )
    similar = get_close_matches(word.text.casefold(), [*known], 1, MIN_SIMILARITY)
    return _as_written(similar[0], titles) if similar else ""


def _as_written(word: str, texts: Sequence[str]) -> str:
    """A word in the case of the first text that has it."""
    written = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    return next((match[0] for match in map(written.search, texts) if match), word)


def _title(candidate: Candidate) -> str:
    passage = candidate.passage
    return _quoted(passage.clue.title or passage.source.title or passage.source.document, QUOTED_TITLE)


def _quoted(text: str, length: int) -> str:
    text = " ".join(text.split())
    return f"“{text if len(text) <= length else text[: length - 1].rstrip() + '…'}”"
