"""Expansion of a query by weighted terms: of the first documents found, or of answers that a model expects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp

TermWeights = tuple[tuple[str, float], ...]


def rm3(
    query_terms: Sequence[str],
    feedback: Sequence[tuple[Sequence[str], float]],
    *,
    terms: int = 10,
    weight: float = 0.5,
) -> TermWeights:
    """Weighted terms, heaviest first, that sum to 1.

    p(w|R) = Σ_d p(w|d) s(d) / Σ_d s(d), its `terms` likeliest kept and scaled to sum 1 (Lavrenko & Croft 2001, RM1);
    p'(w) = weight · p(w|Q) + (1 − weight) · p(w|R) (Abdul-Jaleel et al. 2004, RM3).

    Args:
        query_terms: analysed terms of the query, repeated as they repeat.
        feedback: analysed terms and retrieval score (≥ 0) of each document taken as relevant.
        terms: how many feedback terms join.
        weight: the share of the original query, 0 to 1.

    Without feedback, or with none that scores above 0, the query's own distribution is returned; without a query,
    that of the feedback.
    """
    if not 0 <= weight <= 1:
        raise ValueError(f"Expected a query weight between 0 and 1, but got {weight}.")
    original = _distribution(Counter(query_terms))
    likeliest = _heaviest(relevance_model(feedback))[:terms]
    relevance = _distribution(dict(likeliest))
    if not (original and relevance):
        return _heaviest(original or relevance)
    joined = {
        term: weight * original.get(term, 0.0) + (1 - weight) * relevance.get(term, 0.0)
        for term in original.keys() | relevance.keys()
    }
    return _heaviest({term: share for term, share in joined.items() if share > 0})


def translated(
    query_terms: Sequence[str],
    generated: Sequence[tuple[Sequence[str], float]],
    *,
    terms: int = 10,
    weight: float = 0.5,
) -> TermWeights:
    """Weighted terms, heaviest first, that sum to 1: the query's and those of answers generated for it.

    After Otsuka et al. 2018 (question-to-answer translation): an answer `a` that a model finds likely for the question
    counts as a document taken for relevant, `s(a) = p(a | q)`, in the formulas of `rm3`.

    Args:
        query_terms: analysed terms of the query, repeated as they repeat.
        generated: analysed terms of each answer, and `log p(a | q)`.
        terms: how many terms of the answers join.
        weight: the share of the original query, 0 to 1.
    """
    best = max((log_p for _, log_p in generated), default=0.0)  # of long answers every p would be 0
    likely = [(words, exp(log_p - best)) for words, log_p in generated]
    return rm3(query_terms, likely, terms=terms, weight=weight)


def relevance_model(feedback: Sequence[tuple[Sequence[str], float]]) -> dict[str, float]:
    """p(w|R) = Σ_d p(w|d) s(d) / Σ_d s(d) over the documents with terms and a score above 0."""
    told = [(Counter(words), score) for words, score in feedback if words and score > 0]
    best = max((score for _, score in told), default=0.0)
    useful = [(counts, score / best) for counts, score in told]
    total = sum(score for _, score in useful)  # at least 1: scores too small to divide by do not vanish
    model: dict[str, float] = {}
    for counts, score in useful:
        length = counts.total()
        for term, count in counts.items():
            model[term] = model.get(term, 0.0) + count / length * score / total
    return model


def _distribution(counts: Mapping[str, float]) -> dict[str, float]:
    total = sum(counts.values())
    return {term: count / total for term, count in counts.items()}


def _heaviest(weights: Mapping[str, float]) -> TermWeights:
    return tuple(sorted(weights.items(), key=lambda item: (-item[1], item[0])))
