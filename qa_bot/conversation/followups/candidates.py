"""Rewrite candidates of a turn: the turn itself, and questions that stand alone, made by rules from mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from qa_bot.conversation.followups.fragments import completed, is_fragment
from qa_bot.conversation.followups.lexicon import PLACES, PLAIN, RELATIONS, is_person
from qa_bot.conversation.followups.mentions import Exchange, Mention
from qa_bot.conversation.followups.phrases import NounPhrase, bare, is_plural, phrases, plural_of
from qa_bot.conversation.followups.rewriting import POSSESSIVE, PRONOUN, RewriteCandidate, cased, fits, opened, owning
from qa_core.text.analysis import terms
from qa_core.text.stop_words import FUNCTION_WORDS

MENTIONS = 10
"""Mentions that are tried for each pronoun or gap, latest first."""
LONGER = 400
"""Most characters that a rewrite adds to the turn."""

_OWNER = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should)\s+(?!(?:i|you|we|he|she|they|it|that|this)\b)(?:\w+\s+){1,3}$|"
    r"^(?!(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|tell|give|show|describe|explain|and|but)\b)"
    r"\w+\s+\w+\s+$",
    re.IGNORECASE,
)
"""Precedes a possessive whose owner the turn names: "why did the French kill (their) king"."""
_SUBJECTS = {"its": "it", "it's": "it", "it’s": "it", "their": "they", "his": "he", "her": "she"}
_DEMONSTRATIVE = re.compile(r"\b(?:this|that|these|those|the)\s+(?P<noun>[a-z][\w-]*)", re.IGNORECASE)
_DEFINED = re.compile(r"\s+(?:of|in|with|whose|that|where)\b", re.IGNORECASE)
"""Follows a noun that is already specific: "the city of …"."""
_EMPTY = re.compile(
    r"\bhow (?:long|much|many \w+) (?:does|did|will|would) it (?:take|cost) (?:me |you )?to\b|"
    r"\bwhat does it mean (?:to|when|if)\b|\b(?:is|was) this an? |\bis it an? different\b|"
    r"\b(?:is|was) it (?:possible|true|normal|ok|okay|necessary|legal|recommended|advisable|common) (?:for|to|that)\b|"
    r"\bdoes it (?:matter|mean)\b|\b(?:it|that) (?:is|was) (?:possible|true|raining|snowing)\b|\bmake it\b|"
    r"\b(?:is|was) it (?:too )?(?:safe|ok|okay|bad|good|better|best|hard|easy|difficult|important|late|early|worth|"
    r"fine|healthy|dangerous|normal|wise|polite|rude|wrong|right)\b.* (?:to|that)\b|\b(?:is|was) it \w+ who\b|"
    r"\bwhat (?:time|day) is it\b|\bhow far is it\b|\bit(?: is|['’]s) (?:summer|winter|dark|hot|cold|late)\b|"
    r"\bis it (?:the|a|an|\w+ or \w+)\s*[?.!]*$|\bworth it\b|\bit (?:rains?|snows?)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\b(?:and|or|but|when|if|because|since|so|while|without|after|before|how|whether)\b|[,;.?!]", re.IGNORECASE
)
_CLAUSE = re.compile(r"\b(?:and|or|but)\s+(?:what|which|how|is|are|do|does|can|should|will)\b", re.IGNORECASE)
_WHICH_ONES = re.compile(r"\b(which|what)\s+ones\b", re.IGNORECASE)
_HOW_MANY = re.compile(r"^((?:and )?how many)(?= (?:are|were) there\b(?! (?:in|on|of|at)\b))", re.IGNORECASE)
_ONE = re.compile(
    r"(?:(?<=\bof )|(?<=\bis )|(?<=\bsee )|(?<=\bget )|(?<=\bhave )|(?<=\bbuy )|(?<=\bneed )|(?<=\bfind )|"
    r"(?<=\bmake ))one(?=\s*[?.!]*$)",
    re.IGNORECASE,
)
_THERE = re.compile(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere(?=\s*[?.!]*$)", re.IGNORECASE)
_SETTLED = re.compile(r"\b(?:in|at|on|during|by|from) the \w+$", re.IGNORECASE)
"""Ends of turns that already name a location or time."""
_ASKING = re.compile(
    r"(?:what|which|who|where|when|why|how|are|is|do|does|did|was|were|can|tell|describe|explain|list)\b", re.IGNORECASE
)
_MEANT_FOR = re.compile(
    r"\b(?:therap(?:y|ies)|cures?|vaccines?|treatments?|drugs?|medicines?|remed(?:y|ies)|tests?|pills?|tools?)"
    r"(?: (?:is|are) there)?$"
)
_ENDING = re.compile(r"\b(?:the|any|some|other|an?)\s+(?P<before>(?:[\w-]+\s+){0,2})(?P<noun>[\w-]+)$", re.IGNORECASE)


def candidates(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> list[RewriteCandidate]:
    """The unchanged turn, then its distinct rewrites."""
    limit = len(question) + LONGER
    by_text: dict[str, RewriteCandidate] = {question: RewriteCandidate(question)}
    for candidate in _rewrites(question, history, spoken[:MENTIONS]):
        if len(candidate.text) <= limit:
            by_text.setdefault(candidate.text, candidate)
    return list(by_text.values())


def _rewrites(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    turn_phrases = phrases(question)
    if is_fragment(question):
        yield from completed(question, history, spoken)
        return
    for mention in _locations(spoken) if _THERE.search(question) else ():
        text = _THERE.sub(f"in {mention.text}", question)
        is_place = mention.led_in or not PLACES.isdisjoint(mention.classes)
        yield RewriteCandidate(text, "pronoun", mention, "there", fits=is_place and fits(mention, "there"))
    yield from _ones(question, spoken)
    yield from _pronouns(question, turn_phrases, spoken)
    yield from _possessives(question, turn_phrases, spoken)
    yield from _nouns(question, turn_phrases, spoken)
    if not PRONOUN.search(question) and not POSSESSIVE.search(question):
        yield from _left_out(question, turn_phrases, spoken)


def _locations(spoken: Sequence[Mention]) -> list[Mention]:
    """Mentions that the graph calls places; without any, names and mentions after "in", "at" or "from"."""
    known = [mention for mention in spoken if not PLACES.isdisjoint(mention.classes)]
    return known or [mention for mention in spoken if mention.led_in or mention.name]


# --------------------------------------------------------------------------------------------------- words for words


def _pronouns(
    question: str, turn_phrases: Sequence[NounPhrase], spoken: Sequence[Mention]
) -> Iterator[RewriteCandidate]:
    pronouns = [match for match in PRONOUN.finditer(question) if _stands_alone(question, match)]
    if not pronouns or _EMPTY.search(question):
        return
    meant = _meant(pronouns, spoken)
    if not meant.mentions or _meant_inside(question, turn_phrases, meant.first):
        return
    alike = [match for match in pronouns if match.lastgroup == meant.first.lastgroup]
    inside = sum(phrase.end <= meant.first.start() for phrase in turn_phrases)
    for mention in meant.mentions:
        text = question
        for match in reversed(alike):
            written = mention.many if match.lastgroup == "several" else mention.text
            text = text[: match.start()] + cased(written, match.start()) + text[match.end() :]
        replaced = meant.first[0].lower()
        yield RewriteCandidate(
            text, "pronoun", mention, replaced, inside, fits(replace(mention, text=written), replaced)
        )


class _Meant(NamedTuple):
    """The pronoun to resolve first, and the mentions that it may refer to."""

    first: re.Match[str]
    mentions: Sequence[Mention]


def _meant(pronouns: Sequence[re.Match[str]], spoken: Sequence[Mention]) -> _Meant:
    """The first pronoun, except a "they" for people in general: "how do they treat it?"."""
    first = pronouns[0]
    if first.lastgroup in {"man", "woman"}:
        living = [mention for mention in spoken if mention.living(str(first.lastgroup))]
        certain = [mention for mention in living if not mention.text.startswith(("a ", "an "))]
        return _Meant(first, certain or living)  # "a doctor" is any
    things = [mention for mention in spoken if not mention.person]
    others = [match for match in pronouns if match.lastgroup == "thing"]
    if first.lastgroup == "several" and others:
        people = [m for m in spoken if m.plural and (m.person or (m.name and not m.answered))]
        return _Meant(first, people) if people else _Meant(others[0], things)
    return _Meant(first, things if first.lastgroup == "thing" else spoken)


def _meant_inside(question: str, turn_phrases: Sequence[NounPhrase], pronoun: re.Match[str]) -> bool:
    """Whether the pronoun refers to a phrase of the same turn: "what is mortadella and where is it from?"."""
    before = [phrase for phrase in turn_phrases if phrase.end <= pronoun.start()]
    if pronoun.lastgroup in {"man", "woman"} and any(is_person(phrase.text) for phrase in before):
        return True
    return any(_JOINED.search(question, phrase.end, pronoun.start()) for phrase in before)


def _ones(question: str, spoken: Iterable[Mention]) -> Iterator[RewriteCandidate]:
    """ "Which ones?", "how many are there?", "how do I see one?"."""
    several = _WHICH_ONES.search(question) or _HOW_MANY.search(question)
    single = _ONE.search(question)
    for mention in spoken:
        if several:
            many = plural_of(bare(mention.text))
            text = f"{question[: several.end(1)]} {many}{question[several.end() :]}"
            yield RewriteCandidate(text, "pronoun", mention, "ones", fits=not mention.name)
        if single and not mention.plural and not mention.name:
            one = mention.text if mention.text != bare(mention.text) else f"{_article(mention.text)} {mention.text}"
            text = question[: single.start()] + one + question[single.end() :]
            yield RewriteCandidate(text, "pronoun", mention, "one")


def _article(noun: str) -> str:
    return "an" if noun[:1].casefold() in "aeiou" else "a"


def _owned_inside(turn_phrases: Sequence[NounPhrase], match: re.Match[str]) -> bool:
    """Whether the turn names the owner before: "why do dogs wag their tails?"."""
    if _OWNER.search(match.string, 0, match.start()):
        return True
    if (pronoun := PRONOUN.search(match.string, 0, match.start())) and pronoun[0].lower() == _SUBJECTS[
        match[0].split()[0].lower()
    ]:
        return True  # "why do they lose their leaves?"
    many = match[0].lower().startswith("their")
    return any(is_plural(phrase.text) == many for phrase in turn_phrases if phrase.end <= match.start())


def _stands_alone(question: str, match: re.Match[str]) -> bool:
    """Whether "this" or "these" is a pronoun, as before a verb or at the end, and not the article of a noun."""
    if match[0].lower() not in {"this", "these", "those"}:
        return True
    after = re.match(r"\s+([a-z][\w-]*)", question[match.end() :])
    return after is None or after[1] in FUNCTION_WORDS or after[1].endswith(("ed", "en"))


def _possessives(
    question: str, turn_phrases: Sequence[NounPhrase], spoken: Iterable[Mention]
) -> Iterator[RewriteCandidate]:
    match = POSSESSIVE.search(question)
    if match is None or _meant_inside(question, turn_phrases, match) or _owned_inside(turn_phrases, match):
        return
    inside = sum(phrase.end <= match.start() for phrase in turn_phrases)
    gender = {"his": "man", "her": "woman"}.get(match[0].strip().lower(), "")
    for mention in spoken:
        if gender and not mention.living(gender):
            continue
        written = mention.many if match[0].lower().startswith("their") else mention.text
        text = question[: match.start()] + cased(owning(written), match.start()) + " " + question[match.end() :]
        replaced = match[0].split()[0].lower()
        is_phrase = fits(replace(mention, text=written), replaced)
        yield RewriteCandidate(text, "possessive", mention, replaced, inside, is_phrase)


def _nouns(question: str, turn_phrases: Sequence[NounPhrase], spoken: Iterable[Mention]) -> Iterator[RewriteCandidate]:
    """Replaces a noun for the kind of a mention ("the city"), or its shorter name ("Anne")."""
    for mention in spoken:
        yield from _of_its_kind(question, mention)
        known = terms(mention.text)
        if len(known) < 2 or set(known) <= set(terms(question)):
            continue
        for match in _DEMONSTRATIVE.finditer(question):
            if match[0].lower().startswith(("this", "these")) and terms(match["noun"])[:1] not in (known[-1:], []):
                noun = match["noun"]
                text = f"{question[: match.start()]}the {noun} of {mention.text}{question[match.end() :]}"
                yield RewriteCandidate(text, "demonstrative", mention, match[0].lower(), fits=fits(mention, ""))
            if terms(match["noun"]) == known[-1:] and not question[match.end() :].startswith(" of"):
                text = question[: match.start()] + cased(mention.text, match.start()) + question[match.end() :]
                yield RewriteCandidate(text, "demonstrative", mention, match[0].lower(), fits=fits(mention, ""))
        for phrase in turn_phrases:
            short = terms(phrase.text)
            written = set(bare(phrase.text).split()) <= set(mention.text.split())
            if written and short and len(short) < len(known) and short in (known[: len(short)], known[-len(short) :]):
                text = question[: phrase.start] + cased(mention.text, phrase.start) + question[phrase.end :]
                yield RewriteCandidate(text, "longer name", mention, phrase.text, fits=fits(mention, ""))


def _of_its_kind(question: str, mention: Mention) -> Iterator[RewriteCandidate]:
    """Replaces "the city" by a mention that the graph calls a city."""
    for match in _DEMONSTRATIVE.finditer(question) if mention.classes else ():
        noun, after = match["noun"].lower(), question[match.end() :]
        if noun in mention.classes and not _DEFINED.match(after):
            text = question[: match.start()] + cased(mention.text, match.start()) + after
            yield RewriteCandidate(text, "demonstrative", mention, noun, fits=fits(mention, ""))


def _left_out(
    question: str, turn_phrases: Sequence[NounPhrase], spoken: Iterable[Mention]
) -> Iterator[RewriteCandidate]:
    """Completes "What are the symptoms?" by "of" and a mention."""
    tail = re.search(r"[?.!\s]*$", question)
    assert tail is not None
    body, end = question[: tail.start()], question[tail.start() :]
    if re.search(r"[?.!]\s", body) or _SETTLED.search(body) or not _ASKING.match(body):
        return
    if turn_phrases and _CLAUSE.search(body, turn_phrases[0].end):
        return  # the first clause names it
    known = set(terms(question))
    for mention in spoken:
        if mention.answered or known & set(terms(mention.text)):
            continue
        for kind, word in (("left out", "for" if _MEANT_FOR.search(body) else "of"), ("place", "in")):
            text = f"{body} {word} {mention.text}{end}"
            yield RewriteCandidate(text, kind, mention, inside=len(turn_phrases), fits=fits(mention, ""))  # type: ignore[arg-type] # both are kinds


def lacks(question: str) -> bool:
    """Whether a question ends in a noun that needs "of …", without it: "the (main) causes"."""
    body = opened(question)
    ending = _ENDING.search(body)
    if ending is None:
        return bool(_MEANT_FOR.search(body))
    before, noun = ending["before"].split(), ending["noun"].lower()
    if noun not in RELATIONS and is_plural(noun):
        return noun.removesuffix("s") in RELATIONS or noun.removesuffix("es") in RELATIONS
    return PLAIN.issuperset(before) and (noun in RELATIONS or bool(_MEANT_FOR.search(body)))
