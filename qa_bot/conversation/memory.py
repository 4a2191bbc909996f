"""The last turns of the conversations in use; turns of other conversations are read from the store."""

from __future__ import annotations

import json
import logging
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from qa_bot.answering.answer_json import as_dict, from_dict
from qa_core.text.small_talk import Talk, recognise
from qa_core.types import Answer
from retrievers.long_questions import TITLE, shortened

if TYPE_CHECKING:
    from qa_bot.home.store import Feedback, Store, Turn
    from qa_bot.home.store.records import Vote

log = logging.getLogger(__name__)

REMEMBERED_TURNS = 30
"""Most turns of a conversation in memory."""
CONVERSATIONS = 256
"""Most conversations in memory; the least recently used ones are dropped."""
TRACES = 500
"""Most answers whose trace is kept for a later vote."""
TITLES = 2000
"""Most answers whose document can be looked up by their text."""


@dataclass(frozen=True, slots=True)
class RememberedTurn:
    """An answered turn."""

    question: str
    understood: str
    """The question that was searched after follow-ups were resolved."""
    reply: str
    """The answer's text without a persona's sentence; "" if there was no answer."""
    recall: Callable[[], Answer]
    """Returns the answer."""
    title: str = ""
    """Title of the answer's first document."""
    shown: str = ""
    """How the question was shown as understood, if that differs from `understood`."""
    talk: Talk | None = None
    asks_back: bool = False
    """Whether the answer offers choices."""
    id: str = ""
    reference: str = ""
    """The caller's id of the question."""
    vote: Vote | None = None

    @classmethod
    def of(cls, question: str, answer: Answer, *, reference: str = "", vote: Vote | None = None) -> RememberedTurn:
        question = shortened(question, TITLE)
        return cls(
            question=question,
            understood=shortened(answer.searched or answer.understood, TITLE) or question,
            shown=shortened(answer.understood, TITLE) if answer.searched else "",
            reply=sourced(answer),
            recall=partial(_recalled, _packed(as_dict(answer))),
            title=title_of(answer),
            talk=recognise(question),
            asks_back=bool(answer.choices),
            id=answer.id,
            reference=reference,
            vote=vote,
        )


def title_of(answer: Answer) -> str:
    """Title of an answer's first document, or ""."""
    return answer.sources[0].title if answer.answered and answer.sources else ""


def sourced(answer: Answer) -> str:
    """An answer's text without the persona's sentence before it."""
    return answer.text[answer.styled.span[1] :].lstrip() if answer.styled and answer.styled.span else answer.text


def of_turns(turns: Iterable[Turn], votes: Mapping[str, Feedback]) -> list[RememberedTurn]:
    """Recorded turns; the last answer to a reference takes the position of its first."""
    remembered: dict[str, RememberedTurn] = {}
    for turn in turns:
        vote, reference = votes.get(turn.id), str(turn.answer.get("ask", ""))
        past = RememberedTurn.of(
            turn.question, from_dict(turn.answer), reference=reference, vote=vote.vote if vote else None
        )
        remembered[reference or turn.id] = past
    return list(remembered.values())


def recorded_turns(open_store: Callable[[], Store], conversation: str) -> list[RememberedTurn]:
    """The last turns of a conversation in the store; empty, with a warning, if the store cannot be used."""
    from qa_bot.home.store import StoreError, with_present_ids  # late: an answer needs no SQLAlchemy

    try:
        store = open_store()
        present = store.sources.present_ids()
        turns = [with_present_ids(turn, present) for turn in store.last_turns(conversation, REMEMBERED_TURNS)]
        return of_turns(turns, store.last_feedback(conversation))
    except StoreError as error:
        log.warning("Earlier turns are unknown, because the store cannot be used: %s", error)
        return []


