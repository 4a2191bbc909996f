"""Query expansion by weighted terms, taken from retrieved documents or from generated answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

TermWeights = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class LikelyAnswers:
    """Answers generated for a question, and how their words are added to it."""

    answers: tuple[tuple[tuple[str, ...], float], ...]  # analysed terms of each answer, and log p(a | q)
    terms: int = 10  # to add, at most
    weight: float = 0.8  # share of the original query

    def expanded(self, query_terms: Sequence[str]) -> TermWeights:
        """Weighted terms of the query and of the answers; see `translated`."""
        return translated(query_terms, self.answers, terms=self.terms, weight=self.weight)


def rm3(
    query_terms: Sequence[str],
    feedback: Sequence[tuple[Sequence[str], float]],
    *,
    terms: int = 10,
    weight: float = 0.5,
) -> TermWeights:
    """Weighted terms, highest weight first, that sum to 1.

    p(w|R) = Σ_d p(w|d) s(d) / Σ_d s(d), cut to its `terms` likeliest and scaled to sum 1 (Lavrenko & Croft 2001, RM1);
    p'(w) = weight · p(w|Q) + (1 − weight) · p(w|R) (Abdul-Jaleel et al. 2004, RM3).

    Args:
        query_terms: analysed terms of the query, with repetitions.
        feedback: analysed terms and retrieval score (≥ 0) of each document taken as relevant.
        terms: number of feedback terms to add.
        weight: share of the original query, 0 to 1.

    Without feedback that scores above 0, the result is the distribution of the query; without a query, that of the
    feedback.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"Expected a query weight between 0 and 1, but got {weight}.")
    original = _distribution(Counter(query_terms))
    likeliest = _by_weight(relevance_model(feedback))[:terms]
    relevance = _distribution(dict(likeliest))
    if not (original and relevance):
        return _by_weight(original or relevance)
    mixed = {
        term: weight * original.get(term, 0.0) + (1 - weight) * relevance.get(term, 0.0)
        for term in original.keys() | relevance.keys()
    }
    return _by_weight({term: share for term, share in mixed.items() if share > 0})


def translated(
    query_terms: Sequence[str],
    generated: Sequence[tuple[Sequence[str], float]],
    *,
    terms: int = 10,
    weight: float = 0.5,
) -> TermWeights:
    """Weighted terms, highest weight first, that sum to 1: those of the query and of answers generated for it.

    After Otsuka et al. (2018), question-to-answer translation: a generated answer `a` counts as a relevant document
    with `s(a) = p(a | q)` in the formulas of `rm3`.

    Args:
        query_terms: analysed terms of the query, with repetitions.
        generated: analysed terms of each answer, and `log p(a | q)`.
        terms: number of terms of the answers to add.
        weight: share of the original query, 0 to 1.
    """
    best = max((log_p for _, log_p in generated), default=0.0)  # keeps exp() of long answers above 0
    likely = [(words, exp(log_p - best)) for words, log_p in generated]
    return rm3(query_terms, likely, terms=terms, weight=weight)


def relevance_model(feedback: Sequence[tuple[Sequence[str], float]]) -> dict[str, float]:
    """p(w|R) = Σ_d p(w|d) s(d) / Σ_d s(d) over the documents with terms and a score above 0."""
    relevant = [(Counter(words), score) for words, score in feedback if words and score > 0]
    best = max((score for _, score in relevant), default=0.0)
    scaled = [(counts, score / best) for counts, score in relevant]
    total = sum(score for _, score in scaled)  # at least 1, so tiny scores do not underflow
    model: dict[str, float] = {}
    for counts, score in scaled:
        length = counts.total()
        for term, count in counts.items():
            model[term] = model.get(term, 0.0) + count / length * score / total
    return model


def _distribution(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {term: count / total for term, count in counts.items()}


def _by_weight(weights: Mapping[str, float]) -> TermWeights:
    return tuple(sorted(weights.items(), key=lambda item: (-item[1], item[0])))
