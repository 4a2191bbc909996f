"""What was said in conversations: the last turns of those in use, read from the store where they are not at hand."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from qa_bot.answering.answer_json import from_dict
from qa_core.text.small_talk import Talk, recognise
from qa_core.types import Answer

if TYPE_CHECKING:
    from qa_bot.home.store import Feedback, Turn
    from qa_bot.home.store.records import Vote

REMEMBERED_TURNS = 30
"""Turns of a conversation that are remembered."""
CONVERSATIONS = 256
"""Conversations at hand; those not used for longest are read again when they go on."""
TRACES = 500
"""Answers whose trace is kept until somebody votes on them."""
TITLES = 2000
"""Answers whose document is known by their text."""


@dataclass(frozen=True, slots=True)
class RememberedTurn:
    """A turn that was answered."""

    question: str
    understood: str
    """The question that was asked, as it stands alone."""
    said: str
    """What was answered, without a persona's sentence; "" where nothing was."""
    recall: Callable[[], Answer]
    """The answer as it was given."""
    title: str = ""
    """Of the document that the answer comes from first."""
    talk: Talk | None = None
    asks_back: bool = False
    """Whether the answer offers choices."""
    id: str = ""
    reference: str = ""
    """The asker's own id of the question."""
    vote: Vote | None = None

    @classmethod
    def of(cls, question: str, answer: Answer, *, reference: str = "", vote: Vote | None = None) -> RememberedTurn:
        return cls(
            question=question,
            understood=answer.understood or question,
            said=sourced(answer),
            recall=lambda: answer,
            title=title_of(answer),
            talk=recognise(question),
            asks_back=bool(answer.choices),
            id=answer.id,
            reference=reference,
            vote=vote,
        )


def title_of(answer: Answer) -> str:
    """Of the document that an answer comes from first, "" where there is none."""
    return answer.sources[0].title if answer.answered and answer.sources else ""


def sourced(answer: Answer) -> str:
    """An answer's text without the sentence of a persona before it."""
    return answer.text[answer.styled.span[1] :].lstrip() if answer.styled and answer.styled.span else answer.text


def of_turns(turns: Iterable[Turn], votes: Mapping[str, Feedback]) -> list[RememberedTurn]:
    """Recorded turns as they are remembered; a question that was asked anew stands in its first place."""
    found: dict[str, RememberedTurn] = {}
    for turn in turns:
        vote, reference = votes.get(turn.id), str(turn.answer.get("ask", ""))
        past = RememberedTurn.of(
            turn.question, from_dict(turn.answer), reference=reference, vote=vote.vote if vote else None
        )
        found[reference or turn.id] = past
    return list(found.values())


class Memory:
    """The last turns of conversations; safe to share between threads."""

    def __init__(self, load: Callable[[str], Sequence[RememberedTurn]]) -> None:
        """`load` reads what was said in a conversation that is not at hand."""
        self._load = load
        self._lock = Lock()
        self._known: OrderedDict[str, list[RememberedTurn]] = OrderedDict()
        self._traces: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._titles: OrderedDict[str, str] = OrderedDict()

    def begin(self, conversation: str) -> None:
        """Nothing was said yet in a new conversation: it need not be looked for."""
        self._keep(conversation, [])

    def recall(self, conversation: str) -> tuple[RememberedTurn, ...]:
        """What was said, oldest first."""
        with self._lock:
            known = self._known.get(conversation)
            if known is not None:
                self._known.move_to_end(conversation)
                return tuple(known)
        return self._keep(conversation, list(self._load(conversation))[-REMEMBERED_TURNS:])

    def add(self, conversation: str, past: RememberedTurn, trace: Mapping[str, Any] | None = None) -> None:
        """Remember a turn, in the place of one with the same reference: that question was asked anew."""
        with self._lock:
            if trace is not None:
                self._traces[past.id] = trace
                _bound(self._traces, TRACES)
            known = self._known.get(conversation)
            if known is None:  # nobody recalled it: it is read when somebody does
                return
            places = [place for place, each in enumerate(known) if past.reference and each.reference == past.reference]
            if places:
                known[places[0]] = past
            else:
                known.append(past)
            del known[:-REMEMBERED_TURNS]

    def note(self, answer: Answer) -> None:
        """Remember where a text comes from, for clients that tell no more than the text when they go on."""
        if title := title_of(answer):
            with self._lock:
                self._titles[sourced(answer)] = title
                self._titles.move_to_end(sourced(answer))
                _bound(self._titles, TITLES)

    def title(self, said: str) -> str:
        """The title of the document that a text came from, where that is still known."""
        with self._lock:
            return self._titles.get(said, "")

    def vote(self, conversation: str | None, id: str, vote: Vote) -> None:  # noqa: A002  # the answer's own name
        """A vote holds from the next turn on."""
        with self._lock:
            known = self._known.get(conversation or "", [])
            known[:] = [replace(each, vote=vote) if each.id == id else each for each in known]

    def trace(self, id: str) -> Mapping[str, Any] | None:  # noqa: A002  # the answer's own name
        """How an answer was found, where that is still known."""
        with self._lock:
            return self._traces.get(id)

    def forget(self, conversation: str) -> None:
        """The conversation was deleted, or its time is over; whatever the store has of it is found again."""
        with self._lock:
            for past in self._known.pop(conversation, ()):
                self._traces.pop(past.id, None)

    def _keep(self, conversation: str, said: list[RememberedTurn]) -> tuple[RememberedTurn, ...]:
        with self._lock:
            known = self._known.setdefault(conversation, said)
            self._known.move_to_end(conversation)
            _bound(self._known, CONVERSATIONS)
            return tuple(known)


def _bound(kept: OrderedDict[str, Any], size: int) -> None:
    while len(kept) > size:
        kept.popitem(last=False)
