"""Rewrites a turn of a conversation as a question that stands alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from qa_bot.conversation.followups.candidates import LONGER, candidates
from qa_bot.conversation.followups.fragments import is_fragment
from qa_bot.conversation.followups.mentions import Exchange, Mention, mentions
from qa_bot.conversation.followups.rewriting import RewriteCandidate
from qa_bot.conversation.followups.scoring import Scorer, features
from qa_bot.home.starter import FOLDER
from qa_core.text.analysis import looks_english

WEIGHTS = FOLDER / "followups.json"
LONGEST = 300
"""Characters; longer turns are not rewritten."""
_REPEATED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A resolved turn; `candidates` are the texts of all options, likeliest first, and `fits` says whether `text` is
    surely a sentence of good English, which may be shown."""

    text: str
    changed: bool
    reason: str
    candidates: tuple[str, ...]
    fits: bool = True


class Rewriter:
    """Rewrites turns; may be shared between threads.

    Args:
        scorer: chooses between the candidates; the shipped one by default.
    """

    def __init__(self, scorer: Scorer | None = None) -> None:
        self._scorer = scorer or shipped()

    def rewrite(self, question: str, history: Sequence[Exchange]) -> Rewritten:
        """Resolve a turn after earlier exchanges, oldest first; first turns and other languages are not changed."""
        if not history:
            return _left(question, "first turn")
        if not looks_english(question) or len(question) > LONGEST:
            return _left(question, "another language" if len(question) <= LONGEST else "long enough")
        spoken = mentions(history)
        first = self._once(question, history, spoken)
        if not first.changed or is_fragment(question):
            return first
        others = [mention for mention in spoken if mention.text.casefold() not in first.text.casefold()]
        second = self._once(first.text, history, others)  # "what was their role in it?"
        followed = second.changed and second.reason.startswith(("pronoun", "possessive"))
        if not followed or len(second.text) > len(question) + LONGER:
            return first
        reason, texts = f"{first.reason}; {second.reason}", (second.text, *first.candidates)
        return Rewritten(second.text, True, reason, texts, first.fits and second.fits)

    def _once(self, question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> Rewritten:
        options = candidates(question, history, spoken)
        if len(options) == 1:
            return _left(question, "stands alone")
        shares = self._scorer.probabilities(features(question, options))
        order = np.argsort(-shares, kind="stable")
        best = next(options[at] for at in order if options[at].kind != "as it is")
        limit = self._scorer.most(best, fragment=is_fragment(question))
        chosen = best if shares[0] <= limit else options[0]
        texts = tuple(options[at].text for at in order)
        is_repeated = _REPEATED.search(chosen.text) and not _REPEATED.search(question)  # "the Business plan plan"
        return Rewritten(chosen.text, chosen is best, _reason(chosen), texts, chosen.fits and not is_repeated)


@cache
def shipped() -> Scorer:
    """The scorer that comes with the project."""
    return Scorer.load(WEIGHTS)


def _left(question: str, reason: str) -> Rewritten:
    return Rewritten(question, False, reason, (question,))


def _reason(candidate: RewriteCandidate) -> str:
    meant = candidate.mention.text if candidate.mention else ""
    return f"{candidate.kind}: {meant}" if meant and candidate.kind != "as it is" else candidate.kind
