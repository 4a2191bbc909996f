"""What passages gain by what a question asks for, and by its words in headings, titles, paths and rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache, partial

import numpy as np

from qa_bot.answering.evidence.question_words import AskedPlaces
from qa_bot.answering.evidence.row_labels import row_bonus
from qa_bot.answering.tiling.question_parts import has_steps
from qa_core.text.analysis import terms
from qa_core.text.languages import analysis_language
from qa_core.types import Passage
from rankers.clue import Statistics, rarity_of
from rankers.passage_evidence import (
    CODE,
    CONTACT,
    CONTENTS,
    DEFINITION,
    IN_PATH,
    MAIL_HEAD,
    ROLE,
    SECTION,
    STEPS,
    Scores,
    same_words_bonus,
)
from rankers.question_titles import asking_bonus, heading_bonus, is_contents, is_mail_head, is_pair, section_bonus
from rankers.release_notes import release_bonus
from retrievers.codes import headed_text
from retrievers.formulate import Formulation, asks
from retrievers.german.compounds import parts_among
from retrievers.measured_properties import asking_terms
from retrievers.path_words import share_in_path
from retrievers.question_terms import content_terms


def places_bonus(passages: Sequence[Passage], places: AskedPlaces, named: Sequence[frozenset[str]]) -> Scores:
    """What passages (n,) gain or lose by what the question asks for; `named` are the codes of their documents."""
    releases = [release_bonus(passage.place.heading, places.versions) for passage in passages]
    steps = [places.steps and has_steps(passage) for passage in passages]
    contacts = [places.contact.is_in(passage.text) for passage in passages]
    sections = [places.names(passage.place.heading) or places.has_clause(passage.text) for passage in passages]
    codes = [*map(places.share_of_codes, map(headed_text, passages), named)]
    defining = [not is_pair(passage) and places.defines(passage.text) for passage in passages]
    contents = [*map(is_contents, passages)]
    heads = [not places.head_of_mail and is_mail_head(passage) for passage in passages]
    roles = [places.role.is_held(p.text, analysis_language(p.source.details.language)) for p in passages]
    kinds = np.array([steps, contacts, sections, codes, defining, roles, contents, heads], np.float64)
    gained: Scores = np.array([STEPS, CONTACT, SECTION, CODE, DEFINITION, ROLE, -CONTENTS, -MAIL_HEAD]) @ kinds
    return gained + np.array(releases, np.float64)


def words_bonus(
    passages: Sequence[Passage], formulation: Formulation, understood: float, index: Statistics, *, alone: bool
) -> Scores:
    """What passages (n,) gain by the words of the question in headings, titles, paths and rows of tables.

    Args:
        understood: how far the vectors understand the question; titles count if they say little.
        alone: whether the question is searched in no other reading.
    """
    rarity = partial(rarity_of, index)
    in_paths = np.array([share_in_path(formulation, passage, rarity) for passage in passages], np.float64)
    in_rows = row_bonus(cache(partial(_content_of_rows, formulation)), rarity, passages)
    return _same_words_bonus(passages, formulation, understood, alone) + IN_PATH * in_paths + in_rows


def _same_words_bonus(passages: Sequence[Passage], formulation: Formulation, understood: float, alone: bool) -> Scores:
    """What passages (n,) gain whose heading, or title if vectors say little, has the words of the question."""
    titles = [passage.source.title if is_pair(passage) else "" for passage in passages]
    of_titles = (1.0 - understood) * same_words_bonus(formulation.text, titles)
    content, is_topic = partial(_content_in_headings, cache(formulation.content_in)), not asks(formulation.text)
    named = heading_bonus(formulation.text, passages) + of_titles
    if not is_topic:
        named = named + asking_bonus(content, _content_of, passages)
    return named + section_bonus(content, passages, is_topic=is_topic) if alone else named


def _content_of_rows(formulation: Formulation, language: str) -> frozenset[str]:
    """The content terms of a question, without those that ask for a property: "heavy"."""
    return frozenset(formulation.content_in(language)) - asking_terms(formulation.text, language)


@lru_cache(maxsize=1_000)
def _content_of(heading: str, language: str) -> frozenset[str]:
    return frozenset(content_terms(heading, language, language))


def _content_in_headings(content_in: Callable[[str], Collection[str]], passage: Passage) -> Collection[str]:
    """The content terms of a question; German compounds as the parts that the title and the nearest heading have."""
    language = analysis_language(passage.source.details.language)
    content = content_in(language)
    if language != "de":
        return content
    shown = {*terms(" ".join([passage.source.title, *passage.place.heading[-1:]]), language)}
    parts = [parts_among(term, shown) if term not in shown else () for term in content]
    return [part for term, of_term in zip(content, parts, strict=True) for part in of_term or (term,)]
