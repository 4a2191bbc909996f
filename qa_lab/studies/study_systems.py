"""The systems of the human study in Wang (2018), ch. 8.6.4, and their replies to a question.

Three more systems separate effects: `vanilla, ranked` and `selective, unranked` separate sampling from ranking,
`cg-topic` separates the hint from the persona. `vanilla` returns samples unranked; systems that rank return the best of
many samples by eq. 8.2.
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
from qa_bot.answering.models.dialogue_lines import HINTS, DialogueLines

NOTHING = "..."
"""The reply of a system that draws no words."""
_SPARE = 4  # samples drawn for each unranked reply, since some do not reach their end

Topic = Literal["", "ir", "hint"]


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    """A question of the study."""

    question: str
    hint: str  # the topic that the reply should have
    retrieved: tuple[str, ...] = ()  # replies of others, as hints


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """A way to make replies."""

    name: str
    persona: Persona | None = None
    speaker: str = ""  # name of the persona
    style: Style = "finetune"  # of the persona
    topic: Topic = ""  # source of the hints
    method: Method = "selective"
    ranks: bool = True

    def hints(self, question: StudyQuestion) -> tuple[str, ...]:
        return {"": (), "ir": question.retrieved, "hint": (question.hint,)}[self.topic]


def systems(personas: Mapping[str, Persona]) -> list[System]:
    """The ten systems of the study and three for comparison; most of them speak like the first persona."""
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
        *(System(f"{other}, finetune+cg-topic", persona, other, topic="hint") for other, persona in others.items()),
    ]


def replies(
    system: System,
    base: ChatModel,
    questions: Sequence[StudyQuestion],
    count: int,
    *,
    seed: int,
    generation: GenerationConfig,
) -> Iterator[tuple[str, ...]]:
    """Yield up to `count` distinct replies to each question, best first, or `NOTHING` if there are none.

    The seed of a question is the same for all systems.
    """
    for number, question in enumerate(questions):
        stream = RandomStream(seed * 1_000_003 + number)
        texts = _texts(system, base, question, count, stream, replace(generation, method=system.method))
        yield tuple(text for text in texts if text.strip()) or (NOTHING,)


def retrieved(questions: Sequence[str], texts: Sequence[str], *, count: int = HINTS) -> list[tuple[str, ...]]:
    """The best texts for each question by BM25; ties keep the order of `texts`."""
    with TemporaryDirectory() as folder:
        DialogueLines.write(Path(folder), texts)
        lines = DialogueLines.open(Path(folder))
        return [lines.search(question, count) for question in questions]


def _texts(
    system: System,
    base: ChatModel,
    question: StudyQuestion,
    count: int,
    stream: RandomStream,
    generation: GenerationConfig,
) -> list[str]:
    context, hints = [question.question], system.hints(question)
    if system.persona is not None:
        shares, styling = [Share(system.persona)], Styling(system.style)
        spoken = styled(shares, context, count, stream=stream, styling=styling, generation=generation, hints=hints)
        return [reply.text for reply in spoken]
    if system.ranks:
        ranked = respond(base, context, count, stream=stream, generation=generation, hints=hints)
        return [reply.text for reply in ranked]
    few = replace(generation, candidates=_SPARE * count)
    drawn = deduplicate(candidates(base, context, stream=stream, generation=few, hints=hints), base)
    return [base.text(candidate.tokens) for candidate in islice(drawn, count)]
