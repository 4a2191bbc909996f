"""Evidence for passages: what several searches say about each passage, summed after scaling.

    F(p) = Σ_c w_c · s_c(p) − [p is archived],   s_c(p) = (score_c(p) − low_c) / (high_c − low_c)

over the channels c: cosine of the question with the passage, with its best unit (a sentence, an item, a row), BM25 of
words, and BM25 of pieces of words. If the title is a question that a person asked, as in an FAQ or a forum, cosine and
BM25 of the title count, too; a title that is only a label ("Leave") says little. Both sums are scaled to the same
maximum, so that passages of both kinds compare. A title that asks the very same question gets a bonus, 1.75 · cos¹⁶.

A turn of a conversation has several readings. Its channels are the means of the scaled channels of all readings,
scaled again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Channel = Literal["passage", "unit", "words", "pieces", "title", "title words"]
Scores = NDArray[np.float64]

PROSE: Mapping[Channel, float] = {"passage": 1.0, "unit": 1.0, "words": 1.0, "pieces": 0.5}
PAIRS: Mapping[Channel, float] = {**PROSE, "title": 2.0, "title words": 0.5}
ARCHIVED = 1.0
"""Penalty of a passage of an archived document."""
CONTENTS = 1.0
"""Penalty of a table of contents, which has the words of many questions and answers none.
Dialogues of 18F and German rules +.005 each, the other 44 sets do not change."""
MAIL_HEAD = 1.0
"""Penalty of the head of a mail, which has the names of people and nothing about them, unless the question asks for its
date or its recipients."""
ROLE = 2.0
"""Bonus of a passage that names a person beside the role whose holder the question asks for."""
STEPS = 0.3
"""Bonus of steps if the question asks how to do something: points of company +.007, 18F +.012, German pages +.007,
a manual −.003, an FAQ, a forum and notes unchanged; with .5 the manual −.007 and the German pages −.003."""
CODE = 1.0
"""Bonus of a passage that has the codes of the question, in its text or headings. Questions on the manual of a mower
that decided nothing else +.037, their dialogues +.029, dialogues of a manual +.020, coffee machines +.031, a dishwasher
−.007, 47 other sets within .003. With .75 the mower keeps +.037, and coffee machines lose .008; without headings a
heat pump loses .010."""
NAMED = 0.7
"""Share of that bonus for a code that names the document of a passage. With such codes covered, too, the manual of
liquidctl, with a page for each of many devices, gains .064 of points and its dialogues .013; four of 44 other sets
change, by −.010 to .003. With .9 liquidctl gains the same, and the dialogues of a mower lose .020 in place of .010."""
CONTACT = 0.3
"""Bonus of a passage that names a contact if the question asks for one. With the words that ask covered by a contact:
dialogues of 18F +.038 of points, of company +.017, 18F +.009, company +.010, notes +.018, seven others +0, a staff
handbook that decided nothing else +.087 (without the bonus +.067, and the dialogues of 18F +.016)."""
DEFINITION = 2.0
"""Bonus of a passage with a line that defines the term that the question asks for or only names, unless its title is a
question. A music server's manual that decided nothing else +.014 ("tracklist"), 43 other sets do not change; with
1.0 the glossary comes after pages with the term in their titles.
"""
IN_PATH = 1.0
"""Bonus of a passage if all words of the question stand only in the path of its file; of some words the share of their
rarity. With such words covered, too, rules of five German bodies that decided nothing else gain .039 of points and
their dialogues .043, a support centre .009, 18F .003, its dialogues .006; no other of 44 sets changes.
"""
MOST = sum(PROSE.values())
"""The greatest possible sum, without the bonus."""
SECTION = MOST
"""Bonus of a passage in the section that the question names by its number: it goes first."""
TOPIC = 0.5
"""Bonus of the document that answered the turn before, for a short follow-up. Ten sets of dialogues: development +.007,
further +.041, no set falls. With .3 +.003 and +.037; with .6 +.012 and +.027, a reference manual −.050."""
MOVED = 0.75
"""A short follow-up has another topic if its own words have so much more evidence in another document. Without this
test a manual loses .059, with 1.25 .046; from .5 to 1 one answer differs."""
SAME_TITLE, POWER = 1.75, 16
"""Bonus of a title that asks the same question, and the power that lets only such titles have it. On 300 titles of
MedQuAD the bonus raises P@1 from .72 to .97 and keeps nDCG@10 on LiveQA-Med at .483; powers from 8 to 24 and
twice or half the bonus differ by .02 at most."""


def scaled(scores: Scores, *, low: float) -> Scores:
    """Scores (n,) as shares of the way from `low` to the highest; all 0 if the highest is not above `low`."""
    width = float(scores.max(initial=low)) - low
    return np.clip((scores - low) / width, 0.0, 1.0) if width > 0 else np.zeros_like(scores)


def summed(channels: Mapping[Channel, Scores], weights: Mapping[Channel, float]) -> Scores:
    """Weighted sum (n,) of scaled channels, scaled so that its maximum is `MOST` whatever channels there are."""
    used = {channel: weight for channel, weight in weights.items() if channel in channels}
    weighted: Scores = np.sum([weight * channels[channel] for channel, weight in used.items()], axis=0)
    return weighted * (MOST / sum(used.values()))


def same_title_bonus(cosines: Scores) -> Scores:
    """The bonus (n,) by the cosine of the question with the title."""
    return SAME_TITLE * np.maximum(0.0, cosines) ** POWER


def same_words_bonus(question: str, titles: Sequence[str]) -> Scores:
    """The bonus (n,) by the words that question and title share, Dice's coefficient in place of the cosine.

    It is for searches without vectors: it raises the keyword engine's P@1 on 500 titles of MedQuAD from .662 to .976.
    """
    words = _words(question)
    shared = [2 * len(words & title) / max(1, len(words) + len(title)) for title in map(_words, titles)]
    return same_title_bonus(np.array(shared, np.float64))


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def topic_bonus(alone: Scores, of_topic: NDArray[np.bool_]) -> Scores:
    """The bonus (n,) of the passages of the topic; 0 for all if the topic has moved.

    Args:
        alone: evidence (n,) for the words of the turn alone.
        of_topic: whether a passage is in the document that answered the turn before, (n,).
    """
    inside, outside = alone[of_topic].max(initial=-np.inf), alone[~of_topic].max(initial=0.0)
    return TOPIC * of_topic.astype(np.float64) if inside >= outside - MOVED else np.zeros_like(alone)


def mean(readings: Sequence[Mapping[Channel, Scores]]) -> dict[Channel, Scores]:
    """The mean (n,) of each channel over the readings that have it."""
    names = dict.fromkeys(name for channels in readings for name in channels)
    return {
        name: np.mean([channels[name] for channels in readings if name in channels], axis=0, dtype=np.float64)
        for name in names
    }


def averaged(readings: Sequence[Mapping[Channel, Scores]]) -> dict[Channel, Scores]:
    """Scaled channels (n,) of a question with these readings; those of a single reading are not changed."""
    if len(readings) == 1:
        return dict(readings[0])
    return {name: scaled(scores, low=0.0) for name, scores in mean(readings).items()}
