"""Weights of interpretations and the calibration of facts, fitted on questions over two graphs.

One is the starter graph, whose predicates have names of their own; the other, which is given, is Freebase's, whose
predicates have only their IRIs. `python -m qa_lab.fit.fit_fact_confidence HOME QUESTIONS.tsv` makes the shipped file
anew and prints how far held-out questions are answered; HOME has the graph that the questions were asked of.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import orjson

from kg_index.answers.answerer import Answerer, ParsedQuestion, ScoredInterpretation
from kg_index.answers.interpretations import FEATURES
from kg_index.training.fit_interpretations import Example, fit_weights
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.confidence.logistic_regression import cross_validated
from qa_bot.answering.fit_confidence import questions as collection_questions
from qa_bot.documents import graph
from qa_bot.home.encoders import STARTER, resolve
from qa_bot.home.folder import Home
from qa_bot.home.starter import FACT_QUESTIONS, FACTS, GRAPH
from qa_lab.evaluate.graph.fact_questions import FactQuestion, read_fact_questions

SURE = (
    "score", "certainty", "link", "link_score", "coverage", "unexplained", "untold", "precision", "cosine", "kind",
    "type", "prose", "cut", "size", "guessed", "steps", "value",
)  # fmt: skip
"""Features of the best interpretation that its confidence is computed from; see
`kg_index.answers.interpretations.FEATURES`."""
FOLDS = 5
STARTER_WEIGHT = 2.0  # of a question over the starter graph; there are fewer of them
_NOT_FITTED = ("template", "model")
TEMPLATE_WEIGHT, MODEL_WEIGHT = 4.0, 4.0
"""Of what no shipped table or scorer gives."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's interpretations, which are right, and where it comes from."""

    source: str
    asked: FactQuestion
    parsed: ParsedQuestion
    right: tuple[bool, ...]

    @property
    def example(self) -> Example:
        features = [each.interpretation.features for each in self.parsed.interpretations]
        return Example(features, self.right, STARTER_WEIGHT if self.source == STARTER else 1.0)

    def again(self, weights: dict[str, float]) -> Judged:
        """The same interpretations in the order of other weights."""
        scored = [
            (
                ScoredInterpretation(
                    each.interpretation, sum(w * each.interpretation.features.get(n, 0.0) for n, w in weights.items())
                ),
                right,
            )
            for each, right in zip(self.parsed.interpretations, self.right, strict=True)
        ]
        scored.sort(key=lambda pair: -pair[0].score)
        parsed = ParsedQuestion(self.asked.question, self.parsed.entities, tuple(each for each, _ in scored))
        return Judged(self.source, self.asked, parsed, tuple(right for _, right in scored))

    @property
    def first_right(self) -> bool:
        return bool(self.right) and self.right[0]


def judged(source: str, home: Home, questions: Path) -> list[Judged]:
    """Interpretations of the questions over a home's graph, and of the starter collection's questions.

    The latter are about other things: most of what people ask a bot is in no graph.
    """
    encoder = resolve(STARTER, models=home.models)
    with graph.open_graph(home) as opened:
        answerer = Answerer(opened.lookup, lambda texts: encoder.encode(texts), {})
        found = []
        for asked in (*read_fact_questions(questions, opened.lookup), *_other_questions()):
            parsed = answerer.parse(asked.question)
            right = tuple(asked.right(each.interpretation, opened.lookup) for each in parsed.interpretations)
            found.append(Judged(source, asked, parsed, right))
        return found


def _other_questions() -> Iterator[FactQuestion]:
    """Questions of the starter collection, but those that the starter graph answers."""
    known = {orjson.loads(line)["question"].casefold() for line in FACT_QUESTIONS.read_bytes().splitlines()}
    for number, question in enumerate(collection_questions(), start=1):
        if question.text.casefold() not in known:
            yield FactQuestion(-number, question.text, frozenset())


def weights_of(examples: Iterable[Judged]) -> dict[str, float]:
    names = [name for name in FEATURES if name not in _NOT_FITTED]
    fitted = fit_weights([each.example for each in examples if each.right], names)
    return {**fitted, "template": TEMPLATE_WEIGHT, "model": MODEL_WEIGHT}


def held_out(examples: Sequence[Judged], *, seed: int = 0) -> list[Judged]:
    """Each question in the order of weights that were fitted without it."""
    fold = np.random.default_rng(seed).integers(0, FOLDS, len(examples))
    ordered: dict[int, Judged] = {}
    for each in range(FOLDS):
        weights = weights_of(example for example, own in zip(examples, fold, strict=True) if own != each)
        ordered |= {i: examples[i].again(weights) for i in np.flatnonzero(fold == each).tolist()}
    return [ordered[i] for i in range(len(examples))]


def calibrated(examples: Sequence[Judged]) -> tuple[Calibration, list[float]]:
    """The calibration over questions in held-out order, and their held-out confidences."""
    rows = [example.parsed.features for example in examples]
    answered = [i for i, row in enumerate(rows) if row]
    right = [examples[i].first_right for i in answered]
    calibration, confidences = cross_validated(
        [rows[i] for i in answered], right, [str(i) for i in answered], names=SURE
    )
    by_place = dict(zip(answered, confidences.tolist(), strict=True))
    return calibration, [by_place.get(i, 0.0) for i in range(len(examples))]


def describe(examples: Sequence[Judged], confidences: Sequence[float], threshold: float) -> str:
    """Right first interpretations by source, and what is answered from the threshold on."""
    lines = []
    for source in dict.fromkeys(example.source for example in examples):
        own = [(e, c) for e, c in zip(examples, confidences, strict=True) if e.source == source]
        answerable = [e for e, _ in own if e.asked.answerable]
        given = [e for e, c in own if c >= threshold]
        exact = [e for e in answerable if e.asked.fact]
        lines.append(
            f"{source}: right {sum(e.first_right for e in answerable)} of {len(answerable)} answerable, "
            f"{sum(e.first_right for e in exact)} of {len(exact)} whose own fact is in the graph; "
            f"from {threshold} on {sum(e.first_right for e in given)} of {len(given)} given are right, "
            f"{sum(not e.asked.answerable for e in given)} of {len(own) - len(answerable)} unanswerable are answered"
        )
    return "\n".join(lines)


def _ship(home: Path, questions: Path) -> None:
    with TemporaryDirectory(prefix="qa-bot-facts-") as folder:
        starter = Home.open(Path(folder))
        graph.add(starter, GRAPH)
        examples = [*judged(STARTER, starter, FACT_QUESTIONS), *judged(questions.name, Home.open(home), questions)]
    ordered = held_out(examples)
    calibration, confidences = calibrated(ordered)
    for precision in (0.8, 0.85, 0.9, 0.95):
        print(f"wanted precision {precision}\n{describe(ordered, confidences, calibration.threshold(precision))}")  # noqa: T201 (a tool run by hand)
    told = {"weights": weights_of(examples), "confidence": calibration}
    FACTS.write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    _ship(Path(sys.argv[1]), Path(sys.argv[2]))
