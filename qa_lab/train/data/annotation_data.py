"""Queries with the documents they match, in the three sets and the test set of cross-encoder annotation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qa_lab.train.data.pairs import Pairs, read_pairs
from qa_lab.train.errors import TrainingDataError
from qa_lab.train.request import Request
from retrievers.training.annotation import QuerySet, families, query_sets
from retrievers.training.examples import Examples, Pair

FEWEST = 2
"""Queries that a set needs to be trained on, and the test set to be told apart."""


@dataclass(frozen=True, slots=True)
class Matching:
    """Texts by number; `examples.answers` are the whole collection that is searched."""

    examples: Examples
    right: tuple[frozenset[int], ...]  # the answers of each query that were given
    texts: Mapping[int, str]  # of every query, also of those without labels, which have numbers behind the others
    known_bi: QuerySet
    known_cross: QuerySet
    new: QuerySet
    test: tuple[int, ...]
    labelled: bool  # whether `right` speaks of the queries of `new`


def read_matching(
    request: Request, *, questions: str = "", development: float, limit: int = 0
) -> tuple[Pairs, Matching]:
    """The pairs of `request.data`, their queries in disjoint sets by families.

    Args:
        questions: a file with a question a line that nobody labelled; they are the third set then.
        development: share of each set that is for development.
        limit: training queries of a set, at most; 0 is all.

    Raises:
        TrainingDataError: a set is too small, or a share or a file is no such thing.
        FileNotFoundError: nothing is at a path.
    """
    data = read_pairs(request.data, limit=request.limit)
    share, tested = _test(request.dev)
    examples = _examples((*data.pairs, *tested))
    test, sets = _sets(examples, share, tested, parts=2 if questions else 3, development=development)
    texts = dict(enumerate(examples.questions))
    if questions:
        asked = _unknown(Path(questions).expanduser(), examples.questions)
        numbers = range(len(texts), len(texts) + len(asked))
        sets.append(query_sets(asked, [1.0], dev=development)[0].numbered(numbers))
        texts |= dict(zip(numbers, asked, strict=True))
    first, second, third = (each.first(limit) if limit else each for each in sets)
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
    found = query_sets([names[number] for number in free], [share, *shares] if share else shares, dev=development)
    sets = [each.numbered(free) for each in found]
    if share:
        whole = sets.pop(0)
        test = sorted((*whole.train, *whole.dev))
    return tuple(test), sets


def _test(dev: str) -> tuple[float, tuple[Pair, ...]]:
    """A share of the queries, or pairs of its own."""
    try:
        share = float(dev)
    except ValueError:
        return 0.0, read_pairs([Path(dev)]).pairs
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {dev}.")
    return share, ()


def _examples(pairs: tuple[Pair, ...]) -> Examples:
    try:
        return Examples.of(pairs)
    except ValueError as error:
        raise TrainingDataError(str(error)) from None


def _unknown(path: Path, known: Collection[str]) -> list[str]:
    """The questions of a file, a line each, without those that are known."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise TrainingDataError(
            f"Expected a question a line in {path}, but there is no such file; correct `questions`."
        ) from None
    except UnicodeDecodeError as error:
        raise TrainingDataError(f"Expected UTF-8 in {path}, but got: {error}; convert the file.") from None
    asked = dict.fromkeys(text for line in lines if (text := " ".join(line.split())))
    seen = frozenset(known)
    return [text for text in asked if text not in seen]


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
