"""`eval dialogue`: does a chat model know the true reply of a dialogue among those of others (thesis, ch. 8.6.3)?

Its rows: forward `p(T|S)`, forward over the language model `p(T|S) / p(T)`, backward `p(S|T)`, with the perplexity of
forward, the language model and backward; then what it says itself, by plain and by selective sampling: the perplexity
that the language model finds in it, and the share of distinct pairs of words.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from generators.conversation.chat_model import ChatModel
from generators.conversation.padded_batches import SourceTarget
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, Method, candidates
from generators.pretrained.opening import open_chat_model
from generators.pretrained.transformer_model import PretrainedModel
from qa_core.measures.metrics import Score, evaluate
from qa_core.measures.significance import SEED
from qa_core.networks.decoder_types import END_ID, Hypothesis
from qa_core.types import FloatArray
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared
from qa_lab.train.data.dialogues import Exchange, exchanges, read_dialogues, split_dialogues

TASK = "dialogue"
AMONG = 20
"""Replies to choose from: the true one and 19 drawn by chance from other exchanges."""
LIMIT = 500
CONTEXTS, SAMPLES = 40, 10
"""Contexts that the model replies to itself, and how often."""
Chatting = ChatModel | PretrainedModel
_MEASURE, _PERPLEXITY, _DISTINCT = "RR", "perplexity", "distinct-2"


def evaluate_dialogue(
    data: Path,
    *,
    models: Sequence[Path],
    held_out: float = 0.0,
    limit: int | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """Five rows for each model, those that rank compared with the first of them by MRR.

    Args:
        data: dialogues, as `train chat` reads them.
        held_out: the share of the dialogues that training kept aside with `--dev`; 0 measures on all.
        limit: exchanges that are measured on at most, `LIMIT` where none is named.

    Raises:
        DatasetError: no model is named, or there are too few replies.
        TrainingDataError, FileNotFoundError, ValueError: data or models cannot be read.
    """
    if not models:
        raise DatasetError("Expected --model DIR, a chat model, but got none; train one with `qa-bot train chat`.")
    dialogues = read_dialogues([data]).examples
    found = exchanges(split_dialogues(dialogues, held_out)[1] if held_out else dialogues)
    rng = np.random.default_rng(SEED)
    asked = [found[place] for place in rng.permutation(len(found))[: limit or LIMIT].tolist()]
    lists = [_among(place, asked, rng) for place in range(len(asked))]
    split = f"{held_out:g} kept aside" if held_out else ""
    rows: list[Row] = []
    said: list[Row] = []
    for number, folder in enumerate(models, 1):
        model = open_chat_model(folder)
        name = folder.resolve().name if len(models) > 1 else ""
        for way, scores, perplexity in _ranked(model, asked, lists):
            rows.append(Row(TASK, data.name, split, way, name, len(asked), _scores(lists, scores, perplexity)))
        contexts = [each.context for each in asked[:CONTEXTS]]
        said += [_said(model, contexts, method, data.name, split, name) for method in ("vanilla", "selective")]
        progress("models measured", number)
    return [*compared(rows, _MEASURE), *said]


def distinct(texts: Iterable[Sequence[int]], *, size: int = 2) -> float:
    """The share of distinct ones among all runs of `size` words of texts; NaN where there are none."""
    assert size in (1, 2)
    runs = [run for text in texts for run in (pairwise(text) if size == 2 else ((word,) for word in text))]
    return len(set(runs)) / len(runs) if runs else math.nan


def _among(place: int, asked: Sequence[Exchange], rng: np.random.Generator) -> list[int]:
    """The exchange itself, and others with other replies."""
    own = asked[place]
    others = {each.reply: number for number, each in enumerate(asked) if each.reply != own.reply}
    if len(others) < AMONG - 1:
        raise DatasetError(
            f"Expected {AMONG} replies to choose from, but got {len(others) + 1}; give more dialogues, or a larger "
            "--limit."
        )
    drawn = rng.choice(len(others), AMONG - 1, replace=False)
    numbers = list(others.values())
    return [place, *(numbers[each] for each in drawn.tolist())]


def _ranked(
    model: Chatting, asked: Sequence[Exchange], lists: Sequence[Sequence[int]]
) -> list[tuple[str, FloatArray, float]]:
    """Each way's name, its scores (N, AMONG), and the perplexity of what it models where that is true."""
    pairs = [(asked[chosen[0]].context, asked[other].reply) for chosen in lists for other in chosen]
    shape = (len(lists), AMONG)
    prior_rows = [model.language_row(each.reply) for each in asked]
    prior = model.log_language(prior_rows)
    forward_rows = [model.forward_row(*pair) for pair in pairs]
    backward_rows = [model.backward_row(*pair) for pair in pairs]
    forward = model.log_forward(forward_rows).reshape(shape)
    backward = model.log_backward(backward_rows).reshape(shape)
    over = forward - prior[np.array(lists)]
    return [
        ("forward", forward, _perplexity(forward[:, 0], forward_rows[::AMONG])),
        ("forward/LM", over, _perplexity(prior, prior_rows)),
        ("backward", backward, _perplexity(backward[:, 0], backward_rows[::AMONG])),
    ]


def _scores(lists: Sequence[Sequence[int]], scores: FloatArray, perplexity: float) -> dict[str, Score]:
    """MRR and P@1 of the first of each list; equal scores are ranked by a hash."""
    run = {
        str(number): {str(other): float(score) for other, score in zip(chosen, row, strict=True)}
        for number, (chosen, row) in enumerate(zip(lists, scores.tolist(), strict=True))
    }
    qrels = {
        str(number): {str(other): int(other == chosen[0]) for other in chosen} for number, chosen in enumerate(lists)
    }
    found = evaluate(qrels, run, (_MEASURE, "P@1"))
    return {**found, _PERPLEXITY: _alone(perplexity), _DISTINCT: _alone(math.nan)}


def _said(model: Chatting, contexts: Sequence[Sequence[str]], method: Method, data: str, split: str, name: str) -> Row:
    stream = RandomStream(SEED)
    drawn: list[Hypothesis] = []
    for context in contexts:
        drawn += candidates(model, context, stream=stream, generation=GenerationConfig(SAMPLES, method=method))
    rows = [_own(each) for each in drawn]
    scores = {
        _MEASURE: _alone(math.nan),
        "P@1": _alone(math.nan),
        _PERPLEXITY: _alone(_perplexity(model.log_language(rows), rows)),
        _DISTINCT: _alone(distinct([each.tokens for each in drawn])),
    }
    return Row(TASK, data, split, f"{method} sampling", name, len(contexts), scores)


def _own(drawn: Hypothesis) -> SourceTarget:
    """A row of the language model, with the end where the text has come to it."""
    words = (*drawn.tokens, END_ID) if drawn.finished else drawn.tokens
    return np.zeros(0, dtype=np.int64), np.array(words, dtype=np.int64)


def _perplexity(totals: FloatArray, rows: Sequence[SourceTarget]) -> float:
    """`exp(−1/T Σ log p)` over the T target tokens."""
    return math.exp(-float(totals.sum(dtype=np.float64)) / sum(len(target) for _, target in rows))


def _alone(value: float) -> Score:
    return Score(value, math.nan, {})
