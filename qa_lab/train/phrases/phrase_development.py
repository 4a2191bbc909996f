"""Development pairs of phrases: set aside by a share or read from a file, and what a model scores on them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from qa_core.measures.metrics import Score
from qa_core.measures.pair_measures import auc, rank_correlation
from qa_lab.data.phrases.phrase_pairs import annotated, read_phrase_pairs
from qa_lab.data.phrases.phrase_preparation import Parts, Phrased, parts, phrased
from qa_lab.data.splitting import dev_share
from qa_lab.errors import TrainingDataError
from qa_lab.evaluate.words.paired_negatives import SEED, with_mismatched
from retrievers.training.phrases.phrase_model import PhraseModel

log = logging.getLogger(__name__)


def measured(model: PhraseModel, pairs: Sequence[Phrased]) -> Score:
    """AUC of cosines if gold is 0 and 1, else Spearman."""
    return measure(model.scores([(pair.left, pair.right) for pair in pairs]).tolist(), pairs)


def measure(scores: Sequence[float], pairs: Sequence[Phrased]) -> Score:
    """The same of any scores."""
    gold = [pair.gold or 0.0 for pair in pairs]
    return (
        auc(scores, [value == 1 for value in gold]) if measure_name(pairs) == "AUC" else rank_correlation(scores, gold)
    )


def measure_name(pairs: Sequence[Phrased]) -> str:
    return "AUC" if {pair.gold for pair in pairs} <= {0.0, 1.0} else "Spearman"


def with_development(pairs: Sequence[Phrased], dev: str, *, test: float) -> tuple[Parts, list[Phrased]]:
    """Parts of the data, and development pairs with gold: built ones, or those of the path that --dev names."""
    known = {pair.key for pair in pairs}
    share = dev_share(dev, most=1 - test)
    if share is None:
        held_out = read_development(Path(dev), known)
        aside = {pair.key for pair in held_out}
        return parts([pair for pair in pairs if pair.key not in aside], test=test, dev=0.0), held_out
    split = parts(pairs, test=test, dev=share)
    return split, with_mismatched(split.dev, seed=SEED, known=known)


def read_development(path: Path, known: Collection[frozenset[tuple[str, ...]]]) -> list[Phrased]:
    """Pairs with gold: those of the file, or pairs built from it if it has no scores."""
    data = read_phrase_pairs([path])
    pairs = []
    for pair in data.examples:
        try:
            pairs.append(phrased(pair))
        except ValueError:
            log.warning("Expected phrases with words, but got %r in %s; the pair is left out.", pair.line[:80], path)
    return pairs if annotated(data.examples) else with_mismatched(pairs, seed=SEED, known=known)


def check_parts(split: Parts, held_out: Sequence[Phrased], left_out: Mapping[str, int], *, dev: str) -> None:
    """Raises TrainingDataError, with what preparation left out, if one side is empty."""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()) or "none"
    if not split.train:
        raise TrainingDataError(f"Expected pairs of phrases to train on, but none is left; left out: {reasons}.")
    if len({pair.gold for pair in held_out}) < 2:
        raise TrainingDataError(
            f"Expected development pairs of both kinds, but got {len(held_out)} from --dev {dev}; with few pairs name "
            f"a larger share or a path. Left out before: {reasons}."
        )
