"""Languages: accuracy of detection on short questions, and German compounds found by their parts.

    python benchmarks/languages.py

`language_questions.tsv` holds 20 questions in each of twelve languages, `german_compounds.tsv` 50 compounds with their
parts, a sentence with the compound, and one with the parts alone. All were written for this benchmark.
"""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path

from qa_core.text.analysis import character_ngrams, terms
from qa_core.text.language_detection import language_of

FOLDER = Path(__file__).parent
Analyse = Callable[[str], Sequence[str]]


def rows(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


def detection() -> None:
    """Questions by language: right, undecided, wrong; and the time of one."""
    questions = rows("language_questions.tsv")
    start = time.perf_counter()
    detected = [(code, language_of(text, is_question=True)) for code, text in questions]
    seconds = time.perf_counter() - start
    by_language: dict[str, Counter[str]] = defaultdict(Counter)
    for code, result in detected:
        by_language[code]["right" if result == code else "wrong" if result else "undecided"] += 1
    total = sum(by_language.values(), Counter())
    sys.stdout.write(
        f"detection: {dict(total)} of {len(questions)}, {1e6 * seconds / len(questions):.0f} µs a question\n"
    )
    for code, counts in by_language.items():
        sys.stdout.write(f"  {code} {dict(counts)}\n")


def bm25(analyse: Analyse, texts: Sequence[str], query: str) -> list[float]:
    """Scores of texts (N) with k1 = 1.2 and b = .75."""
    counts = [Counter(analyse(text)) for text in texts]
    frequency = Counter(term for count in counts for term in count)
    average = sum(count.total() for count in counts) / len(texts)
    scores = [0.0] * len(texts)
    for term in set(analyse(query)):
        idf = log(1 + (len(texts) - frequency[term] + 0.5) / (frequency[term] + 0.5))
        for i, count in enumerate(counts):
            damped = count[term] + 1.2 * (0.25 + 0.75 * count.total() / average)
            scores[i] += idf * count[term] * 2.2 / damped
    return scores


def compounds() -> None:
    """How well a part finds the sentence with its compound, and a compound the sentence with its parts."""
    cases = rows("german_compounds.tsv")
    texts = [case[3] for case in cases] + [case[4] for case in cases]
    parts = [(part, i) for i, case in enumerate(cases) for part in case[1:3]]
    wholes = [(case[0], len(cases) + i) for i, case in enumerate(cases)]
    analyses: dict[str, Analyse] = {
        "stems": lambda text: terms(text, "de"),
        **{f"pieces of {n}": lambda text, n=n: character_ngrams(text, n) for n in (3, 4, 5)},  # type: ignore[misc]
    }
    for name, analyse in analyses.items():
        for task, queries in (("part finds compound", parts), ("compound finds parts", wholes)):
            reciprocal = 0.0
            for query, right in queries:
                scores = bm25(analyse, texts, query)
                scores[(right + len(cases)) % len(texts)] = 0.0  # the other sentence of the same compound is right too
                better = sum(score >= scores[right] for score in scores)
                reciprocal += 1 / better if scores[right] > 0 else 0.0
            sys.stdout.write(f"{name}: {task}: reciprocal rank {reciprocal / len(queries):.3f}\n")


if __name__ == "__main__":
    detection()
    compounds()
