"""The text of an answer: the best passage from its lead on, what belongs to it, and a second one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from qa_bot.answering.tiling.leads.cited_place import name_of_second
from qa_bot.answering.tiling.leads.dated_headings import below, dated_heading
from qa_bot.answering.tiling.leads.lead import REFERS_BACK, WHOLE, fits
from qa_bot.answering.tiling.named_clauses import is_clause, with_named_clause
from qa_bot.answering.tiling.named_columns import with_named_columns
from qa_bot.answering.tiling.named_rows import with_named_rows
from qa_bot.answering.tiling.opinions import Sentences, Tile, Tiling, cut
from qa_bot.answering.tiling.polarity import opening
from qa_bot.answering.tiling.question_parts import (
    COVERS,
    asks_for_steps,
    covered,
    open_part,
    other_side,
    parts_of,
)
from qa_bot.answering.tiling.table_rows import at_end_of_row
from qa_bot.answering.tiling.units import is_torn_list
from qa_bot.answering.tiling.versions import Versions, versions_of
from qa_core.text.markdown_text import context, header_above
from qa_core.types import Candidate, Passage, Span
from rankers.question_titles import is_mail_head

_ANNOUNCEMENT = re.compile(r"^[^\n|]{1,99}:\s*\Z", re.MULTILINE)
_EMPTY_QUOTE = re.compile(r"(?:>[ \t]*\n)*")
AT_ONCE = 60
"""An answer begins with the whole passage if at most these characters precede the lead. The first 150 characters of an
answer then hold a gold for .62 of the questions of eleven sets; with 300 for .50, and points are .758 instead of .765.
"""
GAP = "\n\n"
ELLIPSIS = "… "
"""Precedes a stretch that begins inside a sentence."""
NEAR_BEST = 0.75
"""A second passage must score more than this share of the best, or it is about something else."""
NEAR_FOR_PART = 0.4
"""The same for a passage that covers a part of the question that the best passage leaves open."""
FIRST = 0.6
"""Share of the limit that the first passage gets if a second follows."""
SAME_WORDS = 0.9
"""A passage of whose words the first has at least this share says nothing new."""
WHOLE_PASSAGE = 900
"""Characters of a passage that is shown whole: what precedes its lead follows it. Of 2,600 answers whose first passage
held all gold 121 lacked it, 91 of them because it preceded the lead. Mean points of 39 sets .6836 to .6887 (dev .7655
to .7670, others .6290 to .6365; with 400 characters .6852, with 600 .6871), the median answer has 461 instead of 382
characters."""
SHORT_TABLE = 450
"""Characters of a table that is shown whole: a question may need several rows ("the cheapest", "A or B")."""
FEW_ITEMS = 200
"""Characters of numbered items before the lead that keep their order, if the question does not ask for steps."""
LEAST_COVER = 0.5
"""Of the best passage's cover of the question, for a second passage that was read, too."""
CONSIDERED = 20
"""Candidates among which the second passage is looked for."""


def within_one(lead: Span | None, spans: Sequence[Span]) -> Span | None:
    """The part of a lead inside the first of the sources' spans that it touches; None if it touches none."""
    if lead is None:
        return None
    parts = ((max(lead[0], start), min(lead[1], end)) for start, end in spans)
    return next(((start, end) for start, end in parts if start < end), None)


