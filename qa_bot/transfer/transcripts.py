"""A conversation as the JSON object of the HTTP service, and as Markdown.

Answers keep their structure; all other markup of users and documents is escaped, and only web addresses become links.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from qa_bot.home.store import Feedback, Store, Turn
from qa_bot.transfer.answer_markdown import line, link, structured

_UNSAFE = re.compile(r"[^\w.,()-]+")
_NAME = 80
"""Limit of a file name, in characters."""


def whole(store: Store, conversation: str) -> dict[str, Any]:
    """A conversation with its turns and the last vote on each; raises NotFoundError."""
    votes = store.last_feedback(conversation)
    turns = [_turn(turn, votes.get(turn.id)) for turn in store.turns(conversation)]
    return {**asdict(store.conversation(conversation)), "turns": turns}


def markdown(conversation: Mapping[str, Any]) -> str:
    """The object of `whole` as Markdown: each question with its answer, numbered sources, and the vote."""
    turns = conversation["turns"]
    title = line(conversation["title"]) or "Untitled"
    head = [f"# {title}", f"{len(turns)} question{'s' * (len(turns) != 1)}, {_day(conversation['created'])}"]
    return "\n\n".join([*head, *(part for turn in turns for part in _turn_parts(turn))]) + "\n"


def file_name(title: str) -> str:
    """A file name for a conversation that is valid on every system, without the ending."""
    plain = _UNSAFE.sub(" ", unicodedata.normalize("NFC", title)).strip(" .")
    return plain[:_NAME].strip(" .") or "conversation"


def _turn(turn: Turn, vote: Feedback | None) -> dict[str, Any]:
    feedback = None if vote is None else {"vote": vote.vote, "comment": vote.comment}
    fields = {"id": turn.id, "question": turn.question, "rewritten": turn.rewritten, "answer": turn.answer}
    return {**fields, "asked": turn.asked, "feedback": feedback}


def _turn_parts(turn: Mapping[str, Any]) -> Iterator[str]:
    answer = turn["answer"]
    yield f"## {line(turn['question']) or '(no question)'}"
    if turn["rewritten"] and turn["rewritten"] != turn["question"]:
        yield f"*understood as: {line(turn['rewritten'])}*"
    yield structured(answer.get("answer", "")) or line(answer.get("reason") or "No answer.")
    if choices := answer.get("choices"):
        yield "\n".join(f"- {line(choice['text'])}" for choice in choices)
    if used := [source for source in answer.get("sources", ()) if source.get("span") is not None]:
        yield "\n".join(_sources(used))
    if feedback := turn["feedback"]:
        comment = f": {line(feedback['comment'])}" if feedback["comment"] else ""
        yield f"*voted {feedback['vote']}{comment}*"


def _sources(used: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for number, source in enumerate(used, start=1):
        name = line(source["title"] or source["document"])
        where = line(f"{source['collection']}/{source['document']}")
        address = link(source["url"])
        yield f"{number}. " + (f"[{name}](<{address}>), {where}" if address else f"{name}, {where}")


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
