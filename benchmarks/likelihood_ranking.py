"""Ranking one right answer and 19 random ones by likelihood, as in Wang (2018), ch. 6.4.

    python benchmarks/likelihood_ranking.py --data DIR [--set medquad|open_qa] [--limit PAIRS] [--epochs N]

S is the question, T the answer. Three encoder-decoders of equal size are trained on the same pairs: p(S|T), p(T|S) and,
with an empty source, p(T). A hash of the question holds out a tenth: one half selects the best epoch, and `--asked`
pairs of the other half are ranked, each with 19 random answers to other questions.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from qa_core.training.likelihood_training import LikelihoodConfig, optimiser, perplexity
from qa_core.training.loop import Training, seed_everything
from qa_core.types import FloatArray
from qa_lab.data.pairs import read_pairs, split
from qa_lab.data.word_vectors import vectors_of, words_of
from qa_lab.train.rankers.likelihood_measures import AMONG, among, chosen
from rankers.answer_selection.encoder_decoder import (
    SMALL,
    Direction,
    EncoderDecoderRanker,
    normalised,
    train_encoder_decoder,
)
from rankers.neural import TextPair

SETS = {"medquad": "medquad/medquad.zip", "open_qa": "qa_pairs/open_qa.jsonl.gz"}
PUBLISHED = {"p(T|S)": (0.224, 0.075), "p(T|S)/p(T)": (0.652, 0.524), "p(S|T)": (0.687, 0.556)}
Score = Callable[[Sequence[TextPair]], FloatArray]


def parts(path: Path, limit: int | None) -> tuple[list[TextPair], list[TextPair], list[TextPair]]:
    """Pairs for training, for early stopping and for ranking."""
    train, held_out = split(read_pairs([path], limit=limit).examples, 0.1)
    dev, test = split(held_out, 0.05)  # by the same hash, so half of the held-out pairs
    return tuple([(pair.question, pair.answer) for pair in part] for part in (train, dev, test))  # type: ignore[return-value] # three parts


def as_lists(score: Score) -> Callable[[Sequence[TextPair]], list[float]]:
    return lambda pairs: [float(value) for value in score(pairs)]


def train_direction(
    direction: Direction, options: argparse.Namespace, train: list[TextPair], dev: list[TextPair]
) -> tuple[Any, dict[str, Any]]:
    """A model of one direction, and figures of its training."""
    seed_everything(options.seed)
    network = replace(SMALL.network, vocabulary=options.vocabulary, dimension=options.size, hidden=options.size)
    config = replace(SMALL, network=network, direction=direction, max_answer=options.words)
    texts = [text for pair in train for text in pair]
    pretrained = vectors_of(options.pretrained, words_of(texts)) if options.pretrained else None
    ranker = EncoderDecoderRanker.of(texts, config, minimum=2, pretrained=pretrained)
    settings = LikelihoodConfig(batch=options.batch, epochs=options.epochs, learning_rate=options.learning_rate)
    training = Training(ranker.model, optimiser(ranker.translator, settings), seed=options.seed)
    started = time.process_time()
    for progress in train_encoder_decoder(training, ranker, train, settings, held_out=dev):
        if progress.dev is not None:
            sys.stderr.write(f"{direction} epoch {progress.epoch}: perplexity {progress.dev:.1f}\n")
    ranker.model.eval()
    seconds = time.process_time() - started
    return ranker, {
        "perplexity": round(perplexity(ranker.translator, ranker.columns(dev)), 1),
        "epochs": training.best.epoch if training.best else training.epoch,
        "parameters": sum(p.numel() for p in ranker.model.parameters()),
        "processor seconds": round(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", choices=SETS, default="medquad")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--asked", type=int, default=300)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=0.004)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--words", type=int, default=32, help="maximum number of words of an answer")
    parser.add_argument("--pretrained", default="", help="word vectors to start from: `starter`, a folder or a file")
    parser.add_argument("--vocabulary", type=int, default=8_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    train, dev, test = parts(options.data / SETS[options.set], options.limit)
    rng = np.random.default_rng(options.seed)
    lists = among(test, rng)
    lists = [lists[i] for i in sorted(rng.permutation(len(lists))[: options.asked].tolist())]
    models = {}
    rows: dict[str, object] = {}
    for direction in ("backward", "forward", "prior"):
        models[direction], rows[direction] = train_direction(direction, options, train, dev)
    scores: dict[str, Score] = {
        "p(T|S)": lambda pairs: models["forward"].log_likelihoods(pairs)[0],
        "p(T|S) a word": models["forward"].score,
        "p(T|S)/p(T)": lambda pairs: normalised(models["forward"], models["prior"], pairs),
        "p(S|T)": models["backward"].score,
    }
    table = {name: chosen(lists, as_lists(score)) for name, score in scores.items()}
    hundred = [pair for candidates in lists for pair in candidates][:100]
    started = time.perf_counter()
    models["backward"].score(hundred)
    rate = 100 / (time.perf_counter() - started)
    summary = {"set": options.set, "pairs": [len(train), len(dev), len(test)], "asked": len(lists), "models": rows}
    if options.json:
        sys.stdout.write(json.dumps({**summary, "table": table, "pairs a second": rate}) + "\n")
        return
    sys.stdout.write(
        f"{summary}\n1 right among {AMONG - 1} others, {len(lists)} questions; {rate:,.0f} pairs a second\n"
    )
    sys.stdout.write("| score | MRR | P@1 | Wang MRR | Wang P@1 |\n| --- | --- | --- | --- | --- |\n")
    for name, (rr, success) in table.items():
        published = PUBLISHED.get(name, ("", ""))
        sys.stdout.write(f"| {name} | {rr:.3f} | {success:.3f} | {published[0]} | {published[1]} |\n")


if __name__ == "__main__":
    main()