def tile_leads(
    candidates: Sequence[Candidate],
    *,
    limit: int,
    sentences: Sentences,
    passages: Sequence[Candidate] = (),
    question: str = "",
    covers: Mapping[str, float] = MappingProxyType({}),
    amendment: Candidate | None = None,
) -> Tiling:
    """The best passage from its lead on, then the lead of the next that scores nearly as high and is not older.

    What precedes the lead of a short passage follows it, if there is room.

    If the question has two parts, and the best passage leaves one open, the passage that covers it follows instead. A
    passage that answers its title as a question is otherwise the whole answer, as is one that the owner wrote. Two
    passages of one document are one tile, whose passage has the text of both stretches. If another passage gives other
    figures for the same statement, the current one is the best, and `former` names the older one with its date.

    Args:
        candidates: documents at their best passages, best first.
        passages: the best passages with their leads, also several of one document; the candidates if empty.
        question: its parts, see `question_parts`; also decides whether a "Yes" or "No" at the beginning of a passage
            is kept, see `polarity`.
        covers: how far passages that were read cover the question, by id; one with less than half of the best one's
            does not follow it.
        amendment: the clause that changes the statement of the best passage, see `amendments`.
    """
    if not candidates:
        return Tiling("", ())
    if candidates[0].signals.owner_answer:
        return _tile_current(candidates, limit, sentences, passages, question, covers)
    pool = [c for c in (*passages, *candidates[:CONSIDERED]) if _evidence(c) > NEAR_FOR_PART * _evidence(candidates[0])]
    versions = Versions(amendment, candidates[0]) if amendment else versions_of(candidates[0], pool, question)
    if versions is None:
        return _tile_current(candidates, limit, sentences, passages, question, covers)
    left_out = {versions.older.passage.source, versions.current.passage.source}
    others = [candidate for candidate in candidates if candidate.passage.source not in left_out]
    passages = [passage for passage in passages if passage.passage.source != versions.older.passage.source]
    tiling = _tile_current([versions.current, *others], limit, sentences, passages, question, covers)
    return replace(tiling, former=versions.former(question))


def _tile_current(
    candidates: Sequence[Candidate],
    limit: int,
    sentences: Sentences,
    passages: Sequence[Candidate],
    question: str,
    covers: Mapping[str, float],
) -> Tiling:
    """The best passage, then a second one; below its heading if only that has the date of which the question asks."""
    best = candidates[0]
    heading = "" if best.signals.owner_answer else dated_heading(best.passage, question)
    if heading and len(heading) + len(GAP) + 4 < FIRST * limit:
        rest = limit - len(below(heading, Tiling("", ())).text)
        return below(heading, _tile_undated(candidates, rest, sentences, passages, question, covers))
    return _tile_undated(candidates, limit, sentences, passages, question, covers)


def _tile_undated(
    candidates: Sequence[Candidate],
    limit: int,
    sentences: Sentences,
    passages: Sequence[Candidate],
    question: str,
    covers: Mapping[str, float],
) -> Tiling:
    """The best passage, then a second one."""
    best = candidates[0]
    second = None if best.signals.owner_answer else _second(candidates, passages, question, covers)
    room = limit if second is None or best.passage.place.kind in WHOLE else int(FIRST * limit)
    best = with_named_clause(with_named_columns(with_named_rows(best, question), question), question)
    first = _stretch(best, room, sentences, question)
    if first is not None and is_torn_list(best.passage.text, first.end):
        first = _stretch(best, limit, sentences, question)
    if first is None:
        return Tiling("", ())
    tiling = _with_earlier(best, first, room, question)
    name = "" if second is None else name_of_second(second.passage, best.passage)
    label = f"**{name}**{GAP}" if name else ""
    taken = len(tiling.text) + len(label)
    part = None if second is None else _stretch_of_second(second, limit, taken, sentences, question)
    if second is None or part is None:
        return _with_earlier(best, _stretch(best, limit, sentences, question) or first, limit, question)
    text = f"{tiling.text}{GAP}{label}{part.text}"
    if second.passage.source == best.passage.source:
        both = replace(best, passage=replace(best.passage, text=text))
        return Tiling(text, (Tile(both, (0, len(text)), (0, len(text))),), tiling.lead)
    tiles = (*tiling.tiles, part.tile(second, at=len(tiling.text) + len(GAP) + len(label)))
    return Tiling(text, tiles, tiling.lead)


