"""Matches any number of questions and answers in a temporary SQLite file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType

import sqlalchemy as sa

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Post:
    """A question (`parent` is None) or an answer to the question `parent`."""

    id: int
    parent: int | None
    accepted: int | None
    score: int | None
    title: str
    body: str
    line: int


FIELDS = [field.name for field in fields(Post)]
TABLE = sa.Table(
    "posts",
    sa.MetaData(),
    sa.Column("row", sa.Integer, primary_key=True),
    sa.Column("id", sa.Integer, index=True),
    sa.Column("parent", sa.Integer, index=True),
    sa.Column("accepted", sa.Integer),
    sa.Column("score", sa.Integer),
    sa.Column("title", sa.Text),
    sa.Column("body", sa.Text),
    sa.Column("line", sa.Integer),
)


class Posts:
    """A spool of posts; leaving the context removes its file."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="qa-bot-posts-"))
        engine = sa.create_engine(f"sqlite:///{Path(folder) / 'posts.sqlite'}")
        self._stack.callback(engine.dispose)
        self._connection = self._stack.enter_context(engine.connect())
        for pragma in ("journal_mode = OFF", "synchronous = OFF"):  # the spool is not read after a crash
            self._connection.exec_driver_sql(f"PRAGMA {pragma}")
        TABLE.metadata.create_all(self._connection)
        self._waiting: list[dict[str, object]] = []

    def __enter__(self) -> Posts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def add(self, post: Post) -> None:
        self._waiting.append({name: getattr(post, name) for name in FIELDS})
        if len(self._waiting) >= BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._connection.execute(sa.insert(TABLE), self._waiting)
            self._waiting.clear()

    def pairs(self) -> Iterator[tuple[Post, Post | None]]:
        """Each question in the order of the file, with its accepted, else best voted, else first answer."""
        self._flush()
        answers = TABLE.alias()
        answer_rows = sa.select(answers.c.row).where(answers.c.parent == TABLE.c.id).limit(1)
        accepted = answer_rows.where(answers.c.id == TABLE.c.accepted).scalar_subquery()
        voted = answer_rows.order_by(answers.c.score.desc().nulls_last(), answers.c.id).scalar_subquery()
        best = sa.func.coalesce(accepted, voted).label("best")
        questions = sa.select(TABLE.c.row, best).where(TABLE.c.parent.is_(None)).subquery()
        question, answer = TABLE.alias(), TABLE.alias()
        chosen = (
            sa.select(question, answer)
            .select_from(questions)
            .join(question, question.c.row == questions.c.row)
            .outerjoin(answer, answer.c.row == questions.c.best)
            .order_by(questions.c.row)
        )
        for row in self._connection.execute(chosen.execution_options(yield_per=BATCH)):
            yield Post(*row[1:8]), (Post(*row[9:16]) if row[8] is not None else None)
