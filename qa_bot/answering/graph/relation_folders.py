"""Opens relation scorers that `qa-bot train relations` wrote."""

from __future__ import annotations

from pathlib import Path

from kg_index.relations.compared.compared_scorer import ComparedScorer
from kg_index.relations.compared.pair_network import ComparedConfig
from kg_index.relations.relation_head import HeadConfig, RelationHead
from kg_index.relations.relation_network import RelationConfig, RelationDetector
from kg_index.relations.relation_scorers import RelationScorer, WeightedSumScorer
from kg_index.relations.tuned_scorer import TunedConfig, tuned_scorer
from qa_bot.answering.graph.relation_encoders import ConcatenatedEncoder, open_encoders
from qa_bot.home.encoders import resolve
from qa_core.atomic import current_folder
from qa_core.encoders.sentence_layout import read_object
from qa_core.networks.checkpoints import CONFIG, load_config, load_weights
from qa_core.types import Encoder


class RelationScorerError(ValueError):
    """A folder has no usable relation scorer; the message says what to do."""


QUESTIONS, HEAD = "questions", "head"
"""Subfolders of a tuned scorer: the tuned transformer, and the head over frozen vectors."""


def open_scorer(folder: Path, models: Path) -> RelationScorer:
    """Open a head over an encoder's vectors, the network of Wang (2018), one compared with it, or a tuned transformer.

    Args:
        models: folder of fetched encoders.

    Raises RelationScorerError if the folder holds none of these, or an encoder changed since the training.
    """
    if not (config := current_folder(folder) / CONFIG).is_file():
        raise RelationScorerError(
            f"Expected the --out of a `qa-bot train relations`, but there is no {config}; name another folder."
        )
    try:
        kind = read_object(config).get("kind")
        if kind == RelationConfig.__name__:
            return RelationDetector.load(folder)
        if kind == ComparedConfig.__name__:
            return ComparedScorer.load(folder)
        if kind == TunedConfig.__name__:
            return _open_tuned(folder, models)
    except (ValueError, OSError) as error:
        raise RelationScorerError(f"{folder}: {error}") from error
    return open_head(folder, models)


def open_head(folder: Path, models: Path) -> RelationHead:
    """Open a head. Raises RelationScorerError as `open_scorer`."""
    try:
        config = load_config(folder, HeadConfig)
        encoder = open_encoders(config.encoder, models=models)
        _expect_encoder(config.encoder, encoder, config.fingerprint)
        return RelationHead.load(folder, encoder.encode)
    except (ValueError, FileNotFoundError) as error:
        raise RelationScorerError(f"{folder}: {error}") from error


def _open_tuned(folder: Path, models: Path) -> WeightedSumScorer:
    config = load_config(folder, TunedConfig)
    factors = load_weights(folder, shapes={"scale": (), "keywords": ()})
    relations, questions = resolve(config.encoder, models=models), resolve(str(folder / QUESTIONS), models=models)
    _expect_encoder(config.encoder, relations, config.fingerprint)
    _expect_encoder(str(folder / QUESTIONS), questions, config.questions)
    scale, keywords = (float(factors[name]) for name in ("scale", "keywords"))
    tuned = tuned_scorer(questions.encode, relations.encode, scale=scale, keywords=keywords)
    return WeightedSumScorer([(tuned, 1.0), (open_head(folder / HEAD, models), 1.0)])


def _expect_encoder(name: str, encoder: Encoder | ConcatenatedEncoder, fingerprint: str) -> None:
    """Questions and names of relations are English, so an encoder may have learnt further languages since."""
    if fingerprint not in {encoder.fingerprint, *encoder.extends}:
        raise ValueError(f"Expected the encoder {name!r} of the training, but got other weights; train again.")
