"""What a turn may mean: the turn itself, and rewrites that stand alone, made by rules from what was spoken of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from qa_bot.followups.mentions import Exchange, Found, Mention, bare, is_plural, phrases
from qa_core.chunking import FUNCTION_WORDS
from qa_core.text import terms

Kind = Literal["as it is", "pronoun", "possessive", "demonstrative", "longer name", "left out", "place", "fragment"]

MENTIONS = 10
"""Mentions that are tried in each place, latest first."""
LONGER = 400
"""Characters that a rewrite may be longer than the turn."""

_PRONOUN = re.compile(
    r"\b(?P<thing>it|this|that(?=\s*[?.!,]|$))\b|\b(?P<several>they|them|these|those)\b|\b(?P<man>he|him)\b|"
    r"\b(?P<woman>she|her(?=\s*[?.!,]|$))\b",
    re.IGNORECASE,
)
_POSSESSIVE = re.compile(r"\b(?:its|it['’]s(?=\s+\w+\s+(?!\w+ing))|their|his|her)\s+(?=[a-z])", re.IGNORECASE)
_DEMONSTRATIVE = re.compile(r"\b(?:this|that|these|those|the)\s+(?P<noun>[a-z][\w-]*)", re.IGNORECASE)
_EMPTY = re.compile(
    r"\bhow (?:long|much|many \w+) (?:does|did|will|would) it (?:take|cost) (?:me |you )?to\b|"
    r"\bwhat does it mean (?:to|when|if)\b|"
    r"\b(?:is|was) it (?:possible|true|normal|ok|okay|necessary|legal) (?:to|that)\b|"
    r"\bdoes it (?:matter|mean)\b|\b(?:it|that) (?:is|was) (?:possible|true|raining|snowing)\b|\bmake it\b|"
    r"\b(?:is|was) it (?:too )?(?:safe|ok|okay|bad|good|better|best|hard|easy|difficult|important|late|early|worth|"
    r"fine|healthy|dangerous|normal|wise|polite|rude|wrong|right)\b.* (?:to|that)\b|\b(?:is|was) it \w+ who\b|"
    r"\bwhat (?:time|day) is it\b|\bhow far is it\b|\bit(?: is|['’]s) (?:summer|winter|dark|hot|cold|late)\b|"
    r"\bis it (?:the|a|an|\w+ or \w+)\s*[?.!]*$|\bworth it\b|\bit (?:rains?|snows?)\b",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\b(?:and|or|but|when|if|because|since|so|while|without|after|before)\b|[,;.?!]", re.IGNORECASE)
_THERE = re.compile(r"\bthere(?=\s*[?.!]*$)", re.IGNORECASE)
_ABOUT = re.compile(r"^(?:(?:and|but|so|or)\s+)?(?:what|how)\s+about\s+(?P<rest>.+)$", re.IGNORECASE)
_AND = re.compile(r"^(?:and|or|but|also)\s+(?P<rest>.+)$", re.IGNORECASE)
_BARE = re.compile(
    r"^(?:(?:and|but|so)\s+)?(?P<wh>why(?: not)?|how(?: so)?|when|where|since when|"
    r"how (?:many|much|long|old|often))\s*$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:what|which|who|whom|whose|when|where|why|how|is|are|am|can|could|do|does|did|should|will|would|has|have|was|"
    r"were|may|might|if|tell|give|show|describe|explain|list|compare|i|you|we|please|thanks|thank)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"^(?:for|in|on|at|from|with|during|by|under|to|before|after|between|near)\b", re.IGNORECASE)
_SETTLED = re.compile(r"\b(?:in|at|on|during|by|from) the \w+$", re.IGNORECASE)
"""Ends of turns that already say where or when."""
_ASKING = re.compile(
    r"(?:what|which|who|where|when|why|how|are|is|do|does|did|was|were|can|tell|describe|explain|list)\b", re.IGNORECASE
)
_STATED = re.compile(r"^(?:what|who|which)\s+(?:is|are|was|were)\s+(?P<rest>.+)$", re.IGNORECASE)
_INVERTED = re.compile(
    r"^(?:(?:where|when|how|why)\s+)?(?P<rest>(?:is|are|was|were|do|does|did|can|could|will|would|should|has|have)\b.+)$",
    re.IGNORECASE,
)
_ARTICLED = re.compile(r"(?:the|a|an|my|your|our)\s", re.IGNORECASE)
_INDEFINITE = re.compile(r"\b(?:a|an)\s+$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reading of a turn: its text, what was done, and with which mention; `inside` counts the noun phrases that
    stand before the place and could be meant as well."""

    text: str
    kind: Kind = "as it is"
    mention: Mention | None = None
    replaced: str = ""
    inside: int = 0


