"""Fits the weights of interpretations and the calibration of facts on questions over two graphs.

One is the starter graph, whose predicates have labels; the other is Freebase's, whose predicates have only IRIs.
`python -m qa_lab.fit.fit_fact_confidence HOME QUESTIONS.tsv` writes the shipped file and prints held-out results; HOME
has the graph of the questions.
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
"""Features of the best interpretation that determine its confidence; see
`kg_index.answers.interpretations.FEATURES`."""
FOLDS = 5
STARTER_WEIGHT = 2.0  # of a question over the starter graph, which has fewer questions
_NOT_FITTED = ("template", "model")
TEMPLATE_WEIGHT, MODEL_WEIGHT = 4.0, 4.0
"""Weights of features that the shipped tables and scorers do not produce."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with its interpretations, their correctness, and its source."""

    source: str
    question: FactQuestion
    parsed: ParsedQuestion
    right: tuple[bool, ...]

    @property
    def example(self) -> Example:
        features = [scored.interpretation.features for scored in self.parsed.interpretations]
        return Example(features, self.right, STARTER_WEIGHT if self.source == STARTER else 1.0)

    def reranked(self, weights: dict[str, float]) -> Judged:
        """The same interpretations, scored and ordered by other weights."""

        def score(scored: ScoredInterpretation) -> ScoredInterpretation:
            features = scored.interpretation.features
            total = sum(weight * features.get(name, 0.0) for name, weight in weights.items())
            return ScoredInterpretation(scored.interpretation, total)

        pairs = [(score(old), right) for old, right in zip(self.parsed.interpretations, self.right, strict=True)]
        pairs.sort(key=lambda pair: -pair[0].score)
        parsed = ParsedQuestion(self.question.question, self.parsed.entities, tuple(scored for scored, _ in pairs))
        return Judged(self.source, self.question, parsed, tuple(right for _, right in pairs))

    @property
    def first_right(self) -> bool:
        return bool(self.right) and self.right[0]


def judged(source: str, home: Home, questions: Path) -> list[Judged]:
    """Interpretations of the questions over a home's graph, and of the starter collection's questions.

    The latter are unanswerable: most questions to a bot are not answered by any graph.
    """
    encoder = resolve(STARTER, models=home.models)
    with graph.open_graph(home) as opened:
        answerer = Answerer(opened.lookup, lambda texts: encoder.encode(texts), {})
        results = []
        for question in (*read_fact_questions(questions, opened.lookup), *_other_questions()):
            parsed = answerer.parse(question.question)
            right = tuple(question.right(scored.interpretation, opened.lookup) for scored in parsed.interpretations)
            results.append(Judged(source, question, parsed, right))
        return results


def _other_questions() -> Iterator[FactQuestion]:
    """Questions of the starter collection that the starter graph does not answer."""
    known = {orjson.loads(line)["question"].casefold() for line in FACT_QUESTIONS.read_bytes().splitlines()}
    for number, question in enumerate(collection_questions(), start=1):
        if question.text.casefold() not in known:
            yield FactQuestion(-number, question.text, frozenset())


def weights_of(examples: Iterable[Judged]) -> dict[str, float]:
    names = [name for name in FEATURES if name not in _NOT_FITTED]
    fitted = fit_weights([question.example for question in examples if question.right], names)
    return {**fitted, "template": TEMPLATE_WEIGHT, "model": MODEL_WEIGHT}


def held_out(examples: Sequence[Judged], *, seed: int = 0) -> list[Judged]:
    """Each question with its interpretations ordered by weights that were fitted without it."""
    fold = np.random.default_rng(seed).integers(0, FOLDS, len(examples))
    ordered: dict[int, Judged] = {}
    for number in range(FOLDS):
        weights = weights_of(examples[i] for i in np.flatnonzero(fold != number).tolist())
        ordered |= {i: examples[i].reranked(weights) for i in np.flatnonzero(fold == number).tolist()}
    return [ordered[i] for i in range(len(examples))]


def calibrated(examples: Sequence[Judged]) -> tuple[Calibration, list[float]]:
    """The calibration over questions in held-out order, and their held-out confidences."""
    rows = [example.parsed.features for example in examples]
    answered = [i for i, row in enumerate(rows) if row]
    right = [examples[i].first_right for i in answered]
    calibration, confidences = cross_validated(
        [rows[i] for i in answered], right, [str(i) for i in answered], names=SURE
    )
    by_index = dict(zip(answered, confidences.tolist(), strict=True))
    return calibration, [by_index.get(i, 0.0) for i in range(len(examples))]


def describe(examples: Sequence[Judged], confidences: Sequence[float], threshold: float) -> str:
    """Right first interpretations by source, and the answers at or above the threshold."""
    lines = []
    for source in dict.fromkeys(example.source for example in examples):
        rows = [(e, c) for e, c in zip(examples, confidences, strict=True) if e.source == source]
        answerable = [e for e, _ in rows if e.question.answerable]
        answers = [e for e, c in rows if c >= threshold]
        exact = [e for e in answerable if e.question.fact]
        unanswerable = f"{sum(not e.question.answerable for e in answers)} of {len(rows) - len(answerable)}"
        lines.append(
            f"{source}: right {sum(e.first_right for e in answerable)} of {len(answerable)} answerable, "
            f"{sum(e.first_right for e in exact)} of {len(exact)} whose own fact is in the graph; "
            f"from {threshold} on {sum(e.first_right for e in answers)} of {len(answers)} given are right, "
            f"{unanswerable} unanswerable are answered"
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
    fitted = {"weights": weights_of(examples), "confidence": calibration}
    FACTS.write_bytes(orjson.dumps(fitted, option=orjson.OPT_INDENT_2) + b"\n")


if __name__ == "__main__":
    _ship(Path(sys.argv[1]), Path(sys.argv[2]))
