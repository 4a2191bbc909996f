"""`python -m qa_lab.fit.fit_followups FILE`: weights of the scorer, from CAsT 2019, and what they give held out.

Each turn's target are its candidates by how near they come to the manual rewrite, in turns after people's own
rewrites of the turns before. Folds keep the turns of one topic together. What answers have to say about what is meant
comes from dialogues of our own (`--dialogues`, their dev half), asked of a home that holds what they speak of.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from qa_bot.conversation.followups.candidates import candidates
from qa_bot.conversation.followups.mentions import Exchange, mentions
from qa_bot.conversation.followups.rewriter import WEIGHTS
from qa_bot.conversation.followups.scoring import Rows, Scorer, features
from qa_core.text.analysis import fold, words
from qa_core.training.conditional_logit import Choice, cross_entropy, fit_conditional_logit
from qa_lab.evaluate.followups.dialogues import Dialogue, Turn, read_dialogues
from qa_lab.evaluate.followups.history_entry import Remember, answered_history

PENALTY = 0.5
"""Half of it weighs the squared weights, against sums over turns."""
SHARPNESS = 12.0
"""How much likelier, in powers of e, a candidate of F1 1 is as a target than one of F1 0."""
FOLDS = 10
LIMIT, OPTIONAL_LIMIT, FRAGMENT_LIMIT = 0.3, 0.1, 0.95
"""The most that "leave as it is" may have where a turn is changed (`Scorer`); chosen held out, for a harm below 1 %."""


class Example(NamedTuple):
    """Features of a turn's candidates (C, F), and what share of the target each has (C,)."""

    rows: Rows
    target: Rows


def token_f1(text: str, wanted: str) -> float:
    """Harmonic mean of precision and recall over bags of folded words; 1 for two texts without words."""
    ours, theirs = Counter(words(fold(text))), Counter(words(fold(wanted)))
    if not ours and not theirs:
        return 1.0
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def examples(dialogues: Sequence[Dialogue], remember: Remember = Exchange) -> list[Example]:
    """Of every turn but the first, and of each topic's first after the topic before it, where nothing carries over."""
    found = [example for dialogue in dialogues for example in _of_dialogue(dialogue, remember)]
    found += [
        example
        for before, dialogue in pairwise(dialogues)
        for example in _example(dialogue.turns[0].raw, dialogue.turns[0].raw, _history(before.turns, remember))
    ]
    return found


def _of_dialogue(dialogue: Dialogue, remember: Remember) -> Iterator[Example]:
    for place, turn in enumerate(dialogue.turns[1:], start=1):
        yield from _example(turn.raw, turn.manual, _history(dialogue.turns[:place], remember))


def _history(turns: Iterable[Turn], remember: Remember) -> list[Exchange]:
    return [remember(turn.manual) for turn in turns]


def _example(raw: str, manual: str, history: Sequence[Exchange]) -> Iterator[Example]:
    found = candidates(raw, history, mentions(history))
    if len(found) > 1:
        near = np.array([token_f1(candidate.text, manual) for candidate in found])
        raised = np.exp(SHARPNESS * (near - near.max())) * (near > near.max() - 0.1)
        if near[0] >= near.max():
            raised = np.eye(1, len(found))[0]  # nothing is gained by a change
        yield Example(features(raw, found), raised / raised.sum())


def fit(examples: Sequence[Example]) -> Scorer:
    """The weights that minimise the cross-entropy to the targets."""
    choices = [Choice(example.rows, example.target) for example in examples]
    weights = fit_conditional_logit(choices, cross_entropy, penalty=PENALTY / 2)
    return Scorer(tuple(weights.tolist()), LIMIT, OPTIONAL_LIMIT, FRAGMENT_LIMIT)


def cross_fitted(dialogues: Sequence[Dialogue], *, folds: int = FOLDS) -> Iterator[tuple[Scorer, list[Dialogue]]]:
    """Every `folds`-th dialogue held out in turn, with the scorer fitted on the others."""
    for fold_ in range(folds):
        held = list(dialogues[fold_::folds])
        yield fit(examples([each for at, each in enumerate(dialogues) if at % folds != fold_])), held


def _of_our_own(path: Path, home: Path) -> list[Example]:
    """Of the dev half of dialogues, with the answers of the bot that has this home."""
    from qa_bot.bot import Bot

    with Bot.open(home, record=False) as bot:
        dialogues = [each for found in read_dialogues(path, part="dev").values() for each in found]
        return examples(dialogues, answered_history(bot))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="CAsT 2019's evaluation topics (JSON), the resolved turns beside it")
    parser.add_argument("--dialogues", type=Path, help="dialogues (JSON lines) whose dev half is learnt from as well")
    parser.add_argument("--home", type=Path, help="the home that answers them")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    asked = parser.parse_args()
    (dialogues,) = read_dialogues(asked.data).values()
    found = examples(dialogues) + (_of_our_own(asked.dialogues, asked.home) if asked.dialogues else [])
    fit(found).save(asked.out)


if __name__ == "__main__":
    main()
