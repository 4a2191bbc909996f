"""Folders that `train relations` wrote, opened again."""

from __future__ import annotations

from pathlib import Path

from kg_index.relations.relation_head import HeadConfig, RelationHead
from kg_index.relations.relation_network import RelationConfig, RelationDetector
from kg_index.relations.relation_scorers import RelationScorer, WeightedSumScorer
from kg_index.relations.tuned_scorer import TunedConfig, tuned_scorer
from qa_bot.answering.graph.relation_encoders import open_encoders
from qa_bot.home.encoders import resolve
from qa_core.atomic import current_folder
from qa_core.encoders.sentence_layout import read_object
from qa_core.networks.checkpoints import CONFIG, load_config, load_weights


class RelationScorerError(ValueError):
    """A folder without a usable relation scorer; the message says what is wrong with it and what to do."""


QUESTIONS, HEAD = "questions", "head"
"""Folders within that of a tuned scorer: the tuned transformer, and the head over frozen vectors beside it."""


def open_scorer(folder: Path, models: Path) -> RelationScorer:
    """A head over an encoder's vectors, the network of the thesis, or a tuned transformer with a head beside it.

    Args:
        models: holds encoders that were fetched.

    Raises RelationScorerError where the folder holds none of these, or was trained with other weights of an encoder.
    """
    try:
        kind = read_object(current_folder(folder) / CONFIG).get("kind")
        if kind == RelationConfig.__name__:
            return RelationDetector.load(folder)
        if kind == TunedConfig.__name__:
            return _open_tuned(folder, models)
    except (ValueError, OSError) as error:
        raise RelationScorerError(f"{folder}: {error}") from error
    return open_head(folder, models)


def open_head(folder: Path, models: Path) -> RelationHead:
    """As `open_scorer`, for a head alone."""
    try:
        config = load_config(folder, HeadConfig)
        encoder = open_encoders(config.encoder, models=models)
        if encoder.fingerprint != config.fingerprint:
            raise ValueError(f"Expected the encoder {config.encoder!r} as it was in training; train again.")
        return RelationHead.load(folder, encoder.encode)
    except (ValueError, FileNotFoundError) as error:
        raise RelationScorerError(f"{folder}: {error}") from error


def _open_tuned(folder: Path, models: Path) -> WeightedSumScorer:
    config = load_config(folder, TunedConfig)
    factors = load_weights(folder, shapes={"scale": (), "keywords": ()})
    words, asked = resolve(config.encoder, models=models), resolve(str(folder / QUESTIONS), models=models)
    for name, encoder, known in (
        (config.encoder, words, config.fingerprint),
        (str(folder / QUESTIONS), asked, config.questions),
    ):
        if encoder.fingerprint != known:
            raise ValueError(f"Expected the encoder {name!r} as it was in training; train again.")
    scale, keywords = (float(factors[name]) for name in ("scale", "keywords"))
    tuned = tuned_scorer(asked.encode, words.encode, scale=scale, keywords=keywords)
    return WeightedSumScorer([(tuned, 1.0), (open_head(folder / HEAD, models), 1.0)])
