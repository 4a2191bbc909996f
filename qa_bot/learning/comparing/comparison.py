"""A comparison: pairs of answers to the same questions, saved in the home so that it can be judged at any time.

HOME/comparisons/NAME.json               the pairs and the names of their sides, which no judge sees
HOME/comparisons/NAME.judgements.jsonl   the judgements, a line each
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.sides import ComparisonError, Reply, Side, folded
from qa_core.atomic import atomic_file
from qa_core.types import Question

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
FOLDER, SUFFIX = "comparisons", ".json"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question; an empty text is an abstention."""

    qid: str
    question: str
    body: str
    a: str
    b: str
    grade_a: int | None = None
    grade_b: int | None = None

    @property
    def identical(self) -> bool:
        """Whether both answers are the same text."""
        return self.a == self.b

    @property
    def key(self) -> str:
        """Hash of the question and both answers, the same on every machine."""
        return hashlib.blake2b(
            "\0".join((self.question, self.body, self.a, self.b)).encode(), digest_size=8
        ).hexdigest()


@dataclass(frozen=True)
class Comparison:
    """The pairs of two sides, in the order of the questions; `seed` determines which answer a judge sees first."""

    name: str
    a: str
    b: str
    seed: int
    pairs: tuple[Pair, ...]
    only_a: int = 0
    only_b: int = 0
    reworded: int = 0
    """Questions with the same id but different words on both sides."""

    @cached_property
    def judged(self) -> Mapping[str, Pair]:
        """The pairs that people have to judge, by the id of their question."""
        return {pair.qid: pair for pair in self.pairs if not pair.identical}

    @property
    def identical(self) -> int:
        return len(self.pairs) - len(self.judged)


def compare(a: Side, b: Side, *, name: str, seed: int, limit: int | None = None) -> Comparison:
    """The questions that both sides have, matched by id or else by their words, in A's wording.

    A question without an id gets its words as its id.

    Raises:
        ComparisonError: no question is common to both, or the name is invalid.
    """
    check_name(name)
    by_id = {reply.question.id: reply for reply in b.replies if reply.question.id}
    by_words = {folded(reply.question): reply for reply in b.replies if folded(reply.question)}
    pairs: dict[str, Pair] = {}
    matched: set[Question] = set()
    reworded = 0
    for reply in a.replies:
        other = by_id.get(reply.question.id) or by_words.get(folded(reply.question))
        if other is not None:
            pair = _pair(reply, other)
            pairs[pair.qid] = pair
            matched.add(other.question)
            reworded += len({"", folded(reply.question), folded(other.question)}) > 2
    if not pairs:
        raise ComparisonError(
            f"Expected questions that both sides answer, but got {len(a.replies)} of {a.name} and {len(b.replies)} of "
            f"{b.name} that have neither id nor words in common; check that the files belong together."
        )
    only_a, only_b = len(a.replies) - len(pairs), len(b.replies) - len(matched)
    return Comparison(name, a.name, b.name, seed, tuple(pairs.values())[:limit], only_a, only_b, reworded)


def name_of(a: Side, b: Side) -> str:
    """The default name of a comparison of these two sides."""
    stems = (Path(side.name).name.partition(".")[0] for side in (a, b))
    return "-".join(re.sub(r"[^A-Za-z0-9_.-]+", "-", stem)[:30].strip("-._") or "side" for stem in stems)


def check_name(name: str) -> None:
    """Raise ComparisonError if a comparison cannot have this name."""
    if not NAME.fullmatch(name):
        raise ComparisonError(
            f"Expected a name of at most 64 letters, digits, dots, hyphens and underscores, but got {name[:80]!r}."
        )


def save(home: Home, comparison: Comparison) -> None:
    """Write a comparison into the home; an earlier one of this name may get more pairs, but no pair may change.

    Raises:
        ComparisonError: the home has another comparison of this name.
        HomeGoneError: the home was moved or deleted.
    """
    file = file_of(home, comparison.name)
    if file.exists():
        before, now = ({p.qid: p.key for p in version.pairs} for version in (load(home, comparison.name), comparison))
        if other := [qid for qid, key in before.items() if now.get(qid) != key]:
            raise ComparisonError(
                f"Expected the saved answers of the comparison {comparison.name!r}, but {len(other)} of "
                f"{len(before)} are gone or differ (such as {other[0]!r}); choose another name for this one, or judge "
                f"the saved one (qa-bot compare {comparison.name})."
            )
    home.expect_present()
    file.parent.mkdir(mode=0o700, exist_ok=True)
    with atomic_file(file, private=True) as out:
        out.write(orjson.dumps(asdict(comparison), option=orjson.OPT_INDENT_2) + b"\n")


def load(home: Home, name: str) -> Comparison:
    """The saved comparison of this name.

    Raises:
        ComparisonError: it does not exist, or its file cannot be read.
    """
    check_name(name)
    file = file_of(home, name)
    try:
        return _COMPARISON.validate_json(file.read_bytes())
    except FileNotFoundError:
        known = ", ".join(names(home)) or "none yet"
        raise ComparisonError(f"Expected the name of a comparison ({known}), but got {name!r}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ComparisonError(
            f"Expected a comparison in {FOLDER}/{file.name} of the home, but got: {first['msg']}; remove that file and "
            "make it again."
        ) from None


def names(home: Home) -> list[str]:
    """Names of all comparisons of the home."""
    return sorted(file.stem for file in (home.path / FOLDER).glob(f"*{SUFFIX}") if NAME.fullmatch(file.stem))


def file_of(home: Home, name: str) -> Path:
    return home.path / FOLDER / f"{name}{SUFFIX}"


def judgements_of(home: Home, name: str) -> Path:
    """Default file of the judgements of a comparison."""
    return home.path / FOLDER / f"{name}.judgements.jsonl"


def _pair(a: Reply, b: Reply) -> Pair:
    question = a.question if a.question.title or a.question.body else b.question
    qid = a.question.id or b.question.id or folded(question)
    return Pair(qid, question.title, question.body, a.text, b.text, a.grade, b.grade)


_COMPARISON = TypeAdapter(Comparison)
