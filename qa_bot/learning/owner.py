"""Questions without an answer or with a bad one, and the owner's answers to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qa_bot.answering.stages.owner_answers import COLLECTION
from qa_bot.bot import Bot
from qa_bot.documents.ingest.records import Record
from qa_bot.home.question_key import is_readable, question_key

if TYPE_CHECKING:
    from qa_bot.home.store import Gap

QUESTION, ANSWER, URL = 2_000, 20_000, 2_000
"""Limits of question, answer and link, in characters."""

_LINK = re.compile(r"https?://\S+")


class OwnerError(ValueError):
    """An answer that cannot be added."""


def gaps(bot: Bot, *, limit: int = 100) -> tuple[list[Gap], int]:
    """Questions without a good answer, the most frequent first, and their total number."""
    return bot.store.gaps(limit=limit)


def dismiss(bot: Bot, gap: str) -> int:
    """Remove a question from the list until it is asked again; return the number of its turns."""
    return bot.store.settle_gap(gap)


def add_answer(bot: Bot, question: str, answer: str, *, url: str = "", gap: str = "") -> str:
    """Add a document with a question and its answer, used from the next question on; return its id.

    The id depends on the words of the question only, so a later answer replaces an earlier one.

    Args:
        url: a link to more information.
        gap: key of the question that this answers, if it was worded differently.

    Raises:
        OwnerError: question or answer is empty or too long, or the link is invalid.
        ChangeError: everything would have to be encoded anew.
        WriterBusyError: another process is writing.
    """
    from qa_bot.documents.sync import add_records  # late: the start does not wait for SQLAlchemy

    _expect(question, "a question", QUESTION)
    _expect(answer, "an answer", ANSWER)
    if url and (len(url) > URL or not _LINK.fullmatch(url)):
        raise OwnerError(f"Expected a link https://… of at most {URL} characters, but got another; correct or omit it.")
    key = question_key(question)
    record = Record(key, " ".join(question.split()), answer, url=url, where=COLLECTION)
    add_records(bot.home, bot.config, bot.encoder, [record], collection=COLLECTION, action="an answer of the owner")
    for settled in {key, gap or key}:
        bot.store.settle_gap(settled)
    bot.corridor()  # opened here, so that the next question does not wait for it
    return key


def _expect(text: str, what: str, longest: int) -> None:
    if not is_readable(text):
        raise OwnerError(f"Expected {what} with letters or digits, but got none; write it out.")
    if len(text) > longest:
        raise OwnerError(f"Expected {what} of at most {longest} characters, but got {len(text)}; shorten it.")
