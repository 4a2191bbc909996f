"""The systems of the thesis' human study (ch. 8.6.4), and what each of them says to a question.

Three more tell apart what they do at once: `vanilla, ranked` and `selective, unranked` drawing and ranking, `cg-topic`
hint and voice. `vanilla` is words as they are drawn; those that rank give the best of many drawn texts by eq. 8.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from generators.conversation.chat_model import ChatModel
from generators.conversation.random_stream import RandomStream
from generators.conversation.ranking import GenerationConfig, Method, candidates, deduplicate, respond
from generators.personas.persona import Persona
from generators.personas.persona_replies import Share, Style, Styling, styled
from qa_core.text.analysis import terms
from retrievers.engines.index import KeywordQuery
from retrievers.engines.local.keyword import (
    Entry,
    KeywordIndex,
    KeywordWriter,
)

HINTS = 10
"""Retrieved texts that are hints together."""
NOTHING = "..."
"""Stands for a reply where a system finds no words."""
_SPARE = 4  # times as many texts are drawn where none are ranked, since some come to no end

Topic = Literal["", "ir", "hint"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the study."""

    question: str
    hint: str  # a topic that somebody wants in the reply
    retrieved: tuple[str, ...] = ()  # replies of others to be hints


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """How replies are made."""

    name: str
    persona: Persona | None = None
    speaker: str = ""  # what the persona is called
    style: Style = "finetune"  # of the persona
    topic: Topic = ""  # where hints come from
    method: Method = "selective"
    ranks: bool = True

    def hints(self, asked: Asked) -> tuple[str, ...]:
        return {"": (), "ir": asked.retrieved, "hint": (asked.hint,)}[self.topic]


def systems(personas: Mapping[str, Persona]) -> list[System]:
    """All ten, and three to compare them with; the first persona is what most of them speak like."""
    others = dict(personas)
    name = next(iter(others))
    first = others.pop(name)
    return [
        System("vanilla", method="vanilla", ranks=False),
        System("vanilla, ranked", method="vanilla"),
        System("selective, unranked", ranks=False),
        System("selective"),
        System("cg-ir", topic="ir"),
        System("cg-topic", topic="hint"),
        System("rank", first, name, "rank"),
        System("multiply", first, name, "multiply"),
        System("finetune", first, name),
        System("finetune+cg-ir", first, name, topic="ir"),
        System("finetune+cg-topic", first, name, topic="hint"),
        *(System(f"{other}, finetune+cg-topic", each, other, topic="hint") for other, each in others.items()),
    ]


def replies(
    system: System, base: ChatModel, asked: Sequence[Asked], count: int, *, seed: int, generation: GenerationConfig
) -> Iterator[tuple[str, ...]]:
    """Up to `count` distinct replies to each question, the best first; at least `NOTHING`.

    All systems draw from generators in the same states.
    """
    for place, each in enumerate(asked):
        stream = RandomStream(seed * 1_000_003 + place)
        found = _said(system, base, each, count, stream, replace(generation, method=system.method))
        yield tuple(text for text in found if text.strip()) or (NOTHING,)


def retrieved(questions: Sequence[str], texts: Sequence[str], *, count: int = HINTS) -> list[tuple[str, ...]]:
    """The texts that BM25 finds best for each question; equal ones in their order."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "keyword"
        with KeywordWriter(path) as writer:
            writer.add(Entry(place, place, "", text) for place, text in enumerate(texts))
        index = KeywordIndex(path)
        queries = [KeywordQuery(tuple((term, 1.0) for term in terms(question))) for question in questions]
        return [tuple(texts[key] for key in index.search(query, count).documents.tolist()) for query in queries]


def _said(
    system: System, base: ChatModel, asked: Asked, count: int, stream: RandomStream, generation: GenerationConfig
) -> list[str]:
    context, hints = [asked.question], system.hints(asked)
    if system.persona is not None:
        shares, styling = [Share(system.persona)], Styling(system.style)
        made = styled(shares, context, count, stream=stream, styling=styling, generation=generation, hints=hints)
        return [each.text for each in made]
    if system.ranks:
        return [each.text for each in respond(base, context, count, stream=stream, generation=generation, hints=hints)]
    few = replace(generation, candidates=_SPARE * count)
    drawn = deduplicate(candidates(base, context, stream=stream, generation=few, hints=hints), base)
    return [base.text(each.tokens) for each in islice(drawn, count)]
