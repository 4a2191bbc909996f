"""What an encoder's sentence and token vectors say about passages, over collections of questions with gold texts.

    QA_BOT_DATA=… python benchmarks/encoder_evidence.py starter-table starter-transformer minilm [--collection notes]

Passages are those of the recipe (`qa_lab/reference`). Columns: shares of questions whose passage with all gold is
first, or among the first three, by cosine alone and with BM25 over words and character 4-grams beside it; the area
under the curve of the soft minimum of late interaction for “the recipe's answer is good”, over the first passage that
the recipe finds with the table, and of `7.5 soft + 1.1 lead`. No randomness.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.types import FloatArray
from qa_lab.evaluate.workplace.grading import flat, grade, holds_all
from qa_lab.evaluate.workplace.questions import read_questions
from qa_lab.fit.passage_rows import GOOD, collections
from qa_lab.reference.documents import read_documents
from qa_lab.reference.encoders import choose, encode, open_encoder
from qa_lab.reference.recipe import Recipe
from qa_lab.reference.recipe_index import RecipeIndex, min_max
from qa_lab.reference.refusal import NEIGHBOURS, Case, LateInteractionGate, Threshold

CHARACTERS = 0.5
"""Weight of character 4-grams beside words and cosine."""


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """A question as the recipe reads it, the places of passages that hold its gold, and the recipe's first passage."""

    text: str
    gold: Sequence[int]
    keywords: FloatArray  # (2, P): words and character 4-grams
    ranked: FloatArray  # F, best first
    first: int
    is_good: bool


@lru_cache(maxsize=1)
def question_evidence(documents: Path, questions: Path) -> tuple[RecipeIndex, list[QuestionEvidence]]:
    """The recipe over the table, and its view of every question."""
    index = RecipeIndex(read_documents(documents), open_encoder(choose("starter-table")))
    recipe = Recipe(index, Threshold.of("starter"))
    texts = [flat(text) for text in index.texts]
    rows = []
    for question in read_questions(questions):
        text = index.corrected(question.turn.question)
        evidence = index.evidence(text)
        scores = index.scores(evidence)
        order = np.argsort(-scores, kind="stable")
        is_good = grade(question, recipe.reply(question.turn, forced=True)) in GOOD
        gold = [i for i, passage in enumerate(texts) if question.gold and holds_all(passage, question.gold)]
        rows.append(QuestionEvidence(text, gold, evidence.channels[2:], scores[order], int(order[0]), is_good))
    return index, rows


def measured(name: str, documents: Path, questions: Path) -> Iterator[float]:
    """The six columns of one collection; areas are nan for an encoder without token vectors."""
    index, rows = question_evidence(documents, questions)
    encoder = open_encoder(choose(name))
    passages = encode(encoder, index.texts, side="answer")  # (P, D)
    cosines = encode(encoder, [row.text for row in rows], side="question") @ passages.T  # (N, P)
    words = [min_max(row.keywords) for row in rows]
    joined = min_max(cosines) + np.array([first + CHARACTERS * second for first, second in words])
    for scores in (cosines, joined):
        ranks = [
            min(int((of > of[i]).sum()) for i in row.gold) for of, row in zip(scores, rows, strict=True) if row.gold
        ]
        yield from (float(np.mean(np.array(ranks) < depth)) for depth in (1, 3))
    yield from areas(encoder, index, rows) if isinstance(encoder, TransformerEncoder) else (np.nan, np.nan)


def areas(encoder: TransformerEncoder, index: RecipeIndex, rows: Sequence[QuestionEvidence]) -> tuple[float, float]:
    """The areas under the curve of the soft minimum, and of gate A without the number of words."""
    gate = LateInteractionGate(encoder, index.keywords)
    soft = np.array([gate.soft_and_words(Case(index.texts[row.first], [row.text], row.ranked))[0] for row in rows])
    lead = np.array([row.ranked[0] - row.ranked[NEIGHBOURS].mean() for row in rows])
    good = [row.is_good for row in rows]
    return float(roc_auc_score(good, soft)), float(roc_auc_score(good, 7.5 * soft + 1.1 * lead))


def say(collection: str, name: str, values: Sequence[float]) -> None:
    print(collection, name, *(f"{value:.3f}" for value in values), flush=True)  # noqa: T201 (a tool run by hand)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare encoders over collections of questions.")
    parser.add_argument(
        "encoders", nargs="+", help="`starter-table`, `starter-transformer`, `minilm`, folders, hub ids"
    )
    parser.add_argument("--collection", action="append", help="only these, such as `company` or `notes`")
    arguments = parser.parse_args()
    rows: dict[str, list[list[float]]] = {name: [] for name in arguments.encoders}
    for collection in collections():
        if arguments.collection and collection.name not in arguments.collection:
            continue
        for name in arguments.encoders:
            rows[name].append([*measured(name, collection.documents, collection.questions)])
            say(collection.name, name, rows[name][-1])
    for name, of in rows.items():
        say("mean", name, np.mean(of, axis=0).tolist())


if __name__ == "__main__":
    main()
