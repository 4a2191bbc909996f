"""Opens every model that the configuration names beside the encoder, for `qa-bot doctor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from qa_bot.answering.graph.facts import open_relations, open_templates
from qa_bot.answering.models.personas import PersonaStore
from qa_bot.answering.models.query_expanders import opened_expander
from qa_bot.answering.models.ranker_loading import open_fusion, open_rankers
from qa_bot.answering.verification.configured_verifier import open_verifier
from qa_bot.home.config import Config, ConfigError
from qa_bot.home.folder import Home
from qa_bot.home.sections import RankingSection, StyleSection
from rankers.answer_selection.cross_encoder import open_cross_encoder


def check_models(home: Home, config: Config) -> str:
    """The keys that name other models than by default.

    Raises ConfigError with each key whose model cannot be opened, and why.
    """
    ranking, facts, models = config.ranking, config.facts, home.models
    openers: Mapping[str, tuple[str, Callable[[], object]]] = {
        "ranking.models": (ranking.models, lambda: open_rankers(ranking.models, models=models, int8=ranking.int8)),
        "ranking.fusion": (ranking.fusion, lambda: open_fusion(Path(ranking.fusion))),
        "ranking.challenger": (ranking.challenger, lambda: open_fusion(Path(ranking.challenger))),
        "ranking.verifier": (ranking.verifier, lambda: open_verifier(ranking.verifier, models)),
        "ranking.cross_encoder": (ranking.cross_encoder, lambda: open_cross_encoder(Path(ranking.cross_encoder))),
        "retrieval.expander": (config.retrieval.expander, lambda: opened_expander(config.retrieval.expander)),
        "facts.templates": (facts.templates, lambda: open_templates(Path(facts.templates))),
        "facts.relations": (facts.relations, lambda: open_relations(Path(facts.relations), models)),
        "style.base": (config.style.base, lambda: PersonaStore(home.personas, config.style).open_base()),
    }
    defaults = ("", RankingSection().verifier, StyleSection().base)
    named = {key: opener for key, (value, opener) in openers.items() if value not in defaults}
    faults = {key: fault for key, opener in named.items() if (fault := _fault(opener))}
    if faults:
        raise ConfigError("; ".join(f"{key}: {fault.rstrip('.')}" for key, fault in faults.items()) + ".")
    return ", ".join(named) or "those of the installation"


def _fault(opener: Callable[[], object]) -> str:
    try:
        opener()
    except Exception as error:  # any error is the result
        return str(error)
    return ""
