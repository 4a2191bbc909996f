"""A corridor over six pairs, with calibrations that always or never answer."""

from __future__ import annotations

import time

from qa_bot.answering.ask import Ask
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.events import ignore_event
from qa_core.types import Question

PAIRS = [
    ("cats", "Why do cats purr?", "Cats purr when they are content, and sometimes when they are in pain."),
    ("tea", "How long should green tea steep?", "Green tea needs two to three minutes in water well below boiling."),
    ("moon", "Why does the moon have phases?", "We see changing parts of its sunlit half as it goes round the earth."),
    ("bread", "Why does bread dough rise?", "Yeast eats sugar and gives off gas, which the dough holds in bubbles."),
    ("tides", "What causes the tides?", "The pull of the moon and the sun lifts the sea on two sides of the earth."),
    ("rust", "How do I remove rust from a knife?", "Rub it with vinegar and fine steel wool, then dry and oil it."),
]


SURE = Calibration((), (), (), (), 5.0, (0.0,), (1.0,))


UNSURE = Calibration((), (), (), (), -5.0, (0.5,), (1.0,))


def ask(corridor, question, *, seconds=30.0, now=time.monotonic, listen=ignore_event, **fields):
    clock = corridor.start(Deadline.after(seconds, now=now), listen)
    return corridor.answer(Ask(Question(question), **fields), clock)
