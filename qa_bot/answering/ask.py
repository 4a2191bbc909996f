"""`Ask`: one question with everything that the caller wants of its answer. Front ends build it and pass it on whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from qa_bot.answering.scope import EVERYTHING, Scope
from qa_core.arguments import ArgumentError, expect_count, expect_number, expect_text, expect_type
from qa_core.text.safe_text import valid
from qa_core.types import Question


class ClientTurn(NamedTuple):
    """A turn of a conversation that the client keeps, not the bot."""

    question: str
    reply: str
    """The answer, without a persona's sentence; "" if the bot did not answer."""
    asks_back: bool = False
    title: str = ""
    """Title of the document behind the answer, if known."""


@dataclass(frozen=True, slots=True)
class Readings:
    """What a follow-up is searched as in place of the question; nothing for a question that stands alone."""

    texts: tuple[str, ...] = ()
    """Searched together, and their evidence is averaged; first the turn, unless it only asks for a property."""
    topic: str = ""
    """Title of the document that answered the turn before, if the turn may go on with it."""
    is_fragment: bool = False
    """Whether the turn alone asks nothing, and could not be completed: "und in Bern?"."""
    least_alone: float | None = None
    """If the readings are refused: confidence from which the question is answered without them; None if it is not."""


STANDS_ALONE = Readings()


@dataclass(frozen=True, slots=True)
class Ask:
    question: Question
    persona: str = ""  # a name, or several with weights: "captain:2,gardener:1"
    hint: str = ""  # what the persona's sentence should be about; by default the answer
    cell: int | None = None  # place on the topic map, row-major, in place of the hint's words
    seconds: float | None = None  # until the best answer so far goes out; by default as configured
    top: int = 10  # documents to name as sources, and sentences of the persona
    trace: bool = False  # attach queries, candidates and the scores of every stage
    conversation: str | None = None  # id under which turns belong together; a new one begins a conversation
    history: Sequence[ClientTurn] | None = None  # earlier turns, if the client keeps the conversation
    understood: str = ""  # ask exactly this, whatever the turn might mean as a follow-up
    readings: Readings = STANDS_ALONE  # what a follow-up is searched as
    reference: str = ""  # the caller's id of the question, stored as `ask` in the answer object
    id: str = ""  # id of the answer; by default a new one
    precision: float | None = None  # wanted share of right answers; by default as configured
    scope: Scope = EVERYTHING  # the documents that it is asked of
    suggest: bool = True  # say what could be asked instead if there is no sure answer

    def in_one_text(self) -> Ask:
        """The same without readings: the question as understood, or the last reading if that is a fragment."""
        if not self.readings.is_fragment:
            return replace(self, readings=STANDS_ALONE)
        question = replace(self.question, title=self.readings.texts[-1])
        return replace(self, question=question, readings=STANDS_ALONE)

    @classmethod
    def of(cls, question: str | Question, *, body: str = "", category: str = "", **options: Any) -> Ask:
        """From a text, or a `Question`, and any other fields. Lone surrogates of a text, which no encoding has, are
        replaced.

        Raises:
            ArgumentError: an unknown field, or a question, body or category that is no text.
        """
        known = [field.name for field in fields(cls)]
        if unknown := [name for name in options if name not in known]:
            expected = ", ".join(["body", "category", *known[1:]])
            raise ArgumentError(f"Expected fields of a question ({expected}), but got {', '.join(unknown)}.")
        if isinstance(question, Question):
            if body or category:
                raise ArgumentError("Expected body and category in the `Question`, but got them beside it.")
            return cls(question, **options)
        for name, value in (("question", question), ("body", body), ("category", category)):
            expect_text(name, value)
        return cls(Question(valid(question), valid(body), category=valid(category)), **options)

    def expect_usable(self) -> None:
        """Raises ArgumentError if a field has a value of another type, or one out of its range.

        A wrong value that was recorded with its answer would make the journal of the home unreadable.
        """
        for name in ("persona", "hint", "understood", "reference", "id"):
            expect_text(name, getattr(self, name))
        expect_count("top", self.top)
        expect_type("question", self.question, Question)
        expect_type("scope", self.scope, Scope)
        if self.conversation is not None:
            expect_text("conversation", self.conversation)
        if self.cell is not None:
            expect_count("cell", self.cell, least=0)
        if self.seconds is not None:
            expect_number("seconds", self.seconds)
        if self.precision is not None:
            expect_number("precision", self.precision, most=1)
        for turn in self.history or ():
            expect_type("history", turn, ClientTurn)
