"""Conversations to take along: as the object that the services give, and as Markdown for people.

In Markdown whatever somebody wrote is text: nothing of it becomes markup, and only web addresses become links.
(CommonMark 0.31.2, 2.4: a backslash before punctuation makes it plain.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from qa_bot.home.store import Feedback, Store, Turn

_MARKUP = re.compile(r"[\\`*_\[\]<>~|&$!#]")
_BLOCK = re.compile(r"^(\d{0,9})([-+=.)])")
"""What begins a list or a heading."""
_ENTITY = re.compile(r"&(?=#?\w+;)")
_UNSAFE = re.compile(r"[^\w.,()-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NAME = 80
"""Characters of a file's name."""


def whole(store: Store, conversation: str) -> dict[str, Any]:
    """A conversation with its turns, each with the last vote on it; raises NotFoundError."""
    votes = store.last_feedback(conversation)
    turns = [_turn(turn, votes.get(turn.id)) for turn in store.turns(conversation)]
    return {**asdict(store.conversation(conversation)), "turns": turns}


def markdown(told: Mapping[str, Any]) -> str:
    """What `whole` told: each question with its answer, numbered sources, and the vote."""
    count = len(told["turns"])
    head = [f"# {_line(told['title']) or 'Untitled'}", f"{count} question{'s' * (count != 1)}, {_day(told['created'])}"]
    return "\n\n".join([*head, *(part for turn in told["turns"] for part in _told_turn(turn))]) + "\n"


def file_name(title: str) -> str:
    """A name for a conversation's file that every system takes, without the ending."""
    plain = _UNSAFE.sub(" ", unicodedata.normalize("NFC", title)).strip(" .")
    return plain[:_NAME].strip(" .") or "conversation"


def _turn(turn: Turn, vote: Feedback | None) -> dict[str, Any]:
    feedback = None if vote is None else {"vote": vote.vote, "comment": vote.comment}
    told = {"id": turn.id, "question": turn.question, "rewritten": turn.rewritten, "answer": turn.answer}
    return {**told, "asked": turn.asked, "feedback": feedback}


def _told_turn(turn: Mapping[str, Any]) -> Iterator[str]:
    answer = turn["answer"]
    yield f"## {_line(turn['question']) or '(no question)'}"
    if turn["rewritten"] and turn["rewritten"] != turn["question"]:
        yield f"*understood as: {_line(turn['rewritten'])}*"
    yield _text(answer.get("answer") or answer.get("reason") or "No answer.")
    if choices := answer.get("choices"):
        yield "\n".join(f"- {_line(each['text'])}" for each in choices)
    if used := [source for source in answer.get("sources", ()) if source.get("span") is not None]:
        yield "\n".join(_sources(used))
    if feedback := turn["feedback"]:
        comment = f": {_line(feedback['comment'])}" if feedback["comment"] else ""
        yield f"*voted {feedback['vote']}{comment}*"


def _sources(used: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for number, source in enumerate(used, start=1):
        name = _line(source["title"] or source["document"])
        where = _line(f"{source['collection']}/{source['document']}")
        link = _link(source["url"])
        yield f"{number}. " + (f"[{name}](<{link}>), {where}" if link else f"{name}, {where}")


def _link(url: str) -> str:
    """A web address without anything that would end it; nothing for another kind of address."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    return _ENTITY.sub("&amp;", quote(url, safe="%/:?#[]@!$&'()*+,;=~-._", errors="replace"))


def _line(text: str) -> str:
    """Text in one line, as text: a backslash before whatever would be markup."""
    plain = _CONTROL.sub("\ufffd", " ".join(text.split()))
    return _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", plain))


def _text(text: str) -> str:
    """Text with its lines and paragraphs."""
    paragraphs = re.split(r"\n{2,}", "\n".join(map(_line, text.splitlines())).strip("\n"))
    return "\n\n".join(paragraph.replace("\n", "\\\n") for paragraph in paragraphs)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