class Memory:
    """The last turns of conversations; safe to share between threads."""

    def __init__(self, load: Callable[[str], Sequence[RememberedTurn]]) -> None:
        """Args: `load` reads the turns of a conversation that is not in memory."""
        self._load = load
        self._lock = Lock()
        self._known: OrderedDict[str, list[RememberedTurn]] = OrderedDict()
        self._traces: OrderedDict[str, bytes] = OrderedDict()
        self._titles: OrderedDict[str, str] = OrderedDict()

    def begin(self, conversation: str) -> None:
        """Start a new conversation, whose turns need not be loaded."""
        self._keep(conversation, [])

    def recall(self, conversation: str) -> tuple[RememberedTurn, ...]:
        """The turns of a conversation, oldest first."""
        with self._lock:
            known = self._known.get(conversation)
            if known is not None:
                self._known.move_to_end(conversation)
                return tuple(known)
        return self._keep(conversation, list(self._load(conversation))[-REMEMBERED_TURNS:])

    def add(self, conversation: str, past: RememberedTurn, trace: Mapping[str, Any] | None = None) -> None:
        """Add a turn, or replace the turn with the same reference."""
        content = None if trace is None else _packed(trace)
        with self._lock:
            if content is not None:
                self._traces[past.id] = content
                _bound(self._traces, TRACES)
            known = self._known.get(conversation)
            if known is None:  # `recall` will load it
                return
            same = (i for i, turn in enumerate(known) if past.reference and turn.reference == past.reference)
            if (position := next(same, None)) is not None:
                known[position] = past
            else:
                known.append(past)
            del known[:-REMEMBERED_TURNS]

    def note(self, answer: Answer) -> None:
        """Remember the title of an answer's document, for clients that send back only the text."""
        if title := title_of(answer):
            with self._lock:
                self._titles[sourced(answer)] = title
                self._titles.move_to_end(sourced(answer))
                _bound(self._titles, TITLES)

    def title(self, reply: str) -> str:
        """The title of the document that a reply came from, or "" if it is not known any more."""
        with self._lock:
            return self._titles.get(reply, "")

    def vote(self, conversation: str | None, id: str, vote: Vote) -> None:  # noqa: A002  # the answer's own name
        """Record a vote; it counts from the next turn on."""
        with self._lock:
            known = self._known.get(conversation or "", [])
            known[:] = [replace(turn, vote=vote) if turn.id == id else turn for turn in known]

    def trace(self, id: str) -> Mapping[str, Any] | None:  # noqa: A002  # the answer's own name
        """The trace of an answer, if it is still in memory."""
        with self._lock:
            content = self._traces.get(id)
        return None if content is None else _unpacked(content)

    def forget(self, conversation: str) -> None:
        """Drop a conversation that was deleted or has expired; the store may still load it again."""
        with self._lock:
            for past in self._known.pop(conversation, ()):
                self._traces.pop(past.id, None)

    def _keep(self, conversation: str, turns: list[RememberedTurn]) -> tuple[RememberedTurn, ...]:
        with self._lock:
            known = self._known.setdefault(conversation, turns)
            self._known.move_to_end(conversation)
            _bound(self._known, CONVERSATIONS)
            return tuple(known)


def _packed(content: Mapping[str, Any]) -> bytes:
    """Compressed JSON. A trace of 60 KB of objects takes about 5 KB, an answer with its sources 2 KB instead of 9."""
    import orjson  # late: a question of the command line needs no traces

    try:
        data = orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)
    except orjson.JSONEncodeError:  # a text that is not UTF-8, or a very large number
        data = json.dumps(content).encode()
    return zlib.compress(data, 1)


def _unpacked(content: bytes) -> dict[str, Any]:
    unpacked: dict[str, Any] = json.loads(zlib.decompress(content))
    return unpacked


def _recalled(content: bytes) -> Answer:
    return from_dict(_unpacked(content))


def _bound(entries: OrderedDict[str, Any], size: int) -> None:
    while len(entries) > size:
        entries.popitem(last=False)
