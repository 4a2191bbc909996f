"""Votes as data for others: TREC qrels with their questions, or a vote a line with all that led to it.

Neither names a conversation or a turn: who has the file cannot tell from it which questions are one person's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from qa_bot.home.question_key import question_key
from qa_bot.home.store import Feedback, Store, Turn
from qa_core.atomic import atomic_file, check_writable
from qa_core.measures.runs import escape_id

UP, NEITHER, DOWN = 2, 1, 0
"""Grades of a document by the votes on answers that used it, as `train fusion` reads them; `NEITHER` where they tie."""
QRELS = ".qrels.tsv"
"""How the name of the judgements of a split ends in a folder of judged questions."""

Progress = Callable[[int], object]


@dataclass(slots=True)
class Judged:
    """What votes came to; `ties` are judgements on which as many were for as against, `unused` votes on answers
    without a document: abstentions, facts and talk."""

    votes: int = 0
    questions: int = 0
    judgements: int = 0
    ties: int = 0
    unused: int = 0

    def as_dict(self) -> dict[str, int]:
        """The object of `export --feedback … --json`."""
        return asdict(self)


@dataclass(slots=True)
class _Votes:
    """On one question, as it was understood: for each document what each conversation said last."""

    question: str
    said: dict[str, dict[str, int]] = field(default_factory=dict)

    def grades(self) -> Iterator[tuple[str, int]]:
        """What most conversations said; `NEITHER` where as many said the one as the other."""
        for document, voters in self.said.items():
            counted = Counter(voters.values())
            up, down = counted[UP], counted[DOWN]
            yield document, NEITHER if up == down else UP if up > down else DOWN


def write_qrels(store: Store, path: Path, *, force: bool = False, progress: Progress = lambda _: None) -> Judged:
    """Write `qid 0 document grade`, and the questions beside: one judgement a question and document.

    A conversation has one voice, its last; a turn of none has its own.

    Raises:
        FileExistsError: one of both files is there, and `force` is not set.
    """
    beside = queries_path(path)
    for each in (path, beside):
        check_writable(each, overwrite=force)
    judged, votes = _collected(store, progress)
    with ExitStack() as held:
        queries = held.enter_context(atomic_file(beside, overwrite=force, private=True))
        qrels = held.enter_context(atomic_file(path, overwrite=force, private=True))
        for qid, on in votes.items():
            queries.write(orjson.dumps({"_id": qid, "text": on.question}) + b"\n")
            for document, grade in on.grades():
                qrels.write(f"{qid} 0 {document} {grade}\n".encode())
                judged.judgements += 1
                judged.ties += grade == NEITHER
    judged.questions = len(votes)
    return judged


def queries_path(path: Path) -> Path:
    """`dev.queries.jsonl` for `dev.qrels.tsv`, else the name with `.queries.jsonl` behind."""
    return path.with_name(f"{path.name.removesuffix(QRELS)}.queries.jsonl")


def write_lines(store: Store, file: IO[bytes], *, progress: Progress = lambda _: None) -> Judged:
    """Write a line for each turn with a vote: question, answer, the sources that were used, and the last vote."""
    judged = Judged()
    for turn, given in store.stream_turns(voted=True):
        file.write(orjson.dumps(vote_fields(turn, given[-1])) + b"\n")
        judged.votes += 1
        progress(judged.votes)
    return judged


def vote_fields(turn: Turn, vote: Feedback) -> dict[str, Any]:
    """One line of the JSONL; `trace` only where the turn has one."""
    answer = turn.answer
    told = {
        "question": turn.question,
        "understood": turn.rewritten,
        "kind": answer.get("kind", ""),
        "answered": answer.get("answered", False),
        "answer": answer.get("answer", ""),
        "confidence": answer.get("confidence"),
        "sources": list(_used(answer)),
        "vote": vote.vote,
        "comment": vote.comment,
        "asked": turn.asked,
        "voted": vote.created,
    }
    return told if answer.get("trace") is None else {**told, "trace": answer["trace"]}


def _collected(store: Store, progress: Progress) -> tuple[Judged, dict[str, _Votes]]:
    judged, votes = Judged(), dict[str, _Votes]()
    for turn, given in store.stream_turns(voted=True):
        judged.votes += 1
        progress(judged.votes)
        documents = {escape_id(source["document"]) for source in _used(turn.answer)}
        question = " ".join((turn.rewritten or turn.question).split())
        if turn.answer.get("kind") in ("fact", "talk") or not documents or not question:
            judged.unused += 1
            continue
        on = votes.setdefault(question_key(question), _Votes(question))
        voter = turn.conversation or f"\0{turn.id}"
        for document in sorted(documents):
            on.said.setdefault(document, {})[voter] = UP if given[-1].vote == "up" else DOWN
    return judged, votes


def _used(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The sources that the answer was made of."""
    return (source for source in answer.get("sources", ()) if source.get("span") is not None)