def _second(
    candidates: Sequence[Candidate], passages: Sequence[Candidate], question: str, covers: Mapping[str, float]
) -> Candidate | None:
    """The next passage that may belong to the answer, too: of the other side or an open part, else the nearest.

    It and its document score nearly as high as the first, and it says something new.
    """
    best, nearest = candidates[0], (*passages, *candidates[:CONSIDERED])
    if side := other_side(question, best.passage):
        others = [c for c in nearest if side.is_named_by(c.passage) and _may_follow(c, best)]
        if others:
            return max(others, key=_evidence)
    if part := open_part(parts_of(question), best.passage):
        others = [c for c in nearest if covered(part, c.passage) >= COVERS and _may_follow(c, best)]
        if others:
            return max(others, key=lambda other: (covered(part, other.passage), _evidence(other)))
    if best.signals.lead is None:
        return None
    least = LEAST_COVER * covers.get(best.passage.id, 0.0)
    document_scores = {c.passage.source: c.score for c in reversed(candidates[:CONSIDERED])}
    for candidate in passages or candidates[:CONSIDERED]:
        is_near = (
            candidate.signals.lead is not None
            and covers.get(candidate.passage.id, least) >= least
            and _evidence(candidate) > NEAR_BEST * _evidence(best)
            and document_scores.get(candidate.passage.source, 0.0) > NEAR_BEST * best.score
        )
        if is_near and _adds(candidate.passage, best.passage) and not _is_older(candidate, best):
            return candidate
    return None


def _adds(passage: Passage, best: Passage) -> bool:
    """Whether a passage has more than its headings, says something new, and is not of the same table or the head of a
    mail."""
    if is_mail_head(passage):
        return False
    is_of_table = best.place.kind == passage.place.kind == "table" and best.source == passage.source
    if is_of_table and best.place.heading == passage.place.heading:
        return False
    headings = context(passage.source.title, passage.place.heading)
    return not _repeats(passage.text, headings) and not _repeats(passage.text, best.text)


def _may_follow(candidate: Candidate, best: Candidate) -> bool:
    """Whether the passage of another part or side is not far behind the best one, and not older."""
    return _evidence(candidate) > NEAR_FOR_PART * _evidence(best) and not _is_older(candidate, best)


def _is_older(candidate: Candidate, best: Candidate) -> bool:
    return candidate.passage.source.details.archived > best.passage.source.details.archived


def _repeats(text: str, other: str) -> bool:
    """Whether nearly all words of a text are in the other one, as in two copies of a document."""
    words = set(re.findall(r"\w+", text.casefold()))
    return len(words - set(re.findall(r"\w+", other.casefold()))) <= (1 - SAME_WORDS) * len(words)


def _evidence(candidate: Candidate) -> float:
    """Its score before trained rankers and votes."""
    return candidate.score if candidate.signals.combined is None else candidate.signals.combined


class _Stretch(NamedTuple):
    """A part of a passage, `header` in front of it, and where the lead is in both together."""

    header: str
    passage: str
    begin: int
    end: int
    lead: Span | None
    earlier: int  # where what precedes it ends, without a "Yes" that is left out

    @property
    def text(self) -> str:
        return self.header + self.passage[self.begin : self.end]

    def tile(self, candidate: Candidate, *, at: int = 0) -> Tile:
        """The stretch as part of an answer in which it begins at `at`."""
        return Tile(candidate, (at + len(self.header), at + len(self.text)), (self.begin, self.end))


def _stretch(candidate: Candidate, room: int, sentences: Sentences, question: str) -> _Stretch | None:
    """The passage in at most `room` characters, from its lead on if much text precedes it.

    If the lead is in a table, the header precedes it.
    """
    passage, lead = candidate.passage.text, candidate.signals.lead
    start = 0 if lead is None or fits(passage, (0, lead[0]), AT_ONCE) else _beginning(passage, lead[0], sentences)
    start += len(_EMPTY_QUOTE.match(passage, start)[0])  # type: ignore[index]  # it matches anywhere
    above = header_above(passage, start)
    header = "" if above is None else passage[slice(*above)]
    stretch = cut(passage[start:], max(1, room - len(header)), sentences, may_split=True)
    if stretch is None:
        return None
    begin, end = start + stretch[0], _end_of_support(candidate, start + stretch[1])
    end = at_end_of_row(passage, begin + 1 if lead is None else max(begin + 1, lead[1]), end)
    earlier = begin
    before, begin = (
        (ELLIPSIS, begin) if is_clause(passage, begin) else _without_opening(candidate, begin, end, question)
    )
    header += before
    shift = len(header) - begin
    capital = len(before) if begin > earlier else 0
    part = None if lead is None else (max(lead[0], begin) + shift - capital, min(lead[1], end) + shift)
    return _Stretch(header, passage, begin, end, part, earlier)


