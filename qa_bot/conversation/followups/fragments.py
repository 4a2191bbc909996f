"""Completes fragments from the previous question: "why?", "and in winter?"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from qa_bot.conversation.followups.lexicon import RELATIONS
from qa_bot.conversation.followups.mentions import Exchange, Mention
from qa_bot.conversation.followups.phrases import NounPhrase, bare, is_plural, lowered, phrases
from qa_bot.conversation.followups.rewriting import POSSESSIVE, PRONOUN, RewriteCandidate, cased, fits, opened, owning
from qa_core.text.analysis import terms

_ABOUT = re.compile(r"^(?:(?:and|but|so|or)\s+)?(?:what|how)\s+about\s+(?!for\b)(?P<rest>.+)$", re.IGNORECASE)
_AND = re.compile(r"^(?:(?:and|or|but|also|even|only)\s+)+(?P<rest>.+)$", re.IGNORECASE)
_BARE = re.compile(
    r"^(?:(?:and|but|so)\s+)?(?P<wh>why(?: not)?|how(?: so)?|when|where|since when|"
    r"how (?:many|much|long|old|often))(?:(?<=why)(?: so|(?:['’]s| is| was) (?:that|this|it)))?\s*$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"^(?:what|which|who|whom|whose|when|where|why|how|is|are|am|can|could|do|does|did|should|will|would|has|have|was|"
    r"were|may|might|if|tell|give|show|describe|explain|list|compare|i|you|we|please|thanks|thank)\b",
    re.IGNORECASE,
)
_PREPOSITION = re.compile(r"^(?:for|in|on|at|from|with|during|by|under|to|before|after|between|near)\b", re.IGNORECASE)
_PLACE_INSIDE = re.compile(r"\s(?:in|on|at|from|during|by|under|before|after|between|near)\s", re.IGNORECASE)
_PLACED = re.compile(
    rf"(?!.*\b(?:what|which|who|whom|whose|when|where|why|how)\b){_PREPOSITION.pattern[1:]}(?: \S+){{1,3}}$",
    re.IGNORECASE,
)
"""A place, time or purpose alone: "in winter?"."""
_CLAUSES = re.compile(r"[,;:–—?!]\s+")
_OF = re.compile(r"the (?P<head>[\w -]+?) of\b", re.IGNORECASE)
_STATED = re.compile(r"^(?:what|who|which)\s+(?:is|are|was|were)\s+(?P<rest>.+)$", re.IGNORECASE)
_INVERTED = re.compile(
    r"^(?:(?:where|when|how|why|(?:in|on|at)\s+(?:what|which)\s+\w+)\s+)?"
    r"(?P<rest>(?:is|are|was|were|do|does|did|can|could|may|must|will|would|should|has|have)\b.+)$",
    re.IGNORECASE,
)
_ARTICLED = re.compile(r"(?:the|a|an|my|your|our)\s", re.IGNORECASE)
_MODEL = re.compile(r"(?:(?:(?:on|for|with|in|of|at|from|by) )?the |an? )?(\d[\w.-]*)(?: one| model)?")
_NAMED_MODEL = re.compile(r"\b(?:[A-Z][\w-]*|the) (\d[\w.-]*)(?!\w)")
"""A name with the number of its model: "the Brezza 500"; "and on the 300?" asks about the other one."""
_COMPARED = re.compile(
    r"(?:the )?(?:(?P<less>smaller|lighter|cheaper|lower|older)|(?P<more>bigger|larger|heavier|higher|newer)|other)"
    r"(?: one| model| version)?",
    re.IGNORECASE,
)
"""Another model by its place in the series: "and the smaller one?"."""
_EXTREME = re.compile(r"(?:the|in the)\s+(?:most|least|\w+est|best|worst)$", re.IGNORECASE)
_EXTREME_INSIDE = re.compile(r"\bthe\s+(?:most|least|\w+est|best|worst)\b", re.IGNORECASE)
_PARTICIPLE = re.compile(r"(?:\w{3,}ed|found|made|given|taken|grown|known|kept|paid|sold|built|written)$")
_BEING = re.compile(
    r"(?:(?:how|when|where|why|by whom)\s+)?(?:is|are|was|were)\s+(?:(?:the|an?)\s+)?[\w'’ -]+?"
    r"(?=\s+\w+(?:ed|wn|de|nd|ld|lt|en)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:(?:the|an?|my|our)\s+)?(?:\d+|[A-Z][\w-]*)(?:\s+[A-Z][\w-]*)*")
_WORD = re.compile(r"\b(?!(?:the|an?|my|our|your|his|her|their)\b)\w+", re.IGNORECASE)
"""A word that is no article."""
_REASONS = frozenset(["Why", "Why not", "How", "How so"])
"""Questions about a whole sentence: "why kids?" asks nothing."""
_NEGATIVE = {"can": "can't", "may": "can't", "will": "won't"}
_NARROWING = frozenset(["under", "over", "aged", "with", "without", "who", "that", "which"])
"""What begins so belongs to the phrase before it: "for children under six"."""
_INDEFINITE = re.compile(r"\b(?:a|an)\s+$")
_OTHER = re.compile(r"\b(?:the )?(?:other|same)\s+$", re.IGNORECASE)


def is_fragment(question: str) -> bool:
    """Whether a turn is not a whole sentence: "why?", "and in winter?", "what about dogs?"."""
    return bool(_BARE.match(opened(question))) or _rest(question) is not None


def completed(question: str, history: Sequence[Exchange], spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    """Questions that a fragment may mean after the last whole question."""
    former = next((turn.question for turn in reversed(history) if not is_fragment(turn.question)), "")
    if text := _of_other_model(_rest(question) or "", former, history):
        yield RewriteCandidate(text, "fragment", spoken[0] if spoken else None, question)
        return
    yield from _completed(question, _rest(question), former, spoken)


def _of_other_model(rest: str, former: str, history: Sequence[Exchange]) -> str:
    """The former question about another model, by its number or its place in the series; "" if that is unclear."""
    model, compared, named = _MODEL.fullmatch(rest), _COMPARED.fullmatch(rest), _NAMED_MODEL.search(former)
    if model and named and abs(len(model[1]) - len(named[1])) <= 1:
        return f"{former[: named.start(1)]}{model[1]}{former[named.end(1) :]}"
    if not compared or not named or not named[1].isdigit():
        return ""
    name, number = named[0].removesuffix(named[1]), int(named[1])
    texts = "\n".join(text for turn in history for text in (turn.question, turn.title, turn.answer))
    others = {int(other) for other in re.findall(rf"\b{re.escape(name)}(\d{{1,6}})(?![\w.])", texts)} - {number}
    if compared["less"]:
        chosen = max((other for other in others if other < number), default=None)
    elif compared["more"]:
        chosen = min((other for other in others if other > number), default=None)
    else:
        chosen = others.pop() if len(others) == 1 else None
    return "" if chosen is None else f"{former[: named.start(1)]}{chosen}{former[named.end(1) :]}"


def _rest(question: str) -> str | None:
    """The new part of a fragment: "dogs" in "what about dogs?"; None for a whole sentence."""
    text = opened(question)
    if about := _ABOUT.match(text):
        parts = _CLAUSES.split(about["rest"])
        return about["rest"] if len(about["rest"].split()) <= 8 and not any(map(_SENTENCE.match, parts[1:])) else None
    joined = _AND.match(text)
    if joined and len(joined["rest"].split()) <= 6 and not _SENTENCE.match(joined["rest"]):
        return joined["rest"]
    return text if _PLACED.match(text) else None


def _completed(question: str, rest: str | None, former: str, spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    if rest is None:
        yield from _bare_question(question, former, spoken)
    elif owner := POSSESSIVE.match(rest):
        owned = rest[owner.end() :]
        verb = "are" if is_plural(owned) else "is"
        for mention in spoken:
            text, replaced = f"What {verb} {owning(mention.text)} {owned}?", owner[0].strip().lower()
            yield RewriteCandidate(text, "fragment", mention, replaced, fits=fits(mention, replaced))
    elif pronoun := PRONOUN.search(rest):
        for mention in spoken:
            text = PRONOUN.sub(lambda _, m=mention: m.text, question, count=1)  # type: ignore[misc] # bound at once
            yield RewriteCandidate(text, "fragment", mention, fits=fits(mention, pronoun[0].lower()))
    elif _PREPOSITION.match(rest):
        yield from _elsewhere(rest, former, spoken)
    elif (governing := _OF.match(rest)) and governing["head"].split()[-1].removesuffix("s") in RELATIONS:
        verb = "are" if is_plural(governing["head"]) else "is"
        yield RewriteCandidate(f"What {verb} {rest}?", "fragment", spoken[0] if spoken else None, rest)
    else:
        yield from _substituted(rest, former, spoken)
        if rest.lower().startswith("the ") and rest[4:].islower() and not _with_head_of(rest, phrases(former)):
            verb = "are" if is_plural(rest) else "is"
            texts = ((f"What {verb} {rest} of {mention.text}?", mention) for mention in spoken)
            yield from (RewriteCandidate(text, "fragment", mention, fits=False) for text, mention in texts)


def _bare_question(question: str, former: str, spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    """ "Why?" asks for the reason of what was asked; "how many?" of what was spoken of."""
    match = _BARE.match(opened(question))
    assert match is not None
    word = match["wh"].capitalize()
    if word not in {"How many", "How much"}:
        if (inverted := _INVERTED.match(opened(former))) and (
            completed := _inverted_question(word, lowered(inverted["rest"]))
        ):
            yield RewriteCandidate(completed, "fragment", spoken[0] if spoken else None, word)
            return
        if word in _REASONS:
            return
        if stated := _STATED.match(opened(former)):
            yield RewriteCandidate(f"{word} {stated['rest']}?", "fragment", spoken[0] if spoken else None, word)
            return
    for mention in [mention for mention in spoken if mention.plural] or spoken:
        yield RewriteCandidate(f"{word} {bare(mention.text)}?", "fragment", mention, word, fits=mention.plural)


def _inverted_question(word: str, inverted: str) -> str:
    """ "Why can't I work from abroad?"; "" for "why not" about a question that is already negative."""
    if word != "Why not":
        return f"{word} {inverted}?"
    verb, _, rest = inverted.partition(" ")
    if verb.endswith(("n't", "n’t")) or re.search(r"\bnot\b", rest):
        return ""
    negative = _NEGATIVE.get(verb, f"{verb}n't")
    return f"Why {negative} {rest}?"


def _elsewhere(rest: str, former: str, spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    """The former question with another location, time or purpose, which replaces one of the same kind."""
    word = rest.split()[0].lower()
    body = opened(former)
    position = body.lower().rfind(f" {word} ")
    head, tail = (body, "") if position < 0 else (body[:position], _after(body, position + len(word) + 2, rest))
    is_only_place = position >= 0 or not (_PREPOSITION.match(rest) and _PLACE_INSIDE.search(body))
    text = f"{head} {lowered(rest)}{tail}?"
    yield RewriteCandidate(text, "fragment", spoken[0] if spoken else None, word, fits=is_only_place)


def _after(body: str, start: int, rest: str) -> str:
    """What follows the noun phrase that begins at `start` and is replaced by `rest`: " cost" in "may a hotel in London
    cost"; "" if `rest` says that, too."""
    named = _NAMED.match(body, start)
    phrase = next((p for p in phrases(body) if p.end > start and not _WORD.search(body, start, p.start)), None)
    if named:
        tail = body[named.end() :]
    elif phrase:
        tail = body[phrase.end :]
    else:
        return ""
    first = tail.split()[:1]
    if first == ["of"] and bare(rest.split(maxsplit=1)[1])[0].isupper():
        return ""
    return "" if {*first} & {*_NARROWING, *rest.lower().split()} else tail


