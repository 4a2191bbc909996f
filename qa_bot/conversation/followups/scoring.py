"""Chooses a rewrite by a conditional logit over the candidates, one of which is the unchanged turn.

`p(c) = exp(w · f(c)) / Σ_c' exp(w · f(c'))`; all features of the unchanged turn are 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from qa_bot.conversation.followups.candidates import lacks
from qa_bot.conversation.followups.lexicon import PERSONS, PLACES, RELATIONS
from qa_bot.conversation.followups.mentions import Mention
from qa_bot.conversation.followups.phrases import is_plural, phrases
from qa_bot.conversation.followups.rewriting import RewriteCandidate
from qa_core.text.analysis import terms, words

Rows = NDArray[np.float64]


KINDS = ("pronoun", "possessive", "demonstrative", "longer name", "left out", "place", "fragment")
OPTIONAL = frozenset({"demonstrative", "longer name", "left out", "place"})
"""Kinds of rewrites that may be unnecessary; a pronoun or a fragment always needs one."""
_OF_TURN = (
    "things inside",
    "not first inside",
    "own name",
    "length",
    "definite end",
    "definite relation",
    "any",
    "nothing but a relation",
    "asks to be told",
    "short",
    "lacks nothing",
)
_OF_MENTION = (
    "age",
    "latest",
    "times",
    "opening",
    "answered",
    "governs",
    "governed",
    "later in its question",
    "name",
    "number agrees",
    "number differs",
    "person differs",
    "several words",
    "relation",
    "place left out",
    "known term",
    "kept up",
    "led in",
    "titled",
    "class agrees",
)
LIMITS = ("limit", "optional_limit", "fragment_limit")
NAMES = (*KINDS, *_OF_TURN, *_OF_MENTION)

_DEFINITE_END = re.compile(r"\bthe (?:\w+ ){0,2}[\w-]+\s*[?.!]*$", re.IGNORECASE)
_DEFINITE_RELATION = re.compile(r"\b(?:the|other) (?:\w+ ){0,2}[\w-]+(?! of\b| between\b| in\b| that\b)", re.IGNORECASE)
_ANY = re.compile(
    r"\b(?:any|other|available|some)\b|^(?:is|are) there an? |\b(?:is|are) there\s*[?.!]*$", re.IGNORECASE
)
_TOLD = re.compile(r"^(?:tell|describe|explain|what (?:is|are) (?:a|an)\b|who (?:is|was|were)\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Scorer:
    """Weights in the order of `NAMES`, and the probability of the unchanged turn up to which it is rewritten: `limit`
    with a pronoun, `optional_limit` for kinds in `OPTIONAL`, `fragment_limit` for fragments."""

    weights: tuple[float, ...]
    limit: float
    optional_limit: float
    fragment_limit: float

    @classmethod
    def load(cls, path: Path) -> Scorer:
        """Raises ValueError if the file is of another version."""
        content = orjson.loads(path.read_bytes())
        if list(content["weights"]) != list(NAMES):
            raise ValueError(
                f"Expected weights of {', '.join(NAMES)} in {path}, but got {', '.join(content['weights'])}."
            )
        return cls(tuple(content["weights"].values()), *(content[name] for name in LIMITS))

    def most(self, candidate: RewriteCandidate, *, fragment: bool) -> float:
        """The limit that applies if this rewrite is the likeliest."""
        if fragment:
            return self.fragment_limit
        named = candidate.mention is not None and candidate.replaced in candidate.mention.classes
        return self.optional_limit if candidate.kind in OPTIONAL and not named else self.limit

    def save(self, path: Path) -> None:
        content = {
            "weights": {name: round(weight, 4) for name, weight in zip(NAMES, self.weights, strict=True)},
            **{name: getattr(self, name) for name in LIMITS},
        }
        path.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2) + b"\n")

    def probabilities(self, rows: Rows) -> Rows:
        """Probabilities of the candidates (C,) from their features (C, F)."""
        scores = rows @ np.asarray(self.weights)
        raised = np.exp(scores - scores.max())
        shares: Rows = raised / raised.sum()
        return shares


def features(question: str, options: list[RewriteCandidate]) -> Rows:
    """Features of the candidates of one turn (C, F); the row of the unchanged turn is 0."""
    rows = np.zeros((len(options), len(NAMES)))
    turn = _of_turn(question)
    for row, candidate in zip(rows, options, strict=True):
        if candidate.kind == "as it is":
            continue
        row[KINDS.index(candidate.kind)] = 1
        start = len(KINDS)
        row[start : start + 2] = min(candidate.inside, 3), candidate.inside > 0 and candidate.kind in KINDS[:2]
        if candidate.kind in OPTIONAL:
            row[start + 2 : start + len(_OF_TURN)] = turn
        if candidate.mention is not None:
            row[start + len(_OF_TURN) :] = _of_mention(question, candidate, candidate.mention)
    return rows


def _of_turn(question: str) -> tuple[float, ...]:
    turn_phrases = phrases(question)
    named = any(
        word[:1].isupper() for phrase in turn_phrases for word in phrase.text.split() if question.find(word) > 0
    )
    count = len(words(question))
    last = words(question)[-1:]
    lacking = lacks(question)
    related = lacking and any(word in RELATIONS or word.removesuffix("s") in RELATIONS for word in last)
    return (
        float(named),
        min(count, 15) / 10,
        float(bool(_DEFINITE_END.search(question))),
        float(related and bool(_DEFINITE_RELATION.search(question)) and " of " not in question),
        float(bool(_ANY.search(question))),
        float(related and len(turn_phrases) < 2 and not named and bool(_DEFINITE_END.search(question))),
        float(bool(_TOLD.match(question))),
        float(count <= 5),
        float(not lacking),
    )


def _of_mention(question: str, candidate: RewriteCandidate, mention: Mention) -> tuple[float, ...]:
    plural = candidate.replaced in {"they", "them", "these", "those", "their", "ones"}
    single = candidate.replaced in {"it", "its", "this", "that", "he", "she", "him", "his", "her"}
    person = candidate.replaced in {"he", "she", "him", "his", "her"}
    if candidate.kind == "fragment" and candidate.replaced and candidate.mention:
        plural, person = is_plural(candidate.replaced), candidate.replaced.removeprefix("the ")[:1].isupper()
        single = not plural
    last = mention.text.split()[-1].casefold()
    return (
        min(mention.age, 6) / 3,
        float(mention.age == 1),
        min(mention.times, 5) / 3,
        float(mention.opening),
        float(mention.answered),
        float(mention.governs),
        float(mention.governed),
        min(mention.position, 3) / 2,
        float(mention.name),
        float((plural and mention.plural) or (single and not mention.plural)),
        float((plural and not mention.plural) or (single and mention.plural)),
        float(person and not mention.name),
        float(len(mention.text.split()) > 1),
        float(last in RELATIONS or last.removesuffix("s") in RELATIONS),
        float(mention.name and candidate.kind in {"place", "left out"}),
        float(bool(set(terms(mention.text)) & set(terms(question)))),
        float(mention.age == 1 and mention.times > 1),
        float(mention.led_in),
        float(mention.titled),
        float(_class_agrees(candidate, mention)),
    )


def _class_agrees(candidate: RewriteCandidate, mention: Mention) -> bool:
    """Whether the mention's classes in the graph fit the turn: a person, a place, a "city"."""
    if candidate.replaced in {"he", "she", "him", "his", "her"}:
        return not PERSONS.isdisjoint(mention.classes)
    if candidate.replaced == "there":
        return not PLACES.isdisjoint(mention.classes)
    return candidate.kind == "demonstrative" and candidate.replaced in mention.classes