def _beginning(passage: str, start: int, sentences: Sentences) -> int:
    """Where a lead begins with the line that announces it, as "Rounds:", or the sentence that it refers back to."""
    announcement = _ANNOUNCEMENT.search(passage, 0, start)
    block = passage.rfind("\n", 0, start) + 1
    if announcement or block == start or not REFERS_BACK.match(passage, start):
        return announcement.start() if announcement else start
    before = max((first for first, _ in sentences(passage[block:start])), default=0)
    return block + before


def _end_of_support(candidate: Candidate, end: int) -> int:
    """The end of a stretch without what follows the lead and says nothing about the question."""
    lead, supporting = candidate.signals.lead, candidate.signals.supporting
    if lead is None or supporting is None:
        return end
    return min(end, max([lead[1], *(last for _, last in supporting if last <= end)]))


def _with_earlier(candidate: Candidate, stretch: _Stretch, room: int, question: str) -> Tiling:
    """A stretch and what precedes it in its short passage as one tile of at most `room` characters.

    Steps and the rows of a table keep their order; text follows the stretch, and so do long paragraphs with numbers.
    """
    passage, above = candidate.passage.text, header_above(candidate.passage.text, stretch.begin)
    start, below = above or (stretch.earlier, stretch.earlier)
    prose, rows = passage[:start].strip(), passage[below : stretch.earlier].rstrip("\n")
    if rows and len(stretch.text) + len(rows) > SHORT_TABLE:
        rows = ""
    taken = len(stretch.text) + len(rows) + 1 + len(GAP) + len(prose)
    kind = candidate.passage.place.kind
    wants_steps = kind == "steps" and asks_for_steps(question)
    is_short = len(passage) <= WHOLE_PASSAGE and taken <= room and kind != "code"
    has_other_opening = above is None and stretch.header not in {"", ELLIPSIS}
    if not is_short or has_other_opening or not (prose or rows):
        return Tiling(stretch.text, (stretch.tile(candidate),), stretch.lead)
    lead, text = stretch.lead, stretch.text
    if (wants_steps and len(passage) <= SHORT_TABLE) or (kind == "steps" and len(prose) <= FEW_ITEMS):
        text, prose = f"{prose}\n{text}", ""
        lead = _moved(lead, len(text) - len(stretch.text))
    elif rows:
        text = f"{stretch.header}{rows}\n{text[len(stretch.header) :]}"
        lead = _moved(lead, len(rows) + 1)
    text = f"{text}{GAP}{prose}" if prose else text
    both = replace(candidate, passage=replace(candidate.passage, text=text))
    return Tiling(text, (Tile(both, (0, len(text)), (0, len(text))),), lead)


def _moved(lead: Span | None, by: int) -> Span | None:
    return None if lead is None else (lead[0] + by, lead[1] + by)


def _without_opening(candidate: Candidate, begin: int, end: int, question: str) -> tuple[str, int]:
    """What precedes a stretch of a passage, and where the stretch begins without a "Yes" that does not answer.

    The next letter becomes a capital: it is then no longer the passage's own.
    """
    if candidate.signals.owner_answer:
        return "", begin
    before, left_out = opening(question, candidate.passage, begin)
    first = begin + left_out
    if first >= end:
        return "", begin
    letter = candidate.passage.text[first]
    return (letter.upper(), first + 1) if left_out and letter.islower() else (before, first)


def _stretch_of_second(
    candidate: Candidate, limit: int, taken: int, sentences: Sentences, question: str
) -> _Stretch | None:
    """What fits of a second passage, if its whole lead does."""
    room = min(limit - taken - len(GAP), int((1 - FIRST) * limit))
    stretch = _stretch(candidate, room, sentences, question) if room > 0 else None
    lead = candidate.signals.lead
    return stretch if stretch is not None and (lead is None or stretch.end >= lead[1]) else None
