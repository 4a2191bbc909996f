"""`eval dialogue`: the rank of a dialogue's true reply among other replies by a chat model (Wang 2018, ch. 8.6.3).

Three rows rank replies: forward `p(T|S)`, forward over the language model `p(T|S) / p(T)`, and backward `p(S|T)`, each
with a perplexity (of forward, language model and backward). Two rows describe generated replies, by plain and by
selective sampling: their perplexity under the language model and their share of distinct word pairs.
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
from qa_lab.data.dialogues import Exchange, exchanges, read_dialogues, split_dialogues
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.evaluation_home import Progress, silent
from qa_lab.evaluate.report import Row, compared

TASK = "dialogue"
AMONG = 20
"""Replies to rank: the true one and 19 random ones from other exchanges."""
LIMIT = 500
CONTEXTS, SAMPLES = 40, 10
"""Contexts to generate replies for, and replies per context."""
METHODS: tuple[Method, ...] = ("vanilla", "selective")
AnyChatModel = ChatModel | PretrainedModel
_MEASURE, _PERPLEXITY, _DISTINCT = "RR", "perplexity", "distinct-2"


def evaluate_dialogue(
    data: Path,
    *,
    models: Sequence[Path],
    held_out: float = 0.0,
    limit: int | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """Five rows for each model; rows that rank are compared with the first one by MRR.

    Args:
        data: dialogues in the format of `train chat`.
        held_out: share of the dialogues that `--dev` held out in training; 0 uses all.
        limit: largest number of exchanges; `LIMIT` by default.

    Raises:
        DatasetError: without a model, or with too few replies.
        TrainingDataError, FileNotFoundError, ValueError: if data or models cannot be read.
    """
    if not models:
        raise DatasetError("Expected --model DIR, a chat model, but got none; train one with `qa-bot train chat`.")
    dialogues = read_dialogues([data]).examples
    pool = exchanges(split_dialogues(dialogues, held_out)[1] if held_out else dialogues)
    rng = np.random.default_rng(SEED)
    sample = [pool[i] for i in rng.permutation(len(pool))[: limit or LIMIT].tolist()]
    lists = [_choices(number, sample, rng) for number in range(len(sample))]
    split = f"{held_out:g} kept aside" if held_out else ""
    rows: list[Row] = []
    generated: list[Row] = []
    for number, folder in enumerate(models, 1):
        model = open_chat_model(folder)
        name = folder.resolve().name if len(models) > 1 else ""
        for engine, scores, perplexity in _ranked(model, sample, lists):
            rows.append(Row(TASK, data.name, split, engine, name, len(sample), _scores(lists, scores, perplexity)))
        contexts = [exchange.context for exchange in sample[:CONTEXTS]]
        generated += [_generated(model, contexts, method, data.name, split, name) for method in METHODS]
        progress("models measured", number)
    return [*compared(rows, _MEASURE), *generated]


def distinct(texts: Iterable[Sequence[int]], *, size: int = 2) -> float:
    """The share of distinct runs of `size` words among all runs in the texts; NaN without runs."""
    assert size in (1, 2)
    runs = [run for text in texts for run in (pairwise(text) if size == 2 else ((word,) for word in text))]
    return len(set(runs)) / len(runs) if runs else math.nan


def _choices(number: int, sample: Sequence[Exchange], rng: np.random.Generator) -> list[int]:
    """Numbers of the exchange and of random ones with other replies."""
    reply = sample[number].reply
    others = {exchange.reply: i for i, exchange in enumerate(sample) if exchange.reply != reply}
    if len(others) < AMONG - 1:
        raise DatasetError(
            f"Expected {AMONG} replies to rank, but got {len(others) + 1}; give more dialogues, or a larger --limit."
        )
    drawn = rng.choice(len(others), AMONG - 1, replace=False)
    numbers = list(others.values())
    return [number, *(numbers[i] for i in drawn.tolist())]


def _ranked(
    model: AnyChatModel, sample: Sequence[Exchange], lists: Sequence[Sequence[int]]
) -> list[tuple[str, FloatArray, float]]:
    """The name of each way to rank, its scores (N, AMONG), and the perplexity of its model on the true replies."""
    pairs = [(sample[chosen[0]].context, sample[other].reply) for chosen in lists for other in chosen]
    shape = (len(lists), AMONG)
    prior_rows = [model.language_row(exchange.reply) for exchange in sample]
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
    """MRR and P@1 of the first of each list; ties are ranked by a hash."""
    run = {
        str(number): {str(other): float(score) for other, score in zip(chosen, row, strict=True)}
        for number, (chosen, row) in enumerate(zip(lists, scores.tolist(), strict=True))
    }
    qrels = {
        str(number): {str(other): int(other == chosen[0]) for other in chosen} for number, chosen in enumerate(lists)
    }
    measures = evaluate(qrels, run, (_MEASURE, "P@1"))
    return {**measures, _PERPLEXITY: _mean_only(perplexity), _DISTINCT: _mean_only(math.nan)}


def _generated(
    model: AnyChatModel, contexts: Sequence[Sequence[str]], method: Method, data: str, split: str, name: str
) -> Row:
    stream = RandomStream(SEED)
    drawn: list[Hypothesis] = []
    for context in contexts:
        drawn += candidates(model, context, stream=stream, generation=GenerationConfig(SAMPLES, method=method))
    rows = [_language_row(text) for text in drawn]
    scores = {
        _MEASURE: _mean_only(math.nan),
        "P@1": _mean_only(math.nan),
        _PERPLEXITY: _mean_only(_perplexity(model.log_language(rows), rows)),
        _DISTINCT: _mean_only(distinct([text.tokens for text in drawn])),
    }
    return Row(TASK, data, split, f"{method} sampling", name, len(contexts), scores)


def _language_row(text: Hypothesis) -> SourceTarget:
    """A generated text as a row for the language model, with its end if it was reached."""
    words = (*text.tokens, END_ID) if text.finished else text.tokens
    return np.zeros(0, dtype=np.int64), np.array(words, dtype=np.int64)


def _perplexity(totals: FloatArray, rows: Sequence[SourceTarget]) -> float:
    """`exp(−1/T Σ log p)` over the T target tokens."""
    return math.exp(-float(totals.sum(dtype=np.float64)) / sum(len(target) for _, target in rows))


def _mean_only(value: float) -> Score:
    return Score(value, math.nan, {})
