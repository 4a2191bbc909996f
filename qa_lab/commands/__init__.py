"""The laboratory's commands: `train`, `eval` and `kg mine`. Entry points in pyproject.toml add them to `qa-bot`.

Each imports what it runs when it is called, because `qa-bot --help` loads all of them.
"""

from qa_lab.commands.evaluation.app import app as evaluate
from qa_lab.commands.mining import mine
from qa_lab.commands.training import train

__all__ = ["evaluate", "mine", "train"]