def _substituted(rest: str, former: str, spoken: Sequence[Mention]) -> Iterator[RewriteCandidate]:
    """The former question with one of its noun phrases, or the number of a model, replaced by the new one."""
    if extreme := _EXTREME.match(rest):
        if _EXTREME_INSIDE.search(former):
            text = _EXTREME_INSIDE.sub(extreme[0], former, count=1)
            yield RewriteCandidate(text, "fragment", spoken[0] if spoken else None, rest)
        return
    if _PARTICIPLE.match(rest) and (being := _BEING.match(opened(former))):
        yield RewriteCandidate(f"{being[0]} {rest}?", "fragment", spoken[0] if spoken else None, rest)
        return
    known = {mention.text: mention for mention in spoken}
    for phrase in _substitutable(rest, former):
        new = (
            rest if rest[0].isupper() or _ARTICLED.match(rest) or not phrase.text.startswith("the ") else f"the {rest}"
        )
        before = former[: phrase.start]
        if rest[0].isupper() or _ARTICLED.match(rest) or is_plural(rest):
            before = _OTHER.sub("", _INDEFINITE.sub("", before))
        text = before + cased(new, len(before)) + former[phrase.end :]
        yield RewriteCandidate(text, "fragment", known.get(phrase.text), rest, fits=_are_alike(phrase.text, rest))


