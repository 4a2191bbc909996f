"""Fuse: calls the configured fusion method (`retrievers.fusion`) on the ranked lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qa_bot.answering.stages.retrieve import RankedList
from qa_bot.home.sections import FusionSection
from qa_core.text.analysis import words
from qa_core.types import Encoder
from retrievers.formulate import Formulation
from retrievers.fusion import ScoredDocuments, in_vocabulary_rule, normalised_mean, reciprocal_rank


def fuse(
    lists: Sequence[RankedList],
    formulation: Formulation,
    encoder: Encoder | None,
    config: FusionSection,
    *,
    head: int,
    depth: int,
) -> ScoredDocuments:
    """Up to `depth` documents: first those of the lists' first `head`, then those that only longer lists have.

    The order of the first documents does not depend on `depth`.
    """
    first = _fuse([ranked.cut(head) for ranked in lists], formulation, encoder, config, head)
    if depth <= head:
        return first
    longer = _fuse(lists, formulation, encoder, config, depth)
    new = ~np.isin(longer.documents, first.documents)
    return ScoredDocuments(
        np.concatenate([first.documents, longer.documents[new]]), np.concatenate([first.scores, longer.scores[new]])
    ).first(depth)


def _fuse(
    lists: Sequence[RankedList],
    formulation: Formulation,
    encoder: Encoder | None,
    config: FusionSection,
    depth: int,
) -> ScoredDocuments:
    lists = [ranked for ranked in lists if not ranked.ranked.empty]
    if not lists:
        return ScoredDocuments.of()
    if config.method == "rule":
        dense = [ranked for ranked in lists if ranked.engine == "dense"]
        keyword = [ranked for ranked in lists if ranked.engine == "keyword"]
        known = encoder is not None and all(map(encoder.knows, words(formulation.text)))
        return in_vocabulary_rule(_mean(dense), _mean(keyword), depth, in_vocabulary=known and bool(dense))
    if config.method == "rrf":
        return reciprocal_rank([r.ranked for r in lists], weights=[r.weight for r in lists]).first(depth)
    return _mean(lists).first(depth)


def _mean(lists: Sequence[RankedList]) -> ScoredDocuments:
    if not lists:
        return ScoredDocuments.of()
    return normalised_mean(
        [ranked.ranked for ranked in lists],
        weights=[ranked.weight for ranked in lists],
        floors=[ranked.floor for ranked in lists],
    )
