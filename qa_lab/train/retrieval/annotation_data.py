"""Queries with the documents they match, in the three sets and the test set of cross-encoder annotation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_lab.data.pairs import read_pairs
from qa_lab.data.reading import TrainingData
from qa_lab.data.splitting import dev_share
from qa_lab.errors import TrainingDataError
from qa_lab.train.request import Request
from retrievers.training.annotation import QuerySet, families, query_sets
from retrievers.training.examples import Examples, Pair

FEWEST = 2
"""Queries in each set and in the test set, at least."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Texts by number; `examples.answers` is the collection that is searched."""

    examples: Examples
    right: tuple[frozenset[int], ...]  # given answers of each query
    texts: Mapping[int, str]  # of every query; those without labels have the last numbers
    known_bi: QuerySet
    known_cross: QuerySet
    new: QuerySet
    test: tuple[int, ...]
    labelled: bool  # whether `right` covers the queries of `new`


def read_matching(
    request: Request, *, questions: str = "", development: float, limit: int = 0
) -> tuple[TrainingData[tuple[Pair, ...]], Matching]:
    """The pairs of `request.data`, their queries in disjoint sets by families.

    Args:
        questions: a file with a question a line, without labels; they become the third set.
        development: share of each set.
        limit: training queries of a set, at most; 0 means all.

    Raises:
        TrainingDataError: a set is too small, or a share or a file cannot be used.
        FileNotFoundError: a path does not exist.
    """
    data = read_pairs(request.data, limit=request.limit)
    share = dev_share(request.dev)
    tested = read_pairs([Path(request.dev)]).examples if share is None else ()
    examples = _examples((*data.examples, *tested))
    test, sets = _sets(examples, share or 0.0, tested, parts=2 if questions else 3, development=development)
    texts = dict(enumerate(examples.questions))
    if questions:
        queries = _unknown(Path(questions).expanduser(), examples.questions)
        numbers = range(len(texts), len(texts) + len(queries))
        sets.append(query_sets(queries, [1.0], dev=development)[0].numbered(numbers))
        texts |= dict(zip(numbers, queries, strict=True))
    first, second, third = (queries.first(limit) if limit else queries for queries in sets)
    right = tuple(examples.right())
    matching = Matching(examples, right, texts, first, second, third, test, labelled=not questions)
    _check(matching)
    return data, matching


def _sets(
    examples: Examples, share: float, tested: Sequence[Pair], *, parts: int, development: float
) -> tuple[tuple[int, ...], list[QuerySet]]:
    """The test queries, and `parts` sets of the others, none of which shares a family with a test query."""
    names = families(examples)
    numbers = {text: number for number, text in enumerate(examples.questions)}
    test = sorted({numbers[pair.question] for pair in tested})
    taken = {names[number] for number in test}
    free = [number for number, name in enumerate(names) if name not in taken]
    shares = [(1 - share) / parts] * parts
    drawn = query_sets([names[number] for number in free], [share, *shares] if share else shares, dev=development)
    sets = [queries.numbered(free) for queries in drawn]
    if share:
        whole = sets.pop(0)
        test = sorted((*whole.train, *whole.dev))
    return tuple(test), sets


def _examples(pairs: tuple[Pair, ...]) -> Examples:
    try:
        return Examples.of(pairs)
    except ValueError as error:
        raise TrainingDataError(str(error)) from None


def _unknown(path: Path, known: Collection[str]) -> list[str]:
    """The questions of a file, one a line, without the known ones."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise TrainingDataError(
            f"Expected a question a line in {path}, but there is no such file; correct `questions`."
        ) from None
    except UnicodeDecodeError as error:
        raise TrainingDataError(f"Expected UTF-8 in {path}, but got: {error}; convert the file.") from None
    questions = dict.fromkeys(text for line in lines if (text := " ".join(line.split())))
    seen = frozenset(known)
    return [text for text in questions if text not in seen]


def _check(matching: Matching) -> None:
    named = {
        "the known bi-encoder": len(matching.known_bi.train),
        "the known cross-encoder": len(matching.known_cross.train),
        "the new bi-encoders": len(matching.new.train),
        "the test": len(matching.test),
    }
    small = [f"{count} for {name}" for name, count in named.items() if count < FEWEST]
    if small:
        raise TrainingDataError(
            f"Expected at least {FEWEST} queries in each set, but got {', '.join(small)}, of "
            f"{len(matching.examples.questions)} queries; give more pairs."
        )
