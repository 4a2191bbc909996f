"""`python -m qa_lab.fit.fit_followups FILE`: fits the weights of the follow-up scorer on CAsT 2019.

Features of answers are learnt from our dialogues (`--dialogues`, their dev half), answered by a home with their
documents.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from qa_bot.conversation.followups.rewriter import WEIGHTS
from qa_lab.evaluate.followups.dialogues import read_dialogues
from qa_lab.evaluate.followups.fitting import Example, examples, fit
from qa_lab.evaluate.followups.history_entry import answered_history


def _own_dialogues(path: Path, home: Path) -> list[Example]:
    """Examples of the dev half of our dialogues, with answers by the bot of this home."""
    from qa_bot.bot import Bot

    with Bot.open(home, record=False) as bot:
        dialogues = [dialogue for group in read_dialogues(path, part="dev").values() for dialogue in group]
        return examples(dialogues, answered_history(bot))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="CAsT 2019's evaluation topics (JSON), the resolved turns beside it")
    parser.add_argument("--dialogues", type=Path, help="dialogues (JSON lines) whose dev half is used too")
    parser.add_argument("--home", type=Path, help="home that answers the dialogues")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    options = parser.parse_args()
    (dialogues,) = read_dialogues(options.data).values()
    more = _own_dialogues(options.dialogues, options.home) if options.dialogues else []
    fit(examples(dialogues) + more).save(options.out)


if __name__ == "__main__":
    main()
