"""Fits the weights of the follow-up scorer, and cross-fits them for `eval rewrite`.

The target of a turn is a distribution over its candidates by their similarity to the manual rewrite; its history holds
the manual rewrites of the earlier turns. The turns of a topic are in one fold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from qa_bot.conversation.followups.candidates import candidates
from qa_bot.conversation.followups.mentions import Exchange, mentions
from qa_bot.conversation.followups.scoring import Rows, Scorer, features
from qa_core.text.analysis import fold, words
from qa_core.training.conditional_logit import Choice, cross_entropy, fit_conditional_logit
from qa_lab.evaluate.followups.dialogues import Dialogue, Turn
from qa_lab.evaluate.followups.history_entry import Remember

PENALTY = 0.5
"""Penalty λ of `λ/2 |w|²`, against a sum over turns."""
SHARPNESS = 12.0
"""Log ratio of the targets of candidates with F1 1 and F1 0."""
FOLDS = 10
LIMIT, OPTIONAL_LIMIT, FRAGMENT_LIMIT = 0.3, 0.1, 0.95
"""Largest probability of "unchanged" at which a turn is rewritten (`Scorer`); chosen held out for a harm below 1 %."""


class Example(NamedTuple):
    """Features of a turn's candidates (C, F), and their target distribution (C,)."""

    rows: Rows
    target: Rows


def token_f1(text: str, expected: str) -> float:
    """Harmonic mean of precision and recall over bags of folded words; 1 for two texts without words."""
    ours, theirs = Counter(words(fold(text))), Counter(words(fold(expected)))
    if not ours and not theirs:
        return 1.0
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def examples(dialogues: Sequence[Dialogue], remember: Remember = Exchange) -> list[Example]:
    """Examples of every turn but the first, and of first turns after the previous topic, with nothing to carry over."""
    results = [example for dialogue in dialogues for example in _of_dialogue(dialogue, remember)]
    results += [
        example
        for before, dialogue in pairwise(dialogues)
        for example in _example(dialogue.turns[0].raw, dialogue.turns[0].raw, _history(before.turns, remember))
    ]
    return results


def _of_dialogue(dialogue: Dialogue, remember: Remember) -> Iterator[Example]:
    for number, turn in enumerate(dialogue.turns[1:], start=1):
        yield from _example(turn.raw, turn.manual, _history(dialogue.turns[:number], remember))


def _history(turns: Iterable[Turn], remember: Remember) -> list[Exchange]:
    return [remember(turn.manual) for turn in turns]


def _example(raw: str, manual: str, history: Sequence[Exchange]) -> Iterator[Example]:
    rewrites = candidates(raw, history, mentions(history))
    if len(rewrites) > 1:
        f1 = np.array([token_f1(candidate.text, manual) for candidate in rewrites])
        target = np.exp(SHARPNESS * (f1 - f1.max())) * (f1 > f1.max() - 0.1)
        if f1[0] >= f1.max():
            target = np.eye(1, len(rewrites))[0]  # no rewrite is better than the raw turn
        yield Example(features(raw, rewrites), target / target.sum())


def fit(examples: Sequence[Example]) -> Scorer:
    """The weights that minimise the cross-entropy to the targets."""
    choices = [Choice(example.rows, example.target) for example in examples]
    weights = fit_conditional_logit(choices, cross_entropy, penalty=PENALTY / 2)
    return Scorer(tuple(weights.tolist()), LIMIT, OPTIONAL_LIMIT, FRAGMENT_LIMIT)


def cross_fitted(dialogues: Sequence[Dialogue], *, folds: int = FOLDS) -> Iterator[tuple[Scorer, list[Dialogue]]]:
    """Every `folds`-th dialogue held out in turn, with the scorer fitted on the others."""
    for number in range(folds):
        others = [dialogue for i, dialogue in enumerate(dialogues) if i % folds != number]
        yield fit(examples(others)), list(dialogues[number::folds])
