"""The verifier that the configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import cast

from qa_bot.answering.relevance.interaction import InteractionScorer
from qa_bot.answering.relevance.passage_scorer import PassageScorer, Scorers, scorer_of
from qa_bot.answering.verification.token_vectors import TokenEncoder, TokenVectors
from qa_bot.answering.verification.verify import ChooseLeads, Verifier
from qa_bot.home.encoders import (
    MULTILINGUAL,
    SHIPPED,
    TRANSFORMER,
    EncoderError,
    multilingual_transformer,
    reading_transformer,
    resolve,
)
from qa_bot.home.sections import RankingSection
from qa_bot.home.starter import MULTILINGUAL_RELEVANCE, RELEVANCE

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
    return Verifier(vectors, read=READ[config.effort], scorers=_scorers(config, vectors), choose_leads=choose_leads)


def _scorers(config: RankingSection, vectors: TokenVectors) -> Scorers:
    """The configured cross-encoder, or the shipped networks if the shipped transformer reads."""
    if config.cross_encoder or not config.relevance or config.verifier != TRANSFORMER:
        return Scorers(scorer_of(config.cross_encoder))
    return _shipped_scorers(vectors)


@lru_cache(maxsize=2)
def _shipped_scorers(vectors: TokenVectors) -> Scorers:
    """Shared by all bots of a process."""
    return Scorers(PassageScorer(lambda: InteractionScorer(vectors.rows, RELEVANCE)), PassageScorer(_open_multilingual))


def _open_multilingual() -> InteractionScorer:
    vectors = _token_vectors(MULTILINGUAL, Path())
    if not vectors.ready():
        raise ValueError(f"Expected the encoder {MULTILINGUAL}, but it cannot be opened.")
    return InteractionScorer(vectors.rows, MULTILINGUAL_RELEVANCE)


@lru_cache(maxsize=3)
def _token_vectors(name: str, models: Path) -> TokenVectors:
    """Shared by all bots of a process."""
    return TokenVectors(lambda: open_verifier(name, models))


def open_verifier(name: str, models: Path) -> TokenEncoder:
    """Raises EncoderError for an encoder that cannot be opened or has no states of tokens."""
    shipped = {TRANSFORMER: reading_transformer, MULTILINGUAL: multilingual_transformer}
    encoder = shipped[name]() if name in shipped else resolve(name, models=models, int8=True)
    if not hasattr(encoder, "token_spans"):
        raise EncoderError(f"Expected a transformer as ranking.verifier, but got {name!r}; name another encoder.")
    return cast("TokenEncoder", encoder)