def candidates(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> list[Candidate]:
    """The turn as it is, first, and its rewrites, each text once."""
    limit = len(question) + LONGER
    found: dict[str, Candidate] = {question: Candidate(question)}
    for candidate in _rewrites(question, history, spoken[:MENTIONS]):
        if len(candidate.text) <= limit:
            found.setdefault(candidate.text, candidate)
    return list(found.values())


def is_fragment(question: str) -> bool:
    """Whether a turn has no sentence of its own: "why?", "and in winter?", "what about dogs?"."""
    return bool(_BARE.match(_open(question))) or _rest(question) is not None


def _rewrites(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> Iterator[Candidate]:
    own = phrases(question)
    if (rest := _rest(question)) is not None or _BARE.match(_open(question)):
        former = next((each.question for each in reversed(history) if not is_fragment(each.question)), "")
        yield from _completed(question, rest, former, spoken)
        return
    for mention in spoken if _THERE.search(question) else ():
        yield Candidate(_THERE.sub(f"in {mention.text}", question), "place", mention, "there")
    yield from _pronouns(question, own, spoken)
    yield from _possessives(question, own, spoken)
    yield from _nouns(question, own, spoken)
    if not _PRONOUN.search(question) and not _POSSESSIVE.search(question):
        yield from _left_out(question, own, spoken)


# --------------------------------------------------------------------------------------------------- words for words


def _pronouns(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[Candidate]:
    places = [place for place in _PRONOUN.finditer(question) if _stands_alone(question, place)]
    if not places or _EMPTY.search(question):
        return
    first = places[0]
    if _meant_inside(question, own, first.start()):
        return
    alike = [place for place in places if place.lastgroup == first.lastgroup]
    inside = sum(phrase.end <= first.start() for phrase in own)
    for mention in spoken:
        text = question
        for place in reversed(alike):
            said = mention.many if place.lastgroup == "several" else mention.text
            text = text[: place.start()] + _cased(said, place.start()) + text[place.end() :]
        yield Candidate(_possessives_too(text, mention), "pronoun", mention, first[0].lower(), inside)


def _meant_inside(question: str, own: Sequence[Found], place: int) -> bool:
    """Whether a thing of the turn itself is meant: "what is mortadella and where is it from?"."""
    return any(_JOINED.search(question, phrase.end, place) for phrase in own if phrase.end <= place)


def _owned_inside(own: Sequence[Found], place: re.Match[str]) -> bool:
    """Whether the turn names an owner of the same number before: "why do dogs wag their tails?"."""
    many = place[0].lower().startswith("their")
    return any(is_plural(phrase.text) == many for phrase in own if phrase.end <= place.start())


def _stands_alone(question: str, place: re.Match[str]) -> bool:
    """Whether "this" or "these" is no article of a noun; "this" before a verb or the end stands alone."""
    if place[0].lower() not in {"this", "these", "those"}:
        return True
    after = re.match(r"\s+([a-z][\w-]*)", question[place.end() :])
    return after is None or after[1] in FUNCTION_WORDS or after[1].endswith(("ed", "en"))


def _possessives_too(text: str, mention: Mention) -> str:
    wanted = "their" if mention.plural else "its"
    return re.sub(rf"\b{wanted}\s+(?=[a-z])", _owning(mention.text) + " ", text)


def _possessives(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[Candidate]:
    place = _POSSESSIVE.search(question)
    if place is None or _meant_inside(question, own, place.start()) or _owned_inside(own, place):
        return
    inside = sum(phrase.end <= place.start() for phrase in own)
    for mention in spoken:
        said = mention.many if place[0].lower().startswith("their") else mention.text
        text = question[: place.start()] + _cased(_owning(said), place.start()) + " " + question[place.end() :]
        yield Candidate(text, "possessive", mention, place[0].split()[0].lower(), inside)


def _nouns(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[Candidate]:
    """A noun that names the kind of what was spoken of ("the city"), or a shorter name of it ("Anne")."""
    for mention in spoken:
        known = terms(mention.text)
        if len(known) < 2 or set(known) <= set(terms(question)):
            continue
        for place in _DEMONSTRATIVE.finditer(question):
            if place[0].lower().startswith(("this", "these")) and terms(place["noun"])[:1] not in (known[-1:], []):
                noun = place["noun"]
                text = f"{question[: place.start()]}the {noun} of {mention.text}{question[place.end() :]}"
                yield Candidate(text, "demonstrative", mention, place[0].lower())
            if terms(place["noun"]) == known[-1:] and not question[place.end() :].startswith(" of"):
                text = question[: place.start()] + _cased(mention.text, place.start()) + question[place.end() :]
                yield Candidate(text, "demonstrative", mention, place[0].lower())
        for phrase in own:
            short = terms(phrase.text)
            written = set(bare(phrase.text).split()) <= set(mention.text.split())
            if written and short and len(short) < len(known) and short in (known[: len(short)], known[-len(short) :]):
                text = question[: phrase.start] + _cased(mention.text, phrase.start) + question[phrase.end :]
                yield Candidate(text, "longer name", mention, phrase.text)


def _left_out(question: str, own: Sequence[Found], spoken: Iterable[Mention]) -> Iterator[Candidate]:
    """ "What are the symptoms?" says of what only by what came before."""
    tail = re.search(r"[?.!\s]*$", question)
    assert tail is not None
    body, end = question[: tail.start()], question[tail.start() :]
    if re.search(r"[?.!]\s", body) or _SETTLED.search(body) or not _ASKING.match(body):
        return
    known = set(terms(question))
    for mention in spoken:
        if known & set(terms(mention.text)):
            continue
        for kind, word in (("left out", "of"), ("place", "in")):
            yield Candidate(f"{body} {word} {mention.text}{end}", kind, mention, inside=len(own))  # type: ignore[arg-type] # both are kinds


# --------------------------------------------------------------------------------------------------------- fragments


def _rest(question: str) -> str | None:
    """What a fragment brings that is new: "dogs" of "what about dogs?"; None for a whole sentence."""
    text = _open(question)
    if (about := _ABOUT.match(text)) and len(about["rest"].split()) <= 8:
        return about["rest"]
    joined = _AND.match(text)
    if joined and len(joined["rest"].split()) <= 6 and not _SENTENCE.match(joined["rest"]):
        return joined["rest"]
    return None


def _open(question: str) -> str:
    return question.strip().rstrip("?.! ")


def _completed(question: str, rest: str | None, former: str, spoken: Sequence[Mention]) -> Iterator[Candidate]:
    if rest is None:
        yield from _asked_bare(question, former, spoken)
    elif owner := _POSSESSIVE.match(rest):
        asked = rest[owner.end() :]
        verb = "are" if is_plural(asked) else "is"
        for mention in spoken:
            yield Candidate(
                f"What {verb} {_owning(mention.text)} {asked}?", "fragment", mention, owner[0].strip().lower()
            )
    elif _PRONOUN.search(rest):
        yield from (
            Candidate(_PRONOUN.sub(lambda _, m=mention: m.text, question, count=1), "fragment", mention)  # type: ignore[misc] # bound at once
            for mention in spoken
        )
    elif _PREPOSITION.match(rest):
        yield from _elsewhere(rest, former, spoken)
    else:
        yield from _exchanged(rest, former, spoken)
        if rest.lower().startswith("the ") and rest[4:].islower():
            verb = "are" if is_plural(rest) else "is"
            yield from (Candidate(f"What {verb} {rest} of {each.text}?", "fragment", each) for each in spoken)


def _asked_bare(question: str, former: str, spoken: Sequence[Mention]) -> Iterator[Candidate]:
    """ "Why?" asks for the reason of what was asked; "how many?" of what was spoken of."""
    asked = _BARE.match(_open(question))
    assert asked is not None
    word = asked["wh"].capitalize()
    if word not in {"How many", "How much"}:
        if inverted := _INVERTED.match(_open(former)):
            yield Candidate(f"{word} {_lowered(inverted['rest'])}?", "fragment", spoken[0] if spoken else None, word)
            return
        if stated := _STATED.match(_open(former)):
            yield Candidate(f"{word} {stated['rest']}?", "fragment", spoken[0] if spoken else None, word)
            return
    for mention in [each for each in spoken if each.plural] or spoken:
        yield Candidate(f"{word} {bare(mention.text)}?", "fragment", mention, word)


def _elsewhere(rest: str, former: str, spoken: Sequence[Mention]) -> Iterator[Candidate]:
    """The former question with another place, time or purpose: in exchange for one of the same kind, or besides."""
    word = rest.split()[0].lower()
    body = _open(former)
    told = body.lower().rfind(f" {word} ")
    kept = body if told < 0 else body[:told]
    yield Candidate(f"{kept} {_lowered(rest)}?", "fragment", spoken[0] if spoken else None, word)


def _exchanged(rest: str, former: str, spoken: Sequence[Mention]) -> Iterator[Candidate]:
    """The former question with one of its things exchanged for the new one."""
    known = {mention.text: mention for mention in spoken}
    meant = [phrase for phrase in phrases(former) if is_plural(phrase.text) == is_plural(rest)]
    named = [phrase for phrase in meant if bare(phrase.text)[0].isupper()]
    for phrase in named if bare(rest)[:1].isupper() and named else meant:
        new = (
            rest if rest[0].isupper() or _ARTICLED.match(rest) or not phrase.text.startswith("the ") else f"the {rest}"
        )
        before = former[: phrase.start]
        if rest[0].isupper() or _ARTICLED.match(rest) or is_plural(rest):
            before = _INDEFINITE.sub("", before)
        text = before + _cased(new, len(before)) + former[phrase.end :]
        yield Candidate(text, "fragment", known.get(phrase.text), rest)


# ------------------------------------------------------------------------------------------------------------- letters


def _owning(phrase: str) -> str:
    return f"{phrase}'" if is_plural(phrase) else f"{phrase}'s"


def _cased(phrase: str, place: int) -> str:
    return phrase[:1].upper() + phrase[1:] if place == 0 else phrase


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
