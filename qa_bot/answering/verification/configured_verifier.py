"""The verifier that the configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast

from qa_bot.answering.relevance.interaction import InteractionScorer
from qa_bot.answering.relevance.passage_scorer import PassageScorer, scorer_of
from qa_bot.answering.verification.token_vectors import TokenEncoder, TokenVectors
from qa_bot.answering.verification.verify import ChooseLeads, Verifier
from qa_bot.home.encoders import SHIPPED, TRANSFORMER, EncoderError, reading_transformer, resolve
from qa_bot.home.sections import RankingSection
from qa_bot.home.starter import RELEVANCE

READ: Mapping[str, int] = {"low": 0, "normal": 5, "high": 10}
"""Passages that are read by effort."""


def configured_verifier(
    config: RankingSection, models: Path, *, choose_leads: ChooseLeads | None = None
) -> Verifier | None:
    """The verifier, whose models are opened when it first reads; None if nothing is to be read."""
    if not READ[config.effort]:
        return None
    is_shipped = config.verifier in SHIPPED
    vectors = _token_vectors(config.verifier, Path() if is_shipped else models)
    return Verifier(vectors, read=READ[config.effort], scorer=_scorer(config, vectors), choose_leads=choose_leads)


def _scorer(config: RankingSection, vectors: TokenVectors) -> PassageScorer | None:
    """The configured cross-encoder, or the shipped network if the shipped transformer reads."""
    if config.cross_encoder or not config.relevance or config.verifier != TRANSFORMER:
        return scorer_of(config.cross_encoder)
    return _shipped_scorer(vectors)


@lru_cache(maxsize=2)
def _shipped_scorer(vectors: TokenVectors) -> PassageScorer:
    """Shared by all bots of a process."""
    return PassageScorer(lambda: InteractionScorer(vectors.rows, RELEVANCE))


@lru_cache(maxsize=2)
def _token_vectors(name: str, models: Path) -> TokenVectors:
    """Shared by all bots of a process."""
    return TokenVectors(lambda: open_verifier(name, models))


def open_verifier(name: str, models: Path) -> TokenEncoder:
    """Raises EncoderError for an encoder that cannot be opened or has no states of tokens."""
    encoder = reading_transformer() if name == TRANSFORMER else resolve(name, models=models, int8=True)
    if not hasattr(encoder, "token_spans"):
        raise EncoderError(f"Expected a transformer as ranking.verifier, but got {name!r}; name another encoder.")
    return cast("TokenEncoder", encoder)
