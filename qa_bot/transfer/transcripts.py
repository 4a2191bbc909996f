"""A conversation as the JSON object of the HTTP service, and as Markdown.

In Markdown all markup of users and documents is escaped (CommonMark 0.31.2, 2.4: a backslash before punctuation makes
it plain), and only web addresses become links.
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
"""The beginning of a list or a heading."""
_ENTITY = re.compile(r"&(?=#?\w+;)")
_UNSAFE = re.compile(r"[^\w.,()-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
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
    title = _line(conversation["title"]) or "Untitled"
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
    yield f"## {_line(turn['question']) or '(no question)'}"
    if turn["rewritten"] and turn["rewritten"] != turn["question"]:
        yield f"*understood as: {_line(turn['rewritten'])}*"
    yield _text(answer.get("answer") or answer.get("reason") or "No answer.")
    if choices := answer.get("choices"):
        yield "\n".join(f"- {_line(choice['text'])}" for choice in choices)
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
    """A web address without characters that would end it; empty for other kinds of addresses."""
    if not url.lower().startswith(("http://", "https://")):
        return ""
    return _ENTITY.sub("&amp;", quote(url, safe="%/:?#[]@!$&'()*+,;=~-._", errors="replace"))


def _line(text: str) -> str:
    """Text in one line, with a backslash before markup."""
    plain = _CONTROL.sub("\ufffd", " ".join(text.split()))
    return _BLOCK.sub(r"\1\\\2", _MARKUP.sub(r"\\\g<0>", plain))


def _text(text: str) -> str:
    """Text with its lines and paragraphs."""
    paragraphs = re.split(r"\n{2,}", "\n".join(map(_line, text.splitlines())).strip("\n"))
    return "\n\n".join(paragraph.replace("\n", "\\\n") for paragraph in paragraphs)


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
