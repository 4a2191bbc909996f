"""What the owner of a bot does about questions that got no answer or a bad one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qa_bot.answering.stages.owner_answers import COLLECTION
from qa_bot.bot import Bot
from qa_bot.documents.ingest.records import Record
from qa_bot.home.question_key import question_key

if TYPE_CHECKING:
    from qa_bot.home.store import Gap

QUESTION, ANSWER, URL = 2_000, 20_000, 2_000
"""Characters of the longest question, answer and link."""

_READABLE = re.compile(r"\w")
_LINK = re.compile(r"https?://\S+")


class OwnerError(ValueError):
    """An answer that cannot be added; the message says why and what to do."""


def gaps(bot: Bot, *, limit: int = 100) -> tuple[list[Gap], int]:
    """Questions without a good answer, the most frequent first; and how many there are in all."""
    return bot.store.gaps(limit=limit)


def dismiss(bot: Bot, gap: str) -> int:
    """Let a question be gone until it is asked again; of how many turns it was, 0 where nobody asked."""
    return bot.store.settle_gap(gap)


def add_answer(bot: Bot, question: str, answer: str, *, url: str = "", gap: str = "") -> str:
    """Make a document of a question and its answer, from which the next question is answered already; its id.

    The id is that of the question, whatever its case, blanks and end punctuation: a better answer replaces the former.

    Args:
        url: where more is to be read.
        gap: key of the question that this answers, where it was asked in other words.

    Raises:
        OwnerError: the question or the answer has nothing to read, one of them is too long, or the link is none.
        ChangeError: everything would have to be encoded anew.
        WriterBusyError: another process is writing.
    """
    from qa_bot.documents.sync import add_records  # late: a service that starts does not wait for SQLAlchemy

    _expect(question, "a question", QUESTION)
    _expect(answer, "an answer", ANSWER)
    if url and (len(url) > URL or not _LINK.fullmatch(url)):
        raise OwnerError(f"Expected a link https://… of at most {URL} characters, but got another; mend or omit it.")
    key = question_key(question)
    record = Record(key, " ".join(question.split()), answer, url=url, where=COLLECTION)
    add_records(bot.home, bot.config, bot.encoder, [record], collection=COLLECTION, action="an answer of the owner")
    for settled in {key, gap or key}:
        bot.store.settle_gap(settled)
    bot.corridor()  # opened here, so that whoever asks next does not wait for it
    return key


def _expect(text: str, what: str, longest: int) -> None:
    if not _READABLE.search(text):
        raise OwnerError(f"Expected {what} with letters or digits, but got none; write it out.")
    if len(text) > longest:
        raise OwnerError(f"Expected {what} of at most {longest} characters, but got {len(text)}; shorten it.")
