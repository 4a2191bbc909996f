"""Which pairs of a paraphrase database to train on, and which to set aside (Wieting et al. 2015, §3.1 and §6.4).

Pairs with digits, brackets, unknown words or too much overlap and reversed duplicates are left out; each effective size
has a quota. A hash of the phrases decides which pairs are set aside.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from qa_lab.data.phrases.phrase_pairs import PhrasePair
from qa_lab.data.phrases.string_similarity import edit_distance, effective_size, nearly, overlap
from qa_lab.data.splitting import split_by_hash
from retrievers.training.phrases.trees import Tree, tree_of

TEST = 0.1
"""Share of the pairs that is kept for `eval phrases`."""
DIGITS, BRACKETS, EMPTY, UNKNOWN = "with digits", "with brackets", "without words", "with unknown words"
WORDS, NEAR, OVERLAP = "of single words", "nearly identical", "with too much overlap"
REPEATED, FULL, SEEN = "repeated or reversed", "beyond the size's quota", "with a phrase set aside"

_SEVERAL = re.compile(r"\w[^\w']+\w")
_SLOT = re.compile(r"\[[^\]]*\]|[\[\]]")


@dataclass(frozen=True, slots=True)
class Preparation:
    """Which pairs stay; in the paper: overlap below .5 and 20,000 of each of the sizes 3, 4 and more."""

    overlap: float = 0.5  # less than this: the share of the shorter phrase's tokens that the other has within one edit
    edits: int = 3  # Levenshtein distance of the phrases without spaces, at least
    shortest: int = 2  # effective size, at least
    longest_bin: int = 5  # the last bin of effective sizes, which takes all longer ones
    a_bin: int = 20_000  # pairs in each bin, at most; of more, a random sample
    seed: int = 0  # of the sample


@dataclass(frozen=True, slots=True)
class Phrased:
    """A pair with the trees of its phrases."""

    left: Tree
    right: Tree
    gold: float | None = None
    group: str = ""
    features: tuple[tuple[str, float], ...] = ()

    @property
    def key(self) -> frozenset[tuple[str, ...]]:
        return frozenset((self.left.tokens, self.right.tokens))


@dataclass(frozen=True, slots=True)
class Prepared:
    pairs: tuple[Phrased, ...]
    left_out: Mapping[str, int]  # pairs, by reason


@dataclass(frozen=True, slots=True)
class Parts:
    """Disjoint pairs; no phrase of several words of `test` or `dev` is in `train`."""

    train: tuple[Phrased, ...]
    dev: tuple[Phrased, ...]
    test: tuple[Phrased, ...]
    seen: int  # pairs left out of train because they contain a phrase that was set aside


def phrased(pair: PhrasePair) -> Phrased:
    """Raises ValueError for a phrase without words or with brackets that do not match."""
    features = tuple(sorted(pair.features.items()))
    return Phrased(tree_of(pair.left), tree_of(pair.right), pair.gold, pair.group, features)


def prepared(pairs: Iterable[PhrasePair], config: Preparation, *, known: Callable[[str], bool]) -> Prepared:
    """The pairs that stay, in their order; `known` says whether a token has a vector.

    Of a bin with more pairs than its quota, each has the same chance (Vitter 1985, algorithm R).
    """
    rng = random.Random(config.seed)  # noqa: S311 (a sample, no secret)
    left_out: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    bins: defaultdict[int, list[tuple[int, Phrased]]] = defaultdict(list)
    keys: set[frozenset[tuple[str, ...]]] = set()
    for number, pair in enumerate(pairs):
        item = _fit(pair, config, known)
        if isinstance(item, str):
            left_out[item] += 1
        elif item.key in keys:
            left_out[REPEATED] += 1
        else:
            keys.add(item.key)
            size = _bin(item, config)
            sizes[size] += 1
            if len(bins[size]) < config.a_bin:
                bins[size].append((number, item))
            else:
                left_out[FULL] += 1
                if (place := rng.randrange(sizes[size])) < config.a_bin:
                    bins[size][place] = (number, item)
    in_order = sorted((numbered for members in bins.values() for numbered in members), key=lambda member: member[0])
    return Prepared(tuple(item for _, item in in_order), dict(left_out))


def _fit(pair: PhrasePair, config: Preparation, known: Callable[[str], bool]) -> Phrased | str:
    """The pair, or why it is left out; cheap checks first."""
    both = f"{pair.left} {pair.right}"
    if _SLOT.search(both):
        return BRACKETS
    if re.search(r"\d", both):
        return DIGITS
    if config.shortest > 1 and not _SEVERAL.search(pair.left) and not _SEVERAL.search(pair.right):
        return WORDS
    try:
        item = phrased(pair)
    except ValueError:
        return EMPTY
    left, right = item.left.tokens, item.right.tokens
    if effective_size(left, right) < config.shortest:
        return WORDS
    if not all(map(known, (*left, *right))):
        return UNKNOWN
    if overlap(left, right, nearly) >= config.overlap:
        return OVERLAP
    return NEAR if edit_distance("".join(left), "".join(right)) < config.edits else item


def _bin(pair: Phrased, config: Preparation) -> int:
    return min(effective_size(pair.left.tokens, pair.right.tokens), config.longest_bin)


def parts(pairs: Sequence[Phrased], *, test: float, dev: float) -> Parts:
    """Shares of about these sizes set aside, by a hash of the two phrases in any order."""
    rest, aside = split_by_hash(pairs, test + dev, _text)
    held_out, tested = split_by_hash(aside, test, _text)
    phrases = several_words(aside)
    train = tuple(pair for pair in rest if not (pair.key & phrases))
    return Parts(train, tuple(held_out), tuple(tested), len(rest) - len(train))


def several_words(pairs: Iterable[Phrased]) -> frozenset[tuple[str, ...]]:
    """The phrases of more than one word."""
    return frozenset(phrase for pair in pairs for phrase in pair.key if len(phrase) > 1)


def _text(pair: Phrased) -> str:
    """The two phrases in alphabetical order."""
    return "\n".join(sorted(" ".join(phrase) for phrase in pair.key))
