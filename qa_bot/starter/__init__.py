"""What the project ships so that a first question finds an answer: a collection, an encoder, calibration questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qa_bot.config import Config
from qa_bot.generations import Generations
from qa_bot.home import Home
from qa_core.types import Encoder

FOLDER = Path(__file__).parent
COLLECTION = FOLDER / "collection.jsonl"
QUESTIONS = FOLDER / "questions.jsonl"
NAME = "starter"


def fill(home: Home, config: Config, encoder: Callable[[], Encoder]) -> bool:
    """Give an empty home the starter collection; whether it was empty.

    A home that was ever written to has a generation, so that a removed starter collection stays removed.
    """
    if Generations(home.index).current_number() is not None:
        return False
    from qa_bot.changes import add  # late: a filled home does not need the writers

    with home.lock("first use"):
        pass  # a second process waits for nobody: it is told who fills the home
    add(home, config, encoder(), [COLLECTION], collection=NAME)
    return True
