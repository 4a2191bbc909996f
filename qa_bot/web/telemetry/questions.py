"""Observes questions: counts them, logs their answers and the stages of slow ones, and traces them.

The text of a question is logged or traced only if `[serve] log_questions` is set.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from qa_bot.answering.ask import Ask
from qa_bot.answering.observation.stage_log import StageLog, current_log, stage_log
from qa_bot.home.config import Config
from qa_bot.web.logs import event, note
from qa_bot.web.metrics import Metrics
from qa_core.types import Answer

if TYPE_CHECKING:
    from qa_bot.web.telemetry.tracing import Attribute, QuestionSpan, Tracing

log = logging.getLogger(__name__)

QUEUE = "queue"
"""Name of the stage in which a question waits for a thread."""


def left_queue(arrived: float) -> None:
    """Note, in the thread that begins a question, how long it waited since `arrived` on the monotonic clock."""
    if stages := current_log():
        stages.add(QUEUE, arrived, time.monotonic() - arrived)


class ObservedWork:
    """One question or search while it runs."""

    def __init__(self, name: str, text: str, stages: StageLog, span: QuestionSpan | None) -> None:
        self.name, self.text = name, text
        self.stages, self._span = stages, span
        self.began = time.monotonic()
        self.fields: dict[str, Any] = {}
        """Fields of its line in the log if it is slow."""

    def describe(self, attributes: Mapping[str, Attribute]) -> None:
        """Add attributes to its span in the trace."""
        if self._span is not None:
            self._span.describe(attributes)


class QuestionObserver:
    """Observes the questions of one service."""

    def __init__(self, metrics: Metrics, tracing: Tracing | None = None) -> None:
        self._metrics, self._tracing = metrics, tracing

    @contextmanager
    def observe(self, name: str, text: str, config: Config) -> Iterator[ObservedWork]:
        """Observe one piece of work; `name` is `answer` or `search`, `text` that of the question."""
        shown = text if config.serve.log_questions else ""
        with stage_log() as stages, self._span(name, stages) as span:
            work = ObservedWork(name, shown, stages, span)
            work.describe({"qa_bot.effort": config.ranking.effort})
            if shown:
                work.describe({"qa_bot.question": shown})
            try:
                yield work
            finally:
                self._log_slow(work, config.serve.slow_seconds)

    def _span(self, name: str, stages: StageLog) -> AbstractContextManager[QuestionSpan | None]:
        return self._tracing.question(name, stages) if self._tracing else nullcontext()

    def answered(self, work: ObservedWork, ask: Ask, answer: Answer) -> None:
        """Count, log and trace an answer."""
        self._metrics.answered(answer)
        note(answer=answer.kind)
        work.fields = {"turn": answer.id, "kind": answer.kind}
        work.describe(
            {
                "qa_bot.turn": answer.id,
                "qa_bot.kind": answer.kind,
                "qa_bot.confidence": answer.confidence,
                "qa_bot.unsure": answer.unsure,
                "qa_bot.sources": len(answer.sources),
                "qa_bot.skipped": list(answer.skipped),
            }
        )
        text: dict[str, Any] = {"question": work.text} if work.text else {}
        event(
            log,
            "answer",
            turn=answer.id,
            conversation=ask.conversation,
            kind=answer.kind,
            confidence=answer.confidence,
            seconds=answer.timings.get("total"),
            skipped=list(answer.skipped),
            **text,
        )

    def _log_slow(self, work: ObservedWork, limit: float) -> None:
        seconds = time.monotonic() - work.began
        if not limit or seconds <= limit:
            return
        self._metrics.slow(work.name)
        text: dict[str, Any] = {"question": work.text} if work.text else {}
        event(
            log,
            "slow_question",
            logging.WARNING,
            seconds=round(seconds, 3),
            stages={name: round(spent, 3) for name, spent in work.stages.seconds().items()},
            skipped=work.stages.skipped(),
            **work.fields,
            **text,
        )
