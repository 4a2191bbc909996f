"""Recording: an answered question goes to the journal of the home, and from there to the store."""

from __future__ import annotations

import logging

from qa_bot.answering.answer_json import as_dict
from qa_bot.answering.ask import Ask
from qa_bot.home.folder import Home
from qa_bot.home.journal import append
from qa_core.disk_space import reason_of
from qa_core.types import Answer

log = logging.getLogger(__name__)


def record(home: Home, ask: Ask, answer: Answer, asked_at: float) -> int:
    """Append a turn to the journal, and return the journal's length in bytes; 0 and a warning if it cannot be written.

    Args:
        asked_at: seconds since the epoch.
    """
    payload = as_dict(answer) | ({"ask": ask.reference} if ask.reference else {})
    turn = {
        "id": answer.id,
        "question": ask.question.title,
        "answer": payload,
        "timings": answer.timings,
        "rewritten": answer.understood,
        "conversation": ask.conversation,
        "persona": ask.persona,
        "asked": asked_at,
    }
    try:
        return append(home, turn)
    except OSError as error:
        log.warning("The answer was given, but could not be recorded: %s.", reason_of(error))
        return 0