def _substitutable(rest: str, former: str) -> list[NounPhrase]:
    """Noun phrases to replace: with the same last word, names by a name, those of the same number, else any."""
    former_phrases = phrases(former)
    if alike := _with_head_of(rest, former_phrases):
        return alike
    named = [phrase for phrase in former_phrases if bare(phrase.text)[0].isupper()]
    if bare(rest)[:1].isupper() and named:
        return [phrase for phrase in named if is_plural(phrase.text) == is_plural(rest)] or named
    alike = [phrase for phrase in former_phrases if is_plural(phrase.text) == is_plural(rest)]
    return alike or list(former_phrases if len(rest.split()) <= 2 or " or " in rest else ())[:1]


def _with_head_of(rest: str, former_phrases: Iterable[NounPhrase]) -> list[NounPhrase]:
    """The phrases with the last word of the new one: "the birthing parent" for "the other parent"."""
    head = terms(rest)[-1:]
    return [phrase for phrase in former_phrases if head and terms(phrase.text)[-1:] == head]


def _are_alike(former: str, rest: str) -> bool:
    """Whether one noun phrase may replace the other: they have the same last word, or are names of the same number."""
    is_name = all(word[0].isupper() or word[0].isdigit() for text in (former, rest) for word in bare(text).split())
    return terms(former)[-1:] == terms(rest)[-1:] or (is_name and is_plural(former) == is_plural(rest))
