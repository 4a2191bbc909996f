"""What a turn may mean: the turn itself, and rewrites that stand alone, made by rules from what was spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from qa_bot.conversation.followups.fragments import completed, is_fragment
from qa_bot.conversation.followups.lexicon import PLACES, PLAIN, RELATIONS, is_person
from qa_bot.conversation.followups.mentions import Exchange, Mention
from qa_bot.conversation.followups.phrases import Found, bare, is_plural, phrases, plural_of
from qa_bot.conversation.followups.rewriting import POSSESSIVE, PRONOUN, RewriteCandidate, cased, opened, owning
from qa_core.text.analysis import terms
from qa_core.text.stop_words import FUNCTION_WORDS

MENTIONS = 10
"""Mentions that are tried in each place, latest first."""
LONGER = 400
"""Characters that a rewrite may be longer than the turn."""

_OWNER = re.compile(
    r"\b(?:do|does|did|can|could|will|would|should)\s+(?!(?:i|you|we|he|she|they|it|that|this)\b)(?:\w+\s+){1,3}$|"
    r"^(?!(?:what|which|who|whom|whose|when|where|why|how|is|are|do|does|did|can|tell|give|show|describe|explain|and|but)\b)"
    r"\w+\s+\w+\s+$",
    re.IGNORECASE,
)
"""What stands before a possessive where the turn names the owner itself: "why did the French kill (their) king"."""
_SUBJECTS = {"its": "it", "it's": "it", "it’s": "it", "their": "they", "his": "he", "her": "she"}
_DEMONSTRATIVE = re.compile(r"\b(?:this|that|these|those|the)\s+(?P<noun>[a-z][\w-]*)", re.IGNORECASE)
_DEFINED = re.compile(r"\s+(?:of|in|with|whose|that|where)\b", re.IGNORECASE)
"""What follows a noun that says itself which one it is: "the city of …"."""
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
"""Ends of turns that already say where or when."""
_ASKING = re.compile(
    r"(?:what|which|who|where|when|why|how|are|is|do|does|did|was|were|can|tell|describe|explain|list)\b", re.IGNORECASE
)
_MEANT_FOR = re.compile(
    r"\b(?:therap(?:y|ies)|cures?|vaccines?|treatments?|drugs?|medicines?|remed(?:y|ies)|tests?|pills?|tools?)"
    r"(?: (?:is|are) there)?$"
)
_ENDING = re.compile(r"\b(?:the|any|some|other|an?)\s+(?P<before>(?:[\w-]+\s+){0,2})(?P<noun>[\w-]+)$", re.IGNORECASE)


def candidates(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> list[RewriteCandidate]:
    """The turn as it is, first, and its rewrites, each text once."""
    limit = len(question) + LONGER
    found: dict[str, RewriteCandidate] = {question: RewriteCandidate(question)}
    for candidate in _rewrites(question, history, spoken[:MENTIONS]):
        if len(candidate.text) <= limit:
            found.setdefault(candidate.text, candidate)
    return list(found.values())


def _rewrites(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    own = phrases(question)
    if is_fragment(question):
        yield from completed(question, history, spoken)
        return
    for mention in _places(spoken) if _THERE.search(question) else ():
        yield RewriteCandidate(_THERE.sub(f"in {mention.text}", question), "pronoun", mention, "there")
    yield from _ones(question, spoken)
    yield from _pronouns(question, own, spoken)
    yield from _possessives(question, own, spoken)
    yield from _nouns(question, own, spoken)
    if not PRONOUN.search(question) and not POSSESSIVE.search(question):
        yield from _left_out(question, own, spoken)


def _places(spoken: Sequence[Mention]) -> list[Mention]:
    """What a graph calls places, else what something was in, at or from, and names."""
    known = [mention for mention in spoken if not PLACES.isdisjoint(mention.classes)]
    return known or [mention for mention in spoken if mention.led_in or mention.name]


# --------------------------------------------------------------------------------------------------- words for words


def _pronouns(question: str, own: Sequence[Found], spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    places = [place for place in PRONOUN.finditer(question) if _stands_alone(question, place)]
    if not places or _EMPTY.search(question):
        return
    meant = _meant(places, spoken)
    if not meant.mentions or _meant_inside(question, own, meant.first):
        return
    alike = [place for place in places if place.lastgroup == meant.first.lastgroup]
    inside = sum(phrase.end <= meant.first.start() for phrase in own)
    for mention in meant.mentions:
        text = question
        for place in reversed(alike):
            said = mention.many if place.lastgroup == "several" else mention.text
            text = text[: place.start()] + cased(said, place.start()) + text[place.end() :]
        yield RewriteCandidate(text, "pronoun", mention, meant.first[0].lower(), inside)


class _Meant(NamedTuple):
    """The pronoun to resolve first, and what it may stand for."""

    first: re.Match[str]
    mentions: Sequence[Mention]


def _meant(places: Sequence[re.Match[str]], spoken: Sequence[Mention]) -> _Meant:
    """The first pronoun, but not a "they" that means people in general: "how do they treat it?"."""
    first = places[0]
    if first.lastgroup in {"man", "woman"}:
        living = [mention for mention in spoken if mention.living(str(first.lastgroup))]
        certain = [mention for mention in living if not mention.text.startswith(("a ", "an "))]
        return _Meant(first, certain or living)  # "a doctor" is any
    things = [mention for mention in spoken if not mention.person]
    others = [place for place in places if place.lastgroup == "thing"]
    if first.lastgroup == "several" and others:
        people = [each for each in spoken if each.plural and (each.person or (each.name and not each.answered))]
        return _Meant(first, people) if people else _Meant(others[0], things)
    return _Meant(first, things if first.lastgroup == "thing" else spoken)


def _meant_inside(question: str, own: Sequence[Found], pronoun: re.Match[str]) -> bool:
    """Whether a thing of the turn itself is meant: "what is mortadella and where is it from?"."""
    before = [phrase for phrase in own if phrase.end <= pronoun.start()]
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
            yield RewriteCandidate(text, "pronoun", mention, "ones")
        if single and not mention.plural and not mention.name:
            one = mention.text if mention.text != bare(mention.text) else f"{_article(mention.text)} {mention.text}"
            text = question[: single.start()] + one + question[single.end() :]
            yield RewriteCandidate(text, "pronoun", mention, "one")


def _article(noun: str) -> str:
    return "an" if noun[:1].casefold() in "aeiou" else "a"


def _owned_inside(own: Sequence[Found], place: re.Match[str]) -> bool:
    """Whether the turn names an owner of the same number before: "why do dogs wag their tails?"."""
    if _OWNER.search(place.string, 0, place.start()):
        return True
    if (pronoun := PRONOUN.search(place.string, 0, place.start())) and pronoun[0].lower() == _SUBJECTS[
        place[0].split()[0].lower()
    ]:
        return True  # "why do they lose their leaves?"
    many = place[0].lower().startswith("their")
    return any(is_plural(phrase.text) == many for phrase in own if phrase.end <= place.start())


def _stands_alone(question: str, place: re.Match[str]) -> bool:
    """Whether "this" or "these" is no article of a noun; "this" before a verb or the end stands alone."""
    if place[0].lower() not in {"this", "these", "those"}:
        return True
    after = re.match(r"\s+([a-z][\w-]*)", question[place.end() :])
    return after is None or after[1] in FUNCTION_WORDS or after[1].endswith(("ed", "en"))


def _possessives(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[RewriteCandidate]:
    place = POSSESSIVE.search(question)
    if place is None or _meant_inside(question, own, place) or _owned_inside(own, place):
        return
    inside = sum(phrase.end <= place.start() for phrase in own)
    gender = {"his": "man", "her": "woman"}.get(place[0].strip().lower(), "")
    for mention in spoken:
        if gender and not mention.living(gender):
            continue
        said = mention.many if place[0].lower().startswith("their") else mention.text
        text = question[: place.start()] + cased(owning(said), place.start()) + " " + question[place.end() :]
        yield RewriteCandidate(text, "possessive", mention, place[0].split()[0].lower(), inside)


def _nouns(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[RewriteCandidate]:
    """A noun that names the kind of what was spoken of ("the city"), or a shorter name of it ("Anne")."""
    for mention in spoken:
        yield from _of_its_kind(question, mention)
        known = terms(mention.text)
        if len(known) < 2 or set(known) <= set(terms(question)):
            continue
        for place in _DEMONSTRATIVE.finditer(question):
            if place[0].lower().startswith(("this", "these")) and terms(place["noun"])[:1] not in (known[-1:], []):
                noun = place["noun"]
                text = f"{question[: place.start()]}the {noun} of {mention.text}{question[place.end() :]}"
                yield RewriteCandidate(text, "demonstrative", mention, place[0].lower())
            if terms(place["noun"]) == known[-1:] and not question[place.end() :].startswith(" of"):
                text = question[: place.start()] + cased(mention.text, place.start()) + question[place.end() :]
                yield RewriteCandidate(text, "demonstrative", mention, place[0].lower())
        for phrase in own:
            short = terms(phrase.text)
            written = set(bare(phrase.text).split()) <= set(mention.text.split())
            if written and short and len(short) < len(known) and short in (known[: len(short)], known[-len(short) :]):
                text = question[: phrase.start] + cased(mention.text, phrase.start) + question[phrase.end :]
                yield RewriteCandidate(text, "longer name", mention, phrase.text)


def _of_its_kind(question: str, mention: Mention) -> Iterator[RewriteCandidate]:
    """ "The city" for what a graph calls one."""
    for place in _DEMONSTRATIVE.finditer(question) if mention.classes else ():
        noun, after = place["noun"].lower(), question[place.end() :]
        if noun in mention.classes and not _DEFINED.match(after):
            text = question[: place.start()] + cased(mention.text, place.start()) + after
            yield RewriteCandidate(text, "demonstrative", mention, noun)


def _left_out(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[RewriteCandidate]:
    """ "What are the symptoms?" says of what only by what came before."""
    tail = re.search(r"[?.!\s]*$", question)
    assert tail is not None
    body, end = question[: tail.start()], question[tail.start() :]
    if re.search(r"[?.!]\s", body) or _SETTLED.search(body) or not _ASKING.match(body):
        return
    if own and _CLAUSE.search(body, own[0].end):
        return  # what is left out was named in the clause before
    known = set(terms(question))
    for mention in spoken:
        if mention.answered or known & set(terms(mention.text)):
            continue
        for kind, word in (("left out", "for" if _MEANT_FOR.search(body) else "of"), ("place", "in")):
            yield RewriteCandidate(f"{body} {word} {mention.text}{end}", kind, mention, inside=len(own))  # type: ignore[arg-type] # both are kinds


def lacks(question: str) -> bool:
    """Whether a question ends in what is always of something, and does not say of what: "the (main) causes"."""
    body = opened(question)
    ending = _ENDING.search(body)
    if ending is None:
        return bool(_MEANT_FOR.search(body))
    before, noun = ending["before"].split(), ending["noun"].lower()
    if noun not in RELATIONS and is_plural(noun):
        return noun.removesuffix("s") in RELATIONS or noun.removesuffix("es") in RELATIONS
    return PLAIN.issuperset(before) and (noun in RELATIONS or bool(_MEANT_FOR.search(body)))
